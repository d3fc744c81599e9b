"""Which watermarks an experiment is about: presets of the paper, or any watermark with settings."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from puzzlemark.errors import UsageError
from puzzlemark.watermarks.base import Watermark, find_mark, named

LANGUAGE = re.compile(r".*-(\w+)")


@dataclass(frozen=True, slots=True)
class Choice:
    """A watermark in one language; its name is that of its folder and of its row in a table."""

    name: str  # "U1", or "fixed_prefix-prefix-node-python"
    language: str
    watermark: Watermark
    preset: str | None  # None: by its settings


def choose(specs: Sequence[str], languages: Collection[str]) -> list[Choice]:
    """A preset is for its own language, a watermark with settings for each that is given."""
    chosen: dict[str, Choice] = {}
    for spec in specs:
        meant = find_mark(spec)
        if isinstance(meant, tuple):
            name, each = meant
            found = [Choice(name, each.language, each.watermark, name)]
        else:
            found = [Choice(f"{slug(spec)}-{name}", name, meant, None) for name in languages]
        for choice in found:
            if choice.name in chosen and choice != chosen[choice.name]:
                raise UsageError(f"{spec}: another watermark has the folder {choice.name} already")
            chosen[choice.name] = choice
    return list(chosen.values())


def split_specs(text: str) -> list[str]:
    """`"P1,coprotector_word:trigger=a,target=b" -> ["P1", "coprotector_word:trigger=a,target=b"]`.

    What follows a comma belongs to the watermark before it where it is a setting: `name=value`.
    """
    pieces = re.findall(r'(?:[^,"]|"(?:\\.|[^"\\])*"?)+', text)
    specs: list[str] = []
    for piece in pieces:
        is_setting = "=" in piece and ":" not in piece.partition("=")[0]
        if is_setting and specs and ":" in specs[-1]:
            specs[-1] += f",{piece}"
        else:
            specs.append(piece.strip())
    return specs


def slug(spec: str) -> str:
    """A name for files: `"fixed_prefix:prefix=node" -> "fixed_prefix-prefix-node"`."""
    return re.sub(r"\W+", "-", spec).strip("-")


def language_of(name: str) -> str | None:
    """The language of a set by its name: of a preset, or what stands last in it."""
    known = named()
    if name in known:
        return known[name].language
    found = LANGUAGE.fullmatch(name)
    return found[1] if found else None
