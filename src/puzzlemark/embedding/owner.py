"""The owner's profile: the quiet channel and the loud one in one run, each with its manifest.

`synonyms` comes first, on the original code, whose frequencies it follows. `prefixes` then marks a
small share of the other records: no record carries both, so that neither changes the text which the
other one asks about. The loud manifest belongs to the dataset that is written, the quiet one to
what is left when the loud marks are taken out: two `revert`s, the loud one first, give every byte
back. The quiet one names the written dataset as well (`published`), because that is what others
get: `probe`, `show` and `commit` take the written dataset with either.
"""

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.corpora.writing import refuse_output
from puzzlemark.embedding.manifest import Manifest, write_manifest
from puzzlemark.embedding.plan import Settings
from puzzlemark.embedding.run import (
    Done,
    Summary,
    choose,
    choose_rates,
    facts_of,
    mark_into,
    with_beacon,
)
from puzzlemark.embedding.secret import find_secret, secret_path, spell_licensee
from puzzlemark.embedding.survey import open_input
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart
from puzzlemark.progress import Progress, no_progress
from puzzlemark.resuming import resumable
from puzzlemark.staging import staged_together
from puzzlemark.stores import Location, Url, locate, locate_output
from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import Counting, Watermark

QUIET, LOUD = "synonyms", "prefixes"
LOUD_RATE = 0.01  # `concat` sees these marks: as few as still teach a habit


@dataclass(frozen=True, slots=True)
class OwnerSummary:
    """What was done for each channel, in the order in which they were put in."""

    quiet: Summary
    loud: Summary

    @property
    def reverts(self) -> tuple[str, ...]:
        """The commands that give the original back."""
        marked = locate(self.loud.output)
        # beside the output, with its ending: an output says by its name what it is
        between, original = (
            marked.with_name(f"{word}-{marked.name}") for word in (f"without-{LOUD}", "original")
        )
        steps = ((marked, self.loud.manifest, between), (between, self.quiet.manifest, original))
        return tuple(
            shlex.join(["puzzlemark", "revert", str(a), "--manifest", m, "-o", str(b)])
            for a, m, b in steps
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {
            "action": "embed",
            "profile": "owner",
            "quiet": self.quiet.to_json(),
            "loud": self.loud.to_json(),
            "reverts": list(self.reverts),
        }


def embed_owner(
    path: Location | str | Corpus,
    output: Location | str,
    *,
    quiet: str | Watermark = QUIET,
    loud: str | Watermark = LOUD,
    loud_rate: float = LOUD_RATE,
    policy: Policy = "safe",
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    split: str | None = None,
    secret_file: Path | None = None,
    beacon: Path | None = None,
    licensee: str | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> OwnerSummary:
    """Protect a dataset with both channels: `embed_owner("train.jsonl.gz", "marked.jsonl.gz")`.

    The manifests stand beside the output: `OUTPUT.synonyms.manifest.jsonl.gz`, and the same with
    `prefixes`. All three get their names together, or none does. `licensee`: see `embed`.
    """
    licensee = None if licensee is None else spell_licensee(licensee)
    schemes = [choose(watermark=each).watermark for each in (quiet, loud)]
    if beacon is not None:
        schemes = [with_beacon(each, beacon) for each in schemes]
    rates: Sequence[dict[str, float]] = ({}, {"min_rate": loud_rate, "max_rate": loud_rate})
    settings = [
        Settings(scheme, policy, "keyed", *_rates(scheme, **each))
        for scheme, each in zip(schemes, rates, strict=True)
    ]
    output = locate_output(output)
    if isinstance(output, Url):
        raise UsageError(
            f"{output}: two manifests and a dataset between would stand beside it, which are "
            "private; with --profile owner write to this machine, and copy the dataset"
        )
    manifests = tuple(
        output.with_name(f"{output.name}.{each.name}.manifest.jsonl.gz") for each in schemes
    )
    corpus = open_input(
        path,
        language=language,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
        split=split,
    )
    keep_apart(
        {"--output": output, **{each.name: each for each in manifests}},
        {
            "INPUT": corpus.paths,
            "--beacon": beacon,
            "--secret-file" if secret_file else "the secret": secret_path(secret_file),
        },
    )
    refuse_output(corpus.layout, corpus.path, output)
    with staged_together((*manifests, output), overwrite=overwrite) as (*records, dataset):
        secret = find_secret(secret_file)
        facts = {each.watermark.name: facts_of(corpus, each, secret, licensee) for each in settings}
        with (
            resumable(output, facts) as work,
            open_engine(engine, workers) as opened,
            tempfile.TemporaryDirectory(dir=dataset.parent) as folder,
        ):
            between = Path(folder, output.name)
            first = mark_into(
                between, records[0], _seen_by(corpus, schemes[0]), settings[0], secret, opened,
                licensee=licensee, progress=progress, work=work.below("quiet"),
            )  # fmt: skip
            second = mark_into(
                dataset, records[1], _again(corpus, between), settings[1], secret, opened,
                licensee=licensee, skipped=first.manifest.lines.keys(), progress=progress,
                work=work.below("loud"),
            )  # fmt: skip
            first = _published(first, second, records[0])
    return OwnerSummary(
        first.summary(corpus, output, manifests[0]), second.summary(corpus, output, manifests[1])
    )


def _published(quiet: Done, loud: Done, record: Path) -> Done:
    """The quiet manifest again, now that the dataset is known which others get."""
    assert quiet.manifest.header.output.digest == loud.manifest.header.input.digest
    header = quiet.manifest.header.model_copy(update={"published": loud.manifest.header.output})
    manifest = Manifest(header, quiet.manifest.lines)
    record.unlink()
    write_manifest(manifest, record)
    return replace(quiet, manifest=manifest)


def _rates(scheme: Watermark, **rates: float) -> tuple[float, float, float]:
    return choose_rates(scheme.defaults, None, rates.get("min_rate"), rates.get("max_rate"))


def _seen_by(corpus: Corpus, scheme: Watermark) -> Corpus:
    return corpus.with_projects(scheme.project) if isinstance(scheme, Counting) else corpus


def _again(corpus: Corpus, place: Path) -> Corpus:
    """The same dataset at another place."""
    return open_corpus(
        place,
        code_column=corpus.columns.code,
        id_column=corpus.columns.id,
        language_column=corpus.columns.language,
        language=corpus.language,
        names=[shard.name for shard in corpus.shards],
    )
