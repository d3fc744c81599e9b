"""Python programs that try to see a renamed local variable: what they print must not change.

Each has three parts: what stands before the snippet, the snippet, and what uses it. The first is
often a stand-in for a library that reads the variables of its caller, and does it as that one does.
"""

from dataclasses import dataclass
from textwrap import dedent, indent

READER = """
import sys

def look_up(text):  # what numexpr, patsy, duckdb, polars and pandasql do with a text
    import re
    frame = sys._getframe(2)
    known = {**frame.f_globals, **frame.f_locals}
    return [known[word] for word in re.findall(r"[a-z]\\w*", text) if word in known]

def evaluate(text, *rest, **options):
    return look_up(text)

dmatrix = dmatrices = ols = sql = query = execute = sqldf = inline = evaluate

def aes(**texts):
    frame = sys._getframe(1)
    return {key: frame.f_locals[text.split()[0]] for key, text in texts.items()}

class library:
    evaluate = re_read = staticmethod(evaluate)
    execute = dmatrix = ols = staticmethod(evaluate)
"""


@dataclass(frozen=True)
class Program:
    name: str
    before: str
    snippet: str
    after: str
    in_class: bool = False

    def whole(self, snippet: str | None = None) -> str:
        code = self.snippet if snippet is None else snippet
        return self.before + (indent(code, "    ") if self.in_class else code) + "\n" + self.after


def _program(
    name: str, snippet: str, after: str, before: str = "", *, in_class: bool = False
) -> Program:
    return Program(name, dedent(before), dedent(snippet).lstrip(), dedent(after), in_class)


def _reading(name: str, line: str) -> Program:
    """A local variable that only the text in `line` names."""
    snippet = f"""
    def f(first):
        second = first + 1
        df = [second]
        result = {line}
        return result
    """
    return _program(name, snippet, "print(f(1))", READER)


READERS = [
    _reading("evaluate by its bare name", 'evaluate("df * 2")'),
    _reading("evaluate of a module", 'library.evaluate("df * 2")'),
    _reading("patsy's dmatrix", 'dmatrix("y ~ df")'),
    _reading("patsy's dmatrices of a module", 'library.dmatrix("y ~ df")'),
    _reading("ols of statsmodels", 'ols("y ~ df", first)'),
    _reading("ols of a module", 'library.ols("y ~ df", first)'),
    _reading("duckdb's sql", 'sql("select * from df")'),
    _reading("duckdb's query", 'query("select * from df")'),
    _reading("execute of a connection", 'library.execute("select * from df")'),
    _reading("execute by its bare name", 'execute("select * from df where x = ?", [1])'),
    _reading("sqldf", 'sqldf("select * from df")'),
    _reading("inline", 'inline("return df")'),
    _reading("aes", 'aes(x="df + 1")'),
    _reading("strings in a row", 'execute("select * "\n            "from d" "f")'),
    _reading("a text of several lines", 'execute("""\n            select *\\nfrom\\ndf""")'),
    _reading("an escape", 'execute("select * from \\x64f")'),
    _reading("a raw string", 'execute(r"select * from df")'),
    _reading("an f-string", 'execute(f"select * from df limit {second}")'),
    _reading("a text that is put together", 'execute("select * from %s" % "df")'),
    _reading("a sum of texts", 'execute("select * " + "from df")'),
    _reading("a reader under another name", '(lambda: sql)()("select * from df")'),
    _program(
        "a text that was given a name",
        """
        def f(first):
            second = first + 1
            df = [second]
            text = "select * from df"
            return execute(text)
        """,
        "print(f(1))",
        READER,
    ),
    _program(
        "a text from the caller",
        """
        def f(first, text):
            second = first + 1
            df = [second]
            third = 3
            return execute(text), third
        """,
        'print(f(1, "select * from df"))',
        READER,
    ),
    _program(
        "a text from the caller, for a method",
        """
        def f(first, text):
            second = first + 1
            df = [second]
            return library.execute(text)
        """,
        'print(f(1, "select * from df"))',
        READER,
    ),
    _program(
        "a helper that fills in the fields of a text",
        """
        def f(first):
            name = first.title()
            count = len(name)
            return _("{name} has {count} letters")
        """,
        'print(f("ann"))',
        """
        import sys
        def _(text):
            return text.format(**sys._getframe(1).f_locals)
        """,
    ),
    _program(
        "a template",
        """
        def f(first):
            name = first.title()
            return fill("hello $name")
        """,
        'print(f("ann"))',
        """
        import string, sys
        def fill(text):
            return string.Template(text).substitute(sys._getframe(1).f_locals)
        """,
    ),
]

