"""Scopes read off a table: one resolver for languages whose rules are about blocks and functions.

A language's file in this folder fills in a `Table`: which nodes open a scope, which bind names,
from where on a name can be seen. Three passes follow from it, over a whole snippet at once:

1. The walk notes every scope, every name that is bound, and every other name that is used.
2. Each use is looked up from its scope outwards.
3. The audit: whatever else is spelt like a variable, and is not known to be harmless, makes the
   variable keep its name. A node type that is in no table makes the whole function keep its names.
"""

import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from tree_sitter import Node

from puzzlemark.languages.base import NONE, NodeTypes
from puzzlemark.syntax.naming import is_plain_identifier
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, names_a_parameter

# From where on a name is seen: behind its declaration; in all of its block; in all of its function;
# in the block around the node that binds it (a function's own name); in its function's body only
Reach = Literal["after", "block", "function", "outer", "body"]

NOT_PLAIN = "name is not plain ASCII"
EQUAL_TO_STRING = "equal to a string"
SPELT_ALIKE = "spelt like something else in the function"
NAMES_OTHER = "also the name of a function or class"
LEAKS = "a function in a block has its name"
DECLARED_AGAIN = "declared again inside its own scope"
ESCAPED = "unicode escape in a name"
SHORTHAND = "property and variable at once"
NOWHERE = sys.maxsize
ALL = "*"  # every child, where a field could be named


@dataclass(frozen=True, slots=True)
class Binder:
    """A node type that binds names: `Binder(("left",), needs=":=")` for Go's `x := 1`."""

    at: tuple[str, ...]  # the fields that hold names or patterns, or ALL
    reach: Reach = "after"
    needs: str | None = None  # only where such a node stands directly inside
    since: str | None = (
        None  # with reach `after`: seen behind this field, not behind the whole node
    )
    reuses: bool = False  # a name that its own block has already is only assigned
    parameter: bool = False
    fixed: str | None = None  # bound, but never renamed, and why
    silent: bool = False  # bound, but no variable: Go's receiver
    shared: bool = False  # bound by each block inside as its own: Go's `switch x := y.(type)`
    leaks: bool = False  # inside a block it may be seen outside of it, too
    yields: bool = False  # a name of the same scope hides it: a function expression's own name


@dataclass(frozen=True, slots=True)
class Table:
    """All that is known of the scopes of a language. Every node type stands in one of the sets."""

    units: NodeTypes  # the functions that carry marks, and own the variables in them
    closures: NodeTypes  # whose variables are also those of the function around them
    functions: NodeTypes  # scopes that names with the reach `function` are bound in
    scopes: NodeTypes
    bodies: NodeTypes  # scopes that are none of their own directly below a function
    names: NodeTypes  # leaves that are a variable, or the name of something unseen
    binders: Mapping[str, tuple[Binder, ...]] = field(hash=False)
    patterns: Mapping[str, tuple[str, ...]] = field(hash=False)  # which of its fields hold names
    strings: NodeTypes
    comments: NodeTypes
    harmless: NodeTypes  # leaves of other name spaces: members, labels, parts of strings
    plain: NodeTypes  # neither bind nor limit names
    shorthand: NodeTypes = NONE  # those of the names that are a property as well: `{a}`
    signatures: NodeTypes = NONE  # scopes of types: what they bind is no variable
    bound_types: NodeTypes = NONE  # leaves that are a name only where they are bound: a class's
    blank: frozenset[bytes] = frozenset()  # names that bind nothing: `_`
    # fields, by the node that has them
    not_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    doubtful: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    sure: Mapping[str, NodeTypes] = field(default_factory=dict, hash=False)
    # what a function must not hold: a node type; or a word as the field of a node type
    dynamic: Mapping[str, str] = field(default_factory=dict, hash=False)
    dynamic_words: Mapping[tuple[str, str], Mapping[bytes, str]] = field(
        default_factory=dict, hash=False
    )
    # where a function without a name takes that of a variable: `const f = () => 1` is called `f`
    namers: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)
    named_values: NodeTypes = NONE
    namers_reason: str = ""


@lru_cache
def known_types(table: Table) -> NodeTypes:
    """Every node type that a table speaks of."""
    sets = (table.functions, table.scopes, table.names, table.strings, table.comments)
    more = (table.harmless, table.plain, table.signatures, table.bound_types)
    return NONE.union(*sets, *more, table.binders, table.patterns, table.dynamic)


