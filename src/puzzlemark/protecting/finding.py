"""Where the marks of a manifest are now: lines move, functions change, files get other names.

A mark is looked for in this order: its function as it was written, with the mark or without it, in
its own file or in another one; then the function of its name, changed by somebody since.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from puzzlemark.embedding.manifest import Carrier
from puzzlemark.errors import EditMismatch, UnparsableSnippet, UnsafeRename
from puzzlemark.languages.base import every_language
from puzzlemark.protecting.sources import Placed, digest
from puzzlemark.snippet import Edit, Snippet, apply_edits, invert_edits
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions
from puzzlemark.watermarks.base import Mark, Part

# stands: in the code as it was written. changed: in a function that somebody changed. grown in: the
# same, and the old name is another variable's now. away: the function is as it was before the mark.
# lost: the function changed, and the mark is not in it. gone: there is no such function.
State = Literal["stands", "changed", "grown in", "away", "lost", "gone"]


@dataclass(frozen=True, slots=True)
class Sight:
    """A mark of the manifest, and what became of it."""

    carrier: Carrier
    state: State
    function: Placed | None = None  # as it is now
    undo: tuple[Edit, ...] = ()  # edits of its code that take the mark out
    index: int | None = None  # of the function inside it that carries; as the manifest's if None

    @property
    def is_there(self) -> bool:
        """Whether the mark is in the code."""
        return self.state in ("stands", "changed", "grown in")

    @property
    def mark(self) -> Mark:
        """The mark as it has to stand in the manifest now, for the code without it."""
        (mark,) = self.carrier.marks
        if self.state in ("stands", "away"):
            return mark
        parts = mark.parts
        if self.state == "grown in":
            parts = tuple(Part(each.role, each.text) for each in parts)
        return replace(mark, parts=parts, edits=invert_edits(self.undo), function=self.index)


def find_marks(carriers: Iterable[Carrier], placed: Sequence[Placed]) -> list[Sight]:
    """What became of each mark, in the order of the manifest."""
    search = _Search(placed)
    waiting = list(carriers)
    seen: dict[str, Sight] = {}
    for look in (
        search.as_written,
        search.by_id,
        search.by_name,
        search.elsewhere,
        search.moved,
        search.without_mark,
    ):
        for carrier in waiting:
            sight = look(carrier)
            if sight is not None:
                assert sight.function is not None, "that is what was found"
                search.taken.add(sight.function.id)
                seen[carrier.id] = sight
        waiting = [carrier for carrier in waiting if carrier.id not in seen]
    return [seen.get(carrier.id) or Sight(carrier, "gone") for carrier in carriers]


class _Search:
    def __init__(self, placed: Sequence[Placed]) -> None:
        self.taken: set[str] = set()
        self.known = {each.id: each for each in placed}
        self.groups: defaultdict[tuple[str, str], list[Placed]] = defaultdict(list)
        self.namesakes: defaultdict[str, list[Placed]] = defaultdict(list)
        for each in placed:
            self.groups[each.group].append(each)
            self.namesakes[_last(each.name)].append(each)

    def as_written(self, carrier: Carrier) -> Sight | None:
        """In its own file, under its own name."""
        return self._exact(carrier, self._group(carrier))

    def by_id(self, carrier: Carrier) -> Sight | None:
        """Changed since, under its own id."""
        own = [each for each in self._group(carrier) if each.id == carrier.id]
        return self._there(carrier, own)

    def by_name(self, carrier: Carrier) -> Sight | None:
        """Changed since, and another one of that name was put before it or taken away."""
        return self._there(carrier, self._group(carrier))

    def elsewhere(self, carrier: Carrier) -> Sight | None:
        """As it was written, in another file or class: the code itself tells."""
        if any(True for _ in self._group(carrier)):
            return None
        return self._exact(carrier, self._free(self.namesakes[_last(name_of(carrier.id))]))

    def moved(self, carrier: Carrier) -> Sight | None:
        """Moved to another file and changed: only where the mark itself is still in it."""
        if any(True for _ in self._group(carrier)):
            return None
        name = name_of(carrier.id)
        others = [each for each in self.namesakes[_last(name)] if each.name == name]
        there = [self._there(carrier, [each]) for each in self._free(others)]
        found = [sight for sight in there if sight is not None]
        return found[0] if len(found) == 1 else None

    def without_mark(self, carrier: Carrier) -> Sight | None:
        """The function is there, and changed so that the mark is not in it."""
        own = next(self._group(carrier), None)
        return None if own is None else Sight(carrier, "lost", own)

    def _there(self, carrier: Carrier, placed: Iterable[Placed]) -> Sight | None:
        sights = (_changed(carrier, each) for each in placed)
        return next((sight for sight in sights if sight.is_there), None)

    def _group(self, carrier: Carrier) -> Iterator[Placed]:
        """Its own id first, then the others of that name in the file."""
        own = self.known.get(carrier.id)
        path = path_of(carrier.id)
        group = self.groups[path, name_of(carrier.id)]
        return self._free([*([own] if own else []), *(each for each in group if each is not own)])

    def _free(self, placed: Iterable[Placed]) -> Iterator[Placed]:
        return (each for each in placed if each.id not in self.taken)

    def _exact(self, carrier: Carrier, placed: Iterable[Placed]) -> Sight | None:
        (mark,) = carrier.marks
        for each in placed:
            if digest(each.code) == carrier.digest:
                return Sight(carrier, "stands", each, invert_edits(mark.edits))
            try:
                marked = apply_edits(each.code, mark.edits)
            except EditMismatch:
                continue
            if digest(marked) == carrier.digest:
                return Sight(carrier, "away", each)
        return None


def _changed(carrier: Carrier, placed: Placed) -> Sight:
    """A function that somebody changed: is the mark still in it, and can it be taken out?"""
    (mark,) = carrier.marks
    wanted = {part.text for part in mark.parts}
    target = mark.of("target")
    try:
        tree = parse(Snippet(placed.id, placed.code.decode(), placed.language))
    except UnparsableSnippet:
        return Sight(carrier, "lost", placed)
    for function in functions(tree):
        names = {variable.name for variable in function.variables}
        if not wanted <= names:
            continue
        if target.was is None:
            return Sight(carrier, "changed", placed, (), function.index)
        try:
            undo = rename(tree, function, {target.text: target.was}, "safe")
        except UnsafeRename:
            return Sight(carrier, "grown in", placed, (), function.index)
        return Sight(carrier, "changed", placed, undo, function.index)
    return Sight(carrier, "lost", placed)


def path_of(id_: str) -> str:
    """`"a/b.py::Class.method#2" -> "a/b.py"`."""
    return id_.partition("::")[0]


def name_of(id_: str) -> str:
    """`"a/b.py::Class.method#2" -> "Class.method"`."""
    name = id_.partition("::")[2]
    head, sign, number = name.rpartition("#")
    return head if sign and head and number.isdigit() else name


def _last(name: str) -> str:
    """What a function is called without its classes: `"Shop::Cart#total" -> "total"`."""
    return _signs().split(name)[-1]


@cache
def _signs() -> re.Pattern[str]:
    """What stands between classes and functions, in any language."""
    signs = {
        sign
        for language in every_language()
        for sign in (language.class_sign, *language.function_signs.values())
    }
    return re.compile("|".join(re.escape(sign) for sign in sorted(signs)))
