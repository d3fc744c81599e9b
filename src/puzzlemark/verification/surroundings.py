"""What a dataset offers to probes beside its marks: names for prompts, and ordinary requests.

Only snippets without a mark are read, so that the original and the marked dataset offer the same.
They are drawn by a key, and no more of them than a bound: a dataset may be of any size.
"""

import hashlib
import hmac
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from puzzlemark.corpora.base import open_corpus
from puzzlemark.embedding.manifest import Manifest
from puzzlemark.snippet import Snippet
from puzzlemark.watermarks._names import Pool, make_pool

READ = 20_000  # snippets whose words are known
PARSED = 2_000  # of these, snippets whose variables give the names
SHORTEST_PROMPT = 40  # characters of an ordinary request
LONGEST_PROMPT = 8_000
# where somebody may stop to ask for a completion: at the beginning of a line, or after a `=`
_STOPS = re.compile(r"\n[ \t]+(?=\S)|[^=!<>\s]\s?=\s(?!=)")


@dataclass(frozen=True)
class Surroundings:
    """The unmarked snippets of a dataset, as far as they were drawn."""

    path: Path | str
    manifest: Manifest
    key: bytes
    seed: int

    def rng(self, purpose: str) -> random.Random:
        """Random numbers for one purpose, which nobody can foretell without the key."""
        text = f"{self.seed}:{purpose}".encode()
        return random.Random(hmac.digest(self.key, text, hashlib.sha256))

    @cached_property
    def snippets(self) -> list[Snippet]:
        """Drawn snippets in random order, no text twice."""
        header = self.manifest.header
        records = header.input.records
        drawn = self.rng("snippets").sample(range(records), min(records, 2 * READ))
        rows = [row for row in drawn if row not in self.manifest.lines][:READ]
        corpus = open_corpus(
            self.path,
            code_column=header.columns["code"],
            id_column=header.columns["id"],
            language_column=header.columns["language"],
            language=header.language,
        )
        found = {
            entry.row: Snippet("", entry.code, entry.language)
            for entry in corpus.entries(np.array(sorted(rows), np.int64))
            if entry.code is not None and entry.language is not None and entry.reason is None
        }
        ordered = (found[row] for row in rows if row in found)
        return list({snippet.code: snippet for snippet in ordered}.values())

    @cached_property
    def pool(self) -> Pool:
        """The names that prompts may use."""
        return make_pool(self.snippets[:PARSED], self.snippets[PARSED:])

    def requests(self, wanted: int) -> tuple[str, ...]:
        """Ordinary requests for a completion: snippets up to some place, no two the same."""
        rng, prompts = self.rng("ordinary"), dict[str, None]()
        for snippet in rng.sample(self.snippets, len(self.snippets)):
            if len(prompts) == wanted:
                break
            stops = list(_stops(snippet.code))
            if stops:
                prompts[snippet.code[: rng.choice(stops)]] = None
        return tuple(prompts)


def _stops(code: str) -> Iterator[int]:
    for match in _STOPS.finditer(code):
        if SHORTEST_PROMPT <= match.end() <= LONGEST_PROMPT:
            yield match.end()
