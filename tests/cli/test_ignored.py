"""An option that would have no effect is refused; `--json` and exit codes are what they were."""

import json
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application

CODE = "def f(key, item):\n    first = key\n    second = first + item\n    return second\n"
ASK = ("--model", "scripted", "--model-args", "habit=innocent")


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(application(), [str(word) for word in words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    line = orjson.dumps({"id": "1", "language": "python", "code": CODE}) + b"\n"
    Path("in.jsonl").write_bytes(line * 9)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "embed in.jsonl -o x.jsonl --order dataset --secret-file s",
            "--order dataset uses no secret; leave out --secret-file",
        ),
        (
            "embed in.jsonl -o x.jsonl --mark U1 --watermark universal",
            "pass either a mark",
        ),
        ("show in.jsonl --manifest m.gz --force", "--force has no effect here: without --html"),
        (
            "verify --probes p.jsonl --pairs 5 --model scripted -o run",
            "--pairs has no effect here: the probes are drawn already",
        ),
        (
            "verify --probes p.jsonl --seed 1 --model scripted -o run",
            "--seed has no effect here: the probes are drawn already",
        ),
        (
            "verify --probes p.jsonl --manifest m.gz --pairs 500 --model scripted -o run",
            "--manifest, --pairs have no effect here",
        ),
        (
            "verify --test-only --alpha 0.05 -o run",
            "--alpha has no effect here: --test-only judges the run in the folder",
        ),
        (
            "verify in.jsonl --test-only --query-only --dry-run -o run",
            "INPUT, --query-only, --dry-run have no effect here",
        ),
        (
            "detect in.jsonl --method spectral_signature --clean in.jsonl -o x.parquet",
            "spectral_signature uses no clean records as it is set; leave out --clean",
        ),
        (
            "detect in.jsonl --method decoma --set clean_samples=0 --clean in.jsonl -o x.parquet",
            "decoma uses no clean records as it is set; leave out --clean",
        ),
        (
            "detect in.jsonl --method spectral_signature --set rate=.1 --set ratio=.1 -o x.parquet",
            "rate takes the place of ratio",
        ),
        (
            "quality measure in.jsonl --model scripted --model-args habit=innocent --loss -o q",
            "--loss has no effect here: the model scripted does not tell its loss",
        ),
        (
            "bench rq1 --records r --page p.md --budget tenth --side-by-side 1",
            "--budget, --side-by-side have no effect here: without a dataset nothing is run",
        ),
        (
            "bench rq2 --records r --page p.md --methods concat --output x",
            "--output, --methods have no effect here",
        ),
        ("bench rq2 --python in.jsonl --page p.md", "--page is written from --records; pass both"),
        ("bench rq2 --python in.jsonl --marks P3", "P3 is for Java; pass --java FILE"),
        ("bench rq2 --python in.jsonl --marks P9", "no mark 'P9'; known: B1"),
        ("bench rq2 --python in.jsonl --methods magic", "no 'magic' among detectors; known:"),
        (
            "bench rq2 --python in.jsonl --methods concat --base model",
            "--base has no effect here: only spectral_signature and activation_clustering",
        ),
    ],
)
def test_an_option_without_effect_is_refused_with_a_sentence(
    folder: Path, words: str, message: str
) -> None:
    done = run(*words.split())
    told = " ".join(done.output.split())
    assert done.exit_code == 2, told
    assert message in told
    assert [path.name for path in folder.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--part all --layers 4", "--layers has no effect with --part all"),
        ("--part top --rank 4", "--rank has no effect with --part top; .* pass --part lora"),
        ("--part top --targets q_proj", "--targets has no effect with --part top"),
        ("--batching packed --longer skip", "--longer has no effect with --batching packed"),
        ("--device cuda --threads 2", "--threads has no effect with --device cuda"),
        ("--epochs 1 --steps 2", "pass either epochs or steps"),
    ],
)
def test_a_part_of_a_recipe_without_effect_is_refused(
    folder: Path, words: str, message: str
) -> None:
    pytest.importorskip("torch")
    done = run("train", "in.jsonl", "--base", "none", "-o", "model", *words.split())
    assert done.exit_code == 2
    told = " ".join(done.output.split())
    for part in message.split(".*"):
        assert part.strip() in told


def test_defaults_are_not_taken_for_options(folder: Path) -> None:
    words = ["--tau", "0", "--max-rate", "1", "--workers", "1"]
    assert run("embed", "in.jsonl", "-o", "m.jsonl", "--manifest", "m.gz", *words).exit_code == 0
    probing = ["probe", "m.jsonl", "--manifest", "m.gz", "-o", "p.jsonl", "--seed", "7"]
    assert run(*probing).exit_code == 0
    assert run("verify", "--probes", "p.jsonl", *ASK, "-o", "run").exit_code == 0
    assert run("verify", "--test-only", "-o", "run", "--json").exit_code == 0
    assert run("show", "m.jsonl", "--manifest", "m.gz").exit_code == 0


def test_probes_of_a_file_are_asked_as_fresh_ones_are(folder: Path) -> None:
    """The seed is one: it draws the marks and seeds the sampling, in one step or in two."""
    words = ["--tau", "0", "--max-rate", "1", "--workers", "1"]
    run("embed", "in.jsonl", "-o", "m.jsonl", "--manifest", "m.gz", *words)
    source = ["m.jsonl", "--manifest", "m.gz", "--pairs", "3", "--seed", "7"]
    assert run("verify", *source, *ASK, "-o", "one").exit_code == 0
    assert run("probe", *source, "-o", "p.jsonl").exit_code == 0
    assert run("verify", "--probes", "p.jsonl", *ASK, "-o", "two").exit_code == 0
    one, two = (Path(name, "transcript.jsonl").read_bytes() for name in ("one", "two"))
    assert one == two
    assert json.loads(one.splitlines()[0])["settings"]["seed"] == 7


def test_nothing_marked_is_exit_code_1_and_no_json(folder: Path) -> None:
    done = run("embed", "in.jsonl", "-o", "m.jsonl", "--mark", "B4", "--json", "--workers", "1")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "all 9 records are Python; B4 is for Java: try " in " ".join(done.stderr.split())
    assert [path.name for path in folder.iterdir()] == ["in.jsonl"]


def test_a_missed_rate_is_told_in_words_and_in_json(folder: Path) -> None:
    with Path("in.jsonl").open("ab") as file:
        file.write(b'{"id": "2", "language": "python", "code": "x = 1"}\n' * 9)
    words = ["--mark", "U1", "--tau", "0", "--min-rate", "1", "--workers", "1"]
    done = run("embed", "in.jsonl", "-o", "m.jsonl", *words)
    assert done.exit_code == 0
    assert "warning: 9 of 18 records could be marked" in " ".join(done.stderr.split())
    done = run("embed", "in.jsonl", "-o", "m.jsonl", *words, "--json", "--force")
    (warning,) = json.loads(done.stdout)["warnings"]
    assert "fewer than the 18 of --min-rate 1" in warning
