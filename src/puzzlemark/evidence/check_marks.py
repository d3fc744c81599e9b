"""Checking what a bundle opens of its commitment, and the dataset that it is about."""

import tempfile
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from puzzlemark.corpora.base import Corpus, Entry, open_corpus
from puzzlemark.embedding.manifest import Carrier, Header, load_manifest, manifest_digest
from puzzlemark.embedding.redrawing import draws_anything, misplaced, redraw
from puzzlemark.embedding.run import embed, revert
from puzzlemark.embedding.showing import read_entries
from puzzlemark.evidence.bundle import (
    PLACE,
    opened_secret,
)
from puzzlemark.evidence.claims import (
    ODD,
    Checking,
    in_words,
    numbers_of,
    parse_object,
    shorter,
)
from puzzlemark.evidence.commitment import Commitment
from puzzlemark.evidence.comparing import original_of
from puzzlemark.evidence.revealing import read_opened
from puzzlemark.languages.base import parsing_packages
from puzzlemark.provenance import versions
from puzzlemark.snippet import apply_edits, invert_edits
from puzzlemark.watermarks.base import from_settings

# of the records: suitability is computed with floats, which differ in their last bits between
# machines
ROUNDING = 0.01


def check_marks(found: Checking) -> None:
    """Header, keys and marked records, as far as they were opened."""
    made, about = found.made, "marks"
    assert made is not None, "checked before"
    try:
        found.opened, found.leaves = read_opened(found.files)
    except ODD as exc:
        found.say(about, "What was opened can be read", "failed", in_words(exc))
        return
    _check_header(found, made)
    for name, key in found.opened.keys.items():
        is_same = key.hash == made.content.keys.get(name)
        found.say(
            about,
            f"The key {name!r} is the committed one",
            "ok" if is_same else "failed",
            "" if is_same else "its hash is not in the commitment",
        )
    _check_draws(found)
    marks, leaves = made.content.marks, found.leaves
    if not leaves:
        found.say(
            about, "Marked records were shown", "unknown", f"none of {marks.leaves:,} was opened"
        )
        return
    wrong = [n for n, leaf in enumerate(leaves, 1) if not leaf.leads_to(marks.leaves, marks.root)]
    several = len({leaf.index for leaf in leaves}) < len(leaves)
    found.say(
        about,
        "The marked records that were opened are those that were committed to",
        "failed" if wrong or several else "ok",
        f"line {wrong[0]} of carriers.jsonl is no leaf of the tree"
        if wrong
        else "one is there twice"
        if several
        else f"{len(leaves):,} of {marks.leaves:,}",
    )
    if not wrong and not several and len(leaves) == marks.leaves and found.header is not None:
        found.manifest = _whole_manifest(found)
        found.test(
            about,
            "Together they are the manifest that was committed to",
            lambda: _other_manifest(found),
        )


def _check_draws(found: Checking) -> None:
    """Names that are said to be drawn must be what the key draws."""
    assert found.opened is not None, "read before"
    key = found.opened.keys.get("watermark")
    carriers = [Carrier.from_line(leaf.line.encode()) for leaf in found.leaves]
    drawn = [mark for carrier in carriers for mark in carrier.marks if mark.draw is not None]
    if key is None or not drawn:
        return
    wrong = sum(
        mark.draw.symbol(bytes.fromhex(key.key)) != mark.of("target").text
        for mark in drawn
        if mark.draw is not None
    )
    claim = "The names in the opened records are those that the key draws"
    why = f"{wrong:,} of {len(drawn):,} are others" if wrong else f"{len(drawn):,} names"
    found.say("marks", claim, "failed" if wrong else "ok", why)


