"""Which licensee's copy did a model learn from?

Every licensee's copy has marks of a key of his own, at the same carriers. So one run asks about all
of them, and is judged once for each key. For every licensee whose copy had no part in the model,
his key is independent of all that the model says, whatever other copies it learnt from: e has mean
1, and p is exact. With N licensees e must reach N / alpha (Bonferroni), and p is corrected by
Holm's method; then the chance to name any innocent one is at most alpha.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.secret import Secret, spell_licensee, watermark_key
from puzzlemark.errors import SecretError, UsageError
from puzzlemark.verification.run import Answered, needs_key, read_answers
from puzzlemark.verification.tests.base import load_test
from puzzlemark.verification.verdict import Verdict, adjust
from puzzlemark.watermarks._design import ARMED

MANIFESTS = ("*.jsonl", "*.jsonl.gz", "*.gz")


@dataclass(frozen=True, slots=True)
class Suspect:
    """What the answers say of one licensee's copy."""

    licensee: str
    word: str  # that of his verdict, corrected for the number of licensees
    log10_e: float | None  # of a test that speaks by e
    log10_p: float | None  # of one that speaks by p, corrected

    @property
    def is_shown(self) -> bool:
        """Whether the model depends on his copy."""
        return self.word == "detected"

    @property
    def strength(self) -> float:
        """The larger the more."""
        return -(self.log10_p or 0.0) if self.log10_e is None else self.log10_e


@dataclass(frozen=True, slots=True)
class Difference:
    """Two licensees whose copies are both shown: whose names the model gave, where they differ."""

    first: str
    second: str
    carriers: int  # that were asked about
    differing: int  # of these, where the two keys drew other names
    as_first: int  # answers there, of all samples
    as_second: int
    as_neither: int  # other names of the set


@dataclass(frozen=True, slots=True)
class Trace:
    """All licensees, the most suspicious first."""

    suspects: tuple[Suspect, ...]
    alpha: float
    limit: float | None  # log10 of what e must reach; None for a test that speaks by p
    differences: tuple[Difference, ...]
    asked_of: str | None  # the licensee whose manifest the probes were made from, if he is listed

    @property
    def shown(self) -> tuple[str, ...]:
        """The licensees whose copies the model learnt from."""
        return tuple(each.licensee for each in self.suspects if each.is_shown)

    @property
    def sentence(self) -> str:
        """What follows, in words that the other side's expert would let stand."""
        number, chance = len(self.suspects), f"{self.alpha:g}"
        rule = f"with {number:,} licensees the chance to name any innocent one is at most {chance}"
        if not self.shown:
            words = {each.word for each in self.suspects}
            if words <= {"inconclusive", "not applicable"}:
                return "Inconclusive: the run cannot be judged for any licensee."
            return f"No licensee's copy is shown: {rule}. This is not evidence that none was used."
        if len(self.shown) == 1:
            return (
                f"The model depends on the copy of {self.shown[0]}: {rule}. No second copy is "
                "shown. Who gave the copy to whoever trained the model is not."
            )
        names = f"{', '.join(self.shown[:-1])} and {self.shown[-1]}"
        return (
            f"The model depends on each of the copies of {names}: {rule}. It learnt from all of "
            "them, or from one that was put together from them: these licensees may have colluded, "
            "and somebody else may have had their copies."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "shown": list(self.shown),
            "sentence": self.sentence,
            "alpha": self.alpha,
            "licensees": len(self.suspects),
            "log10_e_needed": self.limit,
            "suspects": [{**asdict(each), "shown": each.is_shown} for each in self.suspects],
            "differences": [asdict(each) for each in self.differences],
            "asked_of": self.asked_of,
        }


