"""Parsing with tree-sitter."""

import importlib
from dataclasses import dataclass
from functools import cache

import tree_sitter

from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.languages.base import Grammar, Language, find
from puzzlemark.snippet import Snippet

# Levels of a tree. The deepest of 195,955 functions of CodeSearchNet has 209, and CPython itself
# refuses 200 nested parentheses; what goes far beyond was made to break its readers.
DEEPEST = 1_000
ALONE = (b"", b"")
TOO_DEEP = f"nested too deeply (more than {DEEPEST} levels)"


@dataclass(frozen=True, slots=True)
class Tree:
    """A snippet that parses. Offsets of `root` count from `offset` bytes before the snippet."""

    snippet: Snippet
    language: Language
    source: bytes  # what was parsed: the snippet, inside the language's wrapper where it needed one
    root: tree_sitter.Node
    offset: int = 0

    @property
    def code(self) -> bytes:
        """The snippet's own bytes."""
        return self.snippet.code.encode()

    def text(self, node: tree_sitter.Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte].decode()


def parse(snippet: Snippet) -> Tree:
    """The snippet's tree; raises UnparsableSnippet when it has syntax errors, or nests too deeply.

    So nobody who walks over a tree needs to fear its depth.
    """
    language = find(snippet.language)
    if language is None:
        raise UnparsableSnippet(f"no grammar for the language {snippet.language!r}")
    try:
        code = snippet.code.encode()
    except UnicodeEncodeError as exc:  # a lone surrogate, which JSON can spell and UTF-8 cannot
        raise UnparsableSnippet("not valid Unicode") from exc
    if not code.strip():
        raise UnparsableSnippet("empty code")
    parser, reason = parser_of(language.grammar), "syntax errors"
    for before, after in (ALONE, *([language.wrapper] if language.wrapper else [])):
        source = before + code + after
        root = parser.parse(source).root_node
        if root.has_error:
            continue
        refuse_depth(root)
        if not language.needs_function or _has_function(language, root):
            return Tree(snippet, language, source, root, len(before))
        reason = "no function in it"
    raise UnparsableSnippet(reason)


def _has_function(language: Language, root: tree_sitter.Node) -> bool:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in language.functions:
            return True
        stack.extend(node.named_children)
    return False


def refuse_depth(root: tree_sitter.Node) -> None:
    """Raise UnparsableSnippet when a tree has more than DEEPEST levels.

    Only nodes with enough below them to get there are looked into: few functions have one.
    """
    level, depth = [root], 1
    while level := [node for node in level if depth + node.descendant_count > DEEPEST + 1]:
        if depth == DEEPEST:
            raise UnparsableSnippet(TOO_DEEP)
        level = [child for node in level for child in node.children if child.child_count]
        depth += 1


def have_same_shape(one: tree_sitter.Node, other: tree_sitter.Node) -> bool:
    """Whether two trees have the same kinds of nodes in the same places, names and tokens alike.

    A cursor, not `str(node)`: that recurses in C, and a deep tree ends the process.
    """
    left, right = one.walk(), other.walk()
    left_down, left_along = left.goto_first_child, left.goto_next_sibling
    right_down, right_along = right.goto_first_child, right.goto_next_sibling
    while True:
        here, there = left.node, right.node
        assert here is not None, "a cursor always stands on a node"
        assert there is not None, "a cursor always stands on a node"
        if here.kind_id != there.kind_id or left.field_id != right.field_id:
            return False
        if (down := left_down()) != right_down():
            return False
        while not down:
            if (down := left_along()) != right_along():
                return False
            if not down and not (left.goto_parent() and right.goto_parent()):
                return True


def is_docstring(language: Language, node: tree_sitter.Node) -> bool:
    """Whether a statement is a string and nothing else: documentation, where there is any."""
    docstring = language.docstring
    if docstring is None or node.type != docstring.statement:
        return False
    return [child.type for child in node.named_children] == [docstring.string]


@cache
def load_grammar(grammar: Grammar) -> tree_sitter.Language:
    """tree-sitter's own tables; an error names the package that is missing."""
    try:
        entry = getattr(importlib.import_module(grammar.module), grammar.entry)
    except (ImportError, AttributeError) as exc:
        raise UsageError(
            f"no grammar {grammar.module}.{grammar.entry}(): pip install {grammar.package}"
        ) from exc
    return tree_sitter.Language(entry())


@cache
def parser_of(grammar: Grammar) -> tree_sitter.Parser:
    """A parser, which also takes code with syntax errors."""
    return tree_sitter.Parser(load_grammar(grammar))
