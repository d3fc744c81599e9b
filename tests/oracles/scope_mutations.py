"""Faults in a table of scopes, one at a time: what the generated programs must notice."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, get_args

from puzzlemark.syntax.resolvers._scopes import Binder, Reach, Table, known_types

NOT_KINDS = frozenset("pattern not_names blank scope function signature name bound body".split())
REACHES: tuple[Reach, ...] = get_args(Reach)
Row = TypeVar("Row")


def faulty_tables(table: Table, beyond: Table | None = None) -> Iterator[tuple[str, Table]]:
    """Every table with one fault, and what it is; or only in what another table has not."""
    for fault, faulty in _faulty_tables(table):
        if (
            beyond is None
            or fault.split()[0] not in {*beyond.binders, *NOT_KINDS}
            or ((words := fault.split())[0] in NOT_KINDS and words[1] not in known_types(beyond))
        ):
            yield fault, faulty


def _faulty_tables(table: Table) -> Iterator[tuple[str, Table]]:
    opening = table.functions | table.scopes | table.signatures
    for kind, rows in table.binders.items():
        for place, row in enumerate(rows):
            if row.fixed is not None:  # a reason to refuse: tests/syntax/test_scope_tables.py
                continue
            for fault, faulty in _faulty_binders(row, kind in opening, kind in table.functions):
                changed = (*rows[:place], *faulty, *rows[place + 1 :])
                label = f"{kind} {place}: {fault}"
                yield label, replace(table, binders={**table.binders, kind: changed})
    for kind in table.patterns:
        yield f"pattern {kind} dropped", replace(table, patterns=_without(table.patterns, kind))
    for kind in table.not_names:
        yield f"not_names {kind} dropped", replace(table, not_names=_without(table.not_names, kind))
    for word in table.blank:
        yield f"blank {word!r} dropped", replace(table, blank=table.blank - {word})
    for kind in sorted(table.scopes):
        yield f"scope {kind} dropped", replace(table, scopes=table.scopes - {kind})
    for kind in sorted(table.functions):
        changed_functions = table.functions - {kind}
        yield (
            f"function {kind} is a mere scope",
            replace(table, functions=changed_functions, scopes=table.scopes | {kind}),
        )
        yield f"function {kind} dropped", replace(table, functions=changed_functions)
    for kind in sorted(table.signatures):
        yield f"signature {kind} dropped", replace(table, signatures=table.signatures - {kind})
    for kind in sorted(table.names):
        yield f"name {kind} dropped", replace(table, names=table.names - {kind})
    for kind in sorted(table.bound_types):
        yield f"bound {kind} dropped", replace(table, bound_types=table.bound_types - {kind})
    for kind in sorted(table.bodies):
        yield f"body {kind} dropped", replace(table, bodies=table.bodies - {kind})


def _faulty_binders(
    row: Binder, opens: bool, is_function: bool
) -> Iterator[tuple[str, tuple[Binder, ...]]]:
    yield "dropped", ()
    for reach in REACHES:
        in_function = row.parameter or is_function  # what it binds is bound in a function's scope
        same = {
            # without a scope of its own a node has no outer one
            "outer": not opens,
            # the block of a parameter, or of a function's own name, is the function
            "function": in_function and row.reach == "block",
            # whatever else is bound in a function's scope is bound in its body
            "body": not in_function,
        }.get(reach, False)
        if reach != row.reach and not same:
            yield f"reach {row.reach} -> {reach}", (replace(row, reach=reach),)
    for name in ("needs", "since"):
        if getattr(row, name) is not None:
            yield f"without {name}", (_changed(row, name, None),)
    for name in ("reuses", "shared", "yields", "silent"):
        if getattr(row, name):
            yield f"without {name}", (_changed(row, name, False),)


def _without(rows: Mapping[str, Row], kind: str) -> dict[str, Row]:
    return {each: row for each, row in rows.items() if each != kind}


def _changed(row: Binder, name: str, value: object) -> Binder:
    settings: dict[str, Any] = {name: value}
    return replace(row, **settings)