class Scope:
    """A part of the source in which names are bound."""

    __slots__ = ("body", "is_function", "is_signature", "names", "parent", "start", "unit")

    def __init__(self, node: Node, parent: "Scope | None", unit: "Unit | None") -> None:
        self.start, self.parent, self.unit = node.start_byte, parent, unit
        self.is_function = parent is None
        self.is_signature = False
        self.body = 0  # where a function's body begins: parameters do not see what is bound there
        self.names: dict[bytes, list[Binding]] = {}


@dataclass(slots=True, eq=False)
class Unit:
    """A function that carries marks: its place, and the function around it."""

    start: int
    end: int
    around: "Unit | None"  # only where it is a closure of that one
    bindings: "list[Binding]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Binding:
    """One declared name, with every place that means it."""

    name: bytes
    declared: int
    visible: int  # from where on it is seen in its scope
    scope: Scope
    is_parameter: bool
    is_silent: bool
    fixed: str | None
    yields: bool
    is_shared: bool
    doubtful: str | None = None
    starts: set[int] = field(default_factory=set)


def resolve_by(table: Table, tree: Tree, node: Node) -> Function:
    """The variables of one function, by the table of its language.

    A name that is declared several times in a function is one variable, as in the paper.
    """
    reading = read(table, tree.root, tree.source)
    unit = reading.units[node.id]
    by_name: defaultdict[bytes, list[Binding]] = defaultdict(list)
    for binding in unit.bindings:
        by_name[binding.name].append(binding)
    comments = reading.comments_of(unit) if any(b.is_parameter for b in unit.bindings) else ""
    variables = [
        _variable(reading, unit, tree.offset, name, bindings, comments)
        for name, bindings in by_name.items()
    ]
    variables.sort(key=lambda variable: variable.starts)
    name = node.child_by_field_name("name")
    return Function(
        "" if name is None else tree.text(name), tuple(variables), reading.dynamic_in(unit)
    )


def _variable(
    reading: "Reading",
    unit: Unit,
    offset: int,
    word: bytes,
    bindings: list[Binding],
    comments: str,
) -> Variable:
    name = word.decode()
    fixed = NOT_PLAIN if not is_plain_identifier(name) else None
    is_parameter = any(each.is_parameter for each in bindings)
    documented = is_parameter and names_a_parameter(comments, name)
    return Variable(
        name,
        tuple(sorted(start - offset for each in bindings for start in each.starts)),
        is_parameter,
        fixed
        or next((each.fixed for each in bindings if each.fixed), None)
        or reading.leaks.get(word)
        or reading.spelt_alike(unit, word),
        "parameter named in a comment" if documented else None,
        next((each.doubtful for each in bindings if each.doubtful), None),
    )


@lru_cache(maxsize=2)  # the functions of a snippet ask one after another
def read(table: Table, root: Node, source: bytes) -> "Reading":
    """Everything that is bound and used in a snippet."""
    return Reading(table, root, source)


