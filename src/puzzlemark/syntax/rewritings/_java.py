"""What a Java snippet tells about the types of its expressions: enough to know a String.

A type is its simple name with its arguments, `Map<String,List<E>>`, or with `[]` behind it.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from puzzlemark.syntax.rewritings.base import arguments, walk
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import functions

Types = frozenset[str]  # what an expression may be; empty: the snippet does not tell
UNKNOWN = "?"
STATIC = "a class, not an object"
STRINGS = frozenset({"String", "StringBuilder", "StringBuffer"})
# `isEmpty()` and `size() == 0` are the same in all of these
COLLECTIONS = frozenset(
    "Collection List Set Map Queue Deque SortedSet SortedMap NavigableSet NavigableMap "
    "BlockingQueue BlockingDeque ConcurrentMap ConcurrentNavigableMap AbstractCollection "
    "AbstractList AbstractSet AbstractMap ArrayList LinkedList Vector Stack HashSet LinkedHashSet "
    "TreeSet EnumSet HashMap LinkedHashMap TreeMap EnumMap Hashtable Properties WeakHashMap "
    "IdentityHashMap ConcurrentHashMap ConcurrentSkipListMap ConcurrentSkipListSet "
    "CopyOnWriteArrayList CopyOnWriteArraySet ArrayDeque PriorityQueue PriorityBlockingQueue "
    "ArrayBlockingQueue LinkedBlockingQueue LinkedBlockingDeque ConcurrentLinkedQueue "
    "ConcurrentLinkedDeque ImmutableList ImmutableSet ImmutableMap ImmutableCollection "
    "ImmutableSortedSet ImmutableSortedMap Multimap Multiset ListMultimap SetMultimap "
    "BiMap".split()
)
# they have isEmpty(), but no size(), or one that means something else
_SIZELESS = frozenset(
    "String CharSequence StringBuilder StringBuffer CharBuffer Optional OptionalInt OptionalLong "
    "OptionalDouble Stream BitSet Rectangle Rectangle2D RectF Rect Area Path Path2D Range Region "
    "JSONObject JSONArray Iterator Iterable Matcher Object int long boolean char "
    "?".split()  # most lambdas that ask whether something is empty ask it of a String
)
# lists have no indexOf with two arguments; Vector and Stack have one
_WITHOUT_START = (COLLECTIONS - {"Vector", "Stack"}) | {"Object", "Optional", "Stream"}
_GIVES_STRING = frozenset(
    "toString trim strip stripLeading stripTrailing substring toLowerCase toUpperCase replace "
    "replaceAll replaceFirst concat intern repeat readLine nextLine getName getSimpleName "
    "getMessage getProperty getText getPath getAbsolutePath".split()
)
_GIVES_COLLECTION = frozenset("keySet values entrySet asList singletonList emptyList".split())
# they give an element of the receiver: its last type argument
_GIVES_ELEMENT = frozenset(
    "get getOrDefault remove poll peek pop next element getValue getFirst getLast orElse".split()
)
# what a proof may rest on: every class has this method; these give a text where they got one
_ALWAYS_STRING = frozenset({"toString"})
_KEEPS_TEXT = frozenset(
    "trim strip substring toLowerCase toUpperCase concat intern repeat replaceAll "
    "replaceFirst".split()
)
_SUMS = frozenset({"binary_expression", "parenthesized_expression"})
_NAMES_A_TYPE = frozenset(
    "class_declaration interface_declaration enum_declaration record_declaration".split()
)
_DEEPEST = 50  # nobody declares a type that takes longer to find; generated code nests deeper
_DECLARATIONS = frozenset(
    "formal_parameter spread_parameter catch_formal_parameter local_variable_declaration resource "
    "field_declaration constant_declaration enhanced_for_statement instanceof_expression "
    "type_pattern record_pattern_component".split()
)


def may_have_size(types: Types) -> bool:
    """Whether nothing speaks against `size()`."""
    return not any(_simple(each) in _SIZELESS or _is_other(each) for each in types)


def may_have_start(types: Types) -> bool:
    """Whether nothing speaks against an `indexOf` with two arguments."""
    return not any(_simple(each) in _WITHOUT_START or _is_other(each) for each in types)


def are_all(types: Types, known: frozenset[str]) -> bool:
    """Whether the snippet tells the type, and it is one of these."""
    return bool(types) and all(_simple(each) in known and "[" not in each for each in types)


def _is_other(kind: str) -> bool:
    return kind == STATIC or kind.endswith("[]")


@dataclass(frozen=True, slots=True)
class Declarations:
    """The types that a snippet declares for each name, whatever the scope."""

    tree: Tree
    names: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    spelled: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # in full

    def types_of(self, node: Node, depth: int = 0) -> Types:
        """What the value of an expression may be: `{"String"}` for `names[0].trim()`."""
        kind = node.type
        if depth > _DEEPEST:
            return frozenset()
        if kind == "parenthesized_expression":
            return self._of_all(node.named_children[:1], depth)
        if kind == "string_literal":
            return frozenset({"String"})
        if kind == "ternary_expression":
            return self._of_all(node.named_children[1:], depth)
        if kind == "binary_expression":  # `+` with one anywhere
            return self._of_all(list(leaves(node, frozenset({kind}))), depth) & {"String"}
        if kind in ("cast_expression", "object_creation_expression"):
            named = node.child_by_field_name("type")
            return frozenset({_spell(self.tree, named)}) if named is not None else frozenset()
        if kind == "array_access":
            arrays = self._of_all(node.named_children[:1], depth)
            return frozenset(each.removesuffix("[]") for each in arrays if each.endswith("[]"))
        if kind == "method_invocation":
            return self._of_result(node, depth)
        return self._of_name(node)

    def _of_all(self, nodes: list[Node], depth: int) -> Types:
        return frozenset().union(*(self.types_of(node, depth + 1) for node in nodes))

    def _of_result(self, call: Node, depth: int) -> Types:
        name, owner = call.child_by_field_name("name"), call.child_by_field_name("object")
        method = self.tree.text(name) if name is not None else ""
        if method in _GIVES_STRING:
            return frozenset({"String"})
        if method in _GIVES_COLLECTION:
            return frozenset({"Collection"})
        if method in _GIVES_ELEMENT and owner is not None:
            elements = (_last_argument(each) for each in self.types_of(owner, depth + 1))
            return frozenset(each for each in elements if each is not None)
        return frozenset()

    def _of_name(self, node: Node) -> Types:
        last: Node | None = node
        if node.type == "field_access":
            owner, last = node.child_by_field_name("object"), node.child_by_field_name("field")
            if owner is not None and owner.type != "this" and not self._is_class(last):
                return frozenset()
        if last is None or last.type != "identifier":
            return frozenset()
        if (declared := self.names.get(self.tree.text(last))) is not None:
            return frozenset(declared)
        return frozenset({STATIC}) if self._is_class(last) else frozenset()

    def _is_class(self, node: Node | None) -> bool:
        name = self.tree.text(node) if node is not None else ""
        return name[:1].isupper() and not name.isupper() and name not in self.names


def read_declarations(tree: Tree) -> Declarations:
    """Collect the declared names of a snippet."""
    found = Declarations(tree)
    for node, _ in walk(tree, lambda _: False):
        if node.type in _DECLARATIONS:
            for name, kind, spelled in _declared(found, node):
                found.names[name].add(kind)
                found.spelled[name].add(spelled)
        elif node.type in ("inferred_parameters", "lambda_expression"):
            for child in node.named_children[: None if node.type[0] == "i" else 1]:
                if child.type == "identifier":
                    found.names[tree.text(child)].add(UNKNOWN)
    return found


def _declared(known: Declarations, node: Node) -> Iterator[tuple[str, str, str]]:
    """Each name with its type, and with its type as it is spelled, without its arguments."""
    tree = known.tree
    # a spread parameter and a pattern have no fields: the type goes before the name
    named = [child for child in node.named_children if child.type != "modifiers"]
    kind = node.child_by_field_name("type") or node.child_by_field_name("right") or named[0]
    spelled = _spell(tree, kind) + ("[]" if node.type == "spread_parameter" else "")
    declarators = [child for child in named if child.type == "variable_declarator"]
    for each in declarators or [node]:
        name = each.child_by_field_name("name") or (named[-1] if not declarators else None)
        if name is None or name.type != "identifier":
            continue
        value = each.child_by_field_name("value") if declarators else None
        dimensions = each.child_by_field_name("dimensions")
        this = spelled + ("[]" if dimensions is not None else "")
        if this == "var":
            types = known.types_of(value) if value is not None else frozenset()
            this = next(iter(types)) if len(types) == 1 else UNKNOWN
        yield tree.text(name), this, "".join(tree.text(kind).split()).partition("<")[0]


def _spell(tree: Tree, kind: Node) -> str:
    text = "".join(tree.text(kind).split())
    head, bracket, rest = text.partition("<")
    return head.rpartition(".")[2] + bracket + rest


def _simple(kind: str) -> str:
    return kind.partition("<")[0].partition("[")[0]


def _last_argument(kind: str) -> str | None:
    """`Map<K,List<V>>` -> `List<V>`."""
    if not kind.endswith(">"):
        return None
    inner, depth = kind[kind.index("<") + 1 : -1], 0
    for at in range(len(inner) - 1, -1, -1):
        depth += (inner[at] == ">") - (inner[at] == "<")
        if inner[at] == "," and depth == 0:
            return inner[at + 1 :]
    return inner or None


class Proof:
    """What a snippet proves about its expressions, where `Declarations` only gives hints.

    A variable must be resolved to a declaration in the snippet, and all declarations of its name
    must say the same. A method tells nothing, unless every class has it or its receiver is proven.
    """

    def __init__(self, known: Declarations) -> None:
        self.known, self.tree = known, known.tree
        variables = (each for function in functions(known.tree) for each in function.variables)
        self._resolved = {start for each in variables for start in each.starts}

    def is_text(self, node: Node) -> bool:
        """Whether the value is surely a String or a builder of one."""
        for _ in range(_DEEPEST):
            if node.type == "parenthesized_expression":
                node = node.named_children[0]
            elif node.type == "method_invocation" and self._is_named(node, _KEEPS_TEXT):
                node = receiver(node)
            else:
                break
        if node.type == "binary_expression":
            return any(each.type == "string_literal" for each in leaves(node, _SUMS))
        if node.type == "method_invocation":
            return self._is_named(node, _ALWAYS_STRING) and not arguments(self.tree, given(node))
        return node.type == "string_literal" or self.is_declared(node, STRINGS)

    def is_declared(self, node: Node, kinds: frozenset[str]) -> bool:
        """Whether it is a variable of one of these types."""
        if node.type != "identifier" or node.start_byte - self.tree.offset not in self._resolved:
            return False
        name = self.tree.text(node)
        types = frozenset(self.known.names.get(name, ()))
        if not are_all(types, kinds) or "var" in self.known.spelled[name]:
            return False
        return not any(declares_type(self.tree, _simple(each)) for each in types)

    def _is_named(self, call: Node, names: frozenset[str]) -> bool:
        name = call.child_by_field_name("name")
        has_owner = call.child_by_field_name("object") is not None
        return has_owner and name is not None and self.tree.text(name) in names


def declares_type(tree: Tree, name: str) -> bool:
    """Whether the snippet has a class or a type parameter of this name."""
    for node, parent in walk(tree, lambda _: False):
        if node.type in _NAMES_A_TYPE or parent.type == "type_parameter":
            declared = node.child_by_field_name("name") or node
            if tree.text(declared) == name:
                return True
    return False


def leaves(node: Node, inner: frozenset[str]) -> Iterator[Node]:
    """What an expression is made of, seen through nodes of these types: `a`, `b` of `(a) + b`."""
    stack = list(node.named_children)  # a list, not recursion: concatenations grow long
    while stack:
        each = stack.pop()
        if each.type in inner:
            stack.extend(each.named_children)
        else:
            yield each


def enclosing_method(tree: Tree, node: Node) -> str | None:
    """The name of the method that an expression stands in."""
    cursor, method = tree.root.walk(), None
    # down with a cursor, not up: each `node.parent` begins at the root of the tree again
    while cursor.goto_first_child_for_byte(node.start_byte) is not None and cursor.node != node:
        assert cursor.node is not None, "a cursor always stands on a node"
        if cursor.node.type in tree.language.functions:
            method = cursor.node.child_by_field_name("name")
    return tree.text(method) if method is not None else None


def is_method(tree: Tree, node: Node, name: str) -> bool:
    """Whether a node is `receiver.name(...)`, without explicit type arguments."""
    if node.type != "method_invocation" or node.child_by_field_name("object") is None:
        return False
    called = node.child_by_field_name("name")
    plain = node.child_by_field_name("type_arguments") is None
    return plain and called is not None and tree.text(called) == name


def given(call: Node) -> Node:
    """The argument list of a call."""
    inside = call.child_by_field_name("arguments")
    assert inside is not None, "a call without arguments"
    return inside


def receiver(call: Node) -> Node:
    """What a method is called on."""
    owner = call.child_by_field_name("object")
    assert owner is not None, "a call without a receiver"
    return owner


def is_own(tree: Tree, call: Node, method: str) -> bool:
    """Whether a call on `this` or `super` stands in a method of this name: it would never end."""
    return receiver(call).type in ("this", "super") and enclosing_method(tree, call) == method
