"""Making probes: marks of a dataset are drawn, and of each a snippet is asked about in every arm.

Beside its marks a dataset offers names for prompts, and ordinary requests. For these only snippets
without a mark are read, so that the original and the marked dataset offer the same. They are drawn
by a key, and no more of them than a bound: a dataset may be of any size.
"""

import hashlib
import hmac
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from puzzlemark.corpora.base import Corpus
from puzzlemark.embedding.manifest import Carrier, Manifest, load_manifest, manifest_digest
from puzzlemark.embedding.secret import Secret, bind_key, find_secret
from puzzlemark.embedding.showing import read_entries, which_side
from puzzlemark.embedding.survey import reopen
from puzzlemark.errors import ManifestError, SecretError, UsageError
from puzzlemark.languages.base import find, parsing_packages
from puzzlemark.provenance import versions
from puzzlemark.snippet import Snippet, apply_edits, invert_edits
from puzzlemark.syntax.tree import parse
from puzzlemark.verification.checking import (
    MOST_PROBES,
    Copies,
    distinctive_words,
    why_unfair,
    why_unlike,
)
from puzzlemark.verification.framing import build_frames
from puzzlemark.verification.probes import FORMAT, VERSION, Header, KeyOf, ProbeSet, Source
from puzzlemark.watermarks._design import Probe
from puzzlemark.watermarks._names import Pool, ProbeNames, make_pool
from puzzlemark.watermarks.base import Framing, Keyed, Mark, Refusal, Watermark, from_settings

COPY = Refusal("nearly the same prompt as another probe")
SAME_DRAW = Refusal(
    "a copy of a function that is asked about already: the key drew for both at once"
)
READ = 20_000  # snippets whose words are known
PARSED = 2_000  # of these, snippets whose variables give the names
SHORTEST_PROMPT = 40  # characters of an ordinary request
LONGEST_PROMPT = 8_000
# where somebody may stop to ask for a completion: at the beginning of a line, or after a `=`
_STOPS = re.compile(r"\n[ \t]+(?=\S)|[^=!<>\s]\s?=\s(?!=)")


def build_probes(
    path: Path | str,
    manifest: Path | str,
    *,
    pairs: int | None = None,
    seed: int = 0,
    secret: Secret | None = None,
    secret_file: Path | None = None,
    paper: bool = False,
    ordinary: int = 0,
) -> ProbeSet:
    """Draw marks by seed and make a probe of each, until there are enough pairs.

    `path` is the dataset of the manifest, marked or original; any other is refused. The names in
    the prompts are drawn from it by the secret that the marks were made with; `paper`: the paper's
    constants instead.
    `ordinary` requests for a completion of unmarked code can be asked in between. `pairs`: as many
    as the design suggests, where nobody says otherwise.
    """
    loaded = load_manifest(manifest)
    scheme = loaded.header.watermark
    watermark = from_settings(scheme.scheme, scheme.settings)
    pairs = watermark.design.pairs if pairs is None else pairs
    _require_numbers(pairs, ordinary)
    is_key_blind = watermark.design.is_key_blind
    if is_key_blind and ordinary:
        raise UsageError(
            "ordinary requests are of records that carry nothing, and prompts that need no key "
            "draw them in public: together they would list the carriers; leave out --ordinary"
        )
    if paper and (secret or secret_file) and not isinstance(watermark, Keyed):
        raise UsageError("the paper's names are not drawn: leave out --paper or the secret")
    if is_key_blind and secret is None and secret_file is None:
        key = _key_of(watermark, loaded)
    else:
        if not paper or isinstance(watermark, Keyed):
            secret = _secret(loaded, manifest, secret, secret_file, watermark)
        of_copy = None if secret is None else secret.licensed(loaded.header.licensee)
        watermark, key = _with_key(watermark, loaded, manifest, of_copy)
    drawing = b"" if paper or secret is None else secret.derive("probes")
    around = Surroundings(path, loaded, drawing, seed)
    refuse_other(around.corpus, loaded, manifest)
    if isinstance(watermark, Framing):
        probes, refused = build_frames(around.corpus, loaded, watermark, pairs, seed)
    else:
        probes, refused = _about_marks(around, watermark, manifest, pairs, paper=paper)
    requests = around.requests(ordinary)
    header = Header(
        format=FORMAT,
        version=VERSION,
        versions=versions(*parsing_packages()),
        strategy=watermark.design.name,
        pairs=len(probes),
        seed=seed,
        marks=loaded.header.marks,
        refused=dict(refused.most_common()),
        names="paper" if paper else "drawn",
        ordinary=len(requests),
        **({} if key is None else {"key": key}),
        source=Source(
            dataset=loaded.header.marked.digest,
            manifest=manifest_digest(manifest),
        ),
    )
    return ProbeSet(header, tuple(probes), requests)