class Reading:
    """One snippet, read by a table."""

    def __init__(self, table: Table, root: Node, source: bytes) -> None:
        self.table, self.source = table, source
        self.bindings: list[Binding] = []
        self.units: dict[int, Unit] = {}  # by the id of their node
        self.leaks: dict[bytes, str] = {}
        self._uses: list[tuple[int, bytes, Scope, str | None]] = []
        self._naming: set[int] = set()  # places whose variable gives its name to a function
        self._others: defaultdict[bytes, list[tuple[int, str]]] = defaultdict(list)
        self._dynamic: list[tuple[int, str]] = []
        self._comments: list[tuple[int, int]] = []
        self._walk(root)
        self._resolve()
        self._dynamic.sort()

    # what a function asks

    def dynamic_in(self, unit: Unit) -> str | None:
        """Why nothing in a function may be renamed, or None."""
        at = bisect_left(self._dynamic, (unit.start, ""))
        if at < len(self._dynamic) and self._dynamic[at][0] < unit.end:
            return self._dynamic[at][1]
        return None

    def spelt_alike(self, unit: Unit, word: bytes) -> str | None:
        """Why something else in a function that is spelt like a variable keeps its name."""
        for start, reason in self._others.get(word, ()):
            if unit.start <= start < unit.end:
                return reason
        return None

    def comments_of(self, unit: Unit) -> str:
        """The comments in a function and right before it, or before the statement it stands in."""
        inside = [span for span in self._comments if unit.start <= span[0] < unit.end]
        at = unit.start
        for start, end in reversed(self._comments):
            if end <= at:
                if any(sign in self.source[end:at] for sign in b";{}"):
                    break
                inside.append((start, end))
                at = start
        return "\n".join(self.source[start:end].decode() for start, end in inside)

    # the walk

    def _walk(self, root: Node) -> None:
        table = self.table
        known, names, strings = known_types(table), table.names, table.strings
        openings = table.functions | table.scopes | table.signatures
        # what is still to be read, next on top: a list, because generated code nests deeply
        stack: list[tuple[Node, Scope, str | None, str]] = [
            (root, Scope(root, None, None), None, "")
        ]
        while stack:
            node, scope, doubt, above = stack.pop()
            kind = node.type
            if kind in names:
                self._use(node, scope, doubt, above)
                continue
            if not node.is_named:
                if kind.isalpha():
                    self._others[kind.encode()].append((node.start_byte, SPELT_ALIKE))
                continue
            if kind in table.comments:
                self._comments.append((node.start_byte, node.end_byte))
                continue
            if kind not in known:
                self._dynamic.append((node.start_byte, f"construct that is not known: {kind}"))
            if kind in table.dynamic:
                self._dynamic.append((node.start_byte, table.dynamic[kind]))
            if kind in strings:
                text = self.source[node.start_byte + 1 : node.end_byte - 1]
                self._others[text].append((node.start_byte, EQUAL_TO_STRING))
            elif not node.child_count:
                if kind not in table.harmless:
                    word = self.source[node.start_byte : node.end_byte]
                    self._others[word].append((node.start_byte, SPELT_ALIKE))
                continue
            inner = scope
            if kind in openings and not (kind in table.bodies and above in table.functions):
                inner = self._open(node, kind, scope)
            for binder in table.binders.get(kind, ()):
                self._bind_all(node, binder, scope if binder.reach == "outer" else inner, above)
            if kind in table.namers:
                self._note_naming(node, kind)
            if kind in table.doubtful or kind in table.not_names:
                stack.extend(self._children_by_field(node, kind, inner, doubt))
            else:
                stack.extend((child, inner, doubt, kind) for child in reversed(node.children))

    def _use(self, node: Node, scope: Scope, doubt: str | None, above: str) -> None:
        word = self.source[node.start_byte : node.end_byte]
        if b"\\" in word:
            self._dynamic.append((node.start_byte, ESCAPED))
        if node.type in self.table.shorthand:
            doubt = doubt or SHORTHAND
        self._uses.append((node.start_byte, word, scope, doubt))
        for (kind, place), words in self.table.dynamic_words.items():
            # only then: to find the node above begins at the root of the tree
            parent = node.parent if above == kind and word in words else None
            if parent is not None and parent.child_by_field_name(place) == node:
                self._dynamic.append((node.start_byte, words[word]))

    def _open(self, node: Node, kind: str, parent: Scope) -> Scope:
        unit = parent.unit
        if kind in self.table.units:
            around = unit if kind in self.table.closures else None
            unit = self.units[node.id] = Unit(node.start_byte, node.end_byte, around)
        scope = Scope(node, parent, unit)
        scope.is_function = kind in self.table.functions
        scope.is_signature = kind in self.table.signatures
        if scope.is_function and (body := node.child_by_field_name("body")) is not None:
            scope.body = body.start_byte
        return scope

    def _children_by_field(
        self, node: Node, kind: str, scope: Scope, doubt: str | None
    ) -> Iterator[tuple[Node, Scope, str | None, str]]:
        not_names = self.table.not_names.get(kind, ())
        doubtful = self.table.doubtful.get(kind, {})
        if any(child.type in self.table.sure.get(kind, NONE) for child in _up(node)):
            doubtful = {}
        children = node.children
        for index in range(len(children) - 1, -1, -1):
            child = children[index]
            place = node.field_name_for_child(index) or ""
            if place in not_names and not child.child_count:
                continue
            yield child, scope, doubt or doubtful.get(place) or doubtful.get(ALL), kind

    def _note_naming(self, node: Node, kind: str) -> None:
        name, value = (node.child_by_field_name(place) for place in self.table.namers[kind])
        while value is not None and value.type == "parenthesized_expression":
            value = next(
                (c for c in value.named_children if c.type not in self.table.comments), None
            )
        if name is None or value is None or value.type not in self.table.named_values:
            return
        if value.child_by_field_name("name") is None:
            self._naming.add(name.start_byte)

    # binding

    def _bind_all(self, node: Node, binder: Binder, scope: Scope, above: str) -> None:
        if binder.needs and all(child.type != binder.needs for child in node.children):
            return
        for name in self._names_in(_places(node, binder.at)):
            word = self.source[name.start_byte : name.end_byte]
            if word in self.table.blank:
                continue
            nested = not (scope.is_function and above in self.table.bodies)
            if binder.leaks and nested and scope.unit is not None:
                self.leaks[word] = LEAKS
            self._bind(name, word, node, binder, scope)

    def _names_in(self, nodes: Iterable[Node]) -> Iterator[Node]:
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node.type in self.table.names or node.type in self.table.bound_types:
                yield node
            elif (places := self.table.patterns.get(node.type)) is not None:
                waiting.extend(_places(node, places))

    def _bind(self, name: Node, word: bytes, node: Node, binder: Binder, scope: Scope) -> None:
        clash = None
        while binder.reach == "function" and not scope.is_function:
            clash = clash or scope.names.get(word)
            assert scope.parent is not None, "the outermost scope is a function's"
            scope = scope.parent
        same = scope.names.setdefault(word, [])
        if binder.reuses and not same and scope.parent is not None:
            around = scope.parent
            shared = (each for each in around.names.get(word, ()) if each.is_shared)
            same += (each for each in shared if each.scope is around)
        if same and not same[-1].yields and (binder.reuses or binder.reach != "after"):
            binding = same[-1]  # the same variable, declared once more
            binding.fixed = binding.fixed or binder.fixed
            if binder.silent and not binding.is_silent:
                binding.fixed = binding.fixed or NAMES_OTHER
            binding.starts.add(name.start_byte)
        else:
            visible = scope.start
            if binder.reach == "after":
                behind = node.child_by_field_name(binder.since) if binder.since else node
                visible = (behind or node).end_byte
            elif binder.reach == "body":
                visible = scope.body or NOWHERE  # a type has none
            binding = Binding(
                word,
                name.start_byte,
                visible,
                scope,
                binder.parameter,
                binder.silent or scope.is_signature,
                binder.fixed,
                binder.yields,
                binder.shared,
                starts={name.start_byte},
            )
            same.append(binding)
            self.bindings.append(binding)
        if clash:  # `catch (e) { var e = 1 }` assigns to the one, and declares the other
            for each in (binding, *clash):
                each.fixed = each.fixed or DECLARED_AGAIN

    # looking up

    def _resolve(self) -> None:
        own = {start: each for each in self.bindings for start in each.starts}
        for start, word, scope, doubt in self._uses:
            found = own.get(start) or _look_up(word, start, scope)
            if found is None:
                continue
            found.starts.add(start)
            found.fixed = found.fixed or doubt
            if start in self._naming:
                found.doubtful = self.table.namers_reason
        for binding in self.bindings:
            unit = None if binding.is_silent else binding.scope.unit
            while unit is not None:
                unit.bindings.append(binding)
                unit = unit.around


def _look_up(word: bytes, start: int, scope: Scope | None) -> Binding | None:
    while scope is not None:
        for each in reversed(scope.names.get(word, ())):
            if each.visible <= start and (start >= scope.body or each.declared < scope.body):
                return each
        scope = scope.parent
    return None


def _places(node: Node, at: tuple[str, ...]) -> list[Node]:
    if at == (ALL,):
        return node.named_children
    return [child for place in at for child in node.children_by_field_name(place)]


def _up(node: Node) -> tuple[Node, ...]:
    """What says of which type a node's keys are: what stands before the node above it."""
    parent = node.parent
    before = parent.prev_named_sibling if parent is not None else None
    return () if before is None else (before,)
