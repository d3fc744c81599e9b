"""Which column holds the code, the id, the language."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from puzzlemark.corpora.hashes import fitting_hashes, is_certain
from puzzlemark.errors import UsageError

CODE = ("code", "func_code_string", "whole_func_string", "original_string", "content", "text")
# Hashes of the content (`hexsha`, `blob_id`) are no ids here: they change with the code.
ID = tuple(
    "id ID Id _id task_id snippet_id sample_id problem_id uid uuid guid idx index "
    "url func_code_url func_url".split()
)
LANGUAGE = ("language", "lang", "programming_language")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns we read; the others pass through."""

    code: str
    id: str | None = None
    language: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        wanted = (self.code, self.id, self.language)
        return tuple(dict.fromkeys(name for name in wanted if name is not None))


def recognise(
    head: Mapping[str, Any],
    where: str,
    *,
    code: str | None = None,
    id: str | None = None,  # noqa: A002
    language: str | None = None,
) -> Columns:
    """The columns of a dataset whose first record is `head`; named ones are taken at their word."""
    for option, name in (("code", code), ("id", id), ("language", language)):
        if name is not None and name not in head:
            raise UsageError(f"{where}: no column {name!r} for --{option}-column; {_listing(head)}")
    code = code or next((name for name in CODE if _may_be_text(head, name)), None)
    if code is None:
        raise UsageError(
            f"{where}: no column looks like code; {_listing(head)}; pass --code-column"
        )
    id = id or next((name for name in ID if _may_be_id(head, name, code)), None)  # noqa: A001
    language = language or next((name for name in LANGUAGE if name in head), None)
    return Columns(code, id, language)


def _may_be_text(head: Mapping[str, Any], name: str) -> bool:
    return name in head and (head[name] is None or isinstance(head[name], str | bytes))


def _may_be_id(head: Mapping[str, Any], name: str, code: str) -> bool:
    # an id that is a hash of the code would change with it
    text = head[code]
    if name not in head or not isinstance(text, str) or not isinstance(head[name], str):
        return name in head
    content = text.encode("utf-8", "replace").decode()  # without lone surrogates
    return not (is_certain(head[name]) and any(fitting_hashes(content, head[name])))


def _listing(head: Mapping[str, Any]) -> str:
    return f"its columns are {', '.join(map(str, head)) or 'none'}"
