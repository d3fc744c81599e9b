"""Two channels of one secret against one model: their evidence becomes one number."""

import json
import math
import random
import shutil
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
from puzzlemark.pages.report import report_page
from puzzlemark.statistics.evalues import calibrate
from puzzlemark.verification import wording
from puzzlemark.verification.report import build
from puzzlemark.verification.run import Run, judge
from puzzlemark.verification.together import log10_e_of
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
    of_names = log10_e_of(quiet)
    assert found.parts == pytest.approx((of_names, of_rank))
    assert calibrate(loud.verdict.log10_p or 0) == pytest.approx(of_rank)
    assert found.log10_e == pytest.approx(of_names + of_rank)
    assert found.log10_e > max(found.parts)
    assert "The evidence of synonyms and prefixes multiplies" in found.sentence
    assert f"at most 10^-{math.floor(found.log10_e * 100) / 100:.2f}." in found.sentence


def test_no_evidence_multiplies_to_no_evidence(folder: Path) -> None:
    found = pm.multiply(load(folder, "quiet-other", "loud-other"))
    # no name was answered: 1. Every subset ties, p = 1, and the calibrated evidence is 1/2
    assert found.parts == pytest.approx((0.0, -math.log10(2)))
    assert "a chance of at most 1." in found.sentence


def test_answers_of_the_owners_own_are_called_so_in_the_product_as_well(folder: Path) -> None:
    found = pm.multiply(load(folder, "quiet-learnt", "loud-learnt"))
    assert found.sentence.endswith(wording.SUPPLIED)


def test_a_rank_that_was_read_before_its_end_does_not_multiply(
    folder: Path, tmp_path: Path
) -> None:
    """Whoever stops when p looks good has looked several times; evidence e may be stopped."""
    for name in ("quiet", "loud"):
        place = tmp_path / name
        shutil.copytree(folder / f"{name}-learnt", place)
        (place / "chain.jsonl").unlink()
        lines = (place / "transcript.jsonl").read_bytes().splitlines(keepends=True)
        (place / "transcript.jsonl").write_bytes(b"".join(lines[: len(lines) * 3 // 4]))
        assert judge(place, secret_file=folder / "secret").verdict.word == "inconclusive"
    whole = load(folder, "quiet-learnt", "loud-learnt")
    cut = [pm.load_run(tmp_path / n, secret_file=folder / "secret") for n in ("quiet", "loud")]
    assert pm.multiply([cut[0], whole[1]]).log10_e > 0
    with pytest.raises(UsageError, match="came to no result"):
        pm.multiply([whole[0], cut[1]])


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


def test_the_page_of_prefixes_shows_the_true_ones_among_all(folder: Path) -> None:
    (loud,) = load(folder, "loud-learnt")
    (table,) = build(loud).tables
    own, everyone = table.by_test
    key = find_secret(folder / "secret").derive("watermark:prefixes")
    frames = len(loud.probes.probes) // 200
    # it hits whenever a true prefix is asked about, and never else
    assert {line.name for line in own.lines} == set(Subset("python", 1, 4).drawn(key))
    assert {line.counts for line in own.lines} == {(frames, frames, 0)}
    assert {line.name: line.counts for line in everyone.lines} == {
        str(hits): {0: (0, 196), frames: (4, 0)}.get(hits, (0, 0)) for hits in range(frames + 1)
    }


def test_the_page_of_synonyms_counts_carriers_answers_and_agreement(folder: Path) -> None:
    (quiet,) = load(folder, "quiet-learnt")
    report = build(quiet)
    ((counted,),) = (table.by_test for table in report.tables)
    cells = [line.counts[0] for line in counted.lines]
    # five answers each, all of them the drawn name
    assert cells[:4] == [CARRIERS, CARRIERS, CARRIERS * 5, CARRIERS * 5]
    expected = quiet.verdict.decisive[0].statistic["expected"]
    assert cells[4:] == [f"{expected:.1f}", f"{log10_e_of(quiet):.2f}", "1 of 10,000"]
    page = report_page(report)
    assert "Each prompt was completed 5 times." in page
    assert "the first name of a completion" in page
    assert "asked with its trigger" not in page
    assert "up to one of 1,000,000 innocent models" in page


def test_the_command_writes_the_page_with_the_secret_and_not_without(folder: Path) -> None:
    def report(*words: object) -> Result:
        chosen = ["report", str(folder / "loud-learnt"), "-o", str(folder / "page.html")]
        return CliRunner().invoke(application(), [*chosen, *map(str, words)])

    refused = report()
    assert refused.exit_code != 0
    assert "--secret-file" in refused.output
    assert not (folder / "page.html").exists()
    done = report("--secret-file", folder / "secret")
    assert done.exit_code == 0, done.output
    page = (folder / "page.html").read_text()
    assert "The prefixes that the key drew" in page
    assert "puzzlemark report loud-learnt --secret-file SECRET" in page
    assert (folder / "page.html").stat().st_mode & 0o777 == 0o600


def test_a_rank_is_no_evidence_e_and_tests_without_findings_are_not_explained(
    folder: Path,
) -> None:
    report = build(*load(folder, "quiet-learnt"))
    assert [test.result for test in report.tests] == ["e reached 1 / alpha", "p not below alpha"]
    (about,) = report.about_tests
    assert "log-probabilities" not in about
