"""What is missing in the tables of a language: a check for whoever writes one.

`find_gaps(LANGUAGE)` gives a sentence for each table that is empty, names what the grammar does not
know, or does not fit the language's own example. An empty list: nothing was found.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import Any

import tree_sitter

from puzzlemark import plugins
from puzzlemark.errors import PuzzleMarkError, UnsafeRename
from puzzlemark.languages.base import AFTER, Language
from puzzlemark.snippet import Edit, Snippet, apply_edits
from puzzlemark.syntax.prompts import declare_after, declare_before
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import Tree, load_grammar, parse
from puzzlemark.syntax.variables import Function, functions

POSITIONS = frozenset({"all", "first", "last"})
NOT_NODE_TYPES = frozenset({"aliases", "reserved", "receivers", "skipped_folders", "extensions"})
NEVER_EMPTY = (
    "name example reserved functions parameter_lists blocks binders phrases extensions "
    "tokens.comments tokens.strings tokens.numbers tokens.names measures.decisions "
    "measures.nesting measures.expressions measures.declares measures.calls measures.names"
).split()
# what the example must have in it, so that a wrong table is noticed
SHOWN = (
    "functions parameter_lists blocks binders phrases tokens.comments tokens.strings "
    "tokens.numbers measures.decisions measures.nesting measures.expressions measures.declares "
    "measures.calls measures.names"
).split()
FRESH = "fresh"
OTHER = "another"


def find_gaps(language: Language) -> list[str]:
    """What is missing, a sentence each."""
    try:
        grammar = load_grammar(language.grammar)
    except PuzzleMarkError as exc:
        return [f"grammar: {exc}"]
    gaps = [*_empty(language), *_misspelt(language), *_unknown(language, grammar)]
    if language.name not in plugins.names("syntax.resolvers"):
        gaps.append(
            f"resolver: none is called {language.name}; add the file syntax/resolvers/"
            f"{language.name}.py, or an entry point in the group puzzlemark.syntax.resolvers"
        )
    return gaps or list(_gaps_in_example(language))


def _tables(owner: object, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every table with its name: `tokens.comments`."""
    assert is_dataclass(owner)
    for each in fields(owner):
        value = getattr(owner, each.name)
        if each.name in ("tokens", "measures"):
            yield from _tables(value, f"{each.name}.")
        else:
            yield before + each.name, value


def _empty(language: Language) -> Iterator[str]:
    tables = dict(_tables(language))
    yield from (f"{name}: is empty" for name in NEVER_EMPTY if not tables[name])
    lexing = language.lexing
    if not (lexing.line_comments or lexing.block_comments or lexing.strip):
        yield "lexing: says nothing of comments"
    if not lexing.quotes and not lexing.long_quotes:
        yield "lexing: says nothing of strings"


def _misspelt(language: Language) -> Iterator[str]:
    for name in (language.name, *language.aliases):
        if name != name.strip().lower():
            yield f"aliases: {name!r} is not in lower case"
    for ending in language.extensions:
        if not ending.startswith(".") or ending != ending.lower():
            yield f"extensions: {ending!r} is not like `.py`"
    for template in (*language.declaration, language.optional[1]):
        if template.count("{}") != 1:
            yield f"declaration: {template!r} has no one place for the name: {{}}"


def _unknown(language: Language, grammar: tree_sitter.Language) -> Iterator[str]:
    """Node types and fields that the grammar lacks, and its keywords that nobody reserved."""
    numbers = range(grammar.node_kind_count)
    known = {grammar.node_kind_for_id(number) for number in numbers}
    placed = {grammar.field_name_for_id(number) for number in range(1, grammar.field_count + 1)}
    types, places = _named_in_tables(language)
    for table, kind in types:
        if kind not in known:
            yield f"{table}: {kind!r} is no node type of {language.grammar.package}"
    for table, place in places:
        if place not in placed:
            yield f"{table}: {place!r} is no field of {language.grammar.package}"
    keywords = {
        word
        for number in numbers
        if grammar.node_kind_is_visible(number) and not grammar.node_kind_is_named(number)
        if (word := grammar.node_kind_for_id(number) or "").isalpha()
    }
    if free := sorted(keywords - language.reserved):
        yield f"reserved: lacks words of the grammar: {' '.join(free)}"