def _check_header(found: Checking, made: Commitment) -> None:
    assert found.opened is not None, "read before"
    sealed = found.opened.header
    if sealed is None:
        found.say(
            "marks",
            "The scheme of the marks is the committed one",
            "unknown",
            "the manifest's header was not opened",
        )
        return

    def find() -> str | None:
        if sealed.hash != made.content.header:
            return "its hash is not in the commitment"
        header = Header.model_validate_json(sealed.line)
        scheme = from_settings(header.watermark.scheme, header.watermark.settings)
        if scheme.design.name != made.plan.design:
            return "the plan is for marks of another design"
        if header.marked.digest != made.content.dataset.digest:
            return "the marks are those of another dataset"
        found.header = header
        return None

    found.test("marks", "The scheme of the marks is the committed one", find)


def _whole_manifest(found: Checking) -> Path:
    """The manifest, put together from all that was opened."""
    assert found.opened is not None, "read before"
    assert found.opened.header is not None, "opened"
    path = found.folder / "manifest.jsonl"
    ordered = sorted(found.leaves, key=lambda leaf: leaf.index)
    lines = [found.opened.header.line, *(leaf.line for leaf in ordered)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _other_manifest(found: Checking) -> str | None:
    """The whole text is committed to, too, where probes name the salt that opens it."""
    assert found.manifest is not None, "put together"
    digest = manifest_digest(found.manifest)
    for number in numbers_of(found.files):
        first = found.files[f"{PLACE}/{number}/probes.jsonl"].splitlines()[0]
        source = parse_object(first).get("source") or {}
        if source.get("manifest") not in (None, digest):
            return f"the probes of run {number} name another manifest"
    return None


# --- the dataset -------------------------------------------------------------------------------


def check_dataset(found: Checking) -> None:
    """The files that were published, where the reader has them."""
    made, about = found.made, "dataset"
    assert made is not None, "checked before"
    claim = "The dataset is the one that was committed to"
    marks = "The opened records carry their marks in it"
    if found.dataset is None:
        found.say(about, claim, "unknown", "pass the dataset as it was published: --dataset")
        found.say(about, marks, "unknown", "pass the dataset as it was published: --dataset")
        return

    def find() -> str | None:
        found.corpus = _open(found)
        digest = found.corpus.digest()
        if digest != made.content.dataset.digest:
            return f"its records are others: digest {digest}, not {made.content.dataset.digest}"
        return None

    if found.test(about, claim, find):
        if found.leaves:
            number = f"{len(found.leaves):,} records"
            is_there = found.test(about, marks, lambda: _unmarked(found), number)
            if is_there and found.header is not None and draws_anything(found.header):
                claim = "Sets and classes of the opened records follow from their code"
                found.test(about, claim, lambda: _misplaced(found), number)
        else:
            found.say(about, marks, "unknown", "none was opened")
        _check_frequencies(found)
        _check_choice(found)


def _check_choice(found: Checking) -> None:
    """Whoever picks carriers by hand can pick those that an innocent model completes as wanted."""
    claim = "The marked records are those that the scheme and its keys choose"
    about, header = "dataset", found.header
    needed = {"order", "draw"} if header is not None and header.order == "keyed" else set()
    is_open = found.opened is not None and needed <= set(found.opened.keys)
    if header is None or found.manifest is None or not is_open:
        why = "that takes all marked records and keys (bundle --reveal all)"
        found.say(about, claim, "unknown", why)
        return
    if header.published is not None:
        why = "another channel's marks stand in the dataset as well; its manifest would be needed"
        found.say(about, claim, "unknown", why)
        return
    try:
        differing = _chosen_otherwise(found, header)
    except ODD as exc:
        found.say(about, claim, "failed", shorter(in_words(exc), found))
        return
    share = differing / max(1, len(found.leaves))
    here = versions(*parsing_packages())
    if share > ROUNDING and header.versions != here:
        found.say(about, claim, "unknown", "they were marked by other versions than are here")
        return
    why = f"{differing:,} of {len(found.leaves):,} come out otherwise" if differing else ""
    found.say(about, claim, "failed" if share > ROUNDING else "ok", why)


def _chosen_otherwise(found: Checking, header: Header) -> int:
    """Take the marks out, mark again with the opened keys, and count what differs."""
    assert found.manifest is not None, "opened"
    assert found.dataset is not None, "passed"
    assert found.corpus is not None, "opened"
    marks = load_manifest(found.manifest)
    is_keyed = header.order == "keyed" or header.key_fingerprint is not None
    scheme = header.watermark
    with tempfile.TemporaryDirectory(prefix="puzzlemark-") as place:
        folder = Path(place)
        original = folder / "original" / Path(found.dataset).name
        original.parent.mkdir()
        revert(found.dataset, original, found.manifest)
        embed(
            original,
            folder / "marked" / original.name,
            folder / "marks.jsonl",
            mark=scheme.name,
            watermark=None if scheme.name else from_settings(scheme.scheme, scheme.settings),
            policy=header.policy,
            order=header.order,
            tau=header.tau,
            min_rate=header.min_rate,
            max_rate=header.max_rate,
            marks_per_record=header.marks_per_record,
            features=header.features,
            projection=header.projection,
            language=header.language,
            code_column=header.columns["code"],
            id_column=header.columns["id"],
            language_column=header.columns["language"],
            secret=opened_secret(found.files) if is_keyed else None,
            licensee=header.licensee,
        )
        again = load_manifest(folder / "marks.jsonl")
    return sum(again.lines.get(row) != line for row, line in marks.lines.items())


def _check_frequencies(found: Checking) -> None:
    """Whoever may choose what names were drawn among, and how likely, can accuse anybody."""
    if found.header is None or not draws_anything(found.header):
        return
    about, claim = "dataset", "What names were drawn among, and how likely, follows from it"
    if found.manifest is None:
        why = "that takes all marked records (bundle --reveal all)"
        found.say(about, claim, "unknown", why)
        return
    found.test(about, claim, lambda: _other_frequencies(found))


def _other_frequencies(found: Checking) -> str | None:
    assert found.manifest is not None, "opened"
    assert found.dataset is not None, "passed"
    assert found.corpus is not None, "opened"
    marks = load_manifest(found.manifest)
    with tempfile.TemporaryDirectory(prefix="puzzlemark-") as place:
        digest = found.corpus.digest()
        original = original_of(found.dataset, digest, found.manifest, marks, Path(place))
        if original is None:
            return "other marks stand in the dataset as well, so that it cannot be told"
        again = redraw(marks, original)
    return None if again.same else f"{len(again.differing):,} of {again.draws:,} do not"


def _open(found: Checking) -> Corpus:
    assert found.dataset is not None, "asked for"
    columns: Mapping[str, str | None] = {} if found.header is None else found.header.columns
    return open_corpus(
        found.dataset,
        code_column=columns.get("code"),
        id_column=columns.get("id"),
        language_column=columns.get("language"),
        language=None if found.header is None else found.header.language,
    )


def originals(found: Checking) -> Iterator[tuple[Carrier, Entry]]:
    """The opened records as they were before they were marked; one that is not there raises."""
    assert found.corpus is not None, "opened"
    carriers = [Carrier.from_line(leaf.line.encode()) for leaf in found.leaves]
    carriers.sort(key=lambda each: each.row)
    entries = read_entries(found.corpus, carriers, Path("the opened records"))
    for carrier, entry in zip(carriers, entries, strict=True):
        code = apply_edits((entry.code or "").encode(), invert_edits(carrier.edits))
        yield carrier, replace(entry, code=code.decode())


def _unmarked(found: Checking) -> str | None:
    """Why an opened carrier is not in the dataset; its edits must be undone without a complaint."""
    deque(originals(found), maxlen=0)
    return None


def _misplaced(found: Checking) -> str | None:
    """Whoever may choose the class of a carrier can have the key draw any name for it."""
    assert found.header is not None, "opened"
    wrong = misplaced(found.header, originals(found))
    return f"{len(wrong):,} of {len(found.leaves):,} do not" if wrong else None
