"""Plug-in rooms: one file per variant, found by its file name.

`load("languages", "python")` imports `puzzlemark.languages.python`. A third party adds a variant
with an entry point in the group `puzzlemark.<room>`, whose value names a module of the same shape.
A file called `base`, or with a leading underscore, is shared by the variants and is none itself.
A folder in a room is no variant either, but a room of its own: `names("models.pretrained")`.
"""

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType

from puzzlemark.errors import UsageError


@cache
def names(room: str) -> tuple[str, ...]:
    """The variants in a room, sorted: `names("languages") -> ("java", "python")`."""
    package = importlib.import_module(f"puzzlemark.{room}")
    ours = (m.name for m in pkgutil.iter_modules(package.__path__) if not m.ispkg)
    theirs = (point.name for point in entry_points(group=f"puzzlemark.{room}"))
    return tuple(sorted({name for name in (*ours, *theirs) if _is_variant(name)}))


@cache
def rooms(room: str) -> tuple[str, ...]:
    """The rooms in a room, sorted: `rooms("carriers") -> ("projections",)`."""
    package = importlib.import_module(f"puzzlemark.{room}")
    inner = (m.name for m in pkgutil.iter_modules(package.__path__) if m.ispkg)
    return tuple(sorted(name for name in inner if _is_variant(name)))


@cache
def load(room: str, name: str) -> ModuleType:
    """Import one variant; an unknown name is an error that lists the known ones."""
    if name not in names(room):
        known = ", ".join(names(room))
        raise UsageError(f"no {name!r} among {room}; known: {known}")
    for point in entry_points(group=f"puzzlemark.{room}", name=name):
        module = point.load()
        assert isinstance(module, ModuleType), f"{point.value} is not a module"
        return module
    return importlib.import_module(f"puzzlemark.{room}.{name}")


def _is_variant(name: str) -> bool:
    return name != "base" and not name.startswith("_")
