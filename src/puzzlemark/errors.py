"""Everything PuzzleMark raises on purpose.

PuzzleMarkError
├── UsageError              the call itself is wrong: an option, a name, a combination
├── PluginError             a plug-in of another package cannot be used
├── CorpusError             a dataset cannot be read or written as asked
├── NothingMarked           no record of a dataset can carry the mark
├── ManifestError           a manifest cannot be read, or is not the dataset's
│   └── EditMismatch        the bytes to replace are not there
├── SecretError             the secret is missing, too short or unreadable
├── UnparsableSnippet       the code has syntax errors
├── UnsafeRename            a rename could change behaviour
├── ProbesError, RunError   verification: files that cannot be used   (verification/)
├── TranscriptError         a transcript that cannot be used          (verification/transcript.py)
├── CommitmentError         a commitment that cannot be made or read  (evidence/)
│                           beside it PlanError
├── TrainingError           a training that cannot go on              (training/checkpoints.py)
├── QualityError            qualities that cannot be compared         (quality/)
│                           beside it AnswersError, MetricError
├── StudyError              a file of a study that cannot be used     (studying/key.py)
└── ModelError              a model that cannot be opened or reached  (models/base.py)
    ├── BudgetEnded         the budget of requests is spent
    └── NotDownloaded       the package index has no such model       (models/fetching/run.py)
"""

from collections.abc import Iterable
from difflib import get_close_matches


class PuzzleMarkError(Exception):
    """Base of all our errors; its message says what, where, and what to do."""


class PuzzleMarkWarning(UserWarning):
    """Something to know that stops nothing; the command line prints it as one sentence."""


class UsageError(PuzzleMarkError):
    """The call itself is wrong."""


class PluginError(PuzzleMarkError):
    """A plug-in of another package cannot be used; names the package."""


class CorpusError(PuzzleMarkError):
    """A dataset cannot be read or written as asked."""


class NothingMarked(PuzzleMarkError):
    """No record of a dataset can carry the mark, so nothing was written."""


class ManifestError(PuzzleMarkError):
    """A manifest cannot be read, or belongs to another dataset."""


class EditMismatch(ManifestError):
    """The bytes that an edit replaces are not where it expects them."""


class SecretError(PuzzleMarkError):
    """The secret is missing, too short or unreadable; never shows the secret."""


class UnparsableSnippet(PuzzleMarkError):
    """The code has syntax errors."""


class UnsafeRename(PuzzleMarkError):
    """A rename was refused because behaviour could change."""


def suggest(wrong: str, known: Iterable[str]) -> str:
    """`suggest("decomma", ["concat", "decoma"]) -> "; did you mean decoma? Known: concat, decoma"`.

    For the end of a message about a name that there is not.
    """
    listed = list(known)
    by_folded = {name.casefold(): name for name in listed}
    typed = wrong.casefold()
    begun = [name for name in by_folded if typed and name.startswith(typed)]
    near = begun or get_close_matches(typed, by_folded, n=1, cutoff=0.7)
    meant = f"; did you mean {by_folded[near[0]]}? Known: " if near else "; known: "
    return meant + ", ".join(listed)
