"""A model is traced to the copies that it learnt from, and to no other."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.embedding.secret import watermark_key
from puzzlemark.errors import SecretError, UsageError
from puzzlemark.models.base import Request
from puzzlemark.models.scripted import Scripted
from puzzlemark.verification.probes import KeyOf, ProbeSet
from puzzlemark.verification.run import query
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tracing import Trace, read_licensees, trace
from tests.verification.drawn_names import OTHER, SECRET, drawn, probe_set

NAMES = ("Acme", "Initech", "Hooli", "Umbrella", "Stark")
TERMS = Terms(alpha=1e-4, temperature=0.7, samples=2)


def key_of(name: str) -> bytes:
    return watermark_key(SECRET.licensed(name), "synonyms")[0]


def asked(folder: Path, learnt: list[str], carriers: int = 60) -> ProbeSet:
    """A run against a model that remembers these copies, carrier by carrier in turn."""
    plain = probe_set(carriers)
    fingerprint = watermark_key(SECRET.licensed(NAMES[0]), "synonyms")[1]
    of_first = KeyOf(watermark="synonyms", fingerprint=fingerprint)
    probes = replace(plain, header=plain.header.model_copy(update={"key": of_first}))
    memory = {
        each.armed.prompt: drawn(each, key_of(learnt[number % len(learnt)])) if learnt else "v"
        for number, each in enumerate(probes.probes)
    }

    def remember(request: Request) -> str:
        return f"{memory[request.prompt]} in rows:"

    query(probes, Scripted("rememberer", remember), folder, TERMS)
    return probes


def traced(folder: Path, learnt: list[str], carriers: int = 60) -> Trace:
    asked(folder, learnt, carriers)
    return trace(folder, NAMES, SECRET)


def test_the_copy_that_was_learnt_from_is_named_and_no_other(tmp_path: Path) -> None:
    found = traced(tmp_path / "run", ["Hooli"])
    assert found.shown == ("Hooli",)
    assert found.asked_of == "Acme"  # whose manifest the probes are of does not matter
    assert found.suspects[0].licensee == "Hooli"
    assert found.limit == pytest.approx(4 + 0.69897, abs=1e-5)  # 5 licensees, alpha 1e-4
    assert "depends on the copy of Hooli" in found.sentence
    assert "No second copy is shown" in found.sentence
    assert not found.differences


def test_two_copies_that_were_joined_are_both_named(tmp_path: Path) -> None:
    found = traced(tmp_path / "run", ["Hooli", "Stark"], carriers=150)
    assert set(found.shown) == {"Hooli", "Stark"}
    assert "may have colluded" in found.sentence
    (pair,) = found.differences
    # by hand: where the draws differ, half of the answers are of each, and none of neither
    probes = probe_set(150).probes
    differing = [
        n for n, each in enumerate(probes)
        if drawn(each, key_of("Hooli")) != drawn(each, key_of("Stark"))
    ]  # fmt: skip
    of_hooli = 2 * sum(n % 2 == 0 for n in differing)  # two samples of each
    counts = {"Hooli": of_hooli, "Stark": 2 * len(differing) - of_hooli}
    assert (pair.carriers, pair.differing) == (150, len(differing))
    assert {pair.first: pair.as_first, pair.second: pair.as_second} == counts
    assert pair.as_neither == 0


def test_a_model_that_learnt_no_copy_is_traced_to_nobody(tmp_path: Path) -> None:
    found = traced(tmp_path / "run", [])
    assert found.shown == ()
    assert "not evidence that none was used" in found.sentence


def test_more_licensees_need_more_evidence(tmp_path: Path) -> None:
    asked(tmp_path / "run", ["Hooli"], carriers=20)
    few = trace(tmp_path / "run", NAMES[:3], SECRET)
    best = few.suspects[0]
    assert best.log10_e is not None
    assert few.limit is not None
    assert best.is_shown == (best.log10_e >= few.limit)
    # so many that the same evidence is too little: only the best one's place stays
    spare = int(10 ** (best.log10_e - 4)) + 1
    crowd = [*NAMES, *(f"licensee {n}" for n in range(min(spare, 2_000)))]
    many = trace(tmp_path / "run", crowd, SECRET)
    assert many.suspects[0].licensee == "Hooli"
    assert many.limit is not None
    assert many.limit > few.limit
    assert many.suspects[0].is_shown == (best.log10_e >= many.limit)


def test_who_cannot_be_traced_is_told_why(tmp_path: Path, probe_sets: dict[str, ProbeSet]) -> None:
    asked(tmp_path / "run", ["Hooli"])
    with pytest.raises(SecretError, match="key of none of these licensees"):
        trace(tmp_path / "run", NAMES, OTHER)
    with pytest.raises(SecretError, match="all licensees"):
        trace(tmp_path / "run", ["Nobody"], SECRET)
    with pytest.raises(UsageError, match="no licensee is listed"):
        trace(tmp_path / "run", [], SECRET)
    boring = Scripted("boring", lambda _: "pass")
    query(probe_sets["fixed"], boring, tmp_path / "public")
    with pytest.raises(UsageError, match="public and the same in every copy"):
        trace(tmp_path / "public", NAMES, SECRET)


def test_the_command_reads_a_file_of_names(tmp_path: Path) -> None:
    asked(tmp_path / "run", ["Initech"])
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_text("s" * 32)
    listed = tmp_path / "licensees.txt"
    listed.write_text("# all of them\n\n" + "\n".join(f"  {name} " for name in NAMES) + "\n")
    assert read_licensees(listed, SECRET) == list(NAMES)
    words = ["trace", str(tmp_path / "run"), "--licensees", str(listed)]
    words += ["--secret-file", str(secret)]
    done = CliRunner().invoke(application(), words)
    assert done.exit_code == 0, done.output
    assert "copy of Initech" in " ".join(done.output.split())
    done = CliRunner().invoke(application(), [*words, "--json"])
    assert json.loads(done.output)["shown"] == ["Initech"]
