"""Rename every local variable to a plausible name: the attacker who keeps quality."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import accumulate
from typing import ClassVar, TypeAlias

import orjson
from tree_sitter import Node

from puzzlemark.attacks._editing import Edited, edit_records
from puzzlemark.attacks._renaming import rename_variables
from puzzlemark.attacks.base import NOTHING, Given, Input, Plan
from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.detectors.base import snippet_of
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.resuming import Kept, Work
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.naming import is_plain_identifier
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Policy, Variable, functions

# What a variable is: its language, how it is declared, and the type or value it is declared with.
# `("python", "assignment", "call")` is a part of `("python", "assignment")`, that of `("python",)`.
Role: TypeAlias = tuple[str, ...]
Counted: TypeAlias = tuple[int, dict[Role, Counter[str]]]  # records, and the names in them
MOST_NAMES = 100  # of a role: rarer ones are of one project
FEWEST = 20  # variables of a role, below which the wider one is drawn from
TRIES = 40  # draws for a variable, before it takes any name that is free


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a role, most frequent first, with their counts added up."""

    names: tuple[str, ...]
    totals: tuple[int, ...]


Lexicon: TypeAlias = Mapping[Role, Names]


@dataclass(frozen=True, slots=True)
class RenameNatural:
    """`RenameNatural()`: names are drawn from the dataset's own, by frequency and role."""

    policy: Policy = "safe"  # paper: parameters, too, which breaks callers that pass them by name
    seed: int = 0
    name: ClassVar[str] = "rename_natural"
    needs: ClassVar[frozenset[Input]] = NOTHING
    takes: ClassVar[frozenset[Input]] = NOTHING

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise UsageError(f"rename_natural: seed={self.seed}: 0 or more")

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Count the names of the dataset in one pass, give them out in a second."""
        lexicon = _lexicon(corpus, given)
        editor = partial(_rename, self, lexicon)
        return edit_records(editor, corpus, given, stage="renaming")


def role_of(tree: Tree, variable: Variable) -> Role:
    """`for row in rows` -> `("python", "for_statement", "left")`: by its first place."""
    start = variable.starts[0] + tree.offset
    node = tree.root.descendant_for_byte_range(start, start + len(variable.name.encode()))
    for above in _upwards(node):
        if above.type in tree.language.measures.declares:
            return (tree.language.name, above.type, _detail(tree, above))
    return (tree.language.name,)


def _detail(tree: Tree, node: Node) -> str:
    """The declared type, as it is spelled, else the kind of the value."""
    for owner in (node, *([node.parent] if node.parent is not None else ())):
        declared = owner.child_by_field_name("type")
        if declared is not None:
            return tree.text(declared)
    for field in ("right", "value"):
        value = node.child_by_field_name(field)
        if value is not None:
            return value.type
    return ""


def _upwards(node: Node | None) -> Iterator[Node]:
    while node is not None:
        yield node
        node = node.parent


def _lexicon(corpus: Corpus, given: Given) -> Lexicon:
    """The usual names of each role that is met often enough."""
    counts: dict[Role, Counter[str]] = defaultdict(Counter)
    done = 0
    kept = Kept(Work(given.cache), "parts/names", _pack, _unpack)
    for records, some in corpus.map(_count_names, given.engine, kept=kept):
        for role, names in some.items():
            counts[role].update(names)
        done += records
        given.progress("names", done, None)
    return {role: _most(names) for role, names in counts.items() if names.total() >= FEWEST}


def _pack(parts: list[Counted]) -> bytes:
    return orjson.dumps([[records, [*some.items()]] for records, some in parts])


def _unpack(content: bytes) -> list[Counted]:
    return [
        (records, {tuple(role): Counter(names) for role, names in some})
        for records, some in orjson.loads(content)
    ]


def _count_names(batch: Batch) -> Counted:
    counts: dict[Role, Counter[str]] = defaultdict(Counter)
    for entry in batch.entries():
        try:
            tree = parse(snippet_of(entry))
        except UnparsableSnippet:
            continue
        for function in functions(tree):
            for variable in function.variables:
                if is_plain_identifier(variable.name):
                    for wider in _widening(role_of(tree, variable)):
                        counts[wider][variable.name] += 1
    return len(batch.rows), dict(counts)


def _widening(role: Role) -> Iterator[Role]:
    """The role, then those that it is a part of."""
    for length in range(len(role), 0, -1):
        yield role[:length]


def _most(counts: Counter[str]) -> Names:
    # by count, then by name: batches may come in other sizes from another format
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_NAMES]
    return Names(tuple(name for name, _ in ordered), tuple(accumulate(n for _, n in ordered)))


def _rename(
    settings: RenameNatural, lexicon: Lexicon, snippet: Snippet, _notes: tuple[str, ...]
) -> Edited:
    tree = parse(snippet)
    text = f"{settings.seed}\n{snippet.id}\n{snippet.code}".encode("utf-8", "replace")
    rng = random.Random(blake2b(text, digest_size=16).digest())

    def name(_function: Function, variable: Variable, is_free: Callable[[str], bool]) -> str | None:
        roles = [lexicon[role] for role in _widening(role_of(tree, variable)) if role in lexicon]
        return _draw(roles, rng, is_free)

    return rename_variables(snippet, lambda _: True, name, settings.policy)


def _draw(roles: Sequence[Names], rng: random.Random, is_free: Callable[[str], bool]) -> str | None:
    """A name of the narrowest role that has a free one, drawn by frequency."""
    for role in roles:
        drawn = rng.choices(role.names, cum_weights=role.totals, k=TRIES)
        for name in (*drawn, *role.names):
            if is_free(name):
                return name
    return None


PLUGIN = RenameNatural
