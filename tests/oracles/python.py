"""An oracle for Python that never looks at our own code: are two sources alpha-equivalent?

Two judges, and both must agree. One compares syntax trees and asks `symtable` what each name means;
the other compares compiled code objects. Nothing is ever executed.
"""

import ast
import dis
import inspect
import sysconfig
import textwrap
import warnings
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from symtable import Symbol, SymbolTable, symtable
from types import CodeType
from typing import Any


def difference(before: str, after: str) -> str | None:
    """Why the two sources are not the same program up to fresh local names; None when they are."""
    before, after = before.removeprefix("\ufeff"), after.removeprefix("\ufeff")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compiled = compile(after, "<source>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as exc:
            return f"does not compile: {exc}"
        original = compile(before, "<source>", "exec", dont_inherit=True)
        try:
            renamed = _Trees(before, after).compare()
            renamed |= _compare_code(original, compiled, {})[0]
        except _Different as found:
            return str(found)
    stale = sorted(renamed & _names_in(original))
    return f"not fresh: {', '.join(stale)}" if stale else None


def compiles(source: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "<source>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return False
    return True


def library_functions(every: int = 1) -> Iterator[str]:
    """Functions and methods of the running Python's standard library, each as its own source."""
    root = Path(sysconfig.get_path("stdlib"))
    skipped = {"site-packages", "lib2to3", "idlelib", "turtledemo"}
    files = [path for path in root.rglob("*.py") if not skipped & set(path.parts)]
    for path in sorted(files)[::every]:
        source = path.read_bytes()
        try:
            text = source.decode("utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        lines = text.splitlines(keepends=True)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                code = textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))
                if compiles(code):
                    yield code


class _Different(Exception):
    pass


# -- the first judge: syntax trees and symbol tables ----------------------------------------------


@dataclass(eq=False)
class _Block:
    """A scope as `symtable` sees it, with the scopes inside it by what they look like."""

    table: SymbolTable
    parent: "_Block | None" = None
    bound: frozenset[str] | None = None  # of a comprehension: 3.12 drops the tables of some
    inside: dict[tuple[str, str, int], deque[SymbolTable]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for child in self.table.get_children() if not self.inside else ():
            look = (_kind(child), child.get_name(), child.get_lineno())
            self.inside.setdefault(look, deque()).append(child)

    @property
    def kind(self) -> str:
        return _kind(self.table) if self.bound is None else "comprehension"

    def enter(self, kind: str, name: str, line: int) -> "_Block":
        tables = self.inside.get((kind, name, line))
        if tables:
            return _Block(tables.popleft(), self)
        around = next(  # type parameters make a scope around the function (3.12)
            look for look in self.inside if look[1:] == (name, line) and self.inside[look]
        )
        return _Block(self.inside[around].popleft(), self).enter(kind, name, line)

    def comprehend(self, name: str, line: int, bound: frozenset[str]) -> "_Block":
        tables = self.inside.get(("function", name, line))
        if tables:
            return _Block(tables.popleft(), self, bound)
        return _Block(self.table, self, bound, self.inside)

    def mangled(self, name: str) -> str:
        block: _Block | None = self
        while block is not None and block.kind != "class":
            block = block.parent
        owner = block.table.get_name().lstrip("_") if block else ""
        private = name.startswith("__") and not name.endswith("__")
        return f"_{owner}{name}" if private and owner else name

    def owner(self, name: str) -> "_Block | None":
        """The scope that a name belongs to, None for the module's or a built-in."""
        block: _Block | None = self
        while block is not None and block.kind != "module":
            if block.bound is not None:
                found = name in block.bound
            elif block is self or block.kind == "function":
                symbol = block.symbol(self.mangled(name))
                found = symbol is not None and symbol.is_local() and not symbol.is_free()
                # symtable takes a function called "top" for the module: ask is_local first
                if symbol is not None and (
                    symbol.is_declared_global() or (symbol.is_global() and not found)
                ):
                    return None
            else:
                found = False
            if found:
                return block
            block = block.parent
        return None

    def symbol(self, name: str) -> Symbol | None:
        try:
            return self.table.lookup(name)
        except KeyError:
            return None


def _kind(table: SymbolTable) -> str:
    return str(getattr(table.get_type(), "value", table.get_type()))


_COMPREHENSIONS = {
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}
_NAMES = {  # node type -> field that holds one local name
    ast.Name: "id",
    ast.arg: "arg",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}


class _Trees:
    """Walks two syntax trees side by side and pairs the names of each scope, one to one."""

    def __init__(self, before: str, after: str) -> None:
        self.trees = ast.parse(before), ast.parse(after)
        self.blocks = (
            _Block(symtable(before, "<source>", "exec")),
            _Block(symtable(after, "<source>", "exec")),
        )
        self.there: dict[_Block, dict[str, str]] = defaultdict(dict)
        self.back: dict[_Block, dict[str, str]] = defaultdict(dict)
        self.twins: dict[_Block, _Block] = {self.blocks[0]: self.blocks[1]}

    def compare(self) -> set[str]:
        """The new names; raises when the trees differ in more than local names."""
        self.node(*self.trees, *self.blocks)
        return {new for pairs in self.there.values() for old, new in pairs.items() if old != new}

    def node(self, a: Any, b: Any, x: _Block, y: _Block) -> None:
        if type(a) is not type(b):
            raise _Different(f"line {getattr(a, 'lineno', '?')}: {a!r} became {b!r}")
        if isinstance(a, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            self.function(a, b, x, y)
        elif isinstance(a, ast.ClassDef):
            self.same_name(a.name, b.name, x, y)
            for name in ("decorator_list", "bases", "keywords"):
                self.node(getattr(a, name), getattr(b, name), x, y)
            self.node(a.body, b.body, *self.enter("class", a.name, a, b, x, y))
        elif type(a) in _COMPREHENSIONS:
            self.comprehension(a, b, x, y)
        elif isinstance(a, ast.AST):
            for name in a._fields:
                self.field(a, name, getattr(a, name), getattr(b, name), x, y)
        elif isinstance(a, list):
            if len(a) != len(b):
                raise _Different(f"{len(a)} parts became {len(b)}")
            for one, other in zip(a, b, strict=True):
                self.node(one, other, x, y)
        elif a != b and repr(a) != repr(b):  # a NaN is not equal to itself
            raise _Different(f"{a!r} became {b!r}")

    def field(self, owner: ast.AST, name: str, a: Any, b: Any, x: _Block, y: _Block) -> None:
        if _NAMES.get(type(owner)) == name and a is not None and b is not None:
            self.name(a, b, x, y)
        elif isinstance(owner, ast.Global | ast.Nonlocal):
            if len(a) != len(b):
                raise _Different(f"{a} became {b}")
            for one, other in zip(a, b, strict=True):
                self.name(one, other, x, y)
        elif isinstance(owner, ast.alias) and a is not None and b is not None:
            if a != b:
                raise _Different(f"import {a} became {b}")
            if name == "asname" or owner.asname is None:
                bound = a.partition(".")[0]
                (self.same_name(bound, bound, x, y) if bound != "*" else None)
        else:
            self.node(a, b, x, y)

    def function(self, a: Any, b: Any, x: _Block, y: _Block) -> None:
        label = getattr(a, "name", "lambda")
        if label != "lambda":
            self.same_name(label, b.name, x, y)
            for name in ("decorator_list", "returns", "type_comment"):
                self.node(getattr(a, name), getattr(b, name), x, y)
        for name in ("defaults", "kw_defaults"):
            self.node(getattr(a.args, name), getattr(b.args, name), x, y)
        inner = self.enter("function", label, a, b, x, y)
        for group in ("posonlyargs", "args", "vararg", "kwonlyargs", "kwarg"):
            ours, theirs = getattr(a.args, group), getattr(b.args, group)
            if isinstance(ours, list):
                if len(ours) != len(theirs):
                    raise _Different(f"{group} of {label} differ in number")
            else:
                ours, theirs = [ours], [theirs]
            for one, other in zip(ours, theirs, strict=True):
                if (one is None) != (other is None):
                    raise _Different(f"{group} of {label}")
                if one is not None:
                    self.name(one.arg, other.arg, *inner)
                    self.node(one.annotation, other.annotation, x, y)
        self.node(a.body, b.body, *inner)

    def comprehension(self, a: Any, b: Any, x: _Block, y: _Block) -> None:
        if len(a.generators) != len(b.generators):
            raise _Different("clauses of a comprehension differ in number")
        self.node(a.generators[0].iter, b.generators[0].iter, x, y)
        label = _COMPREHENSIONS[type(a)]
        inner = (
            x.comprehend(label, a.lineno, _targets(a)),
            y.comprehend(label, b.lineno, _targets(b)),
        )
        self.twins[inner[0]] = inner[1]
        for at, (one, other) in enumerate(zip(a.generators, b.generators, strict=True)):
            for name in ("target", "ifs", "is_async", *(["iter"] if at else [])):
                self.node(getattr(one, name), getattr(other, name), *inner)
        for name in ("value", "key", "elt"):
            self.node(getattr(a, name, None), getattr(b, name, None), *inner)

    def enter(
        self, kind: str, name: str, a: Any, b: Any, x: _Block, y: _Block
    ) -> tuple[_Block, _Block]:
        inner = x.enter(kind, name, a.lineno), y.enter(kind, name, b.lineno)
        self.twins[inner[0]] = inner[1]
        return inner

    def same_name(self, a: str, b: str, x: _Block, y: _Block) -> None:
        if a != b:
            raise _Different(f"{a} became {b}, which is not a variable")
        self.name(a, b, x, y)

    def name(self, a: str, b: str, x: _Block, y: _Block) -> None:
        owner, other = x.owner(a), y.owner(b)
        if owner is None or other is None:
            if owner is not other or a != b:
                raise _Different(f"{a} became {b}, and one of them is global")
        elif self.twins[owner] is not other:
            raise _Different(f"{a} became {b}, which belongs to another scope")
        elif owner.kind == "class" and a != b:
            raise _Different(f"{a} became {b} in a class body")
        elif self.there[owner].setdefault(a, b) != b or self.back[owner].setdefault(b, a) != a:
            raise _Different(f"{a} became {b} here, and something else elsewhere")


def _targets(comprehension: Any) -> frozenset[str]:
    inside = (each for clause in comprehension.generators for each in ast.walk(clause.target))
    return frozenset(
        each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )


# -- the second judge: code objects ---------------------------------------------------------------

_CELLS = {"MAKE_CELL", "COPY_FREE_VARS", "EXTENDED_ARG", "CACHE"}  # order follows the spelling


def _compare_code(
    a: CodeType, b: CodeType, around: dict[str, str]
) -> tuple[set[str], dict[str, str]]:
    """The new names, and old to new in this scope, when nothing else differs; or _Different."""
    for name in (
        "co_name",
        "co_flags",
        "co_argcount",
        "co_posonlyargcount",
        "co_kwonlyargcount",
        "co_firstlineno",
    ):
        if getattr(a, name) != getattr(b, name):
            raise _Different(f"{a.co_name}: {name} differs")
    there: dict[str, str] = {name: around[name] for name in a.co_freevars if name in around}
    back: dict[str, str] = {new: old for old, new in there.items()}
    if len(there) != len(back):
        raise _Different(f"{a.co_name}: two captured names became one")

    def pair(old: str, new: str) -> None:
        if there.setdefault(old, new) != new or back.setdefault(new, old) != old:
            raise _Different(f"{a.co_name}: {old} became {new} here, and not elsewhere")

    for old, new in zip(_parameters(a), _parameters(b), strict=True):
        pair(old, new)
    ours, theirs = list(_steps(a)), list(_steps(b))
    if len(ours) != len(theirs):
        raise _Different(f"{a.co_name}: {len(ours)} instructions became {len(theirs)}")
    inner: list[tuple[CodeType, CodeType]] = []
    closures: list[tuple[str, str]] = []
    labels: list[tuple[Any, Any]] = []
    for one, other in zip(ours, theirs, strict=True):
        if one.operation != other.operation or one.line != other.line:
            raise _Different(f"{a.co_name}: {one} became {other}")
        if one.is_closure:
            closures.append((one.argument, other.argument))  # in the order of their names
        elif one.is_local:
            pair(one.argument, other.argument)
        elif isinstance(one.argument, CodeType) and isinstance(other.argument, CodeType):
            inner.append((one.argument, other.argument))
        elif _plain(one.argument) != _plain(other.argument):
            if one.operation != "LOAD_CONST":
                raise _Different(f"{a.co_name}: {one} became {other}")
            labels.append((one.argument, other.argument))
    renamed: set[str] = set()
    signatures: set[tuple[str, str]] = set()
    for one_code, other_code in inner:
        deeper, pairs = _compare_code(one_code, other_code, there)
        renamed |= deeper
        for old in one_code.co_freevars:  # a cell may be used in there only
            (pair(old, pairs[old]) if old in pairs else None)
        signatures.update(zip(_parameters(one_code), _parameters(other_code), strict=True))
    captured = sorted(there.get(old, old) for old, _ in closures)
    if captured != sorted(new for _, new in closures):
        raise _Different(f"{a.co_name}: other names are captured")
    for was, now in labels:  # keys of keyword-only defaults and of annotations follow a parameter
        words = [each if isinstance(each, tuple) else (each,) for each in (was, now)]
        pairs_of_words = {
            (old, new) for old, new in zip(*words, strict=False) if _plain(old) != _plain(new)
        }
        if len(words[0]) != len(words[1]) or not pairs_of_words <= signatures:
            raise _Different(f"{a.co_name}: the constant {was!r} became {now!r}")
    return renamed | {new for old, new in there.items() if old != new}, there


def _parameters(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + _stars(code)]


def _stars(code: CodeType) -> int:
    return bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)


@dataclass(frozen=True)
class _Step:
    operation: str
    argument: Any
    line: int | None
    is_local: bool = False
    is_closure: bool = False


def _steps(code: CodeType) -> Iterator[_Step]:
    """Instructions, one name each, jumps by number of the instruction they lead to."""
    kept = [step for step in dis.get_instructions(code) if step.opname not in _CELLS]
    number = {step.offset: at for at, step in enumerate(kept)}
    cells = {*code.co_cellvars, *code.co_freevars}
    for step in kept:
        line = step.positions.lineno if step.positions else None
        if isinstance(step.argval, tuple) and step.opname.count("_FAST") == 2:
            halves = step.opname.replace("_FAST_", "_FAST ").split()
            for operation, name in zip(halves, step.argval, strict=True):
                yield _Step(operation, name, line, *_roles(operation, name, cells))
        elif step.opcode in dis.haslocal or step.opcode in dis.hasfree:
            roles = _roles(step.opname, step.argval, cells)
            yield _Step(step.opname, step.argval, line, *roles)
        elif step.opcode in dis.hasjabs or step.opcode in dis.hasjrel:
            yield _Step(step.opname, number.get(step.argval, step.argval), line)
        elif step.opname == "BINARY_OP" or step.arg is None:
            yield _Step(step.opname, step.arg, line)
        else:
            yield _Step(step.opname, step.argval, line)


def _roles(operation: str, name: str, cells: set[str]) -> tuple[bool, bool]:
    # 3.13 spells LOAD_CLOSURE as LOAD_FAST of a cell
    closure = operation == "LOAD_CLOSURE" or (operation == "LOAD_FAST" and name in cells)
    return True, closure


def _plain(value: Any) -> Any:
    """A constant in a form that tells 1 from 1.0 and from True, and a NaN from nothing else."""
    if isinstance(value, tuple):
        return ("tuple", *map(_plain, value))
    if isinstance(value, frozenset):
        return ("frozenset", frozenset(map(_plain, value)))
    return (type(value), repr(value))


def _names_in(code: CodeType) -> set[str]:
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names}
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return own.union(*map(_names_in, inner))
