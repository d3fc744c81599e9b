"""Are the probes what they say? They are made again from dataset and manifest, and compared.

A file of probes is its maker's word. Whoever has the dataset and the manifest can make the same
questions, and find again what each was drawn among.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puzzlemark.embedding.manifest import Manifest, load_manifest, manifest_digest
from puzzlemark.embedding.redrawing import Redrawn, draws_anything, redraw
from puzzlemark.embedding.run import revert
from puzzlemark.embedding.secret import find_secret
from puzzlemark.embedding.survey import reopen
from puzzlemark.evidence.standing import COMPARISON
from puzzlemark.progress import Progress, no_progress
from puzzlemark.staging import write_text
from puzzlemark.verification.making import build_probes, refuse_other
from puzzlemark.verification.probes import ProbeSet, load_probes
from puzzlemark.watermarks.base import from_settings

FORMAT = "puzzlemark comparison"
VERSION = 1
NEEDS_ORIGINAL = (
    "classes and frequencies were not found again, because other marks stand in the dataset as "
    "well: take those out (puzzlemark revert), and compare with the result"
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came out, of the questions and of what they were drawn among."""

    probes: str  # digest of the file
    dataset: str  # digest of the one at hand
    manifest: str
    pairs: int
    differing: tuple[int, ...]  # probes that come out otherwise, by their numbers
    redrawn: Redrawn | None  # None: nothing was drawn by frequencies, or they need the original
    needs_original: bool = False
    same_key: bool = True  # the probes name the key of the manifest, where it says which

    @property
    def same(self) -> bool:
        """Whether nothing differs, as far as it was compared."""
        same_draws = self.redrawn is None or self.redrawn.same
        return not self.differing and self.same_key and same_draws

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        parts = [f"all {self.pairs:,} probes come out the same when they are made again"]
        if self.differing:
            number = len(self.differing)
            first = f"the first of them number {self.differing[0]:,}"
            parts = [f"{number:,} of {self.pairs:,} probes do not come out the same, {first}"]
        if not self.same_key:
            parts.append("they name another key than the one that the marks were made with")
        if self.redrawn is not None:
            parts.append(_about_draws(self.redrawn))
        if self.needs_original:
            parts.append(NEEDS_ORIGINAL)
        text = "; ".join(parts) + "."
        return text[:1].upper() + text[1:]

    def to_json(self) -> dict[str, Any]:
        """Plain values: the content of comparison.json."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "same": self.same,
            "sentence": self.sentence,
            "probes": self.probes,
            "dataset": self.dataset,
            "manifest": self.manifest,
            "pairs": self.pairs,
            "differing": len(self.differing),
            "draws": None if self.redrawn is None else self.redrawn.to_json(),
        }


def _about_draws(found: Redrawn) -> str:
    if found.same:
        return f"classes and frequencies of all {found.draws:,} marks follow from the dataset"
    table = "" if found.same_priors else ", and the table of frequencies is another one"
    return (
        f"classes or frequencies of {len(found.differing):,} of {found.draws:,} marks do not "
        f"follow from the dataset{table}"
    )


def compare(
    probes: Path | str,
    dataset: Path | str,
    manifest: Path | str,
    *,
    secret_file: Path | None = None,
    workers: int | None = 1,
    progress: Progress = no_progress,
) -> Comparison:
    """Compare a file of probes, or those of a run's folder, with what they are said to be of.

    In a run's folder the result is kept as `comparison.json`. The secret is needed only where
    prompts are drawn by it: those of marks with a key are not.
    """
    path = Path(probes)
    folder = path if path.is_dir() else None
    found = load_probes(path / "probes.jsonl" if folder else path)
    marks = load_manifest(manifest)
    header = marks.header
    corpus = reopen(dataset, header)
    refuse_other(corpus, marks, manifest)
    digest = corpus.digest()
    again = _made_again(found, dataset, manifest, marks, secret_file)
    redrawn, needs_original = None, False
    if draws_anything(header):
        with tempfile.TemporaryDirectory() as place:
            original = original_of(dataset, digest, manifest, marks, Path(place))
            needs_original = original is None
            if original is not None:
                redrawn = redraw(marks, original, workers=workers, progress=progress)
    result = Comparison(
        found.digest,
        digest,
        manifest_digest(manifest),
        len(found.probes),
        tuple(_differing(found, again)),
        redrawn,
        needs_original,
        _is_same_key(found, again),
    )
    if folder is not None:
        text = json.dumps(result.to_json(), indent=2) + "\n"
        write_text(folder / COMPARISON, text, private=True)
    return result


def _made_again(
    found: ProbeSet,
    dataset: Path | str,
    manifest: Path | str,
    marks: Manifest,
    secret_file: Path | None,
) -> ProbeSet:
    header = found.header
    paper = header.names == "paper"
    scheme = marks.header.watermark
    design = from_settings(scheme.scheme, scheme.settings).design
    is_drawn = not (design.is_key_blind or paper)
    with_secret = is_drawn and (marks.header.secret_fingerprint is not None or secret_file)
    return build_probes(
        dataset,
        manifest,
        pairs=max(1, header.pairs),
        seed=header.seed,
        secret=find_secret(secret_file, make=False) if with_secret else None,
        paper=paper,
        ordinary=header.ordinary,
    )


def _differing(found: ProbeSet, again: ProbeSet) -> list[int]:
    """The numbers of the probes that are not the same, counted from 0 as in the file."""
    both = zip(found.probes, again.probes, strict=False)
    differing = [number for number, (one, other) in enumerate(both) if one != other]
    shorter, longer = sorted((len(found.probes), len(again.probes)))
    differing += range(shorter, longer)
    if found.header.strategy != again.header.strategy or found.ordinary != again.ordinary:
        return list(range(longer))
    return differing


def _is_same_key(found: ProbeSet, again: ProbeSet) -> bool:
    """Whoever could judge by another key than that of the marks could look for one that suits."""
    asked, made = found.header.key, again.header.key
    return made is None or asked == made  # earlier manifests do not say


def original_of(
    dataset: Path | str, digest: str, manifest: Path | str, marks: Manifest, place: Path
) -> Path | str | None:
    """The dataset as it was before it was marked; None where more than these marks stand in it."""
    header = marks.header
    if digest == header.input.digest:
        return dataset
    if digest != header.output.digest:
        return None
    original = place / Path(dataset).name
    revert(dataset, original, manifest)
    return original
