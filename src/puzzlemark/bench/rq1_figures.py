"""The figure of RQ1, from its records: BLEU of marked models and of their bare twins."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from puzzlemark.bench.records import Row, load_rows
from puzzlemark.languages.base import title_of
from puzzlemark.pages.figure import Axis, Bars, Figure, Panel, draw
from puzzlemark.watermarks.base import named

BLEU = Axis(0, 100, (0, 25, 50, 75, 100))


def figures(records: Path) -> dict[str, str]:
    """The pictures by file name: the paper's label is the name; none where nothing is recorded."""
    found = [(budget, rows) for budget, rows in _budgets(records) if rows]
    shared = Counter(_about(budget) for budget, _ in found)
    panels = [
        Panel(
            _about(budget) if shared[_about(budget)] == 1 else _about_all(budget),
            bars(rows),
            tuple(map(_label, rows)),
        )
        for budget, rows in found
    ]
    if not panels:
        return {}
    figure = Figure(
        "Sentence BLEU of marked models and their bare twins",
        tuple(panels),
        up=BLEU,
        up_name="BLEU",
        columns=1,
    )
    return {"harmless.svg": draw(figure)}


def bars(rows: list[Row]) -> tuple[Bars, Bars]:
    """One pair of bars for each mark."""
    found = [row.compare().bleu for row in rows]
    return (
        Bars("bare", tuple(each.bare for each in found), 0),
        Bars("marked", tuple(each.marked for each in found), 1),
    )


def _about(budget: dict[str, Any]) -> str:
    return f"{budget['rate']:.0%} of {budget['functions']:,} functions marked"


def _about_all(budget: dict[str, Any]) -> str:
    """What tells apart two budgets with as many marks."""
    return f"{_about(budget)}, recipe {budget['recipe']['recipe']}, seed {budget['seed']}"


def _label(row: Row) -> str:
    """`P1`, or what a mark without a name joins and where: `key, Go`."""
    if row.mark in named():
        return row.mark
    scheme = row.mark.removesuffix(f"-{row.language}")
    return f"{scheme.rpartition('-')[2]}, {title_of(row.language)}"


def _budgets(records: Path) -> list[tuple[dict[str, Any], list[Row]]]:
    """The budgets with what was found, the most marks first."""
    paths = sorted(path.parent for path in records.glob("*/budget.json"))
    found = [(json.loads((path / "budget.json").read_text()), load_rows(path)) for path in paths]
    return sorted(found, key=lambda each: -each[0]["rate"])
