"""One model of an experiment: trained on a dataset, asked about a mark, judged; and its record.

<place>/model/       while it is needed; some 540 MB, so it is removed when it was asked
<place>/verdict/     the transcript, and what was found
<place>/record.json  what a page needs: the training, the counts, and what the experiment adds
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from puzzlemark.bench.records import scientific
from puzzlemark.files import remove
from puzzlemark.models.base import open_model
from puzzlemark.staging import write_text
from puzzlemark.training.recipes.base import load_recipe, override
from puzzlemark.training.run import train
from puzzlemark.verification.probes import load_probes
from puzzlemark.verification.run import verify
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tests.base import Comparison
from puzzlemark.verification.verdict import Verdict, decide_again
from puzzlemark.watermarks.base import designs

RECORD = "record.json"
FORMAT, VERSION = "puzzlemark trial", 1


@dataclass(frozen=True, slots=True)
class Trial:
    """A model to train and to ask, and everything that decides what comes out."""

    place: Path
    dataset: Path
    probes: Path
    base: Path
    training: dict[str, Any]  # arguments of `train`: recipe, steps, rate, seed, ...
    terms: Terms = field(default_factory=Terms)
    cache: Path | None = None  # of what frozen layers make
    facts: dict[str, Any] = field(default_factory=dict)  # what the experiment adds to the record
    keeps_model: bool = False

    @property
    def is_done(self) -> bool:
        """Whether its record was written."""
        return (self.place / RECORD).exists()


def conduct(trial: Trial) -> dict[str, Any]:
    """Train, ask and judge; a second call does only what is missing."""
    if trial.is_done:
        return read_record(trial.place / RECORD)
    trained = train(
        trial.dataset,
        trial.base,
        trial.place / "model",
        cache=trial.cache if keeps_states(trial.training) else None,
        **trial.training,
    )
    model = open_model("hf", {"pretrained": str(trained.folder), "threads": "1"})
    run = verify(load_probes(trial.probes), model, trial.place / "verdict", trial.terms)
    verdict = run.verdict.to_json()
    record = {
        "format": FORMAT,
        "version": VERSION,
        **trial.facts,
        "training": shorten(trained.record),
        "verdict": {
            "word": verdict["word"],
            "setting": verdict["setting"],
            "comparisons": verdict["comparisons"],
            "unasked": verdict["unasked"],
            "temperature": trial.terms.temperature,
        },
    }
    write_text(trial.place / RECORD, json.dumps(record, indent=1) + "\n")
    if not trial.keeps_model:
        remove(trial.place / "model")
    return record


def keeps_states(training: Mapping[str, Any]) -> bool:
    """Whether a training sends a row through the frozen layers once."""
    changes = {
        name: value for name, value in training.items() if name not in ("recipe", "seed", "force")
    }
    return override(load_recipe(training.get("recipe", "cpu")), changes).frozen == "once"


def shorten(training: Mapping[str, Any]) -> dict[str, Any]:
    """Of training.json, what tells two trials of an experiment apart, and what they cost."""
    recipe, result = training["recipe"], training["result"]
    chosen = ("part", "layers", "steps", "epochs", "batch", "rate", "dtype", "frozen", "vocabulary")
    return {
        "base": training["base"],
        "corpus": {
            name: training["corpus"][name] for name in ("digest", "records", "documents", "tokens")
        },
        "recipe": {name: recipe[name] for name in chosen},
        "seed": training["seed"],
        "result": {name: result[name] for name in ("steps", "tokens", "first_loss", "final_loss")},
        "times": training["times"],
        "versions": training["versions"],
    }


def read_record(path: Path) -> dict[str, Any]:
    """A record that `conduct` wrote."""
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def judge_again(record: Mapping[str, Any]) -> Verdict:
    """The verdict by the rules of this version, from the counts of a record."""
    verdict = record["verdict"]
    setting = verdict["setting"]
    return decide_again(
        [Comparison(**counted) for counted in verdict["comparisons"]],
        design=designs()[setting["strategy"]],
        terms=Terms(setting["mode"], setting["alpha"]),
        unasked=verdict["unasked"],
    )


FOUND_HEAD = "armed|control|placebo|verdict|log10 p|Fisher p".split("|")


def found_cells(record: Mapping[str, Any]) -> list[str]:
    """The cells of a table that say what was found of one model."""
    verdict = judge_again(record)
    by_arm = {comparison.against: comparison for comparison in verdict.comparisons}
    fisher = next(
        (
            finding
            for finding in verdict.beside
            if (finding.test, finding.against) == ("fisher two-sided", "control")
        ),
        None,
    )
    control = by_arm["control"]
    placebo = by_arm.get("placebo")
    return [
        f"{control.armed_hits}/{control.pairs}",
        f"{control.control_hits}/{control.pairs}",
        f"{placebo.control_hits}/{placebo.pairs}" if placebo else "-",
        f"**{verdict.word}**",
        f"{verdict.log10_p or 0.0:z.1f}",
        scientific(fisher.log10_p) if fisher else "-",
    ]
