"""Small datasets to be attacked, and what came out of it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

import puzzlemark as pm
from puzzlemark.attacks._run import Attacked


def store(path: Path, codes: Iterable[str | None], language: str = "python") -> Path:
    """A dataset with these codes, whose ids are `r0`, `r1`, ...; a copy of the code beside it."""
    records = (
        {"id": f"r{n}", "language": language, "code": code, "copy": code, "size": len(code or "")}
        for n, code in enumerate(codes)
    )
    return store_records(path, records)


def store_records(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def load(path: Path | str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in Path(path).read_bytes().splitlines()]


def codes(path: Path | str) -> list[str]:
    return [record["code"] for record in load(path)]


def attack_codes(
    folder: Path, spec: str, before: Sequence[str | None], language: str = "python"
) -> tuple[list[str], Attacked]:
    """What an attack makes of some codes."""
    source, output = store(folder / "before.jsonl", before, language), folder / "after.jsonl"
    attacked = pm.attack(source, output, attack=spec, overwrite=True)
    return codes(output), attacked


def mark(source: Path, folder: Path, **settings: Any) -> tuple[Path, Path]:
    """The dataset with marks, and their manifest."""
    marked, manifest = folder / f"marked-{source.name}", folder / "manifest.jsonl.gz"
    secret = folder / "secret"
    secret.touch(mode=0o600)
    secret.write_text("a secret for the attacks")
    pm.embed(source, marked, manifest, secret_file=secret, overwrite=True, **settings)
    return marked, manifest
