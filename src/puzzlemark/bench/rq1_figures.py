"""The figure of RQ1, from its records: BLEU of marked models and of their bare twins."""

import json
from pathlib import Path

from puzzlemark.bench.records import Row, load_rows
from puzzlemark.pages.figure import Axis, Bars, Figure, Panel, draw

BLEU = Axis(0, 100, (0, 25, 50, 75, 100))


def figures(records: Path) -> dict[str, str]:
    """The pictures by file name: the paper's label is the name; none where nothing is recorded."""
    panels = [
        Panel(
            f"{budget['rate']:.0%} of {budget['functions']:,} functions marked", bars(rows), marks
        )
        for budget, rows in _budgets(records)
        if (marks := tuple(row.mark for row in rows))
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


def _budgets(records: Path) -> list[tuple[dict[str, float], list[Row]]]:
    """The budgets with what was found, the most marks first."""
    paths = sorted(path.parent for path in records.glob("*/budget.json"))
    found = [(json.loads((path / "budget.json").read_text()), load_rows(path)) for path in paths]
    return sorted(found, key=lambda each: -each[0]["rate"])
