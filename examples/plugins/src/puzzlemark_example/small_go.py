"""Go as a third party would add it: tables and scopes in one file. Small, and made for tests;
the Go that is shipped is `puzzlemark.languages.go`.

The scopes are simpler than Go's. A variable that is used outside of the block that declares it
first, or whose name is a key, a type or a parameter of an inner function, keeps its name.
"""

from collections.abc import Iterator

from tree_sitter import Node

from puzzlemark.languages.base import DocComment, Grammar, Language, Lexing, Measures, Tokens
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, names_a_parameter

PLUGIN = Language(
    name="small_go",
    aliases=frozenset({"little_go", "smallgo"}),
    grammar=Grammar("tree_sitter_go"),
    example="""\
// total is the sum of all prices.
func total(prices []int) int {
	count, most := 0, 1 // so far
	for _, price := range prices {
		if price > most {
			count += price
		}
	}
	fmt.Println("total", count)
	return count
}
""",
    convention="camel",
    reserved=frozenset(
        "break case chan const continue default defer else fallthrough for func go goto if import "
        "interface map package range return select struct switch type var true false nil iota any "
        "bool byte error float32 float64 int int32 int64 rune string uint append cap close copy "
        "delete len make max min new panic print println recover".split()
    ),
    tokens=Tokens(
        comments=frozenset({"comment"}),
        strings=frozenset({"interpreted_string_literal", "raw_string_literal", "rune_literal"}),
        numbers=frozenset({"int_literal", "float_literal"}),
        opaque=frozenset({"interpreted_string_literal", "raw_string_literal", "rune_literal"}),
    ),
    lexing=Lexing(
        line_comments=("//",),
        block_comments=(("/*", "*/"),),
        long_quotes=("`",),
    ),
    functions=frozenset({"function_declaration", "method_declaration"}),
    owner=("receiver", "type_identifier"),
    parameter_lists=frozenset({"parameter_list"}),
    last_parameters=frozenset({"variadic_parameter_declaration"}),
    blocks=frozenset({"statement_list"}),
    joint="; ",
    declaration=("{} any, ", "var {} any"),
    measures=Measures(
        decisions=frozenset({"if", "for", "case", "&&", "||"}),
        nesting=frozenset(
            {"if_statement", "for_statement", "expression_switch_statement", "select_statement"}
        ),
        expressions=frozenset(
            "call_expression selector_expression index_expression binary_expression "
            "unary_expression assignment_statement composite_literal".split()
        ),
        declares={
            "parameter_declaration": "name",
            "short_var_declaration": "left",
            "range_clause": "left",
            "var_spec": "name",
        },
        calls={"call_expression": "function"},
        qualified={"selector_expression": "last"},
        names=frozenset({"identifier"}),
        unpacked=frozenset({"expression_list"}),
        else_if=("if_statement", "else"),
    ),
    binders=frozenset({"parameter_declaration", "expression_list", "argument_list"}),
    phrases=frozenset(
        "binary_expression call_expression selector_expression short_var_declaration "
        "assignment_statement return_statement".split()
    ),
    extensions=(".go",),
    skipped_folders=frozenset({"vendor"}),
    doc_comments=(DocComment("//"),),
)


def resolve(tree: Tree, node: Node) -> Function:
    """The parameters of a function, and what `:=` and `var` declare in it."""
    body = node.child_by_field_name("body")
    if body is None:
        return Function(_name_of(tree, node), ())
    parameters = node.child_by_field_name("parameters")
    scopes: dict[str, Node] = {}  # name -> the block that declares it first
    for name, scope in (*_declared(parameters, node), *_declared(body, body)):
        scopes.setdefault(tree.text(name), scope)
    places: dict[str, list[Node]] = {name: [] for name in scopes if name != "_"}
    for each in _walk(node):
        if each.type == "identifier" and tree.text(each) in places:
            places[tree.text(each)].append(each)
    given = {tree.text(name) for name, _ in _declared(parameters, node)}
    comments = "\n".join(_comments_before(tree, node))
    variables = [
        Variable(
            name,
            tuple(each.start_byte - tree.offset for each in found),
            name in given,
            _why_fixed(tree, node, name, found, scopes[name]),
            "parameter named in a comment" if names_a_parameter(comments, name) else None,
        )
        for name, found in places.items()
    ]
    return Function(_name_of(tree, node), tuple(sorted(variables, key=lambda each: each.starts)))


def _name_of(tree: Tree, function: Node) -> str:
    name = function.child_by_field_name("name")
    return tree.text(name) if name is not None else ""


def _declared(root: Node | None, scope: Node) -> Iterator[tuple[Node, Node]]:
    """Names that are declared below a node, each with the block it is declared in."""
    if root is None or root.type == "func_literal":
        return
    if root.type in ("parameter_declaration", "variadic_parameter_declaration", "var_spec"):
        yield from ((name, scope) for name in root.children_by_field_name("name"))
    elif root.type in ("short_var_declaration", "range_clause"):
        left = root.child_by_field_name("left")
        names = left.named_children if left is not None else []
        yield from ((name, scope) for name in names if name.type == "identifier")
    inner = root if root.type in ("block", "for_statement", "if_statement") else scope
    for child in root.named_children:
        yield from _declared(child, inner)


def _why_fixed(tree: Tree, function: Node, name: str, found: list[Node], scope: Node) -> str | None:
    if any(not scope.start_byte <= each.start_byte < scope.end_byte for each in found):
        return "used outside of its block"
    for each in _walk(function):
        parent = each.parent
        if each.child_count or parent is None or tree.text(each).strip("\"`'") != name:
            continue
        if each.type == "type_identifier" or parent.type == "literal_element":
            return "spelt like something else in the function"
        inside = parent.parent is not None and parent.parent.parent
        if inside and inside.type == "func_literal":
            return "a parameter of an inner function has its name"
        if "string" in each.type:
            return "equal to a string"
    return None


def _comments_before(tree: Tree, function: Node) -> Iterator[str]:
    before = function.prev_named_sibling
    while before is not None and before.type == "comment":
        yield tree.text(before)
        before = before.prev_named_sibling


def _walk(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))