def _named_in_tables(language: Language) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The node types and the fields that tables name, each with its table."""
    types: list[tuple[str, str]] = []
    places: list[tuple[str, str]] = [("functions", "name"), ("functions", "body")]
    for name, value in _tables(language):
        if isinstance(value, frozenset) and name not in NOT_NODE_TYPES:
            types += ((name, kind) for kind in sorted(value))
        elif isinstance(value, Mapping):
            types += ((name, kind) for kind in value)
            is_text = name == "function_signs"
            named = [] if is_text else [place for place in value.values() if place is not None]
            types += ((name, p.removeprefix(AFTER)) for p in named if p.startswith(AFTER))
            places += (
                (name, place)
                for place in named
                if place not in POSITIONS and not place.startswith(AFTER)
            )
    types += (("optional", kind) for kind in sorted(language.optional[0]))
    types += (("measures.else_if", kind) for kind in language.measures.else_if or ())
    if language.docstring is not None:
        types += (("docstring", language.docstring.statement),)
        types += (("docstring", language.docstring.string),)
    if language.owner is not None:
        places.append(("owner", language.owner[0]))
        types.append(("owner", language.owner[1]))
    return types, places


def _gaps_in_example(language: Language) -> Iterator[str]:
    """What does not fit the example; asked only when the tables are sound by themselves."""
    try:
        tree = parse(Snippet("example", language.example, language.name))
        found = list(functions(tree))
    except PuzzleMarkError as exc:
        yield f"example: {exc}"
        return
    if len(found) != 1:
        yield f"example: has {len(found)} functions, not one; see the table `functions`"
        return
    yield from _not_shown(tree)
    yield from _gaps_in_variables(tree, found[0])
    yield from _gaps_in_text(tree)


def _not_shown(tree: Tree) -> Iterator[str]:
    present = {node.type for node in _walk(tree.root)}
    tables = dict(_tables(tree.language))
    for name in SHOWN:
        if present.isdisjoint(tables[name]):
            yield f"{name}: none of these node types is in the example"
    names = tree.language.tokens.names
    if not any(
        child.type in names
        for node in _walk(tree.root)
        if node.type in tree.language.binders
        for child in node.children
    ):
        yield "binders: no name stands directly inside of one in the example"


def _gaps_in_variables(tree: Tree, function: Function) -> Iterator[str]:
    local = [each for each in function.variables if not each.is_parameter]
    if len(local) == len(function.variables):
        yield "resolver: found no parameter in the example"
    if len(local) < 2:
        yield f"resolver: found {len(local)} local variables in the example, not two or more"
        return
    for each in function.variables:
        word = each.name.encode()
        if any(tree.code[at : at + len(word)] != word for at in each.starts):
            yield f"resolver: {each.name!r} does not stand where it is said to"
            return
    try:
        rename(tree, function, {local[0].name: FRESH}, "paper")
    except UnsafeRename as exc:
        yield f"resolver: {local[0].name!r} of the example cannot be renamed: {exc}"
    for each in function.variables:
        if (table := _why_not_declared(tree, each.starts[0])) is not None:
            yield f"{table}: no other variable can be declared beside {each.name!r} of the example"


def _why_not_declared(tree: Tree, start: int) -> str | None:
    """The table that is to blame when no variable can be declared before and after another."""
    for declare in (declare_before, declare_after):
        try:
            if not _parses(tree, [declare(tree, start, FRESH)]):
                return "declaration"
        except UnsafeRename:
            if declare is declare_before:  # behind some parameters and loops there is no place
                return "blocks"
    return None


def _gaps_in_text(tree: Tree) -> Iterator[str]:
    language = tree.language
    stripped = language.lexing.strip_comments(language.example)
    comments = [
        tree.text(node) for node in _walk(tree.root) if node.type in language.tokens.comments
    ]
    if any(text.strip() in stripped for text in comments):
        yield "lexing: a comment of the example is not taken for one"
    if not _parses(tree, [Edit(0, tree.code, stripped.encode())]):
        yield "lexing: the example without its comments does not parse"
    try:
        decoded = language.decode(language.example.encode())
    except ValueError as exc:
        yield f"decode: refuses the example: {exc}"
    else:
        if decoded != language.example:
            yield "decode: gives another text for the example in UTF-8"
    if language.docstring is not None:
        try:
            groups = re.compile(language.docstring.quoted).groupindex
        except re.error as exc:
            yield f"docstring: {language.docstring.quoted!r} is no regular expression: {exc}"
        else:
            if "text" not in groups:
                yield "docstring: the expression for quoted text has no group `text`"
    statements = (language.declaration[1].format(name) for name in (FRESH, OTHER))
    start = next(_statement_starts(tree), None)
    if start is None:
        yield "blocks: no statement of the example stands in one"
    elif not _parses(tree, [Edit(start, b"", _on_one_line(tree, *statements))]):
        yield f"joint: statements on one line with {language.joint!r} between them do not parse"


def _statement_starts(tree: Tree) -> Iterator[int]:
    for node in _walk(tree.root):
        bodies = (node.child_by_field_name("body"),) if node.type in tree.language.functions else ()
        for inner in chain.from_iterable(_walk(body) for body in bodies if body is not None):
            if inner.type in tree.language.blocks and inner.named_children:
                yield inner.named_children[0].start_byte - tree.offset


def _on_one_line(tree: Tree, *statements: str) -> bytes:
    line = tree.language.joint.join(statements)
    return (line + tree.language.joint).encode()


def _parses(tree: Tree, edits: list[Edit]) -> bool:
    code = apply_edits(tree.code, edits).decode()
    try:
        parse(replace(tree.snippet, code=code))
    except PuzzleMarkError:
        return False
    return True


def _walk(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))
