"""A watermark with a key: it reaches planning, and is written nowhere."""

import logging
import random
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pytest

import puzzlemark as pm
from puzzlemark.embedding.secret import Secret, bind_key, find_secret
from puzzlemark.errors import UsageError
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks.base import Keyed, Mark, Refusal, to_settings
from puzzlemark.watermarks.universal import Universal

NO = Refusal("the key says no")
FREE = "0123456789abcdef"  # what a hexadecimal key is made of


@dataclass(frozen=True, slots=True)
class Secretive(Universal):
    """Marks the functions whose names a key chooses, about half of them."""

    share: int = 2
    key: bytes | None = field(default=None, repr=False)
    name: ClassVar[str] = "secretive"

    def with_key(self, key: bytes) -> "Secretive":
        return replace(self, key=key)

    def plan(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        assert self.key is not None, "planned without its key"
        chosen = random.Random(self.key + function.name.encode()).randrange(self.share) == 0
        return super(Secretive, self).plan(tree, function, policy, rng) if chosen else NO


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.touch(mode=0o600)
    path.write_bytes(FREE.encode() * 4)
    return path


def test_only_a_watermark_that_takes_a_key_gets_one(secret_file: Path) -> None:
    secret = find_secret(secret_file)
    assert isinstance(Secretive(), Keyed)
    assert not isinstance(Universal(), Keyed)
    assert bind_key(Universal(), secret) == (Universal(), None)
    bound, fingerprint = bind_key(Secretive(), secret)
    key = secret.derive("watermark:secretive")
    assert bound == Secretive(key=key)
    assert fingerprint == Secret(key).fingerprint != secret.fingerprint


def test_a_key_is_no_setting_and_is_not_printed() -> None:
    keyed = Secretive().with_key(b"k" * 32)
    assert to_settings(keyed) == {"share": 2}
    assert "k" * 8 not in repr(keyed)


@pytest.mark.parametrize("order", ["keyed", "dataset"])
def test_the_key_is_in_no_file_summary_or_log(
    corpus_path: Path,
    tmp_path: Path,
    secret_file: Path,
    order: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    data, manifest = tmp_path / "out.jsonl", tmp_path / "m.jsonl"
    summary = pm.embed(
        corpus_path,
        data,
        manifest,
        watermark=Secretive(),
        order=order,
        secret_file=secret_file,
        tau=0,
        max_rate=1,
    )
    header = pm.load_manifest(manifest).header
    key = find_secret(secret_file).derive("watermark:secretive")
    assert header.key_fingerprint == Secret(key).fingerprint
    assert header.watermark.settings == {"share": 2}
    assert summary.kept["the key says no"] > 0
    assert summary.marked > 0
    told = "\n".join((repr(summary), str(summary.to_json()), caplog.text))
    for spelled in (key.hex(), repr(key)[2:-1], secret_file.read_text()):
        assert spelled not in told
        assert spelled.encode() not in manifest.read_bytes()
        assert spelled.encode() not in data.read_bytes()


def test_another_secret_chooses_other_carriers(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    rows = []
    for content in (FREE * 4, FREE[::-1] * 4):
        secret_file.write_text(content)
        summary = pm.embed(
            corpus_path,
            tmp_path / "out.jsonl",
            watermark=Secretive(),
            order="dataset",
            secret_file=secret_file,
            tau=0,
            max_rate=1,
            overwrite=True,
        )
        rows.append(list(pm.load_manifest(summary.manifest).lines))
    assert rows[0] != rows[1]


def test_a_manifest_of_a_watermark_without_a_key_does_not_speak_of_one(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    pm.embed(corpus_path, tmp_path / "out.jsonl", tmp_path / "m.jsonl", secret_file=secret_file)
    assert b"key_fingerprint" not in (tmp_path / "m.jsonl").read_bytes()


def test_a_secret_that_nobody_uses_is_refused(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    with pytest.raises(UsageError, match="uses no secret"):
        pm.embed(corpus_path, tmp_path / "o.jsonl", order="dataset", secret_file=secret_file)
