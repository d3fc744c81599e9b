"""The functions of one source file, as records with the fields of CodeSearchNet, in its order."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import tree_sitter

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import DocComment, find
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, is_docstring, parse

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
    comments: tuple[tree_sitter.Node, ...]  # directly before it, or before what bears it
    name: str = ""  # what it is called by what bears it: `get` in `exports.get = function () {}`


@dataclass(frozen=True, slots=True)
class Documentation:
    """The text that documents a function, and its node when it stands inside the function."""

    text: str = ""
    inside: tree_sitter.Node | None = None


def collect(
    path: str, content: bytes, wanted: Wanted, origin: Origin, collected: Collected
) -> None:
    """Add the functions of one file to what was collected, or the reason why there are none."""
    language = find(wanted.language)
    assert language is not None, f"harvesting an unknown language {wanted.language!r}"
    try:
        tree = parse(Snippet(path, language.decode(content), wanted.language))
    except (UnparsableSnippet, ValueError) as exc:
        collected.skipped_files[str(exc)] += 1
        return
    counter: Counter[str] = Counter()
    for found in outermost_functions(tree):
        reason = why_incomplete(found)
        if reason is not None:
            collected.skipped_functions[reason] += 1
            continue
        number = count_name(counter, qualified_name(tree, found))
        documentation = find_documentation(tree, found)
        record = make_record(tree, path, origin, found, documentation, number)
        reason = _why_unwanted(record, wanted)
        if reason is None:
            collected.records.append(record)
        else:
            collected.skipped_functions[reason] += 1


def outermost_functions(tree: Tree) -> Iterator[Found]:
    """Functions in document order; one inside another is part of it and not found by itself."""
    language = tree.language
    functions, comments = language.functions, language.tokens.comments
    stack: list[Found] = [Found(tree.root, (), ())]
    while stack:
        here = stack.pop()
        if here.node.type in functions:
            yield here
            continue
        classes = here.classes
        is_class = here.node.type in language.classes and here.node.start_byte >= tree.offset
        if is_class and (name := _name(tree, here.node)):
            classes = (*classes, name)
        inside: list[Found] = []
        # what bears a function hands on the comments before it, and its name
        is_bearer = here.node.type in language.bearers
        name = (_borne_name(tree, here.node) or here.name) if is_bearer else ""
        # what stands before a block stands before its first statement: Ruby's bodies begin there
        hands_on = is_bearer or here.node.type in language.blocks
        before = list(here.comments) if hands_on else []
        for child in here.node.named_children:
            if child.type in comments:
                before.append(child)
                continue
            if child.child_count:
                inside.append(Found(child, classes, tuple(before), name))
            if not is_bearer:
                before.clear()
        stack.extend(reversed(inside))


def qualified_name(tree: Tree, found: Found) -> str:
    """`Class.method`, or with the signs of its language `Module::Class#method`."""
    node, language = found.node, tree.language
    classes = language.class_sign.join((*found.classes, *_owner(tree, node)))
    sign = language.function_signs.get(node.type, language.class_sign) if classes else ""
    return classes + sign + (_name(tree, node) or found.name)


def count_name(counter: Counter[str], name: str) -> int:
    """How often a file has had a function of this name, this one included."""
    counter[name] += 1
    return counter[name]


def function_id(path: str, name: str, number: int = 1) -> str:
    """What names a function in its tree, whatever lines come before it.

    `("a/b.py", "Class.method", 1) -> "a/b.py::Class.method"`; the second one of that name in the
    file is `a/b.py::Class.method#2`.
    """
    return f"{path}::{name}" if number == 1 else f"{path}::{name}#{number}"


def make_record(
    tree: Tree,
    path: str,
    origin: Origin,
    found: Found,
    documentation: Documentation,
    number: int = 1,
) -> Record:
    """One record. The first line of `code` has no indentation, the others have the file's."""
    node = found.node
    code = tree.text(node)
    name = qualified_name(tree, found)
    return {
        "repo": origin.repo,
        "path": path,
        "func_name": name,
        "original_string": code,
        "language": tree.language.name,
        "code": code,
        "code_tokens": tokens_of(tree, node, documentation.inside),
        "docstring": documentation.text,
        "docstring_tokens": _WORDS.findall(documentation.text),
        "sha": origin.sha,
        # the id of the record for all that comes later: no line number, which every commit moves
        "url": function_id(path, name, number),
        "partition": "train",
    }


