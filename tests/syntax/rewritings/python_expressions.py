"""Python code for tests: nested expressions, and what the rewritings mean in terms of `ast`.

Written without our parser, so that it can judge what came out of it.
"""

import ast

from hypothesis import strategies as st

LEAVES = ("x", "y", "[]", "1", "'é'", "a.b", "print()", "f()", "{}", "range(n)", "range(1, n)")
SHAPES = (
    *("f({})", "a.g({}, key={})", "range({})", "print({})", "print({}, {}, sep='')", "[{}, {}]"),
    *("({})({})", "{}[{}]", "({} + {})", "(lambda v: {})", "[{} for v in {}]", "f(*{}, **{})"),
    *("({} if {} else {})", "{{{}: {}}}", "(not {})", "f({} for v in {})", "(yield {})", "-{}"),
    *("f'{{({})}}'", "(v := {})", "range({}, {})", "[[], {}]", "f({},)", "f( {} )"),
)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4) -> str:
    """An expression of up to `depth` levels."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(LEAVES))
    shape = draw(st.sampled_from(SHAPES))
    parts = [draw(expressions(depth - 1)) for _ in range(shape.replace("{{", "").count("{}"))]
    if "f'" in shape and any("'" in part for part in parts):
        parts = ["x"]  # quotes cannot nest in an f-string before Python 3.12
    return shape.format(*parts)


class Originally(ast.NodeTransformer):
    """Everything in the original form of some rewritings."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def visit_Call(self, call: ast.Call) -> ast.AST:
        self.generic_visit(call)
        function, arguments = call.func, call.args
        is_dunder = isinstance(function, ast.Attribute) and function.attr == "__call__"
        if is_dunder and "dunder_call" in self.names:
            assert isinstance(function, ast.Attribute)
            function = call.func = function.value
        if not isinstance(function, ast.Name):
            return call
        if function.id == "list" and "list_call" in self.names and not (arguments or call.keywords):
            return ast.List([], ast.Load())
        is_long = len(arguments) == 2 and ast.unparse(arguments[0]) == "0"
        if function.id == "range" and "range_start" in self.names and is_long:
            call.args = arguments[1:]
        if function.id == "print" and "print_flush" in self.names:
            call.keywords = [each for each in call.keywords if each.arg != "flush"]
        return call


def originally(code: str, names: tuple[str, ...]) -> str:
    """A picture of the code that both forms have in common."""
    return ast.dump(Originally(names).visit(ast.parse(code)))


def count(code: str, name: str) -> int:
    """How many occurrences of the equivalent form there are, in nested order or not."""
    nodes = list(ast.walk(ast.parse(code)))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    match name:
        case "list_call":
            return sum(ast.unparse(call) == "list()" for call in calls)
        case "range_start":
            ranges = [call for call in calls if ast.unparse(call.func) == "range"]
            return sum(ast.unparse(call).startswith("range(0, ") for call in ranges)
        case "dunder_call":
            return sum(ast.unparse(call.func).endswith(".__call__") for call in calls)
    return sum("flush" in [each.arg for each in call.keywords] for call in calls)
