"""Probes about drawn names by hand, and models that know the names, or do not."""

import math
from collections.abc import Callable

from puzzlemark.embedding.secret import Secret, watermark_key
from puzzlemark.models.base import ChoiceRequest, Failure, LogProbs, Request
from puzzlemark.models.scripted import ScriptedScores
from puzzlemark.verification.probes import FORMAT, VERSION, Header, KeyOf, ProbeSet
from puzzlemark.watermarks._draws import Draw
from puzzlemark.watermarks.base import Arm, Probe

SECRET, OTHER = (Secret(letter * 32) for letter in (b"s", b"o"))
KEY, FINGERPRINT = watermark_key(SECRET, "synonyms")
GROUP, WEIGHTS = "python/1/val", (("val", 2), ("value", 1), ("v", 1))


def probe(number: int) -> Probe:
    """Each prompt in words of its own: near copies would count once."""
    words = " ".join(f"word{number}x{place}" for place in range(6))
    arm = Arm(f"def f{number}(): # {words}\n    for ", {n: n for n, _ in WEIGHTS}, "first")
    return Probe({"armed": arm}, Draw(GROUP, f"{number:032x}", WEIGHTS))


def probe_set(carriers: int) -> ProbeSet:
    header = Header(
        format=FORMAT,
        version=VERSION,
        versions={},
        strategy="synonyms",
        pairs=carriers,
        seed=0,
        marks=carriers,
        refused={},
        key=KeyOf(watermark="synonyms", fingerprint=FINGERPRINT),
    )
    return ProbeSet(header, tuple(map(probe, range(carriers))))


def drawn(each: Probe, key: bytes = KEY) -> str:
    assert each.draw is not None
    return each.draw.symbol(key)


def known_names(probes: ProbeSet) -> dict[str, str]:
    """By the prompt, the name that the key drew."""
    return {each.armed.prompt: drawn(each) for each in probes.probes}


def knows(known: dict[str, str], chance: float = 0.8) -> Callable[[ChoiceRequest], LogProbs]:
    """Finds the name that it knows this likely, and the others alike."""

    def score(request: ChoiceRequest) -> LogProbs:
        name = known.get(request.prompt)
        rest = (1 - chance) / (len(request.names) - 1)
        chances = [chance if each == name else rest for each in request.names]
        return LogProbs(tuple(math.log(each) for each in chances))

    return score


def says_nothing(_request: Request) -> str:
    """A completion without a name of the set: by its answers alone nothing is shown."""
    return "unrelated in"


def scoring(name: str, score: Callable[[ChoiceRequest], LogProbs | Failure]) -> ScriptedScores:
    return ScriptedScores(name, says_nothing, scores=score)