def refuse_other(corpus: Corpus, manifest: Manifest, path: Path | str) -> None:
    """Raise when a dataset is not the manifest's: neither the marked one nor the original."""
    header = manifest.header
    found = corpus.digest()
    if found in {header.marked.digest, header.output.digest, header.input.digest}:
        return
    raise ManifestError(
        f"{corpus.path}: not the dataset of {path}, or changed since: expected the marked one, "
        f"{header.marked.records:,} records with the digest {header.marked.digest} (or the "
        f"original, {header.input.digest}), found {corpus.count():,} with {found}"
    )


def _about_marks(
    around: "Surroundings",
    watermark: Watermark,
    manifest: Path | str,
    pairs: int,
    *,
    paper: bool,
) -> tuple[list[Probe], Counter[str]]:
    """Probes of drawn marks, and why others could not be asked about."""
    probes: list[Probe] = []
    refused: Counter[str] = Counter()
    for outcome in _outcomes(around, watermark, manifest, pairs, paper=paper):
        if isinstance(outcome, Refusal):
            refused[outcome.reason] += 1
        else:
            probes.append(outcome)
        if len(probes) == pairs:
            break
    return probes, refused


def _require_numbers(pairs: int, ordinary: int) -> None:
    if pairs < 1:
        raise UsageError(f"pairs must be 1 or more, not {pairs}")
    if ordinary < 0:
        raise UsageError(f"ordinary requests must be 0 or more, not {ordinary}")
    if max(pairs, ordinary) > MOST_PROBES:
        raise UsageError(f"no more than {MOST_PROBES:,} pairs and ordinary requests; ask for fewer")


def _secret(
    loaded: Manifest,
    manifest: Path | str,
    secret: Secret | None,
    secret_file: Path | None,
    watermark: Watermark,
) -> Secret | None:
    """The secret that the marks were made with; it draws the names, and a watermark may need it."""
    fingerprint, is_keyed = loaded.header.secret_fingerprint, isinstance(watermark, Keyed)
    if secret is None and secret_file is None and fingerprint is None and not is_keyed:
        return None  # marks in the dataset's order have no secret: anybody can make them again
    or_paper = "" if is_keyed else ", or the paper's names: --paper"
    if secret is None:
        try:
            secret = find_secret(secret_file, make=False)
        except SecretError as exc:
            raise SecretError(f"{exc}{or_paper}") from exc
    elif secret_file is not None:
        raise UsageError("pass either a secret or the file of one")
    if fingerprint is not None and secret.fingerprint != fingerprint:
        use_paper = "" if is_keyed else ", or use the paper's names (--paper)"
        raise SecretError(
            f"{manifest}: its marks were made with another secret; pass the file of that one "
            f"(--secret-file){use_paper}"
        )
    return secret


def _with_key(
    watermark: Watermark, loaded: Manifest, manifest: Path | str, secret: Secret | None
) -> tuple[Watermark, KeyOf | None]:
    """The watermark with its key, if it has one, and what the file of probes says of the key."""
    with_key, fingerprint = bind_key(watermark, secret) if secret else (watermark, None)
    if fingerprint is None:
        return watermark, None
    made_with = loaded.header.key_fingerprint  # earlier manifests do not say
    if made_with not in (None, fingerprint):
        raise SecretError(
            f"{manifest}: its marks were made with another key; pass the file of the secret that "
            "they were made with (--secret-file)"
        )
    return with_key, KeyOf(watermark=watermark.name, fingerprint=fingerprint)


def _key_of(watermark: Watermark, loaded: Manifest) -> KeyOf | None:
    """What the file of probes says of the key, by the manifest: for prompts that need none."""
    fingerprint = loaded.header.key_fingerprint
    if fingerprint is None:
        return None
    return KeyOf(watermark=watermark.name, fingerprint=fingerprint)


