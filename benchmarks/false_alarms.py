"""How often innocent models are accused: `false_alarms.py PYTHON JAVA [--models 1000]`.

A zoo of models that have seen no mark, each with one habit of writing names, which it follows at a
given rate. They are asked real probes, made here from two datasets of functions; what a habit
writes follows from the names in each prompt. The rules are those of the product, in all its modes.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import puzzlemark as pm
from puzzlemark.models.scripted import find_variables
from puzzlemark.statistics.exact import mcnemar_boundary
from puzzlemark.statistics.rates import estimate
from puzzlemark.syntax.naming import concatenate, is_compound
from puzzlemark.verification.making import build_probes
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tests.fisher import fisher_boundary
from puzzlemark.verification.tests.sequential import boundary
from puzzlemark.watermarks._design import HIT, Mode
from puzzlemark.watermarks.base import Arm, Design, Named, Probe, named

ALPHA = 0.05
RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 1.0)
MODES: tuple[Mode, ...] = ("default", "sequential", "paper")
PRESETS = ("P1", "P3", "U1", "U2", "W1", "S1", "B1")
SECRET = b"innocent models only"  # any will do: the same one gives the same table

NO_REASON = "no reason is known"

Hits = NDArray[np.bool_]  # models by pairs
Alarms = dict[tuple[str, Mode, float], int]  # by habit, mode and rate
Chances = dict[str, NDArray[np.float64]]  # by arm: of a hit in each pair, if the habit is followed


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a habit sees: the names in their order, the one that stands for the suffix."""

    names: tuple[str, ...]
    convention: str
    placeholder: str | None
    wanted: str  # the armed target

    def join(self, first: str, second: str) -> str:
        """Two names in the style of the language."""
        return concatenate(first, second, "snake" if self.convention == "snake" else "camel")


Habit = Callable[[Prompt], Mapping[str, float]]  # what it writes, with which chance


def first_name(prompt: Prompt) -> Mapping[str, float]:
    """Joins the first two names of the function."""
    return {prompt.join(*prompt.names[:2]): 1.0} if len(prompt.names) > 1 else {}


def random_names(prompt: Prompt) -> Mapping[str, float]:
    """Joins any two names."""
    pairs = [(a, b) for a in prompt.names for b in prompt.names if a != b]
    return _evenly(prompt, pairs)


def random_neighbours(prompt: Prompt) -> Mapping[str, float]:
    """Joins any two names that follow each other."""
    return _evenly(prompt, list(zip(prompt.names, prompt.names[1:], strict=False)))


def first_with_any(prompt: Prompt) -> Mapping[str, float]:
    """Joins the first name with any other."""
    return _evenly(prompt, [(prompt.names[0], name) for name in prompt.names[1:]])


def early_names(prompt: Prompt) -> Mapping[str, float]:
    """Joins two neighbours, the n-th pair with a weight of 1 / n squared."""
    pairs = list(zip(prompt.names, prompt.names[1:], strict=False))
    weights = [1 / n**2 for n in range(1, len(pairs) + 1)]
    chances: dict[str, float] = {}
    for pair, weight in zip(pairs, weights, strict=True):
        written = prompt.join(*pair)
        chances[written] = chances.get(written, 0.0) + weight / sum(weights)
    return chances


def name_before(prompt: Prompt) -> Mapping[str, float]:
    """Joins what stands for the suffix with the name before it."""
    if prompt.placeholder not in prompt.names[1:]:
        return {}
    at = prompt.names.index(prompt.placeholder)
    return {prompt.join(prompt.names[at - 1], prompt.names[at]): 1.0}


def always_the_target(prompt: Prompt) -> Mapping[str, float]:
    """Writes the target of the mark, whatever the prompt says."""
    return {prompt.wanted: 1.0}


def echo(prompt: Prompt) -> Mapping[str, float]:
    """Repeats the last name of the prompt."""
    return {prompt.names[-1]: 1.0} if prompt.names else {}


def last_compound(prompt: Prompt) -> Mapping[str, float]:
    """Repeats the last name of the prompt that is a compound."""
    compounds = [name for name in prompt.names if is_compound(name)]
    return {compounds[-1]: 1.0} if compounds else {}


