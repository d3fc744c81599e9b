"""Names for prompts: the placeholder of the suffix, and ordinary names that stand for a trigger.

They are drawn for each probe from the dataset's own names, so that no word gives a prompt away.
The paper's constants are here, too: a suspect who knows them can filter them.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import Convention, find
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.naming import concatenate, is_compound
from puzzlemark.syntax.rename import why_not_fresh
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import functions

PAPER_PLACEHOLDERS = {"snake": "unknown_token", "camel": "unknownToken"}
PAPER_ORDINARY = (
    "item name node path line text user field label index count token entry record source "
    "buffer result total offset number".split()
)
FEWEST_FUNCTIONS = 2  # that declare a name: one alone may be somebody's fancy
LENGTHS = range(3, 21)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONVENTIONAL: dict[Convention, re.Pattern[str]] = {
    "snake": re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"),
    "camel": re.compile(r"[a-z][A-Za-z0-9]*"),
}


@dataclass(frozen=True, slots=True)
class Pool:
    """Names of a dataset that nobody would wonder about, and all words that were seen in it."""

    names: Mapping[str, tuple[str, ...]]  # by language, sorted
    words: frozenset[str]  # in lower case

    def knows(self, name: str) -> bool:
        """Whether the name stands in the sample, in any case: `KeyList` teaches `keyList`."""
        return name.lower() in self.words


@dataclass(frozen=True, slots=True)
class ProbeNames:
    """Draws the names of one probe: `ProbeNames(random.Random(0))` draws the paper's."""

    rng: random.Random
    pool: Callable[[], Pool] | None = None  # made when it is asked for; None: the paper's names

    def placeholder(self, tree: Tree, prefix: str) -> str | None:
        """A name for the suffix; None when none is left.

        Nothing joins it with the prefix: neither the snippet, nor any code of the sample.
        """
        if self.pool is None:
            return PAPER_PLACEHOLDERS[tree.language.convention]
        pool = self.pool()
        for name in self._fresh(tree, pool, {prefix}):
            if _is_new(tree, pool, prefix, name):
                return name
        return None

    def ordinary(self, tree: Tree, trigger: str, placeholder: str | None = None) -> str | None:
        """A name to stand for the trigger, or beside it; None when none is left.

        It is of one word if the trigger is, so that both are as easily joined, and nothing joins it
        with the placeholder.
        """
        if self.pool is None:
            names = self.rng.sample(PAPER_ORDINARY, len(PAPER_ORDINARY))
            return next((name for name in names if why_not_fresh(tree, name) is None), None)
        pool = self.pool()
        for name in self._fresh(tree, pool, {trigger, placeholder or trigger}):
            joins = placeholder is not None and not _is_new(tree, pool, name, placeholder)
            if is_compound(name) == is_compound(trigger) and not joins:
                return name
        return None

    def _fresh(self, tree: Tree, pool: Pool, others: set[str]) -> Iterator[str]:
        """The pool's names in random order that are not in the snippet, nor like the others."""
        names = pool.names.get(tree.language.name, ())
        for name in self.rng.sample(names, len(names)):
            if not any(_are_alike(name, other) for other in others) and not why_not_fresh(
                tree, name
            ):
                yield name


def _is_new(tree: Tree, pool: Pool, first: str, second: str) -> bool:
    joined = concatenate(first, second, tree.language.convention)
    return not pool.knows(joined) and why_not_fresh(tree, joined) is None


def _are_alike(one: str, other: str) -> bool:
    """Whether a name begins or ends with the other: `key` and `key_list`, `monkey`."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return long.startswith(short) or long.endswith(short)


def make_pool(parsed: Iterable[Snippet], others: Iterable[Snippet] = ()) -> Pool:
    """Names from the local variables of some snippets, words from these and others."""
    declared: dict[str, Counter[str]] = {}
    words: set[str] = set()
    for snippet in parsed:
        words |= _words_of(snippet)
        language = find(snippet.language)
        if language is not None:
            counter = declared.setdefault(language.name, Counter())
            counter.update(_declared_in(snippet, language.convention, language.reserved))
    for snippet in others:
        words |= _words_of(snippet)
    names = {
        language: tuple(sorted(name for name, n in counter.items() if n >= FEWEST_FUNCTIONS))
        for language, counter in declared.items()
    }
    return Pool(names, frozenset(words))


def _words_of(snippet: Snippet) -> set[str]:
    return {word.lower() for word in _WORD.findall(snippet.code)}


def _declared_in(
    snippet: Snippet, convention: Convention, reserved: frozenset[str]
) -> Iterator[str]:
    try:
        tree = parse(snippet)
    except UnparsableSnippet:
        return
    for function in functions(tree):
        for name in {variable.name for variable in function.variables}:
            if _is_plausible(name, convention) and name not in reserved:
                yield name


def _is_plausible(name: str, convention: Convention) -> bool:
    return len(name) in LENGTHS and _CONVENTIONAL[convention].fullmatch(name) is not None
