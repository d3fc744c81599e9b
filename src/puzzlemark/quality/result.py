"""What was measured of one model, as a file: whoever has two of them can compare the models."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.quality.scoring import Activation
from puzzlemark.staging import write_text

FORMAT = "puzzlemark quality"
VERSION = 1


class QualityError(PuzzleMarkError):
    """A file of qualities cannot be read, or two of them cannot be compared."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is fixed before the first question, beside the held-out functions and the model."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    samples: int | None  # None: every function that can be cut
    max_tokens: int  # of the model, for each completion
    window: int  # our code tokens that BLEU compares
    temperature: float
    seed: int
    prefix: str | None  # of a fixed-prefix watermark, for its unintended activation
    longest: int  # characters of a function


@dataclass(frozen=True, slots=True)
class Measured:
    """One sample. A failed answer has no numbers: it is left out of means, and counted."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    row: int
    id: str
    failure: str | None = None
    bleu: float | None = None  # 0 to 100
    exact: bool | None = None  # the next line, but for white space
    activation: Activation | None = None
    loss: float | None = None  # mean of a token, in nats
    loss_tokens: int | None = None
    loss_failure: str | None = None


@dataclass(frozen=True, slots=True)
class Quality:
    """One model on held-out functions."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    heldout: str  # digest of the corpus
    records: int  # in it
    skipped: Mapping[str, int]  # why records that were looked at gave no sample
    terms: Terms
    model: Mapping[str, Any]  # Model.describe()
    versions: Mapping[str, str]
    signature: str  # which BLEU, in sacrebleu's spelling
    corpus_bleu: float | None  # None when every answer failed
    samples: tuple[Measured, ...]

    @property
    def failed(self) -> int:
        """Samples without an answer."""
        return sum(sample.failure is not None for sample in self.samples)

    @property
    def bleu(self) -> float | None:
        """Mean of the sentences' BLEU, the paper's number."""
        return self.mean(lambda sample: sample.bleu)

    @property
    def exact(self) -> float | None:
        """Share of next lines that are right."""
        return self.mean(lambda sample: sample.exact)

    @property
    def loss(self) -> float | None:
        """Mean of the functions' mean token losses; None without a scorer."""
        return self.mean(lambda sample: sample.loss)

    def mean(self, of: Callable[[Measured], float | None]) -> float | None:
        """The mean over the samples that have the number."""
        values = [value for value in map(of, self.samples) if value is not None]
        return sum(values) / len(values) if values else None

    def to_json(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}


def save_quality(quality: Quality, path: Path) -> None:
    """Write the file; it is there whole or not at all."""
    text = json.dumps(quality.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def load_quality(path: Path | str) -> Quality:
    """Read a file that `measure` wrote."""
    path = Path(path)
    try:
        fields = json.loads(path.read_text())
    except OSError as exc:
        raise QualityError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    except ValueError as exc:
        raise QualityError(f"{path}: not JSON; pass a file of puzzlemark quality measure") from exc
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise QualityError(f"{path}: not a file of puzzlemark quality measure")
    if (found := fields.pop("version", None)) != VERSION:
        raise QualityError(f"{path}: written by another PuzzleMark (version {found})")
    try:
        return TypeAdapter(Quality).validate_python(fields)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise QualityError(f"{path}: {where}: {first['msg']}; measure again") from exc
