"""The command line as users meet it: spellings, output, exit codes, messages."""

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from click import Command, Context
from typer.main import get_command
from typer.testing import CliRunner, Result

from puzzlemark import __version__, plugins
from puzzlemark.cli.__main__ import application


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(application(), [str(word) for word in words])


def start(words: Sequence[str | Path]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "puzzlemark", *map(str, words)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )


def heed_interrupts() -> None:
    # a shell that started the tests in the background has told them, and us, to ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_embed_revert_and_apply_as_the_readme_spells_them(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest, back = tmp_path / "m.jsonl", tmp_path / "m.gz", tmp_path / "b.jsonl"
    done = run(
        "embed", corpus_path, "--output", marked, "--manifest", manifest, "--mark", "U1",
        "--policy", "paper", "--order", "keyed", "--tau", "0.35", "--min-rate", "0.01",
        "--max-rate", "0.05", "--language", "python", "--code-column", "code",
        "--id-column", "id", "--secret-file", tmp_path / "secret", "--workers", "2",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "records" in done.stdout
    assert run("revert", marked, "--manifest", manifest, "--output", back).exit_code == 0
    assert back.read_bytes() == corpus_path.read_bytes()
    again = tmp_path / "again.jsonl"
    assert run("apply", corpus_path, "--manifest", manifest, "--output", again).exit_code == 0
    assert again.read_bytes() == marked.read_bytes()


def test_json_is_one_object_on_standard_output(corpus_path: Path, tmp_path: Path) -> None:
    done = run("embed", corpus_path, "-o", tmp_path / "m.jsonl", "--json", "--workers", "1")
    summary = json.loads(done.stdout)
    assert summary["action"] == "embed"
    assert summary["marked"] + sum(summary["kept"].values()) == summary["records"]
    assert summary["rate"] <= 0.05


def test_everything_that_can_be_marked_is(corpus_path: Path, tmp_path: Path) -> None:
    words = ["--tau", "0", "--min-rate", "1", "--max-rate", "1", "--json", "--workers", "1"]
    words += ["--policy", "paper"]
    done = run("embed", corpus_path, "-o", tmp_path / "m.jsonl", "--mark", "P1", *words)
    summary = json.loads(done.stdout)
    assert summary["rate"] > 0.3
    assert "not needed: the rate was reached" not in summary["kept"]
    assert "suitability below the threshold" not in summary["kept"]


@pytest.mark.parametrize("name", plugins.names("cli"))
def test_every_command_has_help_that_teaches(name: str) -> None:
    done = run(name, "--help")
    assert done.exit_code == 0
    assert "--json" in done.stdout
    command = get_command(application()).get_command(Context(Command("x")), name)  # type: ignore[attr-defined]
    assert all(option.help for option in command.params if option.name != "context"), name
    shown = [line for line in (command.help or "").splitlines() if f"puzzlemark {name}" in line]
    assert shown, "an example is missing"


def test_the_version_is_told() -> None:
    assert run("--version").stdout.strip() == f"puzzlemark {__version__}"


def test_list_names_the_papers_six_marks() -> None:
    listed = json.loads(run("list", "--json").stdout)
    assert {"P1", "P2", "P3", "P4", "U1", "U2"} <= set(listed["marks"])
    assert {"pca", "topsis", "mahalanobis"} == set(listed["carriers.projections"])
    assert "fixed_prefix:prefix=key" in run("list").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mark", "P9"], "P1, P2, P3, P4"),
        (["--tau", "3"], "tau"),
        (["--min-rate", "0.2", "--max-rate", "0.1"], "min-rate <= max-rate"),
        (["--projection", "tsne"], "known: mahalanobis"),
        (["--features", "cc,beauty"], "beauty"),
        (["--code-column", "body"], "body"),
    ],
)
def test_a_wrong_call_exits_with_2_and_says_what_to_do(
    corpus_path: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    output = tmp_path / "m.jsonl"
    done = run("embed", corpus_path, "-o", output, "--workers", "1", *words)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["functions.jsonl"]


def test_an_unknown_policy_is_a_usage_error(corpus_path: Path, tmp_path: Path) -> None:
    done = run("embed", corpus_path, "-o", tmp_path / "m.jsonl", "--policy", "bold")
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.jsonl", b"", "empty.jsonl"),
        ("cut.jsonl.gz", gzip.compress(b'{"id": 1, "code": "x"}\n' * 900, mtime=0)[:-20], "cut"),
        ("text.jsonl", b'{"id": 1, "code": "x = 1"}\nnot json\n', "text.jsonl:2"),
        ("list.jsonl", b'{"id": 1, "code": "x = 1"}\n[1]\n', "list.jsonl:2"),
        ("bad.parquet", b"PAR1 but not really", "bad.parquet"),
    ],
    ids=["empty", "cut", "text", "list", "parquet"],
)
def test_a_broken_dataset_is_one_clear_sentence(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    output = tmp_path / f"out-{name}"
    done = run("embed", tmp_path / name, "-o", output, "--language", "python", "--workers", "1")
    assert done.exit_code == 1
    assert done.stderr.startswith("error:")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_of_no_known_format_is_a_wrong_call(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_bytes(b"a,b\n")
    done = run("embed", tmp_path / "other.txt", "-o", tmp_path / "out.txt")
    assert done.exit_code == 2
    assert done.stderr.startswith("error:")
    assert "other.txt" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["other.txt"]


def test_a_missing_dataset_is_named(tmp_path: Path) -> None:
    done = run("embed", tmp_path / "none.jsonl", "-o", tmp_path / "m.jsonl")
    assert done.exit_code == 1
    assert "none.jsonl" in done.stderr


def test_code_that_cannot_be_used_is_kept_and_counted(tmp_path: Path) -> None:
    path, output = tmp_path / "odd.jsonl", tmp_path / "m.jsonl"
    odd = b'{"code": null}\n{"code": ""}\n{"code": "def f(:"}\n{"code": 3}\n'
    path.write_bytes(odd + b'{"code": "def f(a, b):\\n    c = a\\n    return c + b"}\n')
    words = ["--language", "python", "--tau", "0", "--max-rate", "1", "--json", "--workers", "1"]
    done = run("embed", path, "-o", output, *words)
    assert done.exit_code == 0, done.stderr
    assert sum(json.loads(done.stdout)["kept"].values()) == 4
    assert output.read_bytes().startswith(odd)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_an_interrupted_run_leaves_no_output_and_can_go_on(
    corpus_path: Path, tmp_path: Path
) -> None:
    big, output = tmp_path / "big.jsonl", tmp_path / "m.jsonl"
    big.write_bytes(corpus_path.read_bytes() * 200)
    process = start(["embed", big, "-o", output, "--workers", "2"])
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(children.read_text().split()) < 3:  # two workers, and the one who tidies up
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    told = "interrupted; what was done is kept; the same command goes on from there"
    assert errors.strip() == told
    left = {path.name for path in tmp_path.iterdir()} - {"big.jsonl", "functions.jsonl"}
    assert left <= {".m.jsonl.work"}  # nothing may have been done yet


def test_nothing_but_the_result_is_printed_without_a_terminal(
    corpus_path: Path, tmp_path: Path
) -> None:
    process = start(["embed", corpus_path, "-o", tmp_path / "m.jsonl", "--json"])
    output, errors = process.communicate(timeout=120)
    assert errors == ""
    assert "\x1b" not in output
    json.loads(output)


def test_a_terminal_shows_progress(corpus_path: Path, tmp_path: Path) -> None:
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "puzzlemark", "embed", str(corpus_path), "--workers", "1"]
    process = subprocess.Popen(
        [*command, "-o", str(tmp_path / "m.jsonl")],
        stdout=subprocess.DEVNULL,
        stderr=inner,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(inner)
    shown = b""
    while True:
        try:
            piece = os.read(outer, 4096)
        except OSError:  # the other side has closed
            break
        if not piece:
            break
        shown += piece
    os.close(outer)
    assert process.wait(timeout=60) == 0
    assert b"measuring" in shown
    assert b"writing" in shown


@pytest.mark.parametrize("words", ["list", "list --json", "--help", "list 2>&1"])
def test_the_output_can_be_cut_short_by_head(words: str) -> None:
    """As tools end that the signal SIGPIPE ended: no word, and 141."""
    line = f"{sys.executable} -m puzzlemark {words} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_full_disk_under_standard_output_is_one_sentence() -> None:
    line = f"{sys.executable} -m puzzlemark list > /dev/full"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: what was printed is cut short: No space left on device\n"


def test_a_closed_standard_output_is_no_traceback() -> None:
    line = f"{sys.executable} -m puzzlemark --version >&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_command_the_help_is_shown() -> None:
    assert "Commands" in run().output
