"""Marks whole programs: every scheme at a 100 % rate, and every safe edit at once."""

import random
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tree_sitter import Node

import puzzlemark as pm
from puzzlemark import plugins
from puzzlemark.embedding.marking import first_mark
from puzzlemark.errors import UnparsableSnippet, UnsafeRename
from puzzlemark.languages.base import find_by_path
from puzzlemark.snippet import Edit, Snippet, apply_edits
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.rewritings.base import compose, load
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Policy, function_nodes, functions
from puzzlemark.watermarks.base import Introducing, Mark, Refusal, Watermark, named
from puzzlemark.watermarks.codemark import CodeMark
from puzzlemark.watermarks.coprotector_sentence import CoProtectorSentence
from puzzlemark.watermarks.prefixes import Prefixes
from puzzlemark.watermarks.synonyms import Synonyms

HERE = Path(__file__).parent
DRAW = "a secret for programs"
REQUIRES = re.compile(r"# requires: (\d+)\.(\d+)")
# CoProtector's statements fail when they are run; harmless ones show that they stand where any may.
# In Python they bind no name: a function that lists its own names would show it.
HARMLESS = {
    "python": ("assert 1 < 2", "assert 2 < 3"),
    "java": ("int anExtra = 1;", "anExtra++;"),
    "go": ("_ = 1 < 2", "_ = 2 < 3"),  # no `goto` may jump over a declaration
    "javascript": ("let anExtra = 1;", "anExtra++;"),
    "typescript": ("let anExtra: number = 1;", "anExtra++;"),
    "php": ("assert(1 < 2);", "assert(2 < 3);"),  # some of the programs list their variables
    "ruby": ("1 < 2", "2 < 3"),
}


# every variable that may have another name of its set, as often as a program can carry one
DRAWN = Synonyms(entropy=0.0, inside_line=False, share=1.0, key=b"programs")


def own_programs(language: str) -> dict[str, str]:
    """The programs of this folder that this machine can run: `{"closure_counter": "..."}`."""
    paths = sorted(path for path in (HERE / language).iterdir() if find_by_path(path.name))
    codes = {path.stem: path.read_bytes().decode() for path in paths}
    return {name: code for name, code in codes.items() if _is_for_this_python(code)}


def _is_for_this_python(code: str) -> bool:
    found = REQUIRES.match(code)
    return found is None or sys.version_info >= (int(found[1]), int(found[2]))


def schemes(language: str) -> dict[str, Watermark]:
    """Every scheme that the paper gives a name to, as far as it can be run: `{"P1": ...}`.

    A language that the paper has no names for has Python's; CodeMark's are for one language each.
    Beside them those whose names a key draws, at the boldest: wherever one may be drawn.
    """
    own = {name: each.watermark for name, each in named().items() if each.language == language}
    pythons = {name: each.watermark for name, each in named().items() if each.language == "python"}
    chosen = own or {n: each for n, each in pythons.items() if not isinstance(each, CodeMark)}
    harmless = {name: _harmless(language, watermark) for name, watermark in chosen.items()}
    return {**harmless, "synonyms": DRAWN, "prefixes": Prefixes(key=b"programs")}


def _harmless(language: str, watermark: Watermark) -> Watermark:
    if not isinstance(watermark, CoProtectorSentence):
        return watermark
    trigger, target = HARMLESS[language]
    return replace(watermark, trigger=trigger, target=target)


def mark_everything(
    source: Path,
    output: Path,
    language: str,
    watermark: str | Watermark,
    policy: Policy,
    secret: str = DRAW,
) -> pm.Summary:
    """Mark every record that can carry; the same secret gives the same marks."""
    secret_file = output.with_name(f"{output.name}.secret")
    secret_file.touch(mode=0o600)
    secret_file.write_text(secret)
    return pm.embed(
        source,
        output,
        watermark=watermark,
        policy=policy,
        language=language,
        tau=0,
        min_rate=1,
        max_rate=1,
        secret_file=secret_file,
        overwrite=True,
    )


def mark_functions(code: str, language: str, watermark: Watermark) -> str:
    """Mark each function by itself, as if it were a record: the rest of its file is not seen."""
    tree = parse(Snippet("program", code, language))
    edits: list[Edit] = []
    for node in _outermost(tree):
        record = Snippet("function", tree.text(node), language)
        try:
            mark = _plan(parse(record), watermark, random.Random(node.start_byte))
        except UnparsableSnippet:
            continue
        if isinstance(mark, Mark):
            edits += (replace(edit, start=node.start_byte + edit.start) for edit in mark.edits)
    return apply_edits(tree.code, edits).decode()


def _outermost(tree: Tree) -> Iterator[Node]:
    """The functions that are not inside another one, in order."""
    end = 0
    for node in function_nodes(tree):
        if node.start_byte >= end:
            yield node
            end = node.end_byte


def _plan(tree: Tree, watermark: Watermark, rng: random.Random) -> Mark | Refusal:
    if isinstance(watermark, Introducing) and not watermark.may_occur(tree.code):
        return first_mark(watermark, tree, "safe", rng, introduce=True)
    return first_mark(watermark, tree, "safe", rng)


def rename_everything(code: str, language: str) -> str:
    """Give a fresh name to every variable of every function that policy `safe` lets us rename."""
    tree = parse(Snippet("program", code, language))
    edits: list[Edit] = []
    for function in functions(tree):
        # a closure is a unit by itself, and its variables are those of the function around it, too
        taken = {edit.start for edit in edits}
        edits += _renames(tree, function, taken, len(edits))
    return apply_edits(tree.code, sorted(edits)).decode()


def _renames(tree: Tree, function: Function, taken: set[int], start: int) -> tuple[Edit, ...]:
    free = [
        each.name
        for each in function.variables
        if each.refusal("safe") is None and taken.isdisjoint(each.starts)
    ]
    names: Mapping[str, str] = {name: f"fresh{start + n}" for n, name in enumerate(free)}
    try:
        return rename(tree, function, names, "safe")
    except UnsafeRename:
        return ()


def rewrite_everything(code: str, language: str, policy: Policy) -> str:
    """Write every expression that has an equivalent form in that form."""
    tree = parse(Snippet("program", code, language))
    rewritings = [load(name) for name in plugins.names("syntax.rewritings")]
    found = (o for r in rewritings if language == r.LANGUAGE for o in r.find(tree, policy))
    edits = compose(each for each in found if each.form == "original")
    return apply_edits(tree.code, edits).decode()
