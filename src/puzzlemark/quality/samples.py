"""Held-out functions, cut at a line: what a model is asked, and what really followed."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from puzzlemark.corpora.base import Corpus, Entry
from puzzlemark.corpora.records import Rows, corpus_digest, record_digest
from puzzlemark.errors import CorpusError, UnparsableSnippet
from puzzlemark.languages.base import Language
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, is_docstring, parse
from puzzlemark.syntax.variables import functions

FEWEST_LINES = 4  # of code: with fewer there is nothing to choose between 30 % and 90 %
SHARES = (0.3, 0.9)
LONGEST = 6000  # characters: some 2,000 model tokens
CHUNK = 64
WORD = re.compile(rb"\w|[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Sample:
    """One function. The prompt ends with a line, before its line end.

    So most tokenizers meet what they met in training: a line end and the indentation after it are
    often one token, which a prompt that ends in a line end would have torn.
    """

    row: int
    id: str
    language: Language
    prompt: str
    continuation: str
    names: tuple[str, ...]  # the function's variables that stand in the prompt, by first occurrence

    @property
    def code(self) -> str:
        """The whole function."""
        return self.prompt + self.continuation


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a corpus gives: samples by row, and why other records gave none."""

    digest: str  # of the whole corpus
    records: int
    samples: list[Sample]
    skipped: Counter[str]  # reason -> how many of the records that were looked at


def draw_samples(
    corpus: Corpus, count: int | None, *, seed: int, longest: int = LONGEST
) -> HeldOut:
    """Draw functions in a seeded order until so many can be cut; None takes all of them.

    Where a function is cut depends on the seed and its row only, not on how many are drawn.
    """
    digests: list[bytes] = []
    usable: list[int] = []
    skipped: Counter[str] = Counter()
    for entry in corpus.entries():
        digests.append(record_digest(entry.id, entry.code))
        if entry.reason is None:
            usable.append(entry.row)
        else:
            skipped[entry.reason] += 1
    order = np.random.default_rng(seed).permutation(np.asarray(usable, dtype=np.int64))
    samples: list[Sample] = []
    for entry in _in_order(corpus, order, count):
        if len(samples) == count:
            break
        sample = cut(entry, seed, longest)
        if isinstance(sample, str):
            skipped[sample] += 1
        else:
            samples.append(sample)
    if not samples:
        reasons = "; ".join(f"{n:,} {reason}" for reason, n in skipped.most_common())
        raise CorpusError(f"{corpus.path}: no function in it that can be cut in two: {reasons}")
    samples.sort(key=lambda sample: sample.row)
    return HeldOut(corpus_digest(digests), len(digests), samples, skipped)


def cut(entry: Entry, seed: int, longest: int = LONGEST) -> Sample | str:
    """The function cut at a drawn line of code, or why it is not asked about."""
    assert entry.code is not None
    assert entry.language is not None
    if len(entry.code) > longest:
        return f"longer than {longest:,} characters"
    try:
        tree = parse(Snippet(entry.id, entry.code, entry.language))
    except UnparsableSnippet as exc:
        return str(exc)
    function = next(functions(tree), None)
    if function is None:
        return "no function"
    lines = code_lines(tree)
    if len(lines) < FEWEST_LINES:
        return f"fewer than {FEWEST_LINES} lines of code"
    kept = _draw_line(len(lines), np.random.default_rng([seed, entry.row]))
    prompt = tree.code[: lines[kept]].rstrip()
    names = (v.name for v in function.variables if v.starts[0] < len(prompt))
    return Sample(
        row=entry.row,
        id=entry.id,
        language=tree.language,
        prompt=prompt.decode(),
        continuation=tree.code[len(prompt) :].decode(),
        names=tuple(dict.fromkeys(names)),
    )


def code_lines(tree: Tree) -> list[int]:
    """Where each line that begins with code starts, in bytes of the snippet.

    Comments, docstrings, brackets alone and the later lines of a long text are none.
    """
    starts: set[int] = set()
    stack = [tree.root]
    tokens, source = tree.language.tokens, tree.source
    end = tree.offset + len(tree.code)  # what follows is the language's wrapper
    while stack:
        node = stack.pop()
        if node.type in tokens.comments or is_docstring(tree.language, node):
            continue
        if node.child_count and node.type not in tokens.opaque:
            stack.extend(node.children)
            continue
        line = max(source.rfind(b"\n", 0, node.start_byte) + 1, tree.offset)
        is_first = line <= node.start_byte < end and not source[line : node.start_byte].strip()
        if is_first and WORD.search(source[node.start_byte : end].split(b"\n", 1)[0]):
            starts.add(line - tree.offset)
    return sorted(starts)


def _in_order(corpus: Corpus, order: Rows, count: int | None) -> Iterator[Entry]:
    """The entries in the drawn order, some rows at a time."""
    step = len(order) if count is None else max(CHUNK, 2 * count)
    for at in range(0, len(order), max(1, step)):
        chosen = order[at : at + step]
        found = {entry.row: entry for entry in corpus.entries(np.sort(chosen))}
        yield from (found[row] for row in chosen.tolist())


def _draw_line(lines: int, rng: np.random.Generator) -> int:
    """How many lines of code stay: between 30 % and 90 % of them, at least one on either side."""
    low, high = (round(share * lines) for share in SHARES)
    return int(rng.integers(max(1, low), min(lines - 1, high) + 1))
