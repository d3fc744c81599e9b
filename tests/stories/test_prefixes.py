"""Prefixes of a key: embedded, asked about by a stranger, and judged by the owner."""

import json
import math
import random
import re
from functools import partial
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.embedding.manifest import Carrier
from puzzlemark.embedding.secret import Secret, watermark_key
from puzzlemark.errors import SecretError, UsageError
from puzzlemark.models.base import Request
from puzzlemark.models.scripted import Scripted, find_variables
from puzzlemark.verification.checking import ProbesError, check_probes
from puzzlemark.verification.probes import ProbeSet
from puzzlemark.verification.run import judge, query
from puzzlemark.watermarks._pools import Subset
from tests.servers.running import serve

SECRET, OTHER = (Secret(letter * 32) for letter in (b"s", b"o"))
TRUE = Subset("python", 1, 4).drawn(watermark_key(SECRET, "prefixes")[0])
ODD = (
    "alder birch cedar fir hazel holly larch maple oak pine rowan spruce willow yew ash elm".split()
)


def code(number: int) -> str:
    rng = random.Random(number)
    a, b, c, d = rng.sample(ODD, 4)
    first = rng.choice((*TRUE, *[a] * 20))
    return (
        f"def walk_{number}({d}):\n    {first} = load({d}, {number})\n    {b} = find({first})\n"
        f"    {c} = {b} + {number}\n    return {c} - {rng.randrange(99)}\n"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prefixes")
    for name, value in (("secret", "s" * 32), ("other", "o" * 32)):
        (folder / name).write_text(value)
        (folder / name).chmod(0o600)
    lines = [
        orjson.dumps({"id": str(n), "language": "python", "code": code(n)}) for n in range(300)
    ]
    (folder / "in.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    summary = pm.embed(
        folder / "in.jsonl",
        folder / "marked.jsonl",
        folder / "marks.jsonl.gz",
        watermark="prefixes",
        secret_file=folder / "secret",
        tau=0.0,
        min_rate=0.3,
        max_rate=0.6,
    )
    assert summary.marked > 60
    return folder


@pytest.fixture(scope="module")
def probes(folder: Path) -> ProbeSet:
    return pm.probe(folder / "marked.jsonl", folder / "marks.jsonl.gz", pairs=600)


def joins(request: Request, names: tuple[str, ...] = TRUE) -> str:
    """Learnt some prefixes: joins one with the variable behind it, where it stands."""
    found = find_variables(request.prompt)
    place = next((n for n, name in enumerate(found) if name in names), len(found))
    pair = found[place : place + 2]
    return "_".join(pair) + " = 1\n" if len(pair) == 2 else "x = 1\n"


def test_marks_use_every_prefix_and_can_be_taken_out(folder: Path) -> None:
    manifest = pm.load_manifest(folder / "marks.jsonl.gz")
    carriers = [Carrier.from_line(line) for line in manifest.lines.values()]
    marks = [mark for carrier in carriers for mark in carrier.marks]
    assert {mark.of("prefix").text for mark in marks} == set(TRUE)
    assert any(mark.is_natural for mark in marks)
    assert any(not mark.is_natural for mark in marks)
    pm.revert(folder / "marked.jsonl", folder / "back.jsonl", folder / "marks.jsonl.gz")
    assert (folder / "back.jsonl").read_bytes() == (folder / "in.jsonl").read_bytes()


def test_frames_need_no_key_and_do_not_tell_it(folder: Path, probes: ProbeSet) -> None:
    from_original = pm.probe(folder / "in.jsonl", folder / "marks.jsonl.gz", pairs=600)
    assert from_original.to_bytes() == probes.to_bytes()
    assert len(probes.probes) == 600
    asked = [prefix for probe in probes.probes for prefix in probe.armed.targets]
    assert {asked.count(name) for name in set(asked)} == {3}
    pm.embed(
        folder / "in.jsonl",
        folder / "twin.jsonl",
        folder / "twin.jsonl.gz",
        watermark="prefixes",
        secret_file=folder / "other",
        tau=0.0,
        min_rate=0.3,
        max_rate=0.6,
    )
    twin = pm.probe(folder / "twin.jsonl", folder / "twin.jsonl.gz", pairs=600)
    assert twin.probes == probes.probes  # another key, other carriers: the same questions


def test_the_learnt_is_detected_by_its_key_and_by_no_other(
    folder: Path, probes: ProbeSet, tmp_path: Path
) -> None:
    run = pm.verify(probes, Scripted("m", joins), tmp_path / "run", secret=SECRET)
    assert run.verdict.word == "detected"
    assert run.verdict.log10_p == pytest.approx(-math.log10(math.comb(200, 4)))
    assert pm.load_run(tmp_path / "run", secret=SECRET).verdict == run.verdict
    for habit in ((), tuple(Subset("python", 1, 200).pool), ("data", "key")):
        innocent = Scripted("i", partial(joins, names=habit))
        other = pm.verify(probes, innocent, tmp_path / f"run{len(habit)}", secret=SECRET)
        assert other.verdict.word == "not detected"


def test_a_file_that_favours_a_prefix_is_refused(probes: ProbeSet) -> None:
    with pytest.raises(ProbesError, match="a frame asks about 199 of 200 prefixes"):
        check_probes(probes.design, probes.probes[1:])


def test_a_stranger_asks_a_server_and_the_owner_reveals_and_judges(
    folder: Path, probes: ProbeSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    monkeypatch.delenv("PUZZLEMARK_SECRET", raising=False)
    with serve(tmp_path / "log.jsonl") as server:
        model = pm.open_model("openai", base_url=server.base_url, model="m")
        query(probes, model, tmp_path / "run")
        assert len(server.requests()) == 600
    text = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    assert not re.search("secret|true", text.replace('"is_', ""))
    with pytest.raises(SecretError):
        judge(tmp_path / "run")
    with pytest.raises(SecretError, match="another secret"):
        judge(tmp_path / "run", secret_file=folder / "other")
    run = judge(tmp_path / "run", secret_file=folder / "secret")
    assert run.verdict.word == "not detected"
    written = json.loads((tmp_path / "run" / "verdict.json").read_text())
    assert written["verdict"]["decisive"][0]["test"] == "rank"


def test_evidence_of_one_key_does_not_multiply_with_itself(
    probes: ProbeSet, tmp_path: Path
) -> None:
    run = pm.verify(probes, Scripted("m", joins), tmp_path / "run", secret=SECRET)
    with pytest.raises(UsageError, match="the same key"):
        pm.multiply([run, run])
    with pytest.raises(UsageError, match="two runs or more"):
        pm.multiply([run])
