"""DeCoMa's two channels: abstract expressions and identifiers of one function."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import tree_sitter

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import Language, find, title_of
from puzzlemark.snippet import Edit, Snippet, apply_edits
from puzzlemark.syntax.tree import parser_of, refuse_depth

VARIABLE, STRING, NUMBER, VALUE = "__variable__", "__str__", "__num__", "__value__"
PLACEHOLDERS = (VARIABLE, STRING, NUMBER, VALUE)

# Expressions inside of one; their texts are compared each with each. The most in the 19,357
# functions of our two samples of CodeSearchNet are 56.
MOST_NESTED = 2_000
TOO_MANY = f"more than {MOST_NESTED} expressions inside of one"

Identifiers = Literal["bound", "all"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Abstraction:
    """The two channels of one function, in order: expressions repeat, identifiers do not."""

    expressions: tuple[str, ...]
    identifiers: tuple[str, ...]


def abstract(
    snippet: Snippet, *, identifiers: Identifiers = "bound", old_java: bool = False
) -> Abstraction:
    """Both channels; raises UnparsableSnippet when comments cannot be told from code.

    Or when the code nests absurdly. Syntax errors are no obstacle: what the parser makes of such
    code is what is abstracted.
    """
    language = find(snippet.language)
    if language is None:
        raise UnparsableSnippet(f"decoma knows no {title_of(snippet.language)}")
    source = strip_comments(snippet.code, language).encode()
    parser = parser_of(language.grammar)
    root = parser.parse(source).root_node
    refuse_depth(root)
    header = _broken_header(root, source) if old_java and language.name == "java" else None
    names, edits = _placeholders(root, source, language, identifiers, header)
    rewritten = apply_edits(source, edits)
    expressions = _expressions(parser.parse(rewritten).root_node, rewritten, language)
    first = () if header is None else (header[0],)
    return Abstraction((*first, *expressions), names)


def strip_comments(code: str, language: Language) -> str:
    """The code without comments, docstrings and blank lines."""
    lines = language.lexing.strip_comments(code).split("\n")
    return "\n".join(line for line in lines if line.strip())


def _placeholders(
    root: tree_sitter.Node,
    source: bytes,
    language: Language,
    identifiers: Identifiers,
    header: tuple[str, str] | None,
) -> tuple[tuple[str, ...], list[Edit]]:
    """The identifiers, and the edits that put placeholders for them and for literals."""
    binders, known = language.binders, language.tokens
    names: dict[bytes, None] = {}
    if header is not None:
        names[header[1].encode()] = None
    edits: list[Edit] = []
    covered = 0  # an identifier within a string counts, but the string goes as a whole
    nodes, parents = [root], [""]  # written out, as this and the next are half of all the work
    while nodes:
        node, parent = nodes.pop(), parents.pop()
        kind = node.type
        if node.child_count:
            children = node.children
            nodes.extend(reversed(children))
            parents.extend([kind] * len(children))
        if kind in known.names:
            text = source[node.start_byte : node.end_byte]
            if text not in names and (identifiers == "all" or parent in binders):
                names[text] = None
            if text in names and node.start_byte >= covered:
                edits.append(Edit(node.start_byte, text, VARIABLE.encode()))
        elif kind in known.strings or kind in known.numbers:
            text = source[node.start_byte : node.end_byte]
            if node.start_byte >= covered and text != b"0":
                placeholder = STRING if kind in known.strings else NUMBER
                edits.append(Edit(node.start_byte, text, placeholder.encode()))
                covered = node.end_byte
    return tuple(name.decode("utf-8", "replace") for name in names), edits


def _expressions(root: tree_sitter.Node, source: bytes, language: Language) -> list[str]:
    """The texts of all expressions in pre-order, with those inside them as placeholders."""
    phrases, comments = language.phrases, language.tokens.comments
    leaves: list[int] = []
    tokens: list[str] = []
    spans: list[Span] = []
    nodes = [root]
    while nodes:
        node = nodes.pop()
        kind = node.type
        if kind in phrases:
            spans.append((node.start_byte, node.end_byte))
        if node.child_count:
            nodes.extend(reversed(node.children))
        elif kind not in comments and (end := node.end_byte) > (start := node.start_byte):
            leaves.append(start)
            text = source[start:end].decode("utf-8", "replace")
            tokens.append(" ".join(text.split()))  # a blank separates tokens and nothing else
    groups = list(_groups(spans))
    if any(last - first > MOST_NESTED for first, last in groups):
        raise UnparsableSnippet(TOO_MANY)
    texts = [" ".join(tokens[bisect_left(leaves, a) : bisect_left(leaves, b)]) for a, b in spans]
    for first, last in groups:
        texts[first:last] = _without_values(texts[first:last])
    return texts


def _groups(spans: Sequence[Span]) -> Iterator[Span]:
    """Runs of expressions inside their first one."""
    first = 0
    for at in range(1, len(spans) + 1):
        if at == len(spans) or not (
            spans[first][0] <= spans[at][0] and spans[at][1] <= spans[first][1]
        ):
            yield first, at
            first = at


def _without_values(texts: list[str]) -> list[str]:
    """Replace in each text those that come after it in the group: plain text, as published."""
    result: list[str] = []
    for at, text in enumerate(texts):
        current = text
        # the same text again finds nothing more to replace
        for other in dict.fromkeys(texts[at + 1 :]):
            if len(other) <= len(current) and other != text and other in current:
                current = current.replace(other, VALUE)
        result.append(current)
    return result


def _broken_header(root: tree_sitter.Node, source: bytes) -> tuple[str, str] | None:
    """What the grammar of 2020 saw in a bare method: a declaration of a variable with its name."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.type == "method_declaration":
            name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
            if name is None or kind is None:
                return None
            words = source[node.start_byte : kind.end_byte].decode("utf-8", "replace").split()
            return f"{' '.join(words)} {VARIABLE}", source[name.start_byte : name.end_byte].decode()
        nodes.extend(reversed(node.children))
    return None
