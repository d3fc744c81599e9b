"""Strip comments and docstrings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from tree_sitter import Node

from puzzlemark.attacks._editing import Edited, edit_records
from puzzlemark.attacks.base import NOTHING, Given, Input, Plan, Spared
from puzzlemark.corpora.base import Corpus
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.snippet import Edit, Snippet, apply_edits
from puzzlemark.syntax.tree import Tree, is_docstring, parse

# code that reads documentation behaves otherwise without it
READS_DOCUMENTATION = re.compile(rb"\b(?:__doc__|getdoc|getcomments|getsource\w*|doctest)\b")
BLANK = b" \t\f"


@dataclass(frozen=True, slots=True)
class Comments:
    """`Comments()`; with `docstrings=False` only comments go."""

    docstrings: bool = True
    name: ClassVar[str] = "comments"
    needs: ClassVar[frozenset[Input]] = NOTHING
    takes: ClassVar[frozenset[Input]] = NOTHING

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Strip every record that parses before and after."""
        return edit_records(partial(_strip, self), corpus, given, stage="stripping")


def _strip(settings: Comments, snippet: Snippet, _notes: tuple[str, ...]) -> Edited:
    tree = parse(snippet)
    reads = READS_DOCUMENTATION.search(tree.code) is not None
    comments = [node for node in _comments(tree) if not _is_code(tree, node)]
    docstrings = [] if reads or not settings.docstrings else list(_docstrings(tree))
    cuts = (_take(tree, start, end) for start, end in _stretches(tree, comments))
    edits = _merged(tree, [*cuts, *(_drop(tree, node) for node in docstrings)])
    if not edits:
        return Edited()
    code = apply_edits(tree.code, edits).decode()
    try:
        parse(replace(snippet, code=code))
    except UnparsableSnippet as exc:
        raise Spared("does not parse without its comments") from exc
    counts = {"comments stripped": len(comments), "docstrings stripped": len(docstrings)}
    return Edited(edits, {what: count for what, count in counts.items() if count})


def _walk(tree: Tree) -> Iterator[Node]:
    stack = [tree.root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _comments(tree: Tree) -> Iterator[Node]:
    """Comments of the snippet itself, not of what it is wrapped in; none inside of a comment."""
    end = 0
    for node in _walk(tree):
        if node.type in tree.language.tokens.comments and node.start_byte >= end:
            end = node.end_byte
            yield node


def _docstrings(tree: Tree) -> Iterator[Node]:
    """Strings that are statements: one with a value in it (`f"{f()}"`) does something."""
    docstring = tree.language.docstring
    for node in _walk(tree):
        if (
            docstring is not None
            and is_docstring(tree.language, node)
            and re.fullmatch(docstring.quoted, tree.text(node).strip()) is not None
        ):
            yield node


def _is_code(tree: Tree, node: Node) -> bool:
    """Whether some tool compiles this comment, or a program finds its interpreter by it.

    Java reads `\\u000a` before all else, also in a comment: what comes after it is code.
    """
    text = tree.text(node)
    is_first = node.start_byte == tree.offset and text.startswith("#!")
    return is_first or "\\u" in text or text.startswith(tree.language.code_comments)


def _stretches(tree: Tree, comments: list[Node]) -> Iterator[tuple[int, int]]:
    """Where comments begin and end; those with nothing but blanks between them are one."""
    start = end = -1
    for node in comments:
        if end >= 0 and tree.source[end : node.start_byte].strip(BLANK):
            yield start, end
            start = -1
        start = node.start_byte if start < 0 else start
        # some grammars count the end of the line to a comment
        text = tree.source[node.start_byte : node.end_byte]
        end = node.start_byte + len(text.rstrip(b"\r\n"))
    if end >= 0:
        yield start, end


def _drop(tree: Tree, node: Node) -> Edit:
    """The edit that takes a statement away; `pass` for one that others need on their line."""
    before, after = _around(tree, node.start_byte, node.end_byte)
    others = [
        each
        for each in (node.parent.named_children if node.parent is not None else ())
        if each.type not in tree.language.tokens.comments and not is_docstring(tree.language, each)
    ]
    if others and not before.strip(BLANK) and not after.strip(BLANK):
        return _take(tree, node.start_byte, node.end_byte)
    start = node.start_byte - tree.offset
    return Edit(start, tree.source[node.start_byte : node.end_byte], b"pass")


def _around(tree: Tree, start: int, end: int) -> tuple[bytes, bytes]:
    """What stands on the line before, and on the line after."""
    source = tree.source
    first = max(tree.offset, source.rfind(b"\n", 0, start) + 1)
    close = tree.offset + len(tree.code)
    last = source.find(b"\n", end, close)
    return source[first:start], source[end : last if last >= 0 else close]


def _take(tree: Tree, start: int, end: int) -> Edit:
    """Take a stretch away: its whole lines, the rest of its line, or a part between code."""
    before, after = _around(tree, start, end)
    if before.strip(BLANK) and after.strip(BLANK + b"\r"):
        is_apart = before[-1:] in BLANK or after[:1] in BLANK
        text = b"" if is_apart else b" "
    elif before.strip(BLANK):
        start -= len(before) - len(before.rstrip(BLANK))
        end += len(after) - len(after.lstrip(BLANK))
        text = b""
    elif after.strip(BLANK + b"\r"):
        end += len(after) - len(after.lstrip(BLANK))  # the indentation stays
        text = b""
    else:
        start -= len(before)
        end += len(after)
        close = tree.offset + len(tree.code)
        if end < close:
            end += 1  # its line feed
        elif start > tree.offset:  # the last line: that of the one before
            start -= 2 if tree.source[start - 2 : start] == b"\r\n" else 1
        text = b""
    return Edit(start - tree.offset, tree.source[start:end], text)


def _merged(tree: Tree, edits: list[Edit]) -> tuple[Edit, ...]:
    """Edits that meet are one: two comments on one line take the same blank."""
    merged: list[Edit] = []
    for edit in sorted(edits):
        if merged and edit.start < merged[-1].end:
            start, end = merged[-1].start, max(merged[-1].end, edit.end)
            old = tree.code[start:end]
            merged[-1] = Edit(start, old, max(merged[-1].new, edit.new))
        else:
            merged.append(edit)
    return tuple(merged)


PLUGIN = Comments
