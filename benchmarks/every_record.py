"""Mark every record that can carry, parse all, take all back: `every_record.py DATASET LANGUAGE`.

    python -m benchmarks.every_record csn_php.jsonl.gz php

A row for each scheme that our programs are run with: records, marked, kept, those of the marked
dataset that no longer parse, and whether the reverted dataset has the bytes of the original.
"""

import argparse
import tempfile
from pathlib import Path

from isal import igzip

import puzzlemark as pm
from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.syntax.variables import POLICIES, Policy
from tests.programs.marking import mark_everything, schemes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("language")
    parser.add_argument("--policy", choices=POLICIES, default="paper")
    options = parser.parse_args()
    print("| scheme | records | marked | kept | do not parse | same bytes again |")
    print("|---|---|---|---|---|---|")
    for scheme in schemes(options.language):
        measure(options.dataset, options.language, scheme, options.policy)


def measure(source: Path, language: str, scheme: str, policy: Policy) -> None:
    with tempfile.TemporaryDirectory() as name:
        marked, back = (Path(name) / f"{each}.jsonl.gz" for each in ("marked", "back"))
        summary = mark_everything(source, marked, language, schemes(language)[scheme], policy)
        entries = open_corpus(marked).entries()
        unparsable = sum(not parses(entry.code or "", language) for entry in entries)
        pm.revert(marked, back, summary.manifest)
        same = unpacked(back) == unpacked(source)
    kept = sum(summary.kept.values())
    row = (scheme, summary.records, summary.marked, kept, unparsable, "yes" if same else "no")
    print("| " + " | ".join(map(str, row)) + " |", flush=True)


def parses(code: str, language: str) -> bool:
    try:
        pm.parse(pm.Snippet("record", code, language))
    except UnparsableSnippet:
        return False
    return True


def unpacked(path: Path) -> bytes:
    with igzip.open(path, "rb") as file:  # type: ignore[no-untyped-call]
        content: bytes = file.read()
    return content


if __name__ == "__main__":
    main()
