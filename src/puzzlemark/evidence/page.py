"""What was found about a bundle as a page; it is drawn in `pages`."""

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from puzzlemark.evidence.claims import Checked
from puzzlemark.files import keep_apart, refuse_existing
from puzzlemark.pages.evidence import Findings, Item, Judged, Part, evidence_page
from puzzlemark.pages.excerpts import legible
from puzzlemark.staging import write_text


def build_page(checked: Checked) -> Findings:
    """All that the page says; whatever a bundle holds is a stranger's text."""
    return Findings(
        title=legible(checked.title),
        name=legible(checked.path.name),
        sha256=checked.sha256,
        commitment=checked.commitment or "not readable",
        result=checked.to_json()["result"],
        sentence=checked.sentence,
        runs=tuple(
            Judged(
                each.number,
                each.word,
                each.stands,
                each.lead,
                legible(each.model),
                each.events,
                tuple(legible(sentence) for sentence in each.deviations),
            )
            for each in checked.runs
        ),
        parts=tuple(
            Part(name, tuple(Item(c.claim, c.status, legible(c.why)) for c in claims))
            for name, claims in groupby(checked.claims, lambda claim: claim.about)
        ),
        limits=checked.limits,
    )


def save_page(
    checked: Checked,
    page: Path,
    *,
    sources: Mapping[str, Path | str | None],
    overwrite: bool = False,
) -> None:
    """Write the page; never over what was checked."""
    keep_apart({"--page": page}, sources)
    refuse_existing(page, overwrite=overwrite)
    write_text(page, evidence_page(build_page(checked)))
