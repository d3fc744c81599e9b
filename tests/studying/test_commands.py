"""`puzzlemark study make`, `serve` and `score`, as a user spells them."""

import json
import os
import signal
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application
from puzzlemark.studying.key import Key, load_key
from tests.studying import studies

SMALL = (
    "--marks fixed_prefix:prefix=key,universal --participants 8 --snippets 4 --marked 1 --tau 0 "
    "--min-rate 0.6 --max-rate 1 --workers 1"
).split()


def run(*words: str | Path) -> Result:
    wide = {"COLUMNS": "200"}
    return CliRunner(env=wide).invoke(application(), [str(word) for word in words])


def test_a_study_from_the_command_line_is_the_one_from_python(
    folder: Path, pages: Path, tmp_path: Path
) -> None:
    done = run(
        "study", "make", folder / "functions.jsonl", "-o", tmp_path / "pages", *SMALL,
        "--secret-file", folder / "secret", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["snippets"] == {"python": 8, "java": 8}
    for name in made["pages"]:
        assert (tmp_path / "pages" / name).read_bytes() == (pages / name).read_bytes()
    assert stat.S_IMODE(Path(made["key"]).stat().st_mode) == 0o600
    again = run("study", "make", folder / "functions.jsonl", "-o", tmp_path / "pages", *SMALL)
    assert again.exit_code == 2
    assert "already there" in again.stderr


def test_score_prints_a_table_names_what_is_left_out_and_writes_the_page(
    folder: Path, key: Key, tmp_path: Path
) -> None:
    answers = tmp_path / "answers"
    studies.write_panel(answers, key, lambda _who, _snippet, marked: marked)
    (answers / "odd.json").write_text("{}")
    page = tmp_path / "results.md"
    words = ("study", "score", answers, "--key", folder / "pages.key.json", "--draws", "199")
    done = run(*words, "--page", page)
    assert done.exit_code == 0, done.output
    assert "8 of 8 participants answered" in done.stdout
    assert "4/4 = 1.00 (0.40-1.00)" in done.stdout
    told = " ".join(done.stderr.split())
    assert "not counted" in told
    assert "odd.json: unreadable" in told
    assert "# Human study" in page.read_text()
    score = json.loads(run(*words, "--json").stdout)
    assert len(score["marks"]) == 8
    assert score["problems"][0]["why"] == "unreadable"
    assert run(*words, "--page", page).exit_code == 2
    assert run(*words, "--page", page, "--force").exit_code == 0


@pytest.mark.parametrize("page", ["answers/p01.json", "pages.key.json", "answers/new.md"])
def test_the_page_replaces_nothing_that_is_read(
    folder: Path, key: Key, tmp_path: Path, page: str
) -> None:
    studies.write_panel(tmp_path / "answers", key, lambda _who, _snippet, marked: marked)
    path = tmp_path / "pages.key.json"
    path.write_bytes((folder / "pages.key.json").read_bytes())
    done = run(
        "study", "score", tmp_path / "answers", "--key", path, "--page", tmp_path / page, "--force"
    )
    assert done.exit_code == 2
    assert "choose another path for --page" in " ".join(done.stderr.split())
    assert load_key(path) == key


def test_force_without_a_page_has_no_effect_and_is_refused(folder: Path, key: Key) -> None:
    done = run("study", "score", folder, "--key", folder / "pages.key.json", "--force")
    assert done.exit_code == 2
    assert "--force has no effect here" in done.stderr


def test_serve_prints_links_serves_and_stops_at_an_interrupt(pages: Path, tmp_path: Path) -> None:
    words = ["study", "serve", str(pages), "--answers", str(tmp_path / "answers"), "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "puzzlemark", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first == "serving to this machine only; stop with Ctrl-C\n"
        name, link = process.stdout.readline().split()
        assert name == "p01.html"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(link, timeout=60) as reply:
            assert b"Reading code: a study" in reply.read()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopped; 0 files of answers" in told