SCOPES = [
    _program(
        "vars with nothing unpacked",
        """
        def f(first, *rest):
            second = first + 1
            third = 3
            return sorted(vars(*rest)), third
        """,
        "print(f(1))",
    ),
    _program(
        "dir with nothing unpacked",
        """
        def f(first, rest=()):
            second = first + 1
            return dir(*rest)
        """,
        "print(f(1))",
    ),
    _program(
        "locals under the name of its module",
        """
        def f(first):
            second = first + 1
            return sorted(builtins.locals())
        """,
        "print(f(1))",
        "import builtins\n",
    ),
    _program(
        "locals from a mapping of built-ins",
        """
        def f(first):
            second = first + 1
            return sorted(getattr(builtins, "loc" + "als")())
        """,
        "print(f(1))",
        "import builtins\n",
    ),
    _program(
        "the stack by its bare name",
        """
        def f(first):
            second = first + 1
            return sorted(stack()[0][0].__getattribute__("f_" + "locals"))
        """,
        "print(f(1))",
        "from inspect import stack\n",
    ),
    _program(
        "frames by a bare name",
        """
        def f(first):
            second = first + 1
            return sorted(getargvalues(frame()).locals)
        """,
        "print(f(1))",
        "from inspect import getargvalues\nimport sys\nframe = lambda: sys._getframe(1)\n",
    ),
    _program(
        "variables of a closure",
        """
        def f(first):
            second = first + 1
            def inner():
                return second
            return sorted(getclosurevars(inner).nonlocals)
        """,
        "print(f(1))",
        "from inspect import getclosurevars\n",
    ),
    _program(
        "a private name and its mangled spelling",
        """
        def f(self, first):
            __total = first + 1
            _A__total += 1
            other = _A__total
            return __total, other
        """,
        "print(A().f(1))",
        "class A:\n",
        in_class=True,
    ),
    _program(
        "a mangled name in a nested function",
        """
        def f(self, first):
            _A__total = first + 1
            def inner():
                return __total
            other = inner()
            return other
        """,
        "print(A().f(1))",
        "class A:\n",
        in_class=True,
    ),
    _program(
        "a class body whose metaclass knows the name",
        """
        def f(first):
            red = first + 1
            class Colour(metaclass=Names):
                red
                green = 2
            return sorted(vars(Colour)["seen"]), red
        """,
        "print(f(1))",
        """
        class Noting(dict):
            def __getitem__(self, key):
                if not key.startswith("__"):
                    self.setdefault("seen", []).append(key)
                return super().__getitem__(key)
        class Names(type):
            @classmethod
            def __prepare__(cls, name, bases):
                return Noting()
        """,
    ),
    _program(
        "a decorator that declares locals by label",
        """
        @declare(total=float)
        def f(first):
            total = first + 1
            other = total
            return other
        """,
        "print(f(1))",
        """
        def declare(**kinds):
            def check(function):
                assert set(kinds) <= set(function.__code__.co_varnames), "no such variable"
                return function
            return check
        """,
    ),
    _program(
        "a decorator that declares locals in a dictionary",
        """
        @declare({"total": float})
        def f(first):
            total = first + 1
            other = total
            return other
        """,
        "print(f(1))",
        """
        def declare(kinds):
            def check(function):
                assert set(kinds) <= set(function.__code__.co_varnames), "no such variable"
                return function
            return check
        """,
    ),
    _program(
        "names in comprehensions, walruses and handlers",
        """
        def f(rows):
            total = 0
            kept = [last := row for row in rows if row]
            table = {key: value for key, value in enumerate(kept)}
            try:
                total += table[99]
            except KeyError as problem:
                reason = problem.args
            else:
                reason = ()
            del table
            match kept:
                case [head, *rest] if (size := len(rest)):
                    total += size + head
            return total, last, reason, {**{"kept": kept}}
        """,
        "print(f([0, 3, 4]))",
    ),
    _program(
        "names in a nested class, a closure and a generator",
        """
        def f(first):
            count = first
            limit = 3
            def step():
                nonlocal count
                count += 1
                return count
            class Box:
                limit = limit
                def get(self):
                    return limit, Box.limit, step()
            stream = (item for item in range(limit))
            return Box().get(), list(stream), count
        """,
        "print(f(1))",
        "limit = 9\n",
    ),
    _program(
        "a global beside a local",
        """
        def f(first):
            value = first
            def change():
                global value
                value = 5
            change()
            other = value
            return other
        """,
        "print(f(1), value)",
        "value = 0\n",
    ),
    _program(
        "an f-string that prints a name",
        """
        def f(first):
            second = first + 1
            third = second + 1
            return f"{second=} {third = :>4}"
        """,
        "print(f(1))",
    ),
    _program(
        "labels of nested functions and of partial",
        """
        def f(first):
            step = 2
            def scale(value, step=1):
                result = value * step
                return result
            scaled = functools.partial(scale, step=step)
            return scaled(value=first), scale(first, **dict(step=step))
        """,
        "print(f(3))",
        "import functools\n",
    ),
    _program(
        "fields of a local dataclass",
        """
        def f(first):
            size = first
            @dataclasses.dataclass
            class Box:
                size: int
                name: str = "box"
            box = Box(size=size)
            name = box.name
            return box, name, size
        """,
        "print(f(3))",
        "import dataclasses\n",
    ),
    _program(
        "slots of a local class",
        """
        def f(first):
            size = first
            class Box:
                __slots__ = ("size", "name")
                def __init__(self):
                    self.size = size
            box = Box()
            return box.size, [hasattr(box, each) for each in Box.__slots__]
        """,
        "print(f(3))",
    ),
    _program(
        "super and the cell of a class",
        """
        def f(self, first):
            total = super().f(first)
            kind = __class__.__name__
            return total, kind
        """,
        "print(A().f(1))",
        "class B:\n    def f(self, first):\n        return first + 1\nclass A(B):\n",
        in_class=True,
    ),
    _program(
        "the signature of a nested function",
        """
        def f(first):
            second = first
            def inner(alpha, beta=second):
                gamma = alpha
                return gamma
            shown = str(inspect.signature(inner))
            return shown
        """,
        "print(f(1))",
        "import inspect\n",
    ),
    _program(
        "a formatted mapping of locals",
        """
        def f(first):
            second = first + 1
            text = "%(first)s and %(second)s" % locals()
            return text, "{second}".format(**vars())
        """,
        "print(f(1))",
    ),
    _program(
        "an evaluated text in a nested function",
        """
        def f(first):
            second = first + 1
            def inner(text):
                second
                return eval(text)
            return inner("second")
        """,
        "print(f(1))",
    ),
    _program(
        "a generator's frame",
        """
        def f(first):
            second = first + 1
            stream = (second + item for item in range(2))
            return sorted(stream.gi_frame.f_locals), next(stream)
        """,
        "print(f(1))",
    ),
    _program(
        "async code",
        """
        async def f(first):
            total = 0
            async def numbers():
                for item in range(first):
                    yield item
            async for item in numbers():
                total += item
            values = [item async for item in numbers()]
            return total, values
        """,
        "import asyncio\nprint(asyncio.run(f(4)))",
    ),
    _program(
        "loops, unpacking and deletion",
        """
        def f(rows):
            (first, *middle), last = rows[:-1], rows[-1]
            for index, [left, right] in enumerate(zip(middle, middle)):
                first += left * right * index
            else:
                done = True
            with open(os.devnull) as stream, open(os.devnull) as other:
                text = stream.read() + other.read()
            global_name, = [first]
            del middle
            return first, last, done, text, global_name
        """,
        "print(f([1, 2, 3, 4]))",
        "import os\n",
    ),
    _program(
        "an error that names its variable only in its text",
        """
        def f(first):
            if first > 1:
                value = first
            other = first
            try:
                return value, other
            except UnboundLocalError:
                return None
        """,
        "print(f(1), f(2))",
    ),
]

