import hashlib
import json
from pathlib import Path

import pytest

from puzzlemark.errors import UsageError
from puzzlemark.models.base import Answer, Failure, ModelError, Request, open_model
from puzzlemark.models.replay import MISSING
from puzzlemark.models.scripted import Scripted
from puzzlemark.verification.transcript import Header
from tests.verification.asking import ask

ONE, TWO, THREE, FOUR = (Request(f"p{n}", 4, 0.0, n) for n in range(4))


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_completions_are_found_by_key_or_prompt(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.jsonl",
        {"key": ONE.key, "completion": "by key"},
        {"prompt": "p1", "completion": "by prompt \ud800"},
        {"prompt": "p0", "completion": "the key goes first"},
        {"prompt": "p2", "failure": "too long"},
    )
    model = open_model("replay", {"file": str(path)})
    answers = model.complete([TWO, ONE, THREE, FOUR])
    assert answers == ["by prompt \ud800", "by key", Failure("too long"), MISSING]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert model.describe() == {
        "kind": "replay",
        "file": "c.jsonl",
        "sha256": digest,
        "supplied": True,
    }


def test_a_transcript_can_be_replayed(tmp_path: Path) -> None:
    said: dict[str, Answer] = {ONE.key: "one", TWO.key: Failure("busy")}
    model = Scripted("s", lambda request: said[request.key])
    path = tmp_path / "transcript.jsonl"
    ask(model, [ONE, TWO], path, Header("d", {}, model.describe(), {}))
    replayed = open_model("replay", {"file": str(path)})
    assert replayed.complete([ONE, TWO, THREE]) == ["one", Failure("busy"), MISSING]


def test_a_later_completion_takes_the_place_of_a_failure(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c", {"prompt": "p0", "failure": "x"}, {"prompt": "p0", "completion": "y"}
    )
    assert open_model("replay", {"file": str(path)}).complete([ONE]) == ["y"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "c.jsonl:2: not a line of JSON"),
        ("[]", "c.jsonl:2: expected an object"),
        ("7", "c.jsonl:2: expected an object"),
        ('{"prompt": "p"}', "c.jsonl:2: expected an object"),
        ('{"completion": "c"}', "c.jsonl:2: expected an object"),
        ('{"prompt": 1, "completion": "c"}', "c.jsonl:2: expected an object"),
        ('{"prompt": "p", "completion": null}', "c.jsonl:2: expected an object"),
        ('{"prompt": "p0", "completion": "b"}', "c.jsonl:2: another completion"),
    ],
)
def test_a_line_that_is_no_answer_is_refused_with_its_number(
    tmp_path: Path, line: str, reason: str
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"prompt": "p0", "completion": "a"}\n' + line + "\n")
    with pytest.raises(ModelError, match=reason):
        open_model("replay", {"file": str(path)})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.jsonl: cannot be read"):
        open_model("replay", {"file": str(tmp_path / "nowhere.jsonl")})
    with pytest.raises(UsageError, match="replay needs file"):
        open_model("replay", {})
