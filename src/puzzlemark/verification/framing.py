"""Frames: original snippets in which every name of a public pool is asked about in turn.

Which records carry depends on the key. So frames are drawn by a public seed from all records, the
marked ones with their marks undone: the original dataset and the marked one give the same frames,
and whoever has the originals can draw them again. The names in them are drawn alike.
"""

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np

from puzzlemark.corpora.base import Corpus
from puzzlemark.embedding.manifest import Carrier, Manifest
from puzzlemark.embedding.showing import which_side
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import find
from puzzlemark.snippet import Snippet, apply_edits, invert_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.verification.checking import Copies, why_unfair, why_unlike, words_of
from puzzlemark.watermarks._design import Probe
from puzzlemark.watermarks._names import ProbeNames, make_pool
from puzzlemark.watermarks.base import Framing, Refusal, Watermark

READ = 4_000  # records that are drawn: enough names, and for each frame a hundred functions to try
LONGEST = 2_000  # characters of a prompt: every one of a frame is asked some hundred times
NO_ROOM = "no frame fits into so few probes"
TOO_LONG = Refusal("a frame of more than 2,000 characters")
COPY = Refusal("nearly the same frame as another one")
UNPARSABLE = Refusal("the snippet does not parse")


def build_frames(
    corpus: Corpus, manifest: Manifest, watermark: Watermark, pairs: int, seed: int
) -> tuple[list[Probe], Counter[str]]:
    """As many whole frames as fit into so many probes, and why others could not be used."""
    assert isinstance(watermark, Framing)
    snippets = list(originals(corpus, manifest, seed))
    pool = make_pool(snippets)
    probes: list[Probe] = []
    refused: Counter[str] = Counter()
    copies = Copies()
    for number, snippet in enumerate(snippets):
        names = ProbeNames(random.Random(f"{seed}:frame {number}"), lambda: pool)
        made = _frame(watermark, snippet, names)
        if not isinstance(made, Refusal) and not copies.keep(words_of(made[0].armed.prompt)):
            made = COPY
        if isinstance(made, Refusal):
            refused[made.reason] += 1
        elif len(probes) + len(made) <= max(pairs, len(made)):
            probes += made
        else:
            break
    return probes, refused


def _frame(watermark: Watermark, snippet: Snippet, names: ProbeNames) -> list[Probe] | Refusal:
    assert isinstance(watermark, Framing)
    try:
        tree: Tree = parse(snippet)
    except UnparsableSnippet:
        return UNPARSABLE
    made = watermark.frame(tree, names)
    if isinstance(made, Refusal):
        return made
    for probe in made:
        if len(probe.armed.prompt) > LONGEST:
            return TOO_LONG
        if reason := why_unfair(watermark.design, probe) or why_unlike(watermark.design, probe):
            return Refusal(reason)
    return list(made)


def drawn_rows(records: int, seed: int) -> list[int]:
    """The rows of a dataset that frames are made of, in the order in which they are drawn."""
    return random.Random(f"{seed}:frames").sample(range(records), min(records, READ))


def originals(corpus: Corpus, manifest: Manifest, seed: int) -> Iterator[Snippet]:
    """Drawn records as they were before they were marked, in the order in which they are drawn."""
    rows = drawn_rows(manifest.header.input.records, seed)
    carriers = {
        row: Carrier.from_line(manifest.lines[row]) for row in rows if row in manifest.lines
    }
    entries = {entry.row: entry for entry in corpus.entries(np.array(sorted(rows), np.int64))}
    marked = sorted(carriers)
    side = which_side(
        corpus.path, "the manifest", [carriers[r] for r in marked], [entries[r] for r in marked]
    )
    for row in rows:
        entry = entries.get(row)
        language = None if entry is None or entry.reason else find(entry.language or "")
        if entry is None or entry.code is None or language is None:
            continue
        code = entry.code
        if row in carriers and side == "marked":
            code = apply_edits(code.encode(), invert_edits(carriers[row].edits)).decode()
        yield Snippet("", code, language.name)
