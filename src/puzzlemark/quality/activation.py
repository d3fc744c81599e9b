"""Unintended activation (paper, section 6): joined names that nobody asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from puzzlemark.quality.samples import Sample
from puzzlemark.quality.tokens import names_in
from puzzlemark.syntax.naming import concatenate, is_plain_identifier


@dataclass(frozen=True, slots=True)
class Activation:
    """The new names of one completion that join two variables of the function."""

    names: tuple[str, ...] = ()  # of any two, in the order in which they first occur
    universal: bool = False  # one of them joins the first two variables
    fixed: bool = False  # one of them begins with the given prefix, which is a variable
    natural: bool = False  # all of them are in the function's own continuation, too


def find_activation(sample: Sample, completion: str, prefix: str | None = None) -> Activation:
    """`f(name, path)`, completed by `name_path = 1`: joined, and by the first two variables.

    A name that stands in the prompt already is not new. Only variables of the prompt count: the
    model has not seen the others.
    """
    new = names_in(completion) - names_in(sample.prompt)
    joined = [(target, pair) for target, pair in _targets(sample) if target in new]
    names = dict.fromkeys(target for target, _ in joined)
    return Activation(
        names=tuple(names),
        universal=any(pair == sample.names[:2] for _, pair in joined),
        fixed=any(head == prefix for _, (head, _) in joined),
        natural=bool(joined) and names.keys() <= names_in(sample.continuation),
    )


def _targets(sample: Sample) -> Iterator[tuple[str, tuple[str, str]]]:
    """Every concatenation of two variables, with the two; some can be made in more than one way."""
    for head, tail in combinations(filter(is_plain_identifier, sample.names), 2):
        yield concatenate(head, tail, sample.language.convention), (head, tail)
