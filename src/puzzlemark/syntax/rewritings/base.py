"""What a rewriting is: it finds an expression in both of its forms and can write either as other.

A rewriting never moves or copies what it stands around: it says which bytes of its own to put,
replace or take away, in splices. So nested expressions need no order of work. Splices of an outer
and of an inner expression can touch but not overlap, and `compose` joins those that touch.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, Protocol, cast

from tree_sitter import Node

from puzzlemark import plugins
from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

Form = Literal["original", "equivalent"]


@dataclass(frozen=True, slots=True)
class Splice:
    """Bytes `old` at `start` become `new`; an insertion leans on the text that it belongs to."""

    start: int
    old: bytes
    new: bytes
    leans: Literal["left", "right"] = "left"  # `)` leans left, `new String(` leans right


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An expression in one of its two forms, with the splices that write it in the other."""

    start: int  # byte offsets in the snippet
    end: int
    form: Form
    splices: tuple[Splice, ...]

    @property
    def span(self) -> tuple[int, int]:
        """Start and end."""
        return self.start, self.end


class Rewriting(Protocol):
    """The shape of each file of this package."""

    LANGUAGE: str
    ORIGINAL: str  # how people read the two forms: `range(...)`
    EQUIVALENT: str
    HIT: str  # regular expression: what a completion that writes the equivalent form contains

    def may_occur(self, code: bytes) -> bool:
        """Whether either form could stand in the code: a cheap look, never wrongly no."""
        ...

    def find(self, tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:
        """Every occurrence that may be rewritten under the policy, by start; outer before inner."""
        ...


def load(name: str) -> Rewriting:
    """`load("range_start")`."""
    return cast("Rewriting", plugins.find("syntax.rewritings", name))


def compose(occurrences: Iterable[Occurrence]) -> tuple[Edit, ...]:
    """Edits that write each occurrence in its other form, whatever is nested in whatever.

    At one place, first what closes on the left, from the inside out, then what opens on the right,
    from the outside in: `"x" != null` -> `null != new String("x")`.
    """
    ranked = [(s.start, *_rank(s, each), s) for each in occurrences for s in each.splices]
    ranked.sort(key=lambda piece: piece[:3])
    edits: list[Edit] = []
    for start, group in groupby(ranked, key=lambda piece: piece[0]):
        splices = [splice for *_, splice in group]
        replaced = [splice.old for splice in splices if splice.old]
        assert len(replaced) < 2, f"two rewritings replace the same bytes at {start}"
        assert not edits or edits[-1].end <= start, f"rewritings overlap at byte {start}"
        edit = Edit(start, b"".join(replaced), b"".join(splice.new for splice in splices))
        if edits and edits[-1].end == start:  # two deletions side by side could not be undone
            last = edits.pop()
            edit = Edit(last.start, last.old + edit.old, last.new + edit.new)
        edits.append(edit)
    return tuple(edits)


def _rank(splice: Splice, owner: Occurrence) -> tuple[int, int]:
    length = owner.end - owner.start
    if splice.old:
        return 2, 0  # after all that is put before it
    return (0, length) if splice.leans == "left" else (1, -length)


def walk(tree: Tree, skip: Callable[[Node], bool]) -> Iterator[tuple[Node, Node]]:
    """Every named node but the root with its parent, an outer one before those inside it.

    What `skip` says yes to is left out with all that is in it.
    """
    stack = [(child, tree.root) for child in reversed(tree.root.named_children)]
    while stack:
        node, parent = stack.pop()
        if not skip(node):
            yield node, parent
            stack.extend((child, node) for child in reversed(node.named_children))


def occurrence(tree: Tree, node: Node, form: Form, *splices: Splice) -> Occurrence:
    """A node as an occurrence: offsets of the node and splices become those of the snippet."""
    at = tree.offset
    moved = (Splice(s.start - at, s.old, s.new, s.leans) for s in splices)
    return Occurrence(node.start_byte - at, node.end_byte - at, form, tuple(moved))


def insert_before(node: Node, text: bytes) -> Splice:
    """Put text right before a node."""
    return Splice(node.start_byte, b"", text, "right")


def insert_after(node: Node, text: bytes) -> Splice:
    """Put text right after a node."""
    return Splice(node.end_byte, b"", text, "left")


def replace(tree: Tree, start: int, end: int, text: bytes = b"") -> Splice:
    """Put text, or nothing, for what stands between two offsets of the tree."""
    return Splice(start, tree.source[start:end], text)


def has_comment(tree: Tree, node: Node, start: int = 0, end: int | None = None) -> bool:
    """Whether a comment stands among a node's own children, which a rewriting would lose."""
    known = tree.language.tokens.comments
    comments = [child for child in node.named_children if child.type in known]
    return any(
        each.start_byte >= start and (end is None or each.end_byte <= end) for each in comments
    )


def arguments(tree: Tree, node: Node) -> list[Node]:
    """The arguments of an argument list, without comments."""
    comments = tree.language.tokens.comments
    return [child for child in node.named_children if child.type not in comments]
