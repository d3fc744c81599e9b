"""`puzzlemark list`: what there is to choose from."""

import inspect
from typing import Any

from rich.markup import escape

from puzzlemark import plugins
from puzzlemark.cli.base import AsJson, output_console, print_json

ROOMS = (
    "watermarks",
    "languages",
    "carriers.projections",
    "syntax.rewritings",
    "detectors",
    "models",
    "models.pretrained",
    "training.recipes",
    "verification.tests",
    "corpora.formats",
    "engines",
)


def run(as_json: AsJson = False) -> None:
    """List what there is to choose from, and the paper's names for watermarks."""
    from puzzlemark.watermarks.base import named, to_settings

    marks = {
        name: {
            "language": each.language,
            "watermark": each.watermark.name,
            "settings": to_settings(each.watermark),
        }
        for name, each in sorted(named().items())
    }
    rooms = {room: {name: _about(room, name) for name in plugins.names(room)} for room in ROOMS}
    if as_json:
        print_json({"marks": marks, **rooms})
        return
    console = output_console()
    console.print("[bold]marks[/] (puzzlemark embed --mark NAME)")
    for name, mark in marks.items():
        console.print(f"  {name}  {mark['language']:<8}{mark['watermark']}{_settings(mark)}")
    for room, variants in rooms.items():
        console.print(f"[bold]{room}[/]")
        for name, about in variants.items():
            console.print(f"  {name:<22}{escape(about)}")


def _about(room: str, name: str) -> str:
    text = inspect.getdoc(plugins.load(room, name)) or ""
    return text.partition("\n")[0]


def _settings(mark: dict[str, Any]) -> str:
    settings = {key: value for key, value in mark["settings"].items() if value is not None}
    pairs = ",".join(f"{key}={value}" for key, value in settings.items())
    return f":{pairs}" if pairs else ""
