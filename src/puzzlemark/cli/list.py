"""`puzzlemark list`: what there is to choose from."""

import inspect
from typing import Any

from rich.markup import escape

from puzzlemark import plugins
from puzzlemark.cli.base import AsJson, output_console, print_json


def run(as_json: AsJson = False) -> None:
    """List what there is to choose from, and the named presets of watermarks.

    Plug-ins of other packages are among them, with the package they come with.

    [bold]Examples[/]

    puzzlemark list

    puzzlemark list --json
    """
    from puzzlemark.languages.base import title_of
    from puzzlemark.watermarks.base import named, to_settings

    marks: dict[str, dict[str, Any]] = {
        name: {
            "language": each.language,
            "watermark": each.watermark.name,
            "settings": to_settings(each.watermark),
        }
        for name, each in sorted(named().items())
    }
    found = {package: _variants(package) for package in plugins.packages()}
    if as_json:
        print_json({"marks": marks, **found})
        return
    console = output_console()
    console.print("[bold]marks[/] (puzzlemark embed --mark NAME)")
    for name, mark in marks.items():
        console.print(
            f"  {name}  {title_of(mark['language']):<8}{mark['watermark']}{_settings(mark)}"
        )
    for package, variants in found.items():
        console.print(f"[bold]{package}[/]")
        for name, about in variants.items():
            console.print(f"  {name:<22}{escape(about)}")


def _variants(package: str) -> dict[str, str]:
    """Each usable plug-in with the first line of its module's docstring."""
    return {name: _about(package, name) for name, _ in plugins.every(package)}


def _about(package: str, name: str) -> str:
    text = (inspect.getdoc(plugins.load(package, name)) or "").partition("\n")[0]
    owner = plugins.distribution(package, name)
    return f"{text} ({owner})" if owner else text


def _settings(mark: dict[str, Any]) -> str:
    settings = {key: value for key, value in mark["settings"].items() if value is not None}
    pairs = ",".join(f"{key}={value}" for key, value in settings.items())
    return f":{pairs}" if pairs else ""
