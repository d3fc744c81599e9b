"""Random Java programs in which every name that is not a local is a field of the same class.

So an occurrence that a resolver misses, or takes too many, still compiles, but to other bytes.
"""

import random
from collections.abc import Iterator

NAMES = ("a", "b", "key", "value")

_FRAME = """class T implements AutoCloseable {
  Object a = 1, b = 2, key = 3, value = 4;
  interface Body { Object run(Object first); }
  public void close() { }
  static T open(Object... any) { return new T(); }
  static Object use(Object... any) { return any; }
  static Object call(Body body) { return body.run(0); }
  static Object[] all(Object... any) { return any; }
  Object f(%s) {
%s    return null;
  }
}
"""


def generate_program(seed: int) -> str:
    """One program; the same seed gives the same program."""
    rng = random.Random(seed)
    parameters = rng.sample(NAMES, rng.randint(0, 2))
    body = "".join(_statements(rng, frozenset(parameters), depth=0))
    return _FRAME % (", ".join(f"Object {name}" for name in parameters), body)


def _statements(rng: random.Random, bound: frozenset[str], depth: int) -> Iterator[str]:
    indent = "    " + "  " * depth
    for _ in range(rng.randint(2, 5)):
        if depth < 3 and rng.random() < 0.5:
            yield from (indent + line for line in _compound(rng, bound, depth))
        elif (free := sorted({*NAMES} - bound)) and rng.random() < 0.5:
            name = rng.choice(free)
            yield f"{indent}Object {name} = {_expression(rng, {name})};\n"
            bound |= {name}
        else:
            yield f"{indent}use({_expression(rng)});\n"


def _compound(rng: random.Random, bound: frozenset[str], depth: int) -> Iterator[str]:
    def block(*new: str) -> str:
        inner = "".join(_statements(rng, bound | {*new}, depth + 1))
        return "{\n" + inner + "    " + "  " * depth + "}"

    free = sorted({*NAMES} - bound)
    if not free:
        yield block() + "\n"
        return
    name = rng.choice(free)
    match rng.randrange(7):
        case 0:
            yield f"for (Object {name} : all({_expression(rng)})) {block(name)}\n"
        case 1:
            start = _expression(rng, {name})
            yield f"for (Object {name} = {start}; {name} == use({name}); ) {block(name)}\n"
        case 2:
            value = _expression(rng, {name})
            other = rng.choice(free)
            yield f"try (T {name} = open({value})) {block(name)}\n"
            yield f"catch (RuntimeException {other}) {block(other)} finally {block()}\n"
        case 3:
            yield f"call({name} -> {{ use({name}); return {_expression(rng)}; }});\n"
        case 4:
            yield f"call(({name}) -> {block(name)[:-1]} return {name}; }});\n"
        case 5:
            groups = f"case 1: Object {name} = {_expression(rng, {name})}; use({name});"
            yield f"switch (this.hashCode()) {{ {groups}\n"
            yield f"default: {name} = use(1); use({name}, this.{name}); }}\n"
        case _:
            yield f"if (this.{name} == {_expression(rng)}) {block()} else {block()}\n"


def _expression(rng: random.Random, unassigned: set[str] = frozenset()) -> str:  # type: ignore[assignment]
    names = [name for name in NAMES if name not in unassigned]
    parts = [rng.choice([n, n, f"this.{n}", f'"{n}" + {n}']) for n in rng.sample(names, 2)]
    return f"use({', '.join(parts)})"
