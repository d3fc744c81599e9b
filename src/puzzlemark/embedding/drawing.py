"""What `show` and `score` found as a page and a picture, written to files."""

from pathlib import Path

from puzzlemark.embedding.scores import Scored, read_suitability
from puzzlemark.embedding.showing import Showing
from puzzlemark.files import refuse_existing
from puzzlemark.pages.histogram import suitability_picture
from puzzlemark.pages.marks import Count, Fact, marks_page
from puzzlemark.staging import write_text
from puzzlemark.stores import Location, locate_output


def save_marks_page(showing: Showing, page: Path | str, *, overwrite: bool = False) -> None:
    """Write the marks as one self-contained page that only its owner can read (mode 0600)."""
    page = Path(page)
    refuse_existing(page, overwrite=overwrite)
    text = marks_page(
        f"Marks in {Path(showing.input).name}",
        showing.marks,
        counts=_counts(showing),
        facts=_facts(showing),
        total=showing.total,
    )
    write_text(page, text, private=True)


def save_scores_picture(
    scored: Scored, picture: Location | str, *, overwrite: bool = False
) -> None:
    """Draw the distribution of suitability with its threshold, as SVG."""
    picture = locate_output(picture)
    refuse_existing(picture, overwrite=overwrite)
    write_text(picture, scores_picture(scored))


def scores_picture(scored: Scored) -> str:
    """The same as text, drawn from the file of the scores."""
    return suitability_picture(read_suitability(scored.output), scored.threshold, scored.tau)


def _counts(showing: Showing) -> list[Count]:
    header = showing.header
    records, marked = header.input.records, header.counts["marked"]
    share = f"{marked / records:.2%}" if records else "none"
    return [
        Count(f"{records:,}", "records"),
        Count(f"{showing.total:,}", f"marks ({share})"),
        Count(f"{header.counts.get('natural', 0):,}", "with a natural trigger"),
        Count(f"{header.counts.get('introduced', 0):,}", "with an introduced trigger"),
        Count(f"{header.counts.get('unedited', 0):,}", "there by nature, nothing changed"),
    ]


def _facts(showing: Showing) -> list[Fact]:
    header = showing.header
    chosen = {key: value for key, value in header.watermark.settings.items() if value is not None}
    settings = ", ".join(f"{key}={value}" for key, value in chosen.items())
    scheme = " ".join(filter(None, (header.watermark.name, header.watermark.scheme, settings)))
    rates = f"{header.min_rate:g} to {header.max_rate:g}"
    side = f" (the {showing.side} one)" if showing.side else ""
    return [
        Fact("Dataset", f"{showing.input}{side}"),
        Fact("Watermark", scheme, is_code=True),
        Fact("Policy", f"{header.policy}; carriers in {header.order} order"),
        Fact("Rates", f"{rates}; suitability quantile tau {header.tau:g}"),
        Fact("Original digest", header.input.digest, is_code=True),
        Fact("Marked digest", header.output.digest, is_code=True),
    ]
