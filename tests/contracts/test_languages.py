"""What every language's tables promise, run over all that are found."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import puzzlemark
from puzzlemark import plugins
from puzzlemark.features.measure import FEATURES, measure
from puzzlemark.languages.base import Language, find
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.checking import find_gaps
from puzzlemark.syntax.naming import is_plain_identifier
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions

PACKAGE = Path(puzzlemark.__file__).parent
# What may name a language: its own files, what is made for one language only, the paper's marks
# and experiments. Everything else asks `Language`.
OWN = {"languages", "resolvers", "rewritings", "bench"}
MADE_FOR_ONE = {
    "watermarks/codemark.py",
    "watermarks/coprotector_sentence.py",
    "watermarks/coprotector_word.py",
    "watermarks/fixed_prefix.py",
    "watermarks/universal.py",
    "attacks/format.py",  # the formatters that there are
    "protecting/deciding.py",  # the compilers that compare: code objects, class files
    "protecting/planning.py",
    "detectors/_decoma_abstraction.py",  # the setting old_java
    "provenance.py",  # the version of the interpreter
}

every_language = pytest.mark.parametrize("name", plugins.names("languages"))


def load(name: str) -> Language:
    language = plugins.load("languages", name).PLUGIN
    assert isinstance(language, Language)
    return language


@every_language
def test_its_file_is_called_like_it(name: str) -> None:
    assert load(name).name == name


@every_language
def test_no_table_is_missing_or_names_what_the_grammar_does_not_know(name: str) -> None:
    gaps = find_gaps(load(name))
    assert not gaps, f"languages/{name}.py:\n" + "\n".join(gaps)


@every_language
def test_its_features_count_every_variable_of_its_example(name: str) -> None:
    # a snippet whose features tell of too few variables is never asked for a mark
    tree = parse(Snippet("example", load(name).example, name))
    (function,) = functions(tree)
    declared = dict(zip(FEATURES, measure(tree), strict=True))["dvc"]
    assert declared >= len(function.variables), "measures.declares: lacks some kind of declaration"


@every_language
def test_its_synonyms_are_sets_of_names_that_a_variable_may_have(name: str) -> None:
    language = load(name)
    names = [each for names in language.synonyms for each in names]
    assert len(names) == len(set(names)), "a name stands in two sets, or twice in one"
    assert all(len(names) > 1 for names in language.synonyms)
    assert all(map(is_plain_identifier, names))
    assert language.reserved.isdisjoint(names)
    assert language.receivers.isdisjoint(names)
    # a table without a version, or a version without a table, could not be told from another
    assert bool(language.synonyms) == bool(language.synonyms_version)


@every_language
def test_its_pool_has_a_version_and_names_that_a_variable_may_have(name: str) -> None:
    language = load(name)
    assert bool(language.pool) == bool(language.pool_version)
    assert len(language.pool) == len(set(language.pool))
    assert all(map(is_plain_identifier, language.pool))
    assert (language.reserved | language.receivers).isdisjoint(language.pool)


@every_language
def test_a_language_of_ours_has_the_public_tables_of_the_marks_with_a_key(name: str) -> None:
    assert len(load(name).synonyms) >= 40
    assert len(load(name).pool) == 200


@every_language
def test_its_scopes_can_be_resolved(name: str) -> None:
    assert callable(plugins.load("syntax.resolvers", name).resolve)


@every_language
def test_it_is_found_by_name_and_alias_in_any_case(name: str) -> None:
    language = load(name)
    for spelling in (name, name.upper(), f" {name} ", *language.aliases):
        assert find(spelling) == language


def test_names_and_aliases_do_not_clash() -> None:
    spellings = [s for n in plugins.names("languages") for s in (n, *load(n).aliases)]
    assert len(spellings) == len(set(spellings))


def test_every_resolver_belongs_to_a_language() -> None:
    assert set(plugins.names("syntax.resolvers")) == set(plugins.names("languages"))


def named_in(source: str) -> set[str]:
    """The languages that the code spells in strings of their own: `if name == "python"`."""
    spellings = {s for n in plugins.names("languages") for s in (n, *load(n).aliases)}
    spellings.remove("rb")  # files are opened so
    strings = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return {node.value for node in strings if node.value in spellings}


def other_files() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE)
        if not OWN & set(inside.parts) and inside.as_posix() not in MADE_FOR_ONE:
            yield path


def test_no_other_file_knows_a_language_by_name() -> None:
    found = {str(path.relative_to(PACKAGE)): named_in(path.read_text()) for path in other_files()}
    naming = {path: named for path, named in found.items() if named}
    assert not naming, "make a table of `Language` of what these know"


def test_a_closed_list_of_languages_is_seen() -> None:
    assert named_in('JOINTS = {"python": "; "}\nif name == "py": pass') == {"python", "py"}
    assert named_in('"""About python."""\nx = "python or java"') == set()


def test_an_unknown_language_is_none() -> None:
    assert find("klingon") is None


@every_language
def test_a_language_of_ours_says_how_people_write_it(name: str) -> None:
    if plugins.distribution("languages", name) is None:
        assert load(name).title.casefold() == name
