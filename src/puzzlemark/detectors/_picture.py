"""The distribution of a detector's scores, as one SVG picture."""

import numpy as np

from puzzlemark.detectors._run import Detected
from puzzlemark.detectors.base import Suspicion
from puzzlemark.files import refuse_existing
from puzzlemark.pages.histogram import Labels, histogram
from puzzlemark.staging import write_text
from puzzlemark.stores import Location, locate_output


def save_suspicion_picture(
    found: Detected, picture: Location | str, *, overwrite: bool = False
) -> None:
    """Draw the scores that `detect` gave, as SVG."""
    picture = locate_output(picture)
    refuse_existing(picture, overwrite=overwrite)
    write_text(picture, score_picture(found.suspicion, found.method))


def score_picture(suspicion: Suspicion, method: str) -> str:
    """Scores in the detector's own units; those that are exactly 0 are told, not drawn."""
    shown = suspicion.judged & (suspicion.scores != 0)
    scores, flagged = suspicion.scores[shown], suspicion.flagged[shown]
    # a cut is drawn where one separates the flagged from the others
    cut = float(scores[flagged].min()) if flagged.any() else float("nan")
    separates = flagged.any() and not (scores[~flagged] >= cut).any()
    zeros = int(np.count_nonzero(suspicion.judged & (suspicion.scores == 0)))
    return histogram(
        scores,
        cut if separates else float("nan"),
        f"Suspicion by {method}",
        Labels(
            across=f"score of {method}",
            up="records",
            below="not flagged",
            above="flagged" if separates else "with a score",
            threshold="first flagged",
        ),
        subtitle=f"{int(suspicion.flagged.sum()):,} of {len(suspicion):,} records flagged"
        + (f"; {zeros:,} with the score 0 are not drawn" if zeros else ""),
    )
