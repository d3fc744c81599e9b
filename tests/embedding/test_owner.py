"""Both channels in one run: no record carries both, and two reverts give every byte back."""

from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.embedding.owner import OwnerSummary
from puzzlemark.errors import NothingMarked, UsageError
from puzzlemark.watermarks.synonyms import Synonyms

QUIET = Synonyms(inside_line=False, entropy=0.3, share=1.0)


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_text("a secret for the tests only")
    return path


@pytest.fixture
def source(tmp_path: Path, corpus_bytes: bytes) -> Path:
    path = tmp_path / "functions.jsonl"
    path.write_bytes(b"".join(corpus_bytes.splitlines(keepends=True)[::2]))
    return path


def protect(source: Path, output: Path, secret_file: Path, **options: object) -> OwnerSummary:
    chosen = {"quiet": QUIET, "loud": "fixed_prefix:prefix=name", "loud_rate": 0.03, **options}
    return pm.embed_owner(source, output, secret_file=secret_file, **chosen)  # type: ignore[arg-type]


def test_two_reverts_give_every_byte_back_and_either_manifest_serves_the_output(
    source: Path, tmp_path: Path, secret_file: Path
) -> None:
    marked, between, back = (tmp_path / f"{name}.jsonl" for name in ("m", "between", "back"))
    both = protect(source, marked, secret_file)
    assert both.quiet.manifest == f"{marked}.synonyms.manifest.jsonl.gz"
    pm.revert(marked, between, both.loud.manifest)
    pm.revert(between, back, both.quiet.manifest)
    assert back.read_bytes() == source.read_bytes() != marked.read_bytes()
    quiet, loud = (pm.load_manifest(each.manifest) for each in (both.quiet, both.loud))
    assert quiet.lines
    assert loud.lines
    assert not quiet.lines.keys() & loud.lines.keys()
    assert both.loud.kept["carries another watermark already"] > 0
    assert both.loud.records == both.loud.marked + sum(both.loud.kept.values())
    # the dataset that is published is enough to ask about either
    for manifest in (both.quiet.manifest, both.loud.manifest):
        assert pm.show(marked, manifest, limit=3).side == "marked"
    probes = pm.probe(marked, both.quiet.manifest, pairs=30)
    assert probes == pm.probe(source, both.quiet.manifest, pairs=30)
    assert not list(tmp_path.glob(".*"))  # nothing of the way is left


def test_the_quiet_marks_are_those_of_a_run_by_itself(
    source: Path, tmp_path: Path, secret_file: Path
) -> None:
    both = protect(source, tmp_path / "m.jsonl", secret_file)
    alone = pm.embed(source, tmp_path / "a.jsonl", watermark=QUIET, secret_file=secret_file)
    one, other = (pm.load_manifest(path) for path in (both.quiet.manifest, alone.manifest))
    assert one.lines == other.lines
    loud = pm.load_manifest(both.loud.manifest)
    assert one.header.published == loud.header.output  # what others get
    assert one.header.model_copy(update={"published": None}) == other.header


def test_nothing_is_left_behind_when_the_second_channel_fails(
    source: Path, tmp_path: Path, secret_file: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(NothingMarked):
        protect(
            source, tmp_path / "m.jsonl", secret_file, loud="coprotector_sentence"
        )  # policy safe refuses it
    assert sorted(tmp_path.iterdir()) == before


def test_what_stands_there_is_not_replaced_unasked(
    source: Path, tmp_path: Path, secret_file: Path
) -> None:
    marked = tmp_path / "m.jsonl"
    protect(source, marked, secret_file)
    content = marked.read_bytes()
    with pytest.raises(UsageError, match="already there"):
        protect(source, marked, secret_file)
    protect(source, marked, secret_file, overwrite=True)
    assert marked.read_bytes() == content


def test_a_beacon_is_for_what_a_key_draws(source: Path, tmp_path: Path, secret_file: Path) -> None:
    beacon = tmp_path / "beacon"
    beacon.write_text("headlines of a later day")
    with pytest.raises(UsageError, match="fixed_prefix draws nothing by a key"):
        protect(source, tmp_path / "m.jsonl", secret_file, beacon=beacon)
    with pytest.raises(UsageError, match="cannot read the beacon"):
        pm.embed(source, tmp_path / "m.jsonl", watermark=QUIET, beacon=tmp_path / "none")
    one = pm.embed(
        source, tmp_path / "1.jsonl", watermark=QUIET, secret_file=secret_file, beacon=beacon
    )
    manifest = pm.load_manifest(one.manifest)
    assert len(manifest.header.watermark.settings["beacon"]) == 64
    assert {m.draw.beacon for c in manifest for m in c.marks if m.draw} == {
        manifest.header.watermark.settings["beacon"]
    }
