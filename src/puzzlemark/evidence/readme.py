"""The page that tells an expert what a bundle holds, and how to check it with his own tools."""

import json
from collections.abc import Mapping
from pathlib import Path


def readme(files: Mapping[str, bytes]) -> str:
    """README.md of a bundle, from its files."""
    about = json.loads(files["bundle.json"])
    runs = [name.split("/")[1] for name in sorted(files) if name.endswith("/verdict.json")]
    tokens = [name for name in sorted(files) if name.startswith("commitment/tokens/")]
    shown = "\n".join(f"- {each}" for each in about["disclosed"]) or "- nothing"
    stamped = "\n".join(
        f"    openssl ts -verify -data commitment/commitment.json -in {name} -CAfile ROOT.pem"
        for name in tokens
    )
    text = (Path(__file__).parent / "bundle_readme.txt").read_text(encoding="utf-8")
    return text.format(
        made_by=about["made_by"],
        hash=about["commitment"],
        runs="\n".join(f"- `runs/{number}/`: {_word(files, number)}" for number in runs),
        disclosed=shown,
        stamps=stamped or "    (there is none: nobody but the owner says when it was made)",
    )


def _word(files: Mapping[str, bytes], number: str) -> str:
    verdict = json.loads(files[f"runs/{number}/verdict.json"])["verdict"]["word"]
    standing = json.loads(files[f"runs/{number}/standing.json"])["standing"]
    return f"{verdict}, {standing}"
