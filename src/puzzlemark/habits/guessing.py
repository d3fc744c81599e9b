"""What nature would have called a variable: one guess for each place where people chose alike.

A guess is a distribution over the members of a variable's set, made without its own fold of the
records: from its file, its project, what it is bound to, the words beside and near it, and a
language model of the words around.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puzzlemark.habits.kneser_ney import fit
from puzzlemark.habits.seen import BAGS, FOLDS, Bag, Chances, Integers, Seen
from puzzlemark.syntax.surroundings import REACH

BACKING = 2.0  # observations that the wider context is worth
ORDER = 4
SURELY = 1e-9  # of a chance: no logarithm of 0

# what the others share with a variable; those of a project back off to its own counts
SHARED: dict[str, tuple[str, ...]] = {
    "file": ("file",),
    "kind": ("kind",),
    "heads": ("heads",),
    "around": ("around",),
    "left": ("left",),
    "right": ("right",),
    "project_heads": ("project", "heads"),
    "project_kind": ("project", "kind"),
    "project_around": ("project", "around"),
}
OF_PROJECT = ("file", "project_heads", "project_kind", "project_around")


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A distribution for each variable, and by how many observations."""

    chances: Chances
    support: NDArray[np.float64]


def guess_by_counts(seen: Seen, rows: Integers) -> dict[str, Guess]:
    """What the other variables of the same set are called, in ever narrower contexts."""
    local, in_set = seen.is_local, seen.in_set[rows]
    everywhere = seen.count_others(seen.groups(), local, rows)
    widest = normal(everywhere + 0.5 * in_set)
    found = {"everywhere": Guess(widest, everywhere.sum(axis=1))}
    counts = seen.count_others(seen.groups("project"), local, rows)
    project = normal(counts + BACKING * widest)
    found["project"] = Guess(project, counts.sum(axis=1))
    for name, contexts in SHARED.items():
        counts = seen.count_others(seen.groups(*contexts), local, rows)
        wider = project if name in OF_PROJECT else widest
        found[name] = Guess(normal(counts + BACKING * wider), counts.sum(axis=1))
    # how the file calls its parameters, which are never marked: of its own fold, too
    counts = seen.count_others(seen.groups("file"), ~local, rows, folds=False)
    found["parameters"] = Guess(normal(counts + BACKING * project), counts.sum(axis=1))
    return found


def guess_by_bags(seen: Seen, rows: Integers) -> dict[str, Guess]:
    """Which member the words speak for, each on its own (naive Bayes): near, beside, in names."""
    return {bag: _guess_by_bag(seen, bag, rows) for bag in BAGS}


def _guess_by_bag(seen: Seen, bag: Bag, rows: Integers) -> Guess:
    owners, texts = seen.bags[bag]
    width, fold = seen.widest, seen.records % FOLDS
    span = int(texts.max(initial=0)) + 1
    kinds, items = np.unique(seen.numbers[owners] * span + texts, return_inverse=True)
    of_set = kinds // span
    logs = np.zeros((len(seen), width))
    wanted = np.zeros(len(seen), np.bool_)
    wanted[rows] = True
    for each in range(FOLDS):
        learnt = seen.is_local & (fold != each)
        total = _table(seen.numbers[learnt], seen.members[learnt], len(seen.sets), width)
        taken = learnt[owners]
        table = _table(items[taken], seen.members[owners[taken]], len(kinds), width)
        share = table.sum(axis=1) / np.maximum(total.sum(axis=1), 1.0)[of_set]
        usual = share[:, None] + 1e-3
        ratio = np.log((table + 2.0 * usual) / (total[of_set] + 2.0)) - np.log(usual)
        here = wanted[owners] & (fold[owners] == each)
        for member in range(width):
            logs[:, member] += np.bincount(
                owners[here], weights=ratio[items[here], member], minlength=len(seen)
            )
    return Guess(likely(logs[rows], seen.in_set[rows]), np.zeros(len(rows)))


def _table(groups: Integers, members: Integers, many: int, width: int) -> Chances:
    counts = np.bincount(groups * width + members, minlength=many * width)
    return counts.reshape(many, width).astype(np.float64)


def guess_by_reading(seen: Seen, rows: Integers) -> dict[str, Guess]:
    """A language model reads the words around with each member in turn: the likelier, the better.

    Of all occurrences, and of the first alone. The model of a variable was made without its fold.
    """
    place = np.full(len(seen), -1, np.int64)
    place[rows] = np.arange(len(rows))
    windows, owners = seen.windows, seen.owners
    folds = (seen.records % FOLDS)[owners]
    total = np.zeros((len(rows), seen.widest))
    first = np.zeros_like(total)
    opens = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.zeros(0, np.bool_)
    own = seen.spelled[seen.numbers, seen.members]
    as_written = np.where(windows < 0, own[owners][:, None], windows)
    for fold in range(FOLDS):
        here = np.flatnonzero((folds == fold) & (place[owners] >= 0))
        if not len(here):
            continue
        model = fit(list(as_written[folds != fold]), seen.tokens, order=ORDER)
        whose, begins = place[owners[here]], opens[here]
        for member in range(seen.widest):
            name = seen.spelled[seen.numbers[owners[here]], member]
            text = np.where(windows[here] < 0, name[:, None], windows[here])
            logs = model.log_probabilities(model.symbols[text])[:, REACH:].sum(axis=1)
            total[:, member] += np.bincount(whose, weights=logs, minlength=len(rows))
            first[whose[begins], member] = logs[begins]
    nothing, in_set = np.zeros(len(rows)), seen.in_set[rows]
    return {
        "reading": Guess(likely(total * np.log(10), in_set), nothing),
        "first_reading": Guess(likely(first * np.log(10), in_set), nothing),
    }


def likely(logs: Chances, in_set: NDArray[np.bool_]) -> Chances:
    """Log probabilities of whole texts as chances of the members, none of them quite 0."""
    held = np.where(in_set, logs, -np.inf)
    chances = np.exp(held - held.max(axis=1, keepdims=True, initial=-1e300))
    return normal(chances + 1e-6 * in_set)


def normal(weights: Chances) -> Chances:
    """Weights as chances."""
    chances: Chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), SURELY)
    return chances
