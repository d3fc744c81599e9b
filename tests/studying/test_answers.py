"""Which files count, and that the others are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.studying.answers import Collected, read_answers
from puzzlemark.studying.key import Key, StudyError, load_key
from tests.studying import studies


def all_marked(who: str, snippet: int, is_marked: bool) -> bool:
    return is_marked


def nothing(who: str, snippet: int, is_marked: bool) -> bool:
    return False


@pytest.fixture
def put(tmp_path: Path) -> Any:
    def write(name: str, told: Any) -> Path:
        path = tmp_path / name
        path.write_text(told if isinstance(told, str) else json.dumps(told))
        return path

    return write


def whys(found: Collected) -> list[tuple[str, str]]:
    return [(Path(each.path).name, each.why) for each in found.problems]


def without(told: dict[str, Any], token: str, *, last: int, of_round: int) -> dict[str, Any]:
    """The answers so far: the last ones of a round are not there yet."""
    rounds = json.loads(json.dumps(told["rounds"]))
    for each in rounds:
        if each["round"] == of_round:
            each["answers"] = each["answers"][:-last]
    return studies.seal({**told, "rounds": rounds}, token)


def test_a_finished_file_counts_in_both_rounds(key: Key, put: Any) -> None:
    found = read_answers([put("a.json", studies.answer(key, "p01", all_marked))], key)
    assert set(found.rounds) == {("p01", 1), ("p01", 2)}
    assert found.problems == ()
    said = found.rounds["p01", 2]
    for label, shown in key.participants["p01"].shown.items():
        assert said[label].suspicious == shown.is_marked


def test_a_round_that_is_not_finished_is_named_and_the_finished_one_counts(
    key: Key, put: Any
) -> None:
    told = studies.answer(key, "p01", nothing)
    part = without(told, key.participants["p01"].token, last=3, of_round=2)
    found = read_answers([put("a.json", part)], key)
    assert set(found.rounds) == {("p01", 1)}
    assert whys(found) == [("a.json", "incomplete")]
    assert "5 of 8 answers in round 2 of p01" in str(found.problems[0])


def test_files_of_one_round_each_are_put_together(key: Key, put: Any) -> None:
    first = put("1.json", studies.answer(key, "p01", nothing, rounds=[1]))
    second = put("2.json", studies.answer(key, "p01", nothing, rounds=[2]))
    found = read_answers([first, second], key)
    assert set(found.rounds) == {("p01", 1), ("p01", 2)}
    assert not found.problems


def test_an_earlier_copy_is_named_and_the_whole_one_counts(key: Key, put: Any) -> None:
    told = studies.answer(key, "p02", all_marked)
    early = without(told, key.participants["p02"].token, last=1, of_round=2)
    found = read_answers([put("early.json", early), put("late.json", told)], key)
    assert set(found.rounds) == {("p02", 1), ("p02", 2)}
    # round 1 is in both files, and the same
    assert whys(found) == [("late.json", "duplicate"), ("early.json", "incomplete")]
    assert "late.json has all of it" in found.problems[1].what


def test_two_files_that_disagree_are_both_left_out(key: Key, put: Any) -> None:
    one = put("one.json", studies.answer(key, "p01", all_marked, rounds=[1]))
    two = put("two.json", studies.answer(key, "p01", nothing, rounds=[1]))
    found = read_answers([one, two], key)
    assert not found.rounds
    assert whys(found) == [("one.json", "conflicting"), ("two.json", "conflicting")]


def test_a_changed_answer_is_noticed(key: Key, put: Any) -> None:
    told = studies.answer(key, "p01", nothing)
    told["rounds"][0]["answers"][0]["suspicious"] = True
    assert whys(read_answers([put("a.json", told)], key)) == [("a.json", "tampered")]


def test_another_participants_answers_under_ones_own_name_are_noticed(key: Key, put: Any) -> None:
    told = {**studies.answer(key, "p01", nothing), "participant": "p02"}
    assert whys(read_answers([put("a.json", told)], key)) == [("a.json", "tampered")]
    sealed = studies.seal(told, key.participants["p02"].token)
    found = read_answers([put("b.json", sealed)], key)
    assert whys(found) == [("b.json", "tampered")]
    assert "was not shown" in found.problems[0].what


@pytest.mark.parametrize("change", ["twice", "round", "round again"])
def test_what_no_page_exports_is_noticed_although_it_is_sealed(
    key: Key, put: Any, change: str
) -> None:
    told = studies.answer(key, "p01", nothing, rounds=[1])
    (only,) = told["rounds"]
    if change == "twice":
        only["answers"][1] = only["answers"][0]
    elif change == "round":
        only["round"] = 3
    else:
        told["rounds"] = [only, only]
    sealed = studies.seal(told, key.participants["p01"].token)
    found = read_answers([put("a.json", sealed)], key)
    assert not found.rounds
    assert whys(found)[0][1] in ("tampered", "unreadable")


def test_foreign_and_unreadable_files_are_named(key: Key, put: Any, tmp_path: Path) -> None:
    foreign = studies.answer(key, "p01", nothing, study="0" * 12)
    stranger = {**studies.answer(key, "p01", nothing), "participant": "p99"}
    found = read_answers(
        [
            put("foreign.json", foreign),
            put("stranger.json", stranger),
            put("text.json", "not json"),
            put("list.json", "[]"),
            put("number.json", {**studies.answer(key, "p01", nothing), "version": 2}),
            tmp_path / "missing.json",
        ],
        key,
    )
    assert not found.rounds
    assert [why for _, why in whys(found)] == ["foreign", "foreign", *["unreadable"] * 4]


def test_a_wrong_key_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot read the key"):
        load_key(tmp_path / "none.json")
    (tmp_path / "k.json").write_text('{"format": "other"}')
    with pytest.raises(StudyError, match="not the key of a study"):
        load_key(tmp_path / "k.json")
