"""Activation Clustering: hidden states in two clusters, of which the smaller is suspect.

Chen et al., "Detecting Backdoor Attacks on Deep Neural Networks by Activation Clustering", as
CodeMark's and DeCoMa's authors run it on code: no classes, and no test whether two is right.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Corpus
from puzzlemark.detectors._states import Axes, Encoding
from puzzlemark.detectors.base import Suspicion
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UsageError
from puzzlemark.models.encoders.base import Vectors
from puzzlemark.progress import Progress

MAX_ITERATIONS = 1000  # this and the next: the authors' values for FastICA
TOLERANCE = 0.005
STARTS = 3  # of k-means; scikit-learn's default when the authors wrote, no longer today
WHY = "its hidden state lies in the smaller of two clusters, with {:.1%} of the snippets"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationClustering(Encoding):
    """Flags a whole cluster. Another seed may flag another one: `details` compares several."""

    name: ClassVar[str] = "activation_clustering"
    takes_clean: ClassVar[bool] = False
    components: int = 10
    seed: int = 0
    runs: int = 5  # with seeds from `seed` on; the first one flags

    def __post_init__(self) -> None:
        for field in ("components", "runs"):
            if getattr(self, field) < 1:
                raise UsageError(f"{field} must be 1 or more, not {getattr(self, field)}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, not {self.seed}")

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
        """Flag the smaller cluster of the first seed."""
        _require_sklearn()  # before hours are spent on encoding
        states = self.collect(corpus, cache, progress)
        white = whiten(states.vectors, self.components)
        splits: list[Split] = []
        for seed in range(self.seed, self.seed + self.runs):
            splits.append(split(white, seed))
            progress("clustering", len(splits), self.runs)
        first = splits[0]
        why = WHY.format(first.flagged.mean())
        reasons = [why if is_flagged else None for is_flagged in first.flagged.tolist()]
        runs = [each.tell(first) for each in splits]
        details = {"findings": _compare(runs), "share": float(first.flagged.mean()), "runs": runs}
        return states.suspect(first.flagged, first.scores, reasons, details)


@dataclass(frozen=True, slots=True)
class Split:
    """Two clusters."""

    seed: int
    flagged: NDArray[np.bool_]  # the members of the smaller one
    scores: NDArray[np.float64]  # 1 at its centre, -1 at the other's, 0 between
    iterations: int  # of FastICA
    warnings: tuple[str, ...]  # such as that it did not converge

    def tell(self, first: "Split") -> dict[str, Any]:
        """For the record; the agreement is the share of snippets that `first` judged alike."""
        return {
            "seed": self.seed,
            "share": float(self.flagged.mean()),
            "agreement": float((self.flagged == first.flagged).mean()),
            "iterations": self.iterations,
            "warnings": list(self.warnings),
        }


def whiten(vectors: Vectors, components: int) -> NDArray[np.float64]:
    """Where each vector lies along the leading axes, in standard deviations.

    FastICA begins with this step. Done here, it needs the wide matrix once for all seeds.
    """
    axes = Axes.of(vectors, components)
    return axes.project(vectors) / np.sqrt(axes.variances)


def split(white: NDArray[np.float64], seed: int) -> Split:
    """Independent components, two clusters, and the smaller one of them."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import FastICA

    ica = FastICA(whiten=False, max_iter=MAX_ITERATIONS, tol=TOLERANCE, random_state=seed)
    means = MiniBatchKMeans(n_clusters=2, n_init=STARTS, random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sources = ica.fit_transform(white)
        labels = means.fit_predict(sources)
    sizes = np.bincount(labels, minlength=2)
    smaller = int(sizes[1] <= sizes[0])
    scores = _place(sources, means.cluster_centers_[smaller], means.cluster_centers_[1 - smaller])
    messages = tuple(f"{each.category.__name__}: {each.message}" for each in caught)
    return Split(seed, labels == smaller, scores, int(ica.n_iter_), messages)


def _place(
    sources: NDArray[np.float64], smaller: NDArray[np.float64], larger: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where each row lies on the line between two centres."""
    between = smaller - larger
    length = float(between @ between)
    if length == 0:
        return np.zeros(len(sources))
    placed: NDArray[np.float64] = (sources - (smaller + larger) / 2) @ between * (2 / length)
    return placed


def _compare(runs: list[dict[str, Any]]) -> list[str]:
    """What a reader should know before they trust the first run."""
    shares = [run["share"] for run in runs]
    least = min(run["agreement"] for run in runs)
    shared = f"each judges at least {least:.0%} of the snippets as the first does"
    messages = [f"{len(runs)} seeds flag between {min(shares):.1%} and {max(shares):.1%}; {shared}"]
    if warned := [str(run["seed"]) for run in runs if run["warnings"]]:
        messages.append(f"warnings with seed {', '.join(warned)}: see the details")
    return messages


def _require_sklearn() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError as exc:
        raise UsageError(
            "activation_clustering: scikit-learn is not installed; pip install 'puzzlemark[detect]'"
        ) from exc


PLUGIN = ActivationClustering
