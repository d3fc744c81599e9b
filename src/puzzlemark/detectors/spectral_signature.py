"""Spectral Signature: marked snippets may lie far out along the direction of largest variance.

Tran, Li and Madry, "Spectral Signatures in Backdoor Attacks", as CodeMark's and DeCoMa's authors
run it on code: no classes, one direction, and a share of removals that is fixed beforehand.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Corpus
from puzzlemark.detectors._states import Axes, Encoding
from puzzlemark.detectors.base import Suspicion
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UsageError
from puzzlemark.progress import Progress

EXCESS = Fraction(3, 2)  # so many are removed for each that is thought to be marked


@dataclass(frozen=True, slots=True, kw_only=True)
class SpectralSignature(Encoding):
    """Flags a fixed share of any dataset: the vectors decide which snippets, not how many."""

    name: ClassVar[str] = "spectral_signature"
    ratio: float = 0.05  # marked to unmarked snippets, as guessed; the paper's table used 0.05
    rate: float | None = None  # marked snippets of all, if known; it takes the ratio's place
    takes_clean: ClassVar[bool] = False
    instead: ClassVar[dict[str, str]] = {"rate": "ratio"}

    def __post_init__(self) -> None:
        if not (math.isfinite(self.ratio) and self.ratio > 0):
            raise UsageError(f"ratio must be above 0, not {self.ratio}")
        if self.rate is not None and not 0 < self.rate < 1:
            raise UsageError(f"rate must be between 0 and 1, not {self.rate}")

    @property
    def needs_clean(self) -> bool:
        """No: it compares the snippets with each other."""
        return False

    def suspect(
        self,
        corpus: Corpus,
        *,
        clean: Corpus | None,  # noqa: ARG002
        engine: Engine,  # noqa: ARG002
        progress: Progress,
        cache: Path,
    ) -> Suspicion:
        """Flag the snippets that lie farthest out."""
        states = self.collect(corpus, cache, progress)
        axes = Axes.of(states.vectors, 1)
        scores = np.abs(axes.project(states.vectors)[:, 0])
        flagged = flag_highest(scores, self.count(len(scores)))
        explained = float(axes.variances[0]) / axes.total
        details = {
            "findings": [
                f"the share was set to {flagged.mean():.2%} beforehand, whatever is in the dataset",
                f"the main direction holds {explained:.1%} of the variance",
            ],
            "removed": int(flagged.sum()),
            "share": float(flagged.mean()),
            "explained_variance": explained,
        }
        spread = math.sqrt(float(axes.variances[0]))
        return states.suspect(flagged, scores, _explain(flagged, scores / spread), details)

    def count(self, snippets: int) -> int:
        """How many are flagged: `SpectralSignature().count(1000) -> 71`, which is 1000 / 14."""
        # in fractions of the decimals: with floats, int(854 * 1.5 * 0.05 / 1.05) is 60 and not 61
        if self.rate is not None:
            share = Fraction(str(self.rate))
        else:
            ratio = Fraction(str(self.ratio))
            share = ratio / (1 + ratio)
        return min(snippets, math.floor(snippets * EXCESS * share))


def flag_highest(scores: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Exactly so many, none when it is 0; of equal scores the first in the dataset."""
    flagged = np.zeros(len(scores), np.bool_)
    flagged[np.argsort(-scores, kind="stable")[:count]] = True
    return flagged


def _explain(flagged: NDArray[np.bool_], spreads: NDArray[np.float64]) -> list[str | None]:
    message = "its hidden state lies {:.1f} standard deviations out along the main direction"
    pairs = zip(flagged.tolist(), spreads.tolist(), strict=True)
    return [message.format(spread) if is_flagged else None for is_flagged, spread in pairs]


PLUGIN = SpectralSignature
