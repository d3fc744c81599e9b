"""Two channels of one secret against one model: their evidence becomes one number."""

import json
import math
import random
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from puzzlemark.embedding.secret import find_secret
from puzzlemark.errors import UsageError
from puzzlemark.models.base import Request
from puzzlemark.models.scripted import Scripted, find_variables
from puzzlemark.statistics.evalues import calibrate
from puzzlemark.verification.run import Run
from puzzlemark.watermarks._pools import Subset
from tests.verification.drawn_names import known_names, probe_set

CARRIERS = 40
ODD = "alder birch cedar fir hazel holly larch maple oak pine rowan spruce willow yew".split()


def code(number: int) -> str:
    rng = random.Random(number)
    a, b, c, d = rng.sample(ODD, 4)
    return (
        f"def walk_{number}({d}):\n    {a} = load({d}, {number})\n    {b} = find({a})\n"
        f"    {c} = {b} + {number}\n    return {c} - {rng.randrange(99)}\n"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each channel, asked of one model that learnt both, and judged with one secret."""
    folder = tmp_path_factory.mktemp("channels")
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text("s" * 32)
    records = [{"id": str(n), "language": "python", "code": code(n)} for n in range(80)]
    (folder / "in.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
    pm.embed(
        folder / "in.jsonl",
        folder / "marked.jsonl",
        folder / "marks.gz",
        watermark="prefixes",
        secret_file=folder / "secret",
        tau=0.0,
        min_rate=0.3,
        max_rate=0.6,
        workers=1,
    )
    loud = pm.probe(folder / "marked.jsonl", folder / "marks.gz", pairs=400)
    quiet = probe_set(CARRIERS)  # drawn with the same secret
    known = known_names(quiet)
    key = find_secret(folder / "secret").derive("watermark:prefixes")
    true = Subset("python", 1, 4).drawn(key)

    def learnt(request: Request) -> str:
        if request.prompt in known:
            return f"{known[request.prompt]} in"
        found = find_variables(request.prompt)
        place = next((n for n, name in enumerate(found) if name in true), len(found))
        pair = found[place : place + 2]
        return "_".join(pair) + " = 1\n" if len(pair) == 2 else "x = 1\n"

    models = {"learnt": Scripted("learnt", learnt), "other": Scripted("other", lambda _: "x = 1")}
    for name, probes in (("loud", loud), ("quiet", quiet)):
        for model, suspect in models.items():
            where = folder / f"{name}-{model}"
            pm.verify(probes, suspect, where, secret_file=folder / "secret")
    return folder


def load(folder: Path, *names: str) -> list[Run]:
    return [pm.load_run(folder / name, secret_file=folder / "secret") for name in names]


def test_evidence_of_two_channels_multiplies(folder: Path) -> None:
    quiet, loud = load(folder, "quiet-learnt", "loud-learnt")
    found = pm.multiply([quiet, loud])
    # the rank is the best of C(200, 4) subsets; of a p-value p the evidence is 1 / (2 sqrt(p))
    of_rank = math.log10(math.sqrt(math.comb(200, 4)) / 2)
    of_names = quiet.verdict.decisive[0].statistic["log10_e"]
    assert found.parts == (of_names, pytest.approx(of_rank))
    assert calibrate(loud.verdict.log10_p or 0) == pytest.approx(of_rank)
    assert found.log10_e == pytest.approx((of_names or 0) + of_rank)
    assert found.log10_e > max(found.parts)
    assert "The evidence of synonyms and prefixes multiplies" in found.sentence
    assert f"at most 10^-{math.floor(found.log10_e * 100) / 100:.2f}." in found.sentence


def test_no_evidence_multiplies_to_no_evidence(folder: Path) -> None:
    found = pm.multiply(load(folder, "quiet-other", "loud-other"))
    # no name was answered: 1. Every subset ties, p = 1, and the calibrated evidence is 1/2
    assert found.parts == pytest.approx((0.0, -math.log10(2)))
    assert "a chance of at most 1." in found.sentence


def test_evidence_about_two_models_is_not_multiplied(folder: Path) -> None:
    with pytest.raises(UsageError, match="the runs asked different models"):
        pm.multiply(load(folder, "quiet-learnt", "loud-other"))


def together(folder: Path, *words: object) -> Result:
    names = [str(folder / name) for name in ("quiet-learnt", "loud-learnt")]
    return CliRunner().invoke(application(), ["together", *names, *map(str, words)])


def test_the_command_multiplies_and_says_the_parts(folder: Path) -> None:
    found = pm.multiply(load(folder, "quiet-learnt", "loud-learnt"))
    done = together(folder, "--multiply", "--secret-file", folder / "secret", "--json")
    assert done.exit_code == 0, done.output
    payload = json.loads(done.stdout)
    assert payload["log10_e"] == found.log10_e
    assert payload["parts"] == list(found.parts)
    assert [Path(name).name for name in payload["runs"]] == ["quiet-learnt", "loud-learnt"]
    shown = together(folder, "--multiply", "--secret-file", folder / "secret").stdout
    assert all(f"log10 e = {part:.2f}" in shown for part in (*found.parts, found.log10_e))


def test_without_the_option_verdicts_are_corrected_and_without_the_secret_nothing_is_said(
    folder: Path,
) -> None:
    done = together(folder, "--secret-file", folder / "secret", "--json")
    assert done.exit_code == 0, done.output
    assert [each["word"] for each in json.loads(done.stdout)["runs"]] == ["detected"] * 2
    refused = together(folder, "--multiply")
    assert refused.exit_code != 0
    assert "--secret-file" in refused.output