def _outcomes(
    around: "Surroundings",
    watermark: Watermark,
    manifest: Path | str,
    pairs: int,
    *,
    paper: bool,
) -> Iterator[Probe | Refusal]:
    """A probe or a refusal for each mark, in the order in which they are drawn."""
    copies = Copies()
    units: set[tuple[str, str]] = set()
    is_key_blind = watermark.design.is_key_blind
    for place, snippet, mark in _drawn(around, Path(manifest), pairs, original=is_key_blind):
        if mark.draw is not None:
            unit = mark.draw.group, mark.draw.unit
            if unit in units:
                yield SAME_DRAW
                continue
            units.add(unit)
        if paper:
            names = ProbeNames(random.Random(f"{around.seed}:{place}"))
        else:
            names = ProbeNames(around.rng(f"row {place}"), lambda: around.pool)
        probe = watermark.probe(parse(snippet), mark, names)
        yield probe if isinstance(probe, Refusal) else _checked(watermark, probe, copies)


def _checked(watermark: Watermark, probe: Probe, copies: Copies) -> Probe | Refusal:
    design = watermark.design
    if reason := why_unfair(design, probe) or why_unlike(design, probe):
        return Refusal(reason)
    return probe if copies.keep(distinctive_words(probe)) else COPY


def _drawn(
    around: "Surroundings", manifest: Path, pairs: int, *, original: bool
) -> Iterator[tuple[str, Snippet, Mark]]:
    """Places with their snippets and marks, in an order drawn by seed, a round at a time.

    The snippets are the marked ones, or the originals. The first mark of a record, mostly the only
    one, is named by its row alone.
    """
    lines = around.manifest.lines
    rows = list(lines)
    random.Random(around.seed).shuffle(rows)
    size = 2 * pairs + 100
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        carriers = [Carrier.from_line(lines[row]) for row in sorted(chunk)]
        entries = read_entries(around.corpus, carriers, manifest)
        side = which_side(around.path, manifest, carriers, entries)
        read = dict(zip(sorted(chunk), zip(carriers, entries, strict=True), strict=True))
        for row in chunk:
            carrier, entry = read[row]
            code, language = entry.code or "", find(entry.language or "")
            assert language is not None, "the record was parsed when it was marked"
            if original and side == "marked":
                code = apply_edits(code.encode(), invert_edits(carrier.edits)).decode()
            elif not original and side != "marked":
                code = apply_edits(code.encode(), carrier.edits).decode()
            snippet = Snippet(carrier.id, code, language.name)
            for number, mark in enumerate(carrier.marks):
                yield f"{row}:{mark.function}" if number else str(row), snippet, mark


@dataclass(frozen=True)
class Surroundings:
    """The unmarked snippets of a dataset, as far as they were drawn."""

    path: Path | str
    manifest: Manifest
    key: bytes
    seed: int

    def rng(self, purpose: str) -> random.Random:
        """Random numbers for one purpose, which nobody can foretell without the key."""
        text = f"{self.seed}:{purpose}".encode()
        return random.Random(hmac.digest(self.key, text, hashlib.sha256))

    @cached_property
    def corpus(self) -> Corpus:
        """The dataset, with the columns of the manifest."""
        header = self.manifest.header
        return reopen(self.path, header)

    @cached_property
    def snippets(self) -> list[Snippet]:
        """Drawn snippets in random order, no text twice."""
        records = self.manifest.header.input.records
        drawn = self.rng("snippets").sample(range(records), min(records, 2 * READ))
        rows = [row for row in drawn if row not in self.manifest.lines][:READ]
        found = {
            entry.row: Snippet("", entry.code, entry.language)
            for entry in self.corpus.entries(np.array(sorted(rows), np.int64))
            if entry.code is not None and entry.language is not None and entry.reason is None
        }
        ordered = (found[row] for row in rows if row in found)
        return list({snippet.code: snippet for snippet in ordered}.values())

    @cached_property
    def pool(self) -> Pool:
        """The names that prompts may use."""
        return make_pool(self.snippets[:PARSED], self.snippets[PARSED:])

    def requests(self, wanted: int) -> tuple[str, ...]:
        """Ordinary requests for a completion: snippets up to some place, no two the same."""
        rng, prompts = self.rng("ordinary"), dict[str, None]()
        for snippet in rng.sample(self.snippets, len(self.snippets)):
            if len(prompts) == wanted:
                break
            stops = list(_stops(snippet.code))
            if stops:
                prompts[snippet.code[: rng.choice(stops)]] = None
        return tuple(prompts)


def _stops(code: str) -> Iterator[int]:
    for match in _STOPS.finditer(code):
        if SHORTEST_PROMPT <= match.end() <= LONGEST_PROMPT:
            yield match.end()
