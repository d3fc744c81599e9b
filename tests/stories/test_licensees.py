"""Copies for licensees differ in their names alone: one file of probes asks about all of them."""

import shutil
from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.embedding.secret import Secret, find_secret, watermark_key
from puzzlemark.errors import SecretError, UsageError
from puzzlemark.evidence.commitment import commit
from puzzlemark.evidence.opening import committed_probes
from puzzlemark.models.base import Request
from puzzlemark.models.scripted import Scripted
from puzzlemark.verification.run import key_of, query
from puzzlemark.verification.tracing import read_licensees, trace

NAMES = ("Acme", "Initech")
SYNONYMS = "synonyms:share=1,inside_line=false,entropy=0.1"


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    (folder / "in.jsonl").write_bytes(corpus_bytes)
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text("a secret for licensees, of some length")
    for name in NAMES:
        pm.embed(
            folder / "in.jsonl", folder / f"{name}.jsonl", folder / f"{name}.gz",
            watermark=SYNONYMS, policy="paper", max_rate=1, licensee=name,
            secret_file=folder / "secret",
        )  # fmt: skip
    return folder


def test_copies_carry_at_the_same_places_with_names_of_their_own(copies: Path) -> None:
    first, second = (pm.load_manifest(copies / f"{name}.gz") for name in NAMES)
    assert (first.header.licensee, second.header.licensee) == NAMES
    assert first.header.secret_fingerprint == second.header.secret_fingerprint
    assert first.header.key_fingerprint != second.header.key_fingerprint
    assert list(first.lines) == list(second.lines)
    both = list(zip(first, second, strict=True))
    assert all(a.marks[0].draw == b.marks[0].draw for a, b in both)
    targets = [(a.marks[0].of("target").text, b.marks[0].of("target").text) for a, b in both]
    assert 0 < sum(a != b for a, b in targets) < len(targets)
    secret = find_secret(copies / "secret")
    for name, manifest in zip(NAMES, (first, second), strict=True):
        key, fingerprint = watermark_key(secret.licensed(name), "synonyms")
        assert fingerprint == manifest.header.key_fingerprint
        for carrier in manifest:
            draw = carrier.marks[0].draw
            assert draw is not None
            assert draw.symbol(key) == carrier.marks[0].of("target").text


def test_one_file_of_probes_serves_all_and_tells_no_name(copies: Path) -> None:
    first, second = (pm.probe(copies / f"{n}.jsonl", copies / f"{n}.gz") for n in NAMES)
    assert first.questions == second.questions
    assert all(name.encode() not in first.to_bytes() for name in NAMES)
    secret = find_secret(copies / "secret")
    assert key_of(first, secret.licensed("Acme")) != key_of(second, secret.licensed("Initech"))
    with pytest.raises(SecretError, match="--licensee"):
        key_of(first, secret)


def test_a_model_that_learnt_one_copy_is_traced_to_it(copies: Path, tmp_path: Path) -> None:
    probes = pm.probe(copies / "Acme.jsonl", copies / "Acme.gz")
    secret = find_secret(copies / "secret")
    key = watermark_key(secret.licensed("Initech"), "synonyms")[0]
    known = {
        each.armed.prompt: each.draw.symbol(key) for each in probes.probes if each.draw is not None
    }

    def remember(request: Request) -> str:
        return f"{known[request.prompt]} = 1"

    terms = pm.Terms(alpha=0.01, temperature=0.7, samples=3, min_pairs=1)
    query(probes, Scripted("learnt", remember), tmp_path / "run", terms)
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    for name in NAMES:
        shutil.copy(copies / f"{name}.gz", manifests)
    listed = read_licensees(manifests, secret)
    assert sorted(listed) == sorted(NAMES)
    assert trace(tmp_path / "run", listed, secret).shown == ("Initech",)
    with pytest.raises(SecretError, match="made with another secret"):
        read_licensees(manifests, Secret(b"x" * 32))


def test_a_copy_can_be_committed_to_and_probed_under_its_plan(copies: Path, tmp_path: Path) -> None:
    pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")
    pairs = (copies / "Acme.gz", copies / "Acme.jsonl")
    made = commit(*pairs, tmp_path / "c", secret_file=copies / "secret")
    probes = committed_probes(pairs[1], pairs[0], made, secret_file=copies / "secret")
    assert probes.questions == made.content.questions
    secret = find_secret(copies / "secret")
    assert key_of(probes, secret.licensed("Acme")) is not None


@pytest.mark.parametrize("mark", ["P1", "U1", "W1"])
def test_marks_whose_pattern_is_public_are_refused_with_the_reason(
    copies: Path, tmp_path: Path, mark: str
) -> None:
    with pytest.raises(UsageError, match="public and the same in every copy"):
        pm.embed(copies / "in.jsonl", tmp_path / "out.jsonl", mark=mark, licensee="Acme")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_a_name_that_is_none_is_refused(copies: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="licensee's name"):
        pm.embed(copies / "in.jsonl", tmp_path / "o.jsonl", watermark=SYNONYMS, licensee=name)


def test_one_name_spelled_in_two_ways_is_one_licensee() -> None:
    secret = Secret(b"s" * 32)
    composed, apart = "Caf\u00e9", " Cafe\u0301"
    purposes = ("watermark:synonyms", "order")
    for purpose in purposes:
        derived = {secret.licensed(name).derive(purpose) for name in (composed, apart)}
        assert len(derived) == 1
    assert secret.licensed("Acme").derive("order") == secret.derive("order")
    assert secret.licensed("Acme").fingerprint == secret.fingerprint