def find_documentation(tree: Tree, found: Found) -> Documentation:
    """A function's documentation, without quotes, signs of comments and margins."""
    body, docstring = found.node.child_by_field_name("body"), tree.language.docstring
    if docstring is not None and body is not None:
        comments = tree.language.tokens.comments
        first = next((each for each in body.named_children if each.type not in comments), None)
        if first is not None and is_docstring(tree.language, first):
            literal = first.named_children[0]
            quoted = re.fullmatch(docstring.quoted, tree.text(literal))
            if quoted is not None:
                return Documentation(quoted["text"].strip(), literal)
    for form in tree.language.doc_comments:
        if lines := _documenting_lines(tree, found, form):
            texts = (re.sub(rf"\A{form.margin}", "", line).rstrip() for line in lines)
            return Documentation("\n".join(texts).strip())
    return Documentation()


def _documenting_lines(tree: Tree, found: Found, form: DocComment) -> list[str]:
    """The lines of the nearest comment of this form; of one line each, all that touch."""
    lines: list[str] = []
    row = found.node.start_point[0]
    for comment in reversed(found.comments):
        text = tree.text(comment)
        fits = text.startswith(form.opening) and text.endswith(form.closing)
        if fits and form.closing and len(text) >= len(form.opening + form.closing):
            return text[len(form.opening) : -len(form.closing)].splitlines()
        if not form.closing:
            if not fits or comment.start_point[0] != row - 1 or not _opens_line(tree, comment):
                break
            row = comment.start_point[0]
            lines.insert(0, text[len(form.opening) :])
    return lines


def _opens_line(tree: Tree, node: tree_sitter.Node) -> bool:
    """Whether nothing stands before a node on its line."""
    line = tree.source.rfind(b"\n", 0, node.start_byte) + 1
    return not tree.source[line : node.start_byte].strip()


def tokens_of(
    tree: Tree, node: tree_sitter.Node, left_out: tree_sitter.Node | None = None
) -> list[str]:
    """The tokens below a node without comments; a string literal is one token."""
    known = tree.language.tokens
    silent = known.comments | known.layout
    source = tree.source
    skip = left_out.start_byte if left_out is not None else -1
    tokens: list[str] = []
    stack: list[tree_sitter.Node] = [node]
    while stack:
        here = stack.pop()
        kind = here.type
        if kind in silent:
            continue
        if here.child_count and kind not in known.opaque:
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


def why_incomplete(found: Found) -> str | None:
    """Why a function is none that can be named and read, or None."""
    if found.node.child_by_field_name("body") is None:
        return "no body"
    is_named = found.name or found.node.child_by_field_name("name") is not None
    return None if is_named else "no name"


def _borne_name(tree: Tree, bearer: tree_sitter.Node) -> str:
    place = tree.language.bearers[bearer.type]
    node = bearer.child_by_field_name(place) if place is not None else None
    return "" if node is None else tree.text(node).strip("\"'")


def _name(tree: Tree, node: tree_sitter.Node) -> str:
    named = node.child_by_field_name("name")
    return "" if named is None else tree.text(named)


def _owner(tree: Tree, function: tree_sitter.Node) -> Iterator[str]:
    """The type that a function names as its own, where the language has it so."""
    if tree.language.owner is None:
        return
    place, wanted = tree.language.owner
    stack = [function.child_by_field_name(place)]
    while stack:
        node = stack.pop()
        if node is not None and node.type == wanted:
            yield tree.text(node)
            return
        stack.extend(reversed(node.named_children) if node is not None else ())


def collect_all(files: Sequence[tuple[str, bytes]], wanted: Wanted, origin: Origin) -> Collected:
    """The worker's share: the functions of some files."""
    collected = Collected()
    for path, content in files:
        collect(path, content, wanted, origin, collected)
    return collected