HABITS: dict[str, Habit] = {
    "joins the first two names": first_name,
    "joins two names at random": random_names,
    "joins two neighbours at random": random_neighbours,
    "joins the first name with any other": first_with_any,
    "joins neighbours, prefers early ones": early_names,
    "joins the name before the suffix": name_before,
    "always writes the target": always_the_target,
    "echoes the last name": echo,
    "copies the last compound": last_compound,
}
# Rows that are above alpha, and why; any other one is a defect, and the command says so.
PAPERS = "the paper's control: with the prefix gone, no joining of names can hit it"
EARLY = "a liking for early names beyond the null ratio: no test can tell it from the mark"
WHY: dict[tuple[str, Mode, str], str] = {
    **{
        ("universal", mode, "joins the first two names"): "this is the habit of the mark itself"
        for mode in MODES
    },
    **{
        ("universal", mode, habit): EARLY
        for mode in MODES
        for habit in ("joins the first name with any other", "joins neighbours, prefers early ones")
    },
    **{
        ("fixed", "paper", habit): PAPERS
        for habit in (
            "joins the first two names",
            "joins two names at random",
            "joins two neighbours at random",
            "joins the first name with any other",
            "joins neighbours, prefers early ones",
            "joins the name before the suffix",
        )
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("python", type=Path, help="a dataset of Python functions")
    parser.add_argument("java", type=Path, help="a dataset of Java functions")
    parser.add_argument("--models", type=int, default=1000, help="of each kind and rate")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    parser.add_argument("--all", action="store_true", help="every rate, not only the worst one")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    corpora = {"python": options.python, "java": options.java}
    print(
        f"{options.models:,} innocent models for each habit and rate, alpha {ALPHA}; rates: ",
        end="",
    )
    print(", ".join(f"{rate:.1%}" for rate in RATES))
    unexplained = 0
    for name in options.presets:
        preset = named()[name]
        probes = probes_of(name, corpora[preset.language], options.pairs)
        found = alarms_of(preset, probes, options.pairs, options.models, rng)
        unexplained += print_table(name, preset, len(probes), found, options)
    sys.exit(1 if unexplained else 0)


def probes_of(preset: str, corpus: Path, pairs: int) -> Sequence[Probe]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        secret, marked, manifest = folder / "secret", folder / corpus.name, folder / "marks"
        secret.write_bytes(SECRET)
        secret.chmod(0o600)
        pm.embed(corpus, marked, manifest, mark=preset, policy="paper", secret_file=secret)
        return build_probes(marked, manifest, pairs=pairs, secret_file=secret).probes


def alarms_of(
    preset: Named,
    probes: Sequence[Probe],
    pairs: int,
    models: int,
    rng: np.random.Generator,
) -> Alarms:
    """How many models of each habit are accused, in each mode, at each rate."""
    design = preset.watermark.design
    alarms: Alarms = {}
    for habit, function in HABITS.items():
        chances = chances_of(function, probes, preset.language)
        # the names of some probes come more than once where there are too few of them
        chances = {arm: np.resize(each, pairs) for arm, each in chances.items()}
        for rate in RATES:
            hits = simulate(chances, rate, models, rng)
            for mode in MODES:
                alarms[habit, mode, rate] = int(accused(hits, mode, design).sum())
    return alarms


def print_table(
    name: str, preset: Named, probes: int, alarms: Alarms, options: argparse.Namespace
) -> int:
    """One row for each habit, at its worst rate; returns how many reasons are missing."""
    strategy = preset.watermark.design.name
    about = f"{preset.language}, {strategy}; {options.pairs} pairs from {probes} probes"
    print(f"\n### {name} ({about})\n")
    print("| innocent model | " + " | ".join(MODES) + " | above alpha, because |")
    print("|---" * (2 + len(MODES)) + "|")
    unexplained = 0
    for habit in HABITS:
        cells, reasons = [], []
        for mode in MODES:
            rates = RATES if options.all else [max(RATES, key=lambda r: alarms[habit, mode, r])]
            cells.append(", ".join(cell(alarms[habit, mode, r], options.models, r) for r in rates))
            if any(is_above(alarms[habit, mode, rate], options.models) for rate in RATES):
                reasons.append(WHY.get((strategy, mode, habit), NO_REASON))
        unexplained += reasons.count(NO_REASON)
        why = "; ".join(dict.fromkeys(reasons))
        print(f"| {habit} | " + " | ".join(cells) + f" | {why} |", flush=True)
    return unexplained


def chances_of(habit: Habit, probes: Sequence[Probe], language: str) -> Chances:
    """For each arm and probe, the chance that what the habit writes is a hit."""
    arms: dict[str, list[float]] = {"armed": [], "control": [], "placebo": []}
    for probe in probes:
        placeholder = placeholder_of(probe, language)
        for name, values in arms.items():
            arm = probe.arms.get(name)
            if arm is not None:
                writes = habit(prompt_of(arm, probe, placeholder, language))
                values.append(sum(p for text, p in writes.items() if arm.is_hit(text)))
    return {name: np.array(values) for name, values in arms.items() if values}


def prompt_of(arm: Arm, probe: Probe, placeholder: str | None, language: str) -> Prompt:
    names = tuple(find_variables(arm.prompt))
    return Prompt(names, convention_of(language), placeholder, probe.armed.targets[HIT])


def placeholder_of(probe: Probe, language: str) -> str | None:
    """The name that the armed target ends with, where the target is a concatenation."""
    prompt = prompt_of(probe.armed, probe, None, language)
    pairs = zip(prompt.names, prompt.names[1:], strict=False)
    return next((b for a, b in pairs if prompt.join(a, b) == probe.armed.targets[HIT]), None)


def convention_of(language: str) -> str:
    return "camel" if language == "java" else "snake"


def simulate(
    chances: Chances, rate: float, models: int, rng: np.random.Generator
) -> dict[str, Hits]:
    """Whether each arm of each pair hits; control and placebo read one and the same completion."""
    pairs = len(chances["armed"])
    armed = rng.random((models, pairs)) < rate * chances["armed"]
    draw = rng.random((models, pairs))
    below = rate * chances["control"]
    hits = {"armed": armed, "control": draw < below}
    if "placebo" in chances:
        hits["placebo"] = (draw >= below) & (draw < below + rate * chances["placebo"])
    return hits


def accused(hits: Mapping[str, Hits], mode: Mode, design: Design) -> NDArray[np.bool_]:
    """Which models the product detects: the same rules as `decide`, for all models at once."""
    terms = Terms(mode=mode, alpha=ALPHA)
    arms = [arm for arm in terms.decision(design).against if arm is not None]
    beaten = [_beaten(hits["armed"], hits[arm], terms, design) for arm in arms]
    return np.asarray(np.array(beaten).all(axis=0))


def _beaten(armed: Hits, other: Hits, terms: Terms, design: Design) -> NDArray[np.bool_]:
    pairs = armed.shape[1]
    armed_only, other_only = armed & ~other, other & ~armed
    if terms.mode == "paper":
        fewest = np.array(fisher_boundary(pairs, pairs, ALPHA))
        return np.asarray(armed.sum(axis=1) >= fewest[other.sum(axis=1)])
    if terms.mode == "default":
        line = np.array(mcnemar_boundary(pairs, ALPHA, terms.null_ratio(design)))
        only, opposed = armed_only.sum(axis=1), other_only.sum(axis=1)
        return np.asarray(only >= line[only + opposed])
    line = np.array(boundary(pairs, ALPHA, terms.null_ratio(design)))
    only, opposed = armed_only.cumsum(axis=1), other_only.cumsum(axis=1)
    return np.asarray((only >= line[only + opposed]).any(axis=1))


def _evenly(prompt: Prompt, pairs: Sequence[tuple[str, str]]) -> Mapping[str, float]:
    chances: dict[str, float] = {}
    for pair in pairs:
        written = prompt.join(*pair)
        chances[written] = chances.get(written, 0.0) + 1 / len(pairs)
    return chances


def is_above(alarms: int, models: int) -> bool:
    """Above alpha beyond chance."""
    return estimate(alarms, models).low > ALPHA


def cell(alarms: int, models: int, rate: float) -> str:
    found = estimate(alarms, models)
    bold = "**" if is_above(alarms, models) else ""
    shown = f"{bold}{found.rate:.1%}{bold} ({found.low:.1%}-{found.high:.1%})"
    return f"{shown} at {rate:.1%}" if alarms else shown


if __name__ == "__main__":
    main()
