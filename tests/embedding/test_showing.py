"""Both sides of a mark, from either dataset."""

from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.embedding.showing import Shown, Side, show
from puzzlemark.errors import ManifestError, UsageError
from puzzlemark.watermarks.base import Part

CODE = "def é(key, item, a):\n    a = key + item\n    return 'é', a"
MARKED = "def é(key, item, key_item):\n    key_item = key + item\n    return 'é', key_item"
INTRODUCED = "def g(k, item, a):\n    return k, item, a"
NATURAL = "def h(key, item, key_item):\n    return key_item"


def write(path: Path, codes: dict[str, str]) -> Path:
    lines = [{"id": id_, "language": "python", "code": code} for id_, code in codes.items()]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


@pytest.fixture
def original(tmp_path: Path) -> Path:
    codes = {"plain": CODE, "introduced": INTRODUCED, "natural": NATURAL, "none": "def f(): pass"}
    return write(tmp_path / "original.jsonl", codes)


@pytest.fixture
def marked(original: Path) -> Path:
    output = original.with_name("marked.jsonl")
    pm.embed(
        original,
        output,
        manifest_of(output),
        watermark="fixed_prefix:prefix=key",
        policy="paper",
        tau=0,
        min_rate=1,
        max_rate=1,
    )
    return output


def manifest_of(marked: Path) -> Path:
    return marked.with_name("marks.jsonl.gz")


def named(side: Side) -> list[tuple[str, str]]:
    return [(span.role, side.code[span.start : span.end]) for span in side.spans]


def by_id(path: Path, marked: Path) -> dict[str, Shown]:
    return {mark.id: mark for mark in show(path, manifest_of(marked)).marks}


def test_the_original_and_the_marked_dataset_show_the_same(original: Path, marked: Path) -> None:
    before, after = (show(path, manifest_of(marked)) for path in (original, marked))
    assert (before.side, after.side) == ("original", "marked")
    assert before.marks == after.marks
    assert before.total == 3


def test_both_sides_are_the_records_codes(marked: Path) -> None:
    mark = by_id(marked, marked)["plain"]
    assert (mark.before.code, mark.after.code) == (CODE, MARKED)
    assert mark.parts == (
        Part("prefix", "key"),
        Part("suffix", "item"),
        Part("target", "key_item", was="a"),
    )


def test_spans_cut_out_the_names_also_behind_other_alphabets(marked: Path) -> None:
    mark = by_id(marked, marked)["plain"]
    roles = ["prefix", "suffix", "target", "target", "prefix", "suffix", "target"]
    assert named(mark.before) == list(
        zip(roles, ["key", "item", "a", "a", "key", "item", "a"], strict=True)
    )
    assert [text for role, text in named(mark.after) if role == "target"] == ["key_item"] * 3


def test_an_introduced_prefix_is_shown_under_both_names(marked: Path) -> None:
    mark = by_id(marked, marked)["introduced"]
    assert mark.parts[0] == Part("prefix", "key", was="k")
    assert ("prefix", "k") in named(mark.before)
    assert ("prefix", "key") in named(mark.after)


def test_a_natural_mark_has_two_equal_sides(marked: Path) -> None:
    mark = by_id(marked, marked)["natural"]
    assert mark.before == mark.after
    assert ("target", "key_item") in named(mark.after)


def test_marks_that_changed_nothing_do_not_tell_the_side(marked: Path) -> None:
    assert show(marked, manifest_of(marked), ids=["natural"]).side is None


def test_the_limit_counts_marks_from_the_front(marked: Path) -> None:
    showing = show(marked, manifest_of(marked), limit=1)
    assert [mark.id for mark in showing.marks] == ["plain"]
    assert len(show(marked, manifest_of(marked), limit=None).marks) == 3


def test_an_id_without_a_mark_is_an_error_that_names_it(marked: Path) -> None:
    with pytest.raises(UsageError, match="no mark in the record none"):
        show(marked, manifest_of(marked), ids=["plain", "none"])


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        ({"plain": CODE.replace("a", "b")}, "neither the old nor the new code"),
        ({"plain": CODE.replace("a", "ab")}, "neither the old nor the new code"),
        ({"other": CODE}, "row 0 is the record 'other'"),
        ({"plain": CODE}, "it has no row 1"),
        ({"plain": MARKED, "introduced": INTRODUCED, "natural": NATURAL}, "neither"),
    ],
)
def test_a_dataset_that_is_neither_is_refused(
    tmp_path: Path, marked: Path, codes: dict[str, str], why: str
) -> None:
    wrong = write(tmp_path / "wrong.jsonl", codes)
    limit = 1 if why.startswith("neither the") else None
    with pytest.raises(ManifestError, match=why):
        show(wrong, manifest_of(marked), limit=limit)


def test_every_mark_of_real_code_is_shown_with_all_its_names(
    corpus_path: Path, tmp_path: Path
) -> None:
    output, manifest = tmp_path / "marked.jsonl", tmp_path / "marks.jsonl.gz"
    pm.embed(corpus_path, output, manifest, mark="U1", tau=0, min_rate=1, max_rate=1)
    showing = show(output, manifest, limit=None)
    assert len(showing.marks) == showing.total > 100
    for mark in showing.marks:
        assert {role for role, _ in named(mark.after)} == {"prefix", "suffix", "target"}
        target = mark.parts[-1]
        assert dict(named(mark.after))["target"] == target.text
        assert dict(named(mark.before))["target"] == (target.was or target.text)


def test_an_inserted_statement_is_shown_after_only(tmp_path: Path) -> None:
    source = write(tmp_path / "o.jsonl", {"one": "def f():\n    return 1\n"})
    pm.embed(source, tmp_path / "m.jsonl", tmp_path / "m.gz", mark="S1", policy="paper", max_rate=1)
    for path in (source, tmp_path / "m.jsonl"):
        (mark,) = show(path, tmp_path / "m.gz").marks
        assert named(mark.before) == []
        assert named(mark.after) == [("trigger", "I = Person()"), ("target", "I.hi(everyone)")]


def test_a_replaced_statement_is_shown_before_and_after(tmp_path: Path) -> None:
    source = write(tmp_path / "o.jsonl", {"one": "def f():\n    é = 'é'\n    g(é)\n"})
    watermark = "coprotector_sentence:mode=replace"
    pm.embed(
        source, tmp_path / "m.jsonl", tmp_path / "m.gz",
        watermark=watermark, policy="paper", max_rate=1,
    )  # fmt: skip
    (mark,) = show(tmp_path / "m.jsonl", tmp_path / "m.gz").marks
    assert named(mark.before) == [("trigger", "é = 'é'"), ("target", "g(é)")]
    assert named(mark.after) == [("trigger", "I = Person()"), ("target", "I.hi(everyone)")]
