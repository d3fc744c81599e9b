"""Give every variable of a public set of synonyms one and the same name of it.

Whoever knows the tables of `synonyms` need not find the carriers: he maps each set to one member,
wherever that is safe. It wipes the drawn names out, and touches everybody else's, too.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, TypeAlias

import orjson

from puzzlemark.attacks._editing import Edited, edit_records
from puzzlemark.attacks._renaming import rename_variables
from puzzlemark.attacks.base import NOTHING, Given, Input, Plan
from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.detectors.base import snippet_of
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import every_language
from puzzlemark.resuming import Kept, Work
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions

Member = Literal["frequent", "first"]
Counted: TypeAlias = tuple[Counter[tuple[str, str]], int]  # names by language, records
Targets: TypeAlias = Mapping[str, Mapping[str, str]]  # language -> name -> the one to take


@dataclass(frozen=True, slots=True)
class Canonicalise:
    """`Canonicalise()`: `res`, `ret` and `out` become `result`, if that is what most are called."""

    to: Member = "frequent"  # in this dataset; first: the first of the public table
    name: ClassVar[str] = "canonicalise"
    needs: ClassVar[frozenset[Input]] = NOTHING
    takes: ClassVar[frozenset[Input]] = NOTHING

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Rename where behaviour stays the same; who must keep its name is counted."""
        counts: Counter[tuple[str, str]] = Counter()
        if self.to == "frequent":
            done = 0
            kept = Kept(Work(given.cache), "parts/names", _pack, _unpack)
            for some, records in corpus.map(_count_batch, given.engine, kept=kept):
                counts += some
                done += records
                given.progress("counting", done, None)
        editor = partial(_canonicalise, _targets(counts))
        return edit_records(editor, corpus, given, stage="canonicalising")


def _targets(counts: Counter[tuple[str, str]]) -> Targets:
    """For each name of a set its most frequent member; of equals, the first in the table."""
    return {
        language.name: {
            name: max(names, key=lambda each: counts[language.name, each])
            for names in language.synonyms
            for name in names
        }
        for language in every_language()
    }


def _pack(parts: list[Counted]) -> bytes:
    return orjson.dumps([[[*each.items()], records] for each, records in parts])


def _unpack(content: bytes) -> list[Counted]:
    return [
        (Counter({(language, name): n for (language, name), n in each}), records)
        for each, records in orjson.loads(content)
    ]


def _count_batch(batch: Batch) -> Counted:
    """The worker's share: how often each name of a set names a local variable."""
    counts: Counter[tuple[str, str]] = Counter()
    for entry in batch.entries():
        try:
            tree = parse(snippet_of(entry))
        except UnparsableSnippet:
            continue  # it cannot be changed either, and is counted when that is tried
        known = {name for names in tree.language.synonyms for name in names}
        counts.update(
            (tree.language.name, variable.name)
            for function in functions(tree)
            for variable in function.variables
            if variable.name in known and not variable.is_parameter
        )
    return counts, len(batch.rows)


def _canonicalise(targets: Targets, snippet: Snippet, _notes: tuple[str, ...]) -> Edited:
    to = targets.get(snippet.language, {})
    return rename_variables(
        snippet,
        lambda each: not each.is_parameter and to.get(each.name, each.name) != each.name,
        lambda _function, each, is_free: to[each.name] if is_free(to[each.name]) else None,
        "safe",
    )


PLUGIN = Canonicalise
