"""How many marks can be asked about, and why not the others: `probes.py PYTHON JAVA`.

Both are datasets that nobody marked. Their first records are marked in the dataset's order, without
selection, and every mark is asked about. With `--copies`: how many marks are recognised again in
prompts with other drawn names, when a prompt is compared by this or that set of words.
"""

import argparse
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import puzzlemark as pm
from puzzlemark.embedding.secret import Secret
from puzzlemark.verification.checking import are_alike, distinctive_words, words_of
from puzzlemark.watermarks.base import Probe, named

MARKS = {"U1": 0.2, "U2": 0.2, "P1": 0.05, "P3": 0.05}  # and at most this share of the records
POLICIES = ("safe", "paper")
ALL = 100_000  # pairs: as many as there are


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("python", type=Path)
    parser.add_argument("java", type=Path)
    parser.add_argument("--copies", action="store_true", help="compare sets of words instead")
    options = parser.parse_args()
    if options.copies:
        heads = ("mark", "marks", *KINDS)
    else:
        heads = ("mark", "policy", "marks", "asked about", "refused")
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for mark in MARKS:
        source = options.python if named()[mark].language == "python" else options.java
        for policy in ("paper",) if options.copies else POLICIES:
            with tempfile.TemporaryDirectory() as place:
                paths = marked(source, Path(place), mark, policy)
                cells = compared(*paths) if options.copies else asked(*paths, policy)
                print("| " + " | ".join((mark, *cells)) + " |", flush=True)


def marked(source: Path, place: Path, mark: str, policy: str) -> tuple[Path, Path]:
    paths = place / "marked.jsonl.gz", place / "marks.jsonl.gz"
    pm.embed(
        source,
        *paths,
        mark=mark,
        policy="safe" if policy == "safe" else "paper",
        order="dataset",
        tau=0,
        min_rate=MARKS[mark],
        max_rate=0.2,
    )
    return paths


def asked(dataset: Path, manifest: Path, policy: str) -> tuple[str, ...]:
    header = pm.probe(dataset, manifest, pairs=ALL).header
    refused = ", ".join(f"{reason}: {count}" for reason, count in header.refused.items())
    return policy, f"{header.marks:,}", f"{header.pairs:,}", refused


def compared(dataset: Path, manifest: Path) -> tuple[str, ...]:
    one, other = (
        pm.probe(dataset, manifest, pairs=ALL, secret=Secret(bytes([n] * 32))).probes
        for n in (1, 2)
    )
    twins = list(zip(one, other, strict=True))  # the same marks: names have no say in which
    found = (
        sum(are_alike(words(left), words(right)) for left, right in twins)
        for words in KINDS.values()
    )
    return f"{len(twins):,}", *(f"{count:,}" for count in found)


def shingles(probe: Probe, pattern: str) -> frozenset[str]:
    """Three words or tokens in a row."""
    words = re.findall(pattern, probe.armed.prompt)
    return frozenset(" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2)))


KINDS: dict[str, Callable[[Probe], frozenset[str]]] = {
    "words but for drawn names": distinctive_words,
    "words": lambda probe: words_of(probe.armed.prompt),
    "three words": partial(shingles, pattern=r"\w+"),
    "three tokens": partial(shingles, pattern=r"\w+|[^\w\s]"),
}


if __name__ == "__main__":
    main()
