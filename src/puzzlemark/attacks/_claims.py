"""Where an attack's suspicion comes from: a file, or a detector that its settings name."""

from puzzlemark.attacks.base import NOTHING, Given, Input
from puzzlemark.corpora.base import Corpus
from puzzlemark.detectors.base import Suspicion, load_detector

FROM_FILE: frozenset[Input] = frozenset({"suspicion"})
CLEAN: frozenset[Input] = frozenset({"clean"})


def needed(detector: str | None) -> frozenset[Input]:
    """What must be given: the suspicion itself, or what the detector compares with."""
    if detector is None:
        return FROM_FILE
    return CLEAN if load_detector(detector).needs_clean else NOTHING


def taken(detector: str | None) -> frozenset[Input]:
    """What may be given."""
    if detector is None:
        return FROM_FILE
    return CLEAN if load_detector(detector).takes_clean else NOTHING


def suspect(detector: str | None, corpus: Corpus, given: Given) -> Suspicion:
    """The suspicion that was given, or that of a detector: `suspect("concat", corpus, given)`."""
    if detector is None:
        assert given.suspicion is not None, "needed, and so checked by the driver"
        return given.suspicion
    place = given.cache / "detector"
    place.mkdir(exist_ok=True)
    return load_detector(detector).suspect(
        corpus,
        clean=given.clean,
        engine=given.engine,
        progress=given.progress,
        cache=place,
    )