REWRITINGS = [
    _program(
        "a method called list beside a default",
        """
        def f(self, rows=[]):
            count = 0
            for index in range(len(rows)):
                count += index
            return rows, count
        """,
        "print(A().f())",
        "class A:\n    def list(self):\n        return 1\n",
        in_class=True,
    ),
    _program(
        "a function called list in the module",
        """
        def f(first):
            rows = []
            for index in range(first):
                rows.append(index)
            return rows
        """,
        "print(f(3))",
        "def list():\n    raise SystemExit('a command')\n",
    ),
    _program(
        "a range of its own in the module",
        """
        def f(first):
            rows = []
            for index in range(first):
                rows.append(index)
            return rows
        """,
        "print(f(3))",
        "def range(stop):\n    return iter((stop, stop))\n",
    ),
    _program(
        "a standard output without flush",
        """
        def f(first):
            size = len(first)
            print(size)
            return size
        """,
        """
        class Plain:
            def __init__(self):
                self.text = ""
            def write(self, text):
                self.text += text
        plain = Plain()
        with contextlib.redirect_stdout(plain):
            f("abc")
        print(repr(plain.text))
        """,
        "import contextlib\n",
    ),
    _program(
        "a print of its own in the module",
        """
        def f(first):
            size = len(first)
            print(size)
            return size
        """,
        "f('abc')\nimport sys; sys.stdout.write('done')",
        "def print(*values):\n    __builtins__['print'](*values)\n",
    ),
    _program(
        "a callable class under the name of a built-in function",
        """
        def f(first):
            size = len(first)
            print(size)
            return size
        """,
        "f('abc')",
        """
        class len:
            def __init__(self, value): self.value = value
            def __call__(self): return 1
            def __str__(self): return self.value
        """,
    ),
]
PROGRAMS = [*READERS, *SCOPES, *REWRITINGS]