def trace(folder: Path | str, licensees: Iterable[str], secret: Secret) -> Trace:
    """Judge a run for each licensee: `trace("run", ["Acme", "Initech"], secret)`."""
    names = list(dict.fromkeys(map(spell_licensee, licensees)))
    if not names:
        raise UsageError("no licensee is listed")
    found = read_answers(Path(folder))
    design, known = found.probes.design, found.probes.header.key
    if not needs_key(design) or known is None:
        raise UsageError(
            f"the marks of the design {design.name} have a pattern that is public and the same in "
            "every copy: a model cannot be traced to one of them"
        )
    keys = {name: watermark_key(secret.licensed(name), known.watermark) for name in names}
    asked_of = next((name for name, (_, mark) in keys.items() if mark == known.fingerprint), None)
    if asked_of is None and watermark_key(secret, known.watermark)[1] != known.fingerprint:
        raise SecretError(
            "the probes were made with the key of none of these licensees; pass the secret that "
            "the copies were made with (--secret-file), and all licensees"
        )
    by_p = load_test(found.terms.decision(design).test).measure == "p"
    verdicts = _verdicts(found, {name: key for name, (key, _) in keys.items()}, by_p=by_p)
    suspects = sorted(
        (_suspect(name, verdict, by_p=by_p) for name, verdict in verdicts.items()),
        key=lambda each: (-each.strength, each.licensee),
    )
    shown = {each.licensee: keys[each.licensee][0] for each in suspects if each.is_shown}
    return Trace(
        tuple(suspects),
        found.terms.alpha,
        None if by_p else _limit(found.terms.alpha, len(names)),
        tuple(_differences(found, shown)),
        asked_of,
    )


def _limit(alpha: float, number: int) -> float:
    return math.log10(number) - math.log10(alpha)


def _verdicts(found: Answered, keys: Mapping[str, bytes], *, by_p: bool) -> dict[str, Verdict]:
    """One for each licensee, corrected for their number."""
    if by_p:
        judged = [found.decide(key) for key in keys.values()]
        return dict(zip(keys, adjust(judged), strict=True))
    strict = replace(found.terms, alpha=found.terms.alpha / len(keys))
    return {name: found.decide(key, strict) for name, key in keys.items()}


def _suspect(name: str, verdict: Verdict, *, by_p: bool) -> Suspect:
    if by_p:
        return Suspect(name, verdict.word, None, verdict.adjusted_log10_p)
    evidence = [each.statistic["log10_e"] for each in verdict.decisive]
    return Suspect(name, verdict.word, float(evidence[0] or 0.0) if evidence else None, None)


def _differences(found: Answered, keys: Mapping[str, bytes]) -> Iterator[Difference]:
    """Of each two that are shown: whose names stand in the answers, where their draws differ."""
    outcomes = [found.outcomes[number] for number in found.asked]
    drawn = [(each, each.probe.draw) for each in outcomes if each.probe and each.probe.draw]
    if not drawn:
        return
    for (first, one), (second, other) in combinations(keys.items(), 2):
        counts: Counter[str] = Counter()
        differing = 0
        for outcome, draw in drawn:
            names = draw.symbol(one), draw.symbol(other)
            if names[0] == names[1] or ARMED not in outcome.scores:
                continue
            differing += 1
            counts.update(_whose(symbol, names) for symbol in outcome.sampled(ARMED) if symbol)
        yield Difference(
            first,
            second,
            len(drawn),
            differing,
            counts["first"],
            counts["second"],
            counts["neither"],
        )


def _whose(symbol: str, names: tuple[str, str]) -> str:
    return "first" if symbol == names[0] else "second" if symbol == names[1] else "neither"


def read_licensees(path: Path, secret: Secret) -> list[str]:
    """Licensees from a text file, one a line, or from a folder with the manifests of their copies.

    A manifest that was made with another secret, or for nobody in particular, is refused.
    """
    if path.is_dir():
        return _from_manifests(path, secret)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"{path}: cannot be read as a list of licensees: {exc}") from exc
    names = [line.strip() for line in lines]
    return [spell_licensee(name) for name in names if name and not name.startswith("#")]


def _from_manifests(folder: Path, secret: Secret) -> list[str]:
    paths: Sequence[Path] = sorted({path for each in MANIFESTS for path in folder.glob(each)})
    if not paths:
        raise UsageError(f"{folder}: no manifests are here (.jsonl or .jsonl.gz)")
    found: list[str] = []
    inputs: set[str] = set()
    for path in paths:
        header = load_manifest(path).header
        if header.licensee is None:
            raise UsageError(f"{path}: made for no licensee; keep it elsewhere")
        if header.secret_fingerprint != secret.fingerprint:
            raise SecretError(f"{path}: made with another secret; pass that one (--secret-file)")
        if header.watermark.scheme == "synonyms":
            inputs.add(header.input.digest)
        found.append(header.licensee)
    if len(inputs) > 1:
        raise UsageError(
            f"{folder}: these are copies of different datasets; trace one dataset at a time"
        )
    return list(dict.fromkeys(found))
