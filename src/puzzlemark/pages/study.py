"""The page of one participant of a study: one file that asks, keeps the answers and exports them.

Nothing here knows which snippets are marked. Neither does the page name the program that made it:
a participant who looked it up would know what to look for.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from markupsafe import Markup

from puzzlemark.pages.template import render

Kind = Literal["", "comment", "string", "number", "keyword", "type"]
FORMAT = "study answers"
VERSION = 1
# what the server of `study serve` replaces, so that a page may hand in its answers there
NO_CONNECTIONS = "connect-src 'none'"
NO_COLLECTOR = '<meta name="collect" content="">'
DATA = re.compile(r'<script type="application/json" id="study">(.*?)</script>', re.DOTALL)
ITEM = re.compile(r"^- ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of code of one colour."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Round:
    """One walk over the snippets, and what is read before it."""

    number: int
    introduction: str
    order: tuple[str, ...]  # ids of snippets


@dataclass(frozen=True, slots=True)
class StudyPage:
    """All that the page of one participant holds."""

    study: str
    participant: str
    token: str  # of the participant: it seals the answers
    language: str
    title: str
    consent: str | None  # None: the participant agreed on an earlier page
    agree: str
    question: str
    suspicious: str
    ordinary: str
    thanks: str
    rounds: tuple[Round, ...]
    of_rounds: int  # how many the study has; another page may hold the others
    snippets: Mapping[str, tuple[Piece, ...]]  # by id


def study_page(page: StudyPage) -> str:
    """The page, as one HTML text."""
    script = _part("study.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(
        "study.html.jinja",
        title=page.title,
        page=page,
        policy=Markup(  # noqa: S704 - ours, and spelled as the server looks for it
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
            f"{NO_CONNECTIONS}; form-action 'none'; base-uri 'none'"
        ),
        collector=Markup(NO_COLLECTOR),  # noqa: S704 - a text of ours
        style=Markup(_part("study.css")),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - a file of ours
        data=Markup(inert_json(_data(page))),  # noqa: S704 - no sign in it can end the script
    )


def read_data(page: str) -> dict[str, Any]:
    """What a page holds; raises ValueError where it is none of ours."""
    found = DATA.search(page)
    if found is None:
        raise ValueError("no page of a study")
    data = json.loads(found[1])
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError("no page of a study")
    return data


def inert_json(data: Any) -> str:
    r"""JSON that may stand in an HTML script: `</script>` is written `\u003c/script\u003e`."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _data(page: StudyPage) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "study": page.study,
        "participant": page.participant,
        "token": page.token,
        "language": page.language,
        "of": page.of_rounds,
        "texts": {
            "consent": None if page.consent is None else _blocks(page.consent),
            "suspicious": page.suspicious,
            "ordinary": page.ordinary,
            "thanks": _blocks(page.thanks),
        },
        "rounds": [
            {"number": each.number, "intro": _blocks(each.introduction), "order": each.order}
            for each in page.rounds
        ],
        # by id, which is drawn: the order tells nothing
        "snippets": {
            name: [[piece.kind, piece.text] for piece in page.snippets[name]]
            for name in sorted(page.snippets)
        },
    }


def _blocks(text: str) -> list[list[Any]]:
    """Paragraphs and lists: `[["p", inline], ["ul", [inline, ...]]]`."""
    blocks: list[list[Any]] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("- "):
            items = [" ".join(item.split()) for item in ITEM.split(block)[1:]]
            blocks.append(["ul", [_inline(item) for item in items]])
        else:
            blocks.append(["p", _inline(" ".join(block.split()))])
    return blocks


def _inline(text: str) -> list[list[str]]:
    """Plain text and `code` in turn."""
    parts = re.split(r"`([^`]*)`", text)
    kinds = ("", "code")
    return [[kinds[place % 2], part] for place, part in enumerate(parts) if part]


@cache
def _part(name: str) -> str:
    return (resources.files("puzzlemark.pages") / "templates" / name).read_text(encoding="utf-8")
