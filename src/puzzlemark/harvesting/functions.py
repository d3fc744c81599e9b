"""The functions of one source file, as records with the fields of CodeSearchNet, in its order."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import tree_sitter

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.harvesting.idioms.base import Documentation, Idiom, load_idiom
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, parse

Record: TypeAlias = dict[str, Any]
FIELDS = tuple(
    "repo path func_name original_string language code code_tokens docstring docstring_tokens "
    "sha url partition".split()
)
_WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which functions become records; by default all that have a body."""

    language: str
    min_lines: int = 1
    documented_only: bool = False  # CodeSearchNet's own filter


@dataclass(frozen=True, slots=True)
class Origin:
    """What all records of one tree have in common."""

    repo: str
    sha: str = ""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a file, or several, gave: records, and what was left out by reason."""

    records: list[Record] = field(default_factory=list)
    skipped_files: Counter[str] = field(default_factory=Counter)
    skipped_functions: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Found:
    """A function that is not inside another one, and what surrounds it."""

    node: tree_sitter.Node
    classes: tuple[str, ...]
    comments: tuple[tree_sitter.Node, ...]  # directly before it


def collect(
    path: str, content: bytes, wanted: Wanted, origin: Origin, collected: Collected
) -> None:
    """Add the functions of one file to what was collected, or the reason why there are none."""
    idiom = load_idiom(wanted.language)
    try:
        tree = parse(Snippet(path, idiom.decode(content), wanted.language))
    except UnparsableSnippet as exc:
        collected.skipped_files[str(exc)] += 1
        return
    except ValueError as exc:
        collected.skipped_files[str(exc)] += 1
        return
    for found in outermost_functions(tree, idiom):
        if found.node.child_by_field_name("body") is None:
            collected.skipped_functions["no body"] += 1
            continue
        documentation = idiom.find_documentation(tree, found.node, found.comments)
        record = make_record(tree, path, origin, found, documentation)
        reason = _why_unwanted(record, wanted)
        if reason is None:
            collected.records.append(record)
        else:
            collected.skipped_functions[reason] += 1


def outermost_functions(tree: Tree, idiom: Idiom) -> Iterator[Found]:
    """Functions in document order; one inside another is part of it and not found by itself."""
    functions, comments = tree.language.functions, tree.language.measures.comments
    stack: list[Found] = [Found(tree.root, (), ())]
    while stack:
        here = stack.pop()
        if here.node.type in functions:
            yield here
            continue
        classes = here.classes
        if here.node.type in idiom.CLASSES and here.node.start_byte >= tree.offset:
            classes = (*classes, _name(tree, here.node))
        inside: list[Found] = []
        before: list[tree_sitter.Node] = []
        for child in here.node.named_children:
            if child.type in comments:
                before.append(child)
                continue
            if child.child_count:
                inside.append(Found(child, classes, tuple(before)))
            before.clear()
        stack.extend(reversed(inside))


def make_record(
    tree: Tree, path: str, origin: Origin, found: Found, documentation: Documentation
) -> Record:
    """One record. The first line of `code` has no indentation, the others have the file's."""
    node = found.node
    code = tree.text(node)
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    return {
        "repo": origin.repo,
        "path": path,
        "func_name": ".".join((*found.classes, _name(tree, node))),
        "original_string": code,
        "language": tree.language.name,
        "code": code,
        "code_tokens": tokens_of(tree, node, documentation.inside),
        "docstring": documentation.text,
        "docstring_tokens": _WORDS.findall(documentation.text),
        "sha": origin.sha,
        # names a function in its tree: the id of the record for all that comes later
        "url": f"{path}#L{first}-L{last}",
        "partition": "train",
    }


def tokens_of(
    tree: Tree, node: tree_sitter.Node, left_out: tree_sitter.Node | None = None
) -> list[str]:
    """The tokens below a node without comments; a string literal is one token."""
    measures = tree.language.measures
    silent = measures.comments | measures.layout
    source = tree.source
    skip = left_out.start_byte if left_out is not None else -1
    tokens: list[str] = []
    stack: list[tree_sitter.Node] = [node]
    while stack:
        here = stack.pop()
        kind = here.type
        if kind in silent:
            continue
        if here.child_count and kind not in measures.opaque:
            stack.extend(reversed(here.children))
            continue
        start, end = here.start_byte, here.end_byte
        if start < end and start != skip:
            tokens.append(source[start:end].decode())
    return tokens


def _why_unwanted(record: Record, wanted: Wanted) -> str | None:
    if wanted.documented_only and not record["docstring"]:
        return "no documentation"
    if len(record["code"].splitlines()) < wanted.min_lines:
        return f"fewer than {wanted.min_lines} lines"
    return None


def _name(tree: Tree, node: tree_sitter.Node) -> str:
    named = node.child_by_field_name("name")
    assert named is not None, f"a {node.type} without a name"
    return tree.text(named)


def collect_all(files: Sequence[tuple[str, bytes]], wanted: Wanted, origin: Origin) -> Collected:
    """The worker's share: the functions of some files."""
    collected = Collected()
    for path, content in files:
        collect(path, content, wanted, origin, collected)
    return collected
