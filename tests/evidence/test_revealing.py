"""Opening a commitment: what is shown leads to the root, and nothing else can be made to."""

from pathlib import Path

import pytest

from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.secret import find_secret
from puzzlemark.errors import UsageError
from puzzlemark.evidence.archive import BundleError
from puzzlemark.evidence.commitment import commit
from puzzlemark.evidence.revealing import (
    CARRIERS,
    OPENED,
    OpenedSecret,
    asked_rows,
    choose,
    nothing_opened,
    open_commitment,
    read_opened,
)
from puzzlemark.verification.making import build_probes

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")


def test_every_opened_carrier_leads_to_the_root_at_its_own_place_only(
    marked: Path, tmp_path: Path
) -> None:
    secret_file, path = marked / "secret", marked / "marks.jsonl.gz"
    made = commit(path, marked / "marked.jsonl", tmp_path / "c", secret_file=secret_file)
    marks, secret = load_manifest(path), find_secret(secret_file)
    rows = list(marks.lines)
    files = open_commitment(marks, secret, rows[1:4], ["order"])
    opened, leaves = read_opened(files)
    size, root = made.content.marks.leaves, made.content.marks.root
    assert [leaf.index for leaf in leaves] == [1, 2, 3]
    for leaf in leaves:
        assert leaf.leads_to(size, root)
        assert not leaf.model_copy(update={"index": leaf.index ^ 1}).leads_to(size, root)
        assert not leaf.model_copy(update={"line": leaf.line + " "}).leads_to(size, root)
        assert not leaf.model_copy(update={"path": leaf.path[:-1]}).leads_to(size, root)
    assert opened.header is not None
    assert opened.header.hash == made.content.header
    assert opened.keys["order"].hash == made.content.keys["order"]
    assert set(opened.keys) == {"order"}


def test_what_was_asked_about_is_known_from_the_file_of_probes_alone(marked: Path) -> None:
    """The rows that are opened are those whose prompts were made or refused, in that order."""
    path, secret_file = marked / "marks.jsonl.gz", marked / "secret"
    marks = load_manifest(path)
    probes = build_probes(marked / "marked.jsonl", path, pairs=1, secret_file=secret_file)
    tried = asked_rows(marks, probes)
    assert len(tried) == probes.header.pairs + sum(probes.header.refused.values())
    more = build_probes(marked / "marked.jsonl", path, pairs=50, secret_file=secret_file)
    assert asked_rows(marks, more)[: len(tried)] == tried
    assert choose("all", marks, [probes]) == list(marks.lines)
    assert choose("probed", marks, [probes, more]) == asked_rows(marks, more)
    assert choose("1", marks, [more]) == tried[:1]
    with pytest.raises(UsageError, match="all, probed, or a number"):
        choose("-1", marks, [probes])


def test_one_spelling_only(marked: Path) -> None:
    marks, secret = load_manifest(marked / "marks.jsonl.gz"), find_secret(marked / "secret")
    files = open_commitment(marks, secret, list(marks.lines)[:1], [])
    for name, old, new in (
        (CARRIERS, b'"index":0', b'"index": 0'),
        (OPENED, b'"version":1', b'"version":1 '),
    ):
        with pytest.raises(BundleError, match="not spelled"):
            read_opened({**files, name: files[name].replace(old, new)})
    start = files[CARRIERS].index(b'"salt":"') + 8
    shouted = files[CARRIERS][:start] + files[CARRIERS][start : start + 64].upper()
    with pytest.raises(BundleError, match="cannot be read"):
        read_opened({**files, CARRIERS: shouted + files[CARRIERS][start + 64 :]})
    assert read_opened(nothing_opened())[1] == []


def test_an_opened_secret_knows_what_was_opened_and_no_more() -> None:
    secret = OpenedSecret({"watermark": b"k" * 32}, "0123")
    assert secret.derive("watermark:synonyms") == b"k" * 32
    assert secret.fingerprint == "0123"
    assert secret.licensed("somebody") is secret
    with pytest.raises(BundleError, match="was not opened"):
        secret.derive("order")
    assert "k" * 8 not in repr(secret)
