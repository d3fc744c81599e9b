"""Whether two Python files compile to the same code, but for the names of local variables.

Judged by the interpreter's own compiler, which knows nothing of our resolver. The files are
compiled, never run.
"""

import dis
import warnings
from collections.abc import Iterator
from inspect import CO_OPTIMIZED, CO_VARARGS, CO_VARKEYWORDS
from types import CodeType
from typing import Any

NOT_COMPILED = "Python cannot compile the file"
# the order of cells follows the spelling of their names
_CELLS = frozenset({"MAKE_CELL", "COPY_FREE_VARS", "EXTENDED_ARG", "CACHE"})
_SAME = (
    *("co_name", "co_flags", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount"),
    *("co_firstlineno", "co_names"),
)


class Different(Exception):
    """What differs."""


def compile_file(content: bytes) -> CodeType | None:
    """A file's code object; None when this Python cannot compile it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(content, "<file>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def why_different(before: bytes, after: bytes) -> str | None:
    """Why two files are not the same program up to fresh local names; None when they are."""
    one, other = compile_file(before), compile_file(after)
    if one is None or other is None:
        return NOT_COMPILED
    try:
        _compare(one, other, {})
    except Different as found:
        return f"its compiled code would differ: {found}"
    return None


def _compare(
    a: CodeType, b: CodeType, around: dict[str, str], function: CodeType | None = None
) -> None:
    """Raise when two code objects differ in more than local names.

    `around` has the names of outer scopes; `function` is the outermost one, in all of which a new
    name must be fresh.
    """
    if function is None and a.co_flags & CO_OPTIMIZED:
        function = a
    for name in _SAME:
        if getattr(a, name) != getattr(b, name):
            raise Different(f"{name} of {a.co_name}")
    if a.co_varnames[: _parameters(a)] != b.co_varnames[: _parameters(b)]:
        raise Different(f"parameters of {a.co_name}")
    constants = [
        [_plain(value) for value in code.co_consts if not isinstance(value, CodeType)]
        for code in (a, b)
    ]
    if constants[0] != constants[1]:  # labels of keyword arguments are among them
        raise Different(f"constants of {a.co_name}")
    pairs = _Pairs(function or a, {name: around.get(name, name) for name in a.co_freevars})
    inner: list[tuple[CodeType, CodeType]] = []
    closures: list[tuple[str, str]] = []
    ours, theirs = list(_steps(a)), list(_steps(b))
    if len(ours) != len(theirs):
        raise Different(f"instructions of {a.co_name}")
    for one, other in zip(ours, theirs, strict=True):
        if one.opname != other.opname or (one.positions and _line(one) != _line(other)):
            raise Different(f"line {_line(one)} of {a.co_name}")
        if _is_closure(a, one):
            closures.append((one.argval, other.argval))
        elif _is_local(one):
            for old, new in zip(_names(one), _names(other), strict=True):
                pairs.add(old, new)
        elif isinstance(one.argval, CodeType) and isinstance(other.argval, CodeType):
            inner.append((one.argval, other.argval))
        elif _plain(one.argval) != _plain(other.argval):
            raise Different(f"line {_line(one)} of {a.co_name}")
    there = pairs.there
    for mine, yours in (
        (a.co_cellvars, b.co_cellvars),
        (a.co_freevars, b.co_freevars),
        tuple(zip(*closures, strict=True)) or ((), ()),
    ):
        if sorted(there.get(name, name) for name in mine) != sorted(yours):
            raise Different(f"captured names of {a.co_name}")
    for one_code, other_code in inner:
        _compare(one_code, other_code, {**around, **there}, function)


class _Pairs:
    """Old names and new ones of one scope, one to one, and every new one fresh."""

    def __init__(self, code: CodeType, there: dict[str, str]) -> None:
        self.code = code
        self.there = dict(there)
        self.back = {new: old for old, new in there.items()}
        self.taken: set[str] | None = None

    def add(self, old: str, new: str) -> None:
        """Pair two names; raise when either is paired with another one, or the new one is taken."""
        if self.there.setdefault(old, new) != new or self.back.setdefault(new, old) != old:
            raise Different(f"{old} became {new} in {self.code.co_name}, and not everywhere")
        if old != new:
            self.taken = set(_all_names(self.code)) if self.taken is None else self.taken
            if new in self.taken:
                raise Different(f"{new} is taken in {self.code.co_name}")


def _all_names(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_names(constant)


def _steps(code: CodeType) -> Iterator[dis.Instruction]:
    return (each for each in dis.get_instructions(code) if each.opname not in _CELLS)


def _line(step: dis.Instruction) -> int | None:
    return step.positions.lineno if step.positions else None


def _is_local(step: dis.Instruction) -> bool:
    kinds = (*dis.haslocal, *dis.hasfree)
    is_pair = step.opname.startswith(("LOAD_FAST_", "STORE_FAST_"))  # two at once, from 3.13 on
    return step.opcode in kinds or is_pair


def _names(step: dis.Instruction) -> tuple[str, ...]:
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _is_closure(code: CodeType, step: dis.Instruction) -> bool:
    """Whether a step puts a cell, not its content, on the stack."""
    if step.opname == "LOAD_CLOSURE":
        return True
    return step.opname == "LOAD_FAST" and step.argval in (*code.co_cellvars, *code.co_freevars)


def _parameters(code: CodeType) -> int:
    more = sum(bool(code.co_flags & flag) for flag in (CO_VARARGS, CO_VARKEYWORDS))
    return code.co_argcount + code.co_kwonlyargcount + more


def _plain(value: Any) -> Any:
    """A constant with its type: 1 is not True, and 0.0 is not -0.0."""
    if isinstance(value, tuple | frozenset):
        return type(value), sorted(map(repr, map(_plain, value))) if isinstance(
            value, frozenset
        ) else tuple(map(_plain, value))
    return type(value), repr(value)
