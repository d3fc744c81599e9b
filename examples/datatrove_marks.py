"""Mark a dataset on a Slurm cluster, with datatrove: shards are measured and written by ranks.

    python -m examples.datatrove_marks shards/ marked/ --tasks 100 --partition cpu --time 04:00:00

Without `--partition` all runs on this machine. Which records carry marks depends on the whole
dataset, so three pipelines follow each other: every rank measures its shards, one task chooses the
carriers and writes the dataset and its manifest, and, with `--copy`, every rank puts the same marks
into its shards of another copy of the dataset. The bytes are those of `puzzlemark embed`.
"""

import argparse
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from datatrove.data import Document
from datatrove.executor.base import PipelineExecutor
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.executor.slurm import SlurmPipelineExecutor
from datatrove.pipeline.base import PipelineStep

import puzzlemark as pm
from puzzlemark.corpora.base import Corpus, Shard

Documents = Iterable[Document] | None


class MeasureShards(PipelineStep):  # type: ignore[misc]
    """The features of every shard of this rank; one that is there is not measured again."""

    type, name = "PuzzleMark", "measure shards"

    def __init__(self, dataset: Path, features: Path, language: str | None = None) -> None:
        super().__init__()
        self.dataset, self.features, self.language = dataset, features, language

    def run(self, data: Documents, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Ranks share the shards in turn."""
        corpus = pm.read(self.dataset, language=self.language)
        for shard in corpus.shards[rank::world_size]:
            output = features_of(shard, self.features)
            if not output.exists():
                found = pm.score(corpus.alone(shard), output)
                self.stat_update("records", value=found.records, unit="shard")
        yield from data or ()


class Mark(PipelineStep):  # type: ignore[misc]
    """Choose the carriers of the whole dataset by the features of its shards, and write it."""

    type, name = "PuzzleMark", "choose and mark"

    def __init__(self, dataset: Path, output: Path, features: Path, **settings: Any) -> None:
        super().__init__()
        self.dataset, self.output, self.features = dataset, output, features
        self.settings = settings  # of `pm.embed`; no secret among them: pipelines are logged

    def run(self, data: Documents, _rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """One task: a carrier is chosen among all records."""
        if world_size != 1:
            raise ValueError("marks are chosen among all records: run this step with tasks=1")
        if not self.output.exists():
            language = self.settings.get("language")
            shards = pm.read(self.dataset, language=language).shards
            parts = [features_of(shard, self.features) for shard in shards]
            joined = self.features / "all.parquet"
            pm.score(self.dataset, joined, language=language, measured=parts, overwrite=True)
            done = pm.embed(self.dataset, self.output, features=joined, **self.settings)
            self.stat_update("marked", value=done.marked, unit="dataset")
        yield from data or ()


class ApplyShards(PipelineStep):  # type: ignore[misc]
    """Put the marks of a manifest into the shards of this rank, and compare what is written."""

    type, name = "PuzzleMark", "apply a manifest"

    def __init__(self, dataset: Path, output: Path, manifest: Path) -> None:
        super().__init__()
        self.dataset, self.output, self.manifest = dataset, output, manifest

    def run(self, data: Documents, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Ranks share the shards in turn; one that is there is not written again."""
        manifest = pm.load_manifest(self.manifest)
        header = manifest.header
        named = {f"{name}_column": header.columns[name] for name in ("code", "id", "language")}
        corpus = pm.read(self.dataset, language=header.language, **named)
        if [shard.name for shard in corpus.shards] != [each.name for each in header.input.shards]:
            raise ValueError(f"{self.dataset}: other shards than those of {self.manifest}")
        edits, start = manifest.edits(), 0
        for number, (shard, before) in enumerate(
            zip(corpus.shards, header.input.shards, strict=True)
        ):
            rows = range(start, start := start + before.records)
            if number % world_size != rank or (self.output / shard.name).exists():
                continue
            changes = {row - rows.start: edits[row] for row in edits if row in rows}
            expected = (before.sha256, header.output.shards[number].sha256)
            self._write(corpus.alone(shard), shard.name, changes, header.derived, expected)
            self.stat_update("marked", value=len(changes), unit="shard")
        yield from data or ()

    def _write(
        self, corpus: Corpus, name: str, changes: Any, derived: Any, expected: tuple[str, str]
    ) -> None:
        def compare(written: Any) -> None:
            (file,) = written.shards
            if (file.input_sha256, file.output_sha256) != expected:
                raise ValueError(f"{corpus.path}: not the file that was marked, or other software")

        corpus.rewrite(self.output / name, changes, derived, check=compare)
        # one time for all: theirs would show when each of them was written
        moment = self.manifest.stat().st_mtime_ns
        os.utime(self.output / name, ns=(moment, moment))


def features_of(shard: Shard, folder: Path) -> Path:
    """Where the features of a shard go; names of shards may have folders in them."""
    return folder / f"{hashlib.sha256(shard.name.encode()).hexdigest()[:16]}.parquet"


def pipelines(
    dataset: Path,
    output: Path,
    *,
    tasks: int,
    workers: int = -1,
    slurm: dict[str, Any] | None = None,
    copy: tuple[Path, Path] | None = None,
    **settings: Any,
) -> list[PipelineExecutor]:
    """The pipelines in their order, each dependent on the one before it; `run()` the last one."""
    work = output.with_name(f"{output.name}.datatrove")
    steps: list[tuple[str, PipelineStep, int]] = [
        ("measure", MeasureShards(dataset, work / "features", settings.get("language")), tasks),
        ("mark", Mark(dataset, output, work / "features", **settings), 1),
    ]
    if copy is not None:
        manifest = output.with_name(f"{output.name}.manifest.jsonl.gz")
        steps.append(("apply", ApplyShards(*copy, manifest), tasks))
    executors: list[PipelineExecutor] = []
    for name, step, ranks in steps:
        logs, before = str(work / "logs" / name), executors[-1] if executors else None
        if slurm is None:
            one = LocalPipelineExecutor(
                [step], tasks=ranks, workers=min(workers, ranks), logging_dir=logs, depends=before
            )
        else:
            one = SlurmPipelineExecutor(
                [step], tasks=ranks, workers=workers, logging_dir=logs, depends=before,
                job_name=f"puzzlemark-{name}", **slurm,
            )  # fmt: skip
        executors.append(one)
    return executors


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the pipelines, or hand them to Slurm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("dataset", type=Path, help="a folder of shards that all machines see")
    parser.add_argument("output", type=Path)
    parser.add_argument("--tasks", type=int, default=4, help="ranks that share the shards")
    parser.add_argument("--workers", type=int, default=-1, help="how many of them at a time")
    parser.add_argument("--copy", type=Path, nargs=2, metavar=("DATASET", "OUTPUT"))
    parser.add_argument("--mark", help="as of puzzlemark embed")
    parser.add_argument("--language")
    parser.add_argument("--secret-file", type=Path)
    parser.add_argument("--partition", help="of the Slurm cluster; without it, this machine")
    parser.add_argument("--time", default="04:00:00", help="Slurm's limit for each task")
    given = parser.parse_args(arguments)
    executors = pipelines(
        given.dataset,
        given.output,
        tasks=given.tasks,
        workers=given.workers,
        slurm={"partition": given.partition, "time": given.time} if given.partition else None,
        copy=tuple(given.copy) if given.copy else None,
        mark=given.mark,
        language=given.language,
        secret_file=given.secret_file,
    )
    executors[-1].run()


if __name__ == "__main__":
    main()
