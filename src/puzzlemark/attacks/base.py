"""What an attack is: a frozen dataclass whose fields are its whole configuration.

An attacker has a dataset as whoever took it would: records, other datasets, perhaps a suspicion. He
knows neither manifest nor watermark. An attack plans what becomes of each record, and `_run` writes
it: so all of them keep every promise about the bytes of the records that they leave alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from puzzlemark import plugins
from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.corpora.records import Record, Rows
from puzzlemark.corpora.revising import Changes
from puzzlemark.detectors.base import Suspicion
from puzzlemark.engines.base import Engine
from puzzlemark.errors import PuzzleMarkError
from puzzlemark.models.base import Estimate
from puzzlemark.progress import Progress

# what an attack may be given beside the dataset: --suspicion, --other (repeatable), --clean
Input: TypeAlias = Literal["suspicion", "others", "clean"]
NOTHING: frozenset[Input] = frozenset()


@dataclass(frozen=True, slots=True)
class Given:
    """What an attack may use. `cache` is a folder for results on the way.

    A later run with the same datasets, configuration and versions finds them again: another
    combination gets another folder.
    """

    engine: Engine
    progress: Progress
    cache: Path
    suspicion: Suspicion | None = None  # of this very dataset
    others: Sequence[Corpus] = ()
    clean: Corpus | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of a dataset: which rows stay, which code changes, what comes after them."""

    rows: Rows | None = None  # sorted; None: all stay
    changes: Changes = field(default_factory=dict)  # row -> edits of its code
    added: Iterable[Record | Batch] | None = None  # records at the end
    counts: Mapping[str, int] = field(default_factory=dict)  # what was done, in words
    spared: Mapping[str, int] = field(default_factory=Counter)  # records left alone, by reason


class Attack(Protocol):
    """Dataset in, plan out. A module offers its class as `PLUGIN`."""

    name: ClassVar[str]  # the file's name

    @property
    def needs(self) -> frozenset[Input]:
        """What this configuration must be given."""
        ...

    @property
    def takes(self) -> frozenset[Input]:
        """What would make a difference; anything else is refused."""
        ...

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Decide over every record; the same for the same dataset, whatever the engine."""
        ...


@runtime_checkable
class Costly(Protocol):
    """An attack that asks a model: what it would ask can be counted before."""

    def estimate(self, corpus: Corpus, given: Given) -> Estimate:
        """Calls and tokens, at most, without asking."""
        ...


class Spared(PuzzleMarkError):
    """Why a record is left as it is: `Spared("syntax errors")`; reasons are counted."""


def load_attack(spec: str, settings: Mapping[str, Any] | None = None) -> Attack:
    """`load_attack("truncate:lines=20") -> Truncate(lines=20)`; text becomes what a field is."""
    attack: Attack = plugins.configure("attacks", spec, settings)
    return attack
