"""The owner's profile: the quiet channel and the loud one in one run, each with its manifest.

`synonyms` comes first, on the original code, whose frequencies it follows. `prefixes` then marks a
small share of the other records: no record carries both, so that neither changes the text which the
other one asks about. The loud manifest belongs to the dataset that is written, the quiet one to
what is left when the loud marks are taken out: two `revert`s, the loud one first, give every byte
back. `probe` and `show` take the written dataset with either.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.corpora.writing import refuse_output
from puzzlemark.embedding.plan import Settings
from puzzlemark.embedding.run import Summary, choose, choose_rates, mark_into, with_beacon
from puzzlemark.embedding.secret import find_secret, secret_path
from puzzlemark.embedding.survey import open_input
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.files import keep_apart
from puzzlemark.progress import Progress, no_progress
from puzzlemark.staging import staged_together
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
    def reverts(self) -> tuple[str, str]:
        """The commands that give the original back."""
        between = f"without-{LOUD}-{Path(self.loud.output).name}"
        return (
            f"puzzlemark revert {self.loud.output} --manifest {self.loud.manifest} -o {between}",
            f"puzzlemark revert {between} --manifest {self.quiet.manifest} -o original",
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
    path: Path | str | Corpus,
    output: Path | str,
    *,
    quiet: str | Watermark = QUIET,
    loud: str | Watermark = LOUD,
    loud_rate: float = LOUD_RATE,
    policy: Policy = "safe",
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    secret_file: Path | None = None,
    beacon: Path | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> OwnerSummary:
    """Protect a dataset with both channels: `embed_owner("train.jsonl.gz", "marked.jsonl.gz")`.

    The manifests stand beside the output: `OUTPUT.synonyms.manifest.jsonl.gz`, and the same with
    `prefixes`. All three get their names together, or none does.
    """
    schemes = [choose(watermark=each).watermark for each in (quiet, loud)]
    if beacon is not None:
        schemes = [with_beacon(each, beacon) for each in schemes]
    rates: Sequence[dict[str, float]] = ({}, {"min_rate": loud_rate, "max_rate": loud_rate})
    settings = [
        Settings(scheme, policy, "keyed", *_rates(scheme, **each))
        for scheme, each in zip(schemes, rates, strict=True)
    ]
    output = Path(output)
    manifests = tuple(
        output.with_name(f"{output.name}.{each.name}.manifest.jsonl.gz") for each in schemes
    )
    corpus = open_input(
        path,
        language=language,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
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
        with (
            open_engine(engine, workers) as opened,
            tempfile.TemporaryDirectory(dir=dataset.parent) as folder,
        ):
            between = Path(folder, output.name)
            first = mark_into(
                between, records[0], _seen_by(corpus, schemes[0]), settings[0], secret, opened,
                progress=progress,
            )  # fmt: skip
            second = mark_into(
                dataset, records[1], _again(corpus, between), settings[1], secret, opened,
                skipped=first.manifest.lines.keys(), progress=progress,
            )  # fmt: skip
    return OwnerSummary(
        first.summary(corpus, output, manifests[0]), second.summary(corpus, output, manifests[1])
    )


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
    )
