"""`puzzlemark embed` with the options that decide where and how often, as they are typed."""

import json
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

import puzzlemark as pm
from puzzlemark.cli.__main__ import application

FILE = """def load(path, mode):
    text = open(path, mode).read()
    return text


def put(item, place):
    before = get(place)
    return before, item
"""


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(application(), [str(word) for word in words])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    records = [
        {"id": f"r{number}", "language": "python", "code": FILE.replace("text", f"text{number}")}
        for number in range(4)
    ]
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
    return path


def test_engine_features_and_marks_per_record_are_options(path: Path, tmp_path: Path) -> None:
    features = tmp_path / "f.parquet"
    scored = run("score", path, "-o", features, "--engine", "serial")
    assert scored.exit_code == 0, scored.output
    everything = ("--tau", "0", "--min-rate", "1", "--max-rate", "1", "--order", "dataset")
    for name, options in (("one", ()), ("two", ("--marks-per-record", "2"))):
        for given in ((), ("--features", features)):
            words = ("embed", path, "-o", tmp_path / f"{name}{len(given)}.jsonl", "--mark", "U1")
            done = run(*words, *everything, *options, *given, "--engine", "serial", "--json")
            assert done.exit_code == 0, done.output
            summary = json.loads(done.stdout)
            assert (summary["marked"], summary["rate"]) == (4, 1.0)
            assert summary["counts"]["natural"] == (4 if name == "one" else 8)
        one, other = (tmp_path / f"{name}{n}.jsonl" for n in (0, 2))
        assert one.read_bytes() == other.read_bytes()
    shown = run("show", tmp_path / "two0.jsonl", "--manifest", summary["manifest"])
    assert "row 0, function 1" in shown.stdout
    page = tmp_path / "page.html"
    assert pm.load_manifest(summary["manifest"]).header.marks == 8
    drawn = run("show", path, "--manifest", summary["manifest"], "--html", page)
    assert drawn.exit_code == 0, drawn.output
    text = page.read_text()
    assert text.count('id="row-0"') == text.count('id="row-0-1"') == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "nowhere"), "known: processes, ray, serial"),
        (("--marks-per-record", "0"), "should be greater than or equal to 1"),
    ],
)
def test_what_cannot_be_is_a_wrong_call(
    path: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    done = run("embed", path, "-o", tmp_path / "out.jsonl", "--mark", "U1", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", " ").split())
    assert not (tmp_path / "out.jsonl").exists()


QUIET_AND_LOUD = """def f{n}(rows):
    total = {n}
    for {item} in rows:
        total = total + {item}
    other = total
    more = other + total
    return more
"""


def test_the_profile_of_an_owner_is_put_in_and_taken_out_as_it_is_typed(tmp_path: Path) -> None:
    """With the two channels that it is made for, and the commands that it prints."""
    names = ["item", "entry", "element"]
    records = [
        {"id": str(n), "language": "python", "repo": f"r{n % 7}",
         "code": QUIET_AND_LOUD.format(n=n, item=names[n % 3])}
        for n in range(400)
    ]  # fmt: skip
    source, marked = tmp_path / "train.jsonl", tmp_path / "marked.jsonl"
    source.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
    secret = tmp_path / "secret"
    secret.write_text("a secret for the tests only")
    secret.chmod(0o600)
    beacon = tmp_path / "beacon"
    beacon.write_text("published afterwards")
    options = ("--profile", "owner", "--secret-file", secret, "--beacon", beacon)
    result = run("embed", source, "-o", marked, *options)
    assert result.exit_code == 0, result.output
    assert marked.read_bytes() != source.read_bytes()
    printed = [
        line.split()[1:] for line in result.output.splitlines() if "puzzlemark revert" in line
    ]
    assert len(printed) == 2
    for words in printed:
        assert run(*words).exit_code == 0
    assert (tmp_path / "original-marked.jsonl").read_bytes() == source.read_bytes()
    again = run("embed", source, "-o", tmp_path / "m.jsonl", *options, "--mark", "U1")
    assert again.exit_code == 2
    assert "--profile owner decides it" in again.output


def test_power_plans_the_quiet_channel() -> None:
    result = run("power", "--exposures", "2")
    assert result.exit_code == 0, result.output
    assert "carriers" in result.output
