"""Parsing with tree-sitter."""

import importlib
from dataclasses import dataclass
from functools import cache

import tree_sitter

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import Language, find
from puzzlemark.snippet import Snippet


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
    """The snippet's tree; raises UnparsableSnippet when it has syntax errors in it."""
    language = find(snippet.language)
    if language is None:
        raise UnparsableSnippet(f"no grammar for the language {snippet.language!r}")
    try:
        code = snippet.code.encode()
    except UnicodeEncodeError as exc:  # a lone surrogate, which JSON can spell and UTF-8 cannot
        raise UnparsableSnippet("not valid Unicode") from exc
    if not code.strip():
        raise UnparsableSnippet("empty code")
    parser = _parser(language.grammar)
    root = parser.parse(code).root_node
    if not root.has_error:
        return Tree(snippet, language, code, root)
    if language.wrapper is not None:
        before, after = language.wrapper
        wrapped = before + code + after
        root = parser.parse(wrapped).root_node
        if not root.has_error:
            return Tree(snippet, language, wrapped, root, len(before))
    raise UnparsableSnippet("syntax errors")


@cache
def _parser(grammar: str) -> tree_sitter.Parser:
    module = importlib.import_module(grammar)
    return tree_sitter.Parser(tree_sitter.Language(module.language()))
