"""What every language's tables promise, run over all that are found."""

import importlib

import pytest
import tree_sitter

from puzzlemark import plugins
from puzzlemark.languages.base import Language, find

every_language = pytest.mark.parametrize("name", plugins.names("languages"))


def load(name: str) -> Language:
    language = plugins.load("languages", name).PLUGIN
    assert isinstance(language, Language)
    return language


@every_language
def test_its_file_is_called_like_it(name: str) -> None:
    assert load(name).name == name


@every_language
def test_every_node_type_in_its_tables_exists_in_the_grammar(name: str) -> None:
    language = load(name)
    module = importlib.import_module(language.grammar)
    grammar = tree_sitter.Language(module.language())
    known = {grammar.node_kind_for_id(n) for n in range(grammar.node_kind_count)}
    measures = language.measures
    tables = {"functions": language.functions} | {
        field: getattr(measures, field) for field in type(measures).__dataclass_fields__
    }
    for field, table in tables.items():
        if isinstance(table, frozenset):
            assert table <= known, f"{field}: {sorted(table - known)}"


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


def test_an_unknown_language_is_none() -> None:
    assert find("klingon") is None
