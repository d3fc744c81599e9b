"""Filling in a template; whatever is put in is escaped."""

from functools import cache
from typing import Any

import jinja2

from puzzlemark import __version__


def render(name: str, **values: Any) -> str:
    """The text of a template of this package with these values."""
    return _environment().get_template(name).render(version=__version__, **values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("puzzlemark.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["grouped"] = grouped
    return environment


def grouped(value: float | str) -> str:
    """A number with commas; a text as it is: `12345 -> "12,345"`."""
    return value if isinstance(value, str) else f"{value:,}"
