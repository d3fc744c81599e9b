"""What an experiment leaves for others: its verdicts, trainings and qualities, without the code."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from puzzlemark.bench.choices import language_of
from puzzlemark.quality.compare import Comparison, compare
from puzzlemark.quality.result import Quality, load_quality, save_quality
from puzzlemark.staging import write_text
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tests import base as tests
from puzzlemark.verification.verdict import Verdict, decide_again
from puzzlemark.watermarks.base import designs

KINDS = ("marked", "bare")
MODELS = {"smollm2": "SmolLM2-135M"}  # how pages call the folder that a training began from


@dataclass(frozen=True, slots=True)
class Model:
    """One trained model."""

    training: dict[str, Any]
    quality: Quality


@dataclass(frozen=True, slots=True)
class Row:
    """One mark: the model that saw it, its bare twin, and what was found of both."""

    mark: str
    language: str
    counts: dict[str, int]  # of the manifest
    marked: Model
    bare: Model
    verdicts: dict[str, dict[str, Any]]  # by kind

    def compare(self) -> Comparison:
        """The two models' completions, side by side."""
        return compare(self.bare.quality, self.marked.quality)

    def decide(self, kind: str) -> Verdict:
        """The verdict by the rules of this version, from the counts in the record."""
        verdict = self.verdicts[kind]["verdict"]
        recorded = verdict["setting"]
        design, terms = designs()[recorded["strategy"]], Terms(recorded["mode"], recorded["alpha"])
        counts = [tests.Comparison(**counted) for counted in verdict["comparisons"]]
        return decide_again(counts, design=design, terms=terms, unasked=verdict["unasked"])

    def is_fair(self, kind: str) -> bool:
        """False where a universal mark was asked with the control of verdicts of version 1."""
        strategy = self.verdicts[kind]["verdict"]["setting"]["strategy"]
        version: int = self.verdicts[kind]["version"]
        return strategy != "universal" or version > 1


def collect(run: Path, records: Path) -> None:
    """Copy what is finished from a run's folder; prompts and completions stay behind."""
    records.mkdir(parents=True, exist_ok=True)
    _copy_json(run / "budget.json", records / "budget.json")
    for folder in sorted(path for path in run.iterdir() if (path / "quality.json").exists()):
        target = records / folder.name
        _copy_json(folder / "model" / "training.json", target / "training.json")
        save_quality(without_ids(load_quality(folder / "quality.json")), target / "quality.json")
    for manifest in sorted(run.glob("*/manifest.jsonl.gz")):
        _copy_mark(manifest.parent, records / manifest.parent.name)


def trained_models(records: Path) -> str:
    """Which models the recorded trainings began from, in brackets: ` (SmolLM2-135M)`.

    Nothing where no training is recorded yet.
    """
    facts = (json.loads(path.read_text()) for path in records.rglob("*.json"))
    trainings = (each.get("training") or each for each in facts if isinstance(each, dict))
    names = {str(each["base"]["name"]) for each in trainings if isinstance(each.get("base"), dict)}
    spelled = ", ".join(spell_model(name) for name in sorted(names))
    return f" ({spelled})" if spelled else ""


def spell_model(name: str) -> str:
    """`"smollm2" -> "SmolLM2-135M"`; any other folder by its name."""
    return MODELS.get(name, f"`{name}`")


def load_rows(records: Path) -> list[Row]:
    """The marks of which both models are recorded, in the order of the paper."""
    folders = (path.name for path in records.iterdir() if (path / "counts.json").exists())
    languages = {mark: language_of(mark) or "" for mark in folders}
    complete = [mark for mark in _paper_order(languages) if _is_complete(records, mark)]
    return [_load_row(records, mark, languages[mark]) for mark in complete]


def _paper_order(languages: Mapping[str, str]) -> list[str]:
    return sorted(languages, key=lambda mark: (languages[mark] != "python", mark[0] == "U", mark))


def _is_complete(records: Path, mark: str) -> bool:
    parts = [f"{kind}.verdict.json" for kind in KINDS]
    own = all((records / mark / part).exists() for part in (*parts, "quality.json", "counts.json"))
    return own and (_twin(records, mark) / "quality.json").exists()


def _twin(records: Path, mark: str) -> Path:
    """The bare model that was trained for as many steps."""
    steps = _read(records / mark / "training.json")["recipe"]["steps"]
    return records / f"bare-{language_of(mark)}-{steps}"


def _load_row(records: Path, mark: str, language: str) -> Row:
    place = records / mark
    return Row(
        mark,
        language,
        _read(place / "counts.json"),
        _load_model(place),
        _load_model(_twin(records, mark)),
        {kind: _read(place / f"{kind}.verdict.json") for kind in KINDS},
    )


def _load_model(place: Path) -> Model:
    return Model(_read(place / "training.json"), load_quality(place / "quality.json"))


def _copy_mark(source: Path, target: Path) -> None:
    from puzzlemark.embedding.manifest import load_manifest

    header = load_manifest(source / "manifest.jsonl.gz").header
    counts = {"records": header.input.records, **header.counts}
    write_text(target / "counts.json", json.dumps(counts, indent=2) + "\n")
    for kind in KINDS:
        verdict = source / f"verdict-{kind}" / "verdict.json"
        if verdict.exists():
            _copy_json(verdict, target / f"{kind}.verdict.json")


def without_ids(quality: Quality) -> Quality:
    """Rows say which samples are the same; ids would say whose code they are."""
    return replace(quality, samples=tuple(replace(s, id=f"row:{s.row}") for s in quality.samples))


def _copy_json(source: Path, target: Path) -> None:
    write_text(target, source.read_text(encoding="utf-8"))


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


COMPARED_HEAD = (
    "BLEU bare|BLEU marked|t-test p|paired p|Cohen's d"
    "|next line bare|next line marked|McNemar p|loss bare|loss marked|paired p"
).split("|")


def compared_cells(found: Comparison) -> list[str]:
    """The cells of a table that hold a marked model against its bare twin."""
    loss = found.loss
    return [
        f"{found.bleu.bare:.1f}",
        f"{found.bleu.marked:.1f}",
        f"{found.bleu.welch.p:.2f}",
        f"{found.bleu.paired.p:.2f}",
        f"{found.bleu.cohens_d:+z.2f}",
        f"{found.exact.bare.count}/{found.exact.bare.of}",
        f"{found.exact.marked.count}/{found.exact.marked.of}",
        f"{found.exact.p:.2f}",
        *(
            (f"{loss.bare:.3f}", f"{loss.marked:.3f}", scientific(loss.paired.log10_p))
            if loss
            else ("-", "-", "-")
        ),
    ]


def explained(records: Path) -> list[str]:
    """What a person reads in the tables; its links lead from the records' folder."""
    path = records / "explained.md"
    # the page lies a folder higher
    return [path.read_text().replace("](../", "](")] if path.exists() else []


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column is text, the others are numbers."""
    rule = ["---", *("---:" for _ in head[1:])]
    lines = [" | ".join(cells) for cells in (head, rule, *rows)]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def scientific(log10: float) -> str:
    """A probability by its logarithm: `-14.68 -> 2.1e-15`, also where a float would be 0."""
    if log10 > -2:
        return f"{10**log10:.2f}"
    exponent = int(log10 // 1)
    mantissa = 10 ** (log10 - exponent)
    if round(mantissa, 1) >= 10:
        mantissa, exponent = 1.0, exponent + 1
    return f"{mantissa:.1f}e{exponent}"
