from pathlib import Path

import numpy as np
import pytest

from puzzlemark.corpora.base import Corpus, Entry, open_corpus
from puzzlemark.errors import CorpusError
from puzzlemark.quality.samples import Sample, code_lines, cut, draw_samples
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from tests.corpora.making import open_python, write_jsonl
from tests.quality.conftest import FUNCTION

JAVA = """@Override
public int sum(List<Integer> items) {
    int total = 0; // so far
    /* all
       of them */
    for (int item : items) {
        total += item;
    }
    return total;
}
"""
LONG_TEXT = '''def show(name):
    """Doc."""
    text = """first
    second = 2
    """ % name
    print(
        text,
    )
    return text
'''


def lines_of(code: str, language: str = "python") -> list[str]:
    tree = parse(Snippet("f", code, language))
    return [code.encode()[at:].split(b"\n")[0].decode().strip() for at in code_lines(tree)]


def cut_at(code: str, row: int, language: str = "python") -> Sample:
    sample = cut(Entry(row, "f", code, language), seed=0)
    assert isinstance(sample, Sample)
    return sample


def test_comments_and_docstrings_are_no_lines_of_code() -> None:
    assert lines_of(FUNCTION.format(n=0)) == [
        "def merge_0(left, right):",
        "result = []",
        "while left and right:",
        "source = left if left[0] <= right[0] else right",
        "result.append(source.pop(0))",
        "rest_0 = left or right",
        "return result + rest_0",
    ]


def test_java_without_a_class_counts_its_own_lines_and_no_lone_brackets() -> None:
    assert lines_of(JAVA, "java") == [
        "@Override",
        "public int sum(List<Integer> items) {",
        "int total = 0; // so far",
        "for (int item : items) {",
        "total += item;",
        "return total;",
    ]


def test_the_inside_of_a_long_text_is_no_line() -> None:
    assert lines_of(LONG_TEXT) == [
        "def show(name):",
        'text = """first',
        "print(",
        "text,",
        "return text",
    ]


@pytest.mark.parametrize("language", ["python", "java"])
def test_a_prompt_ends_with_a_line_and_the_rest_follows(language: str) -> None:
    code = FUNCTION.format(n="é") if language == "python" else JAVA
    starts = lines_of(code, language)
    kept = set()
    for row in range(60):
        sample = cut_at(code, row, language)
        assert sample.code == code
        assert sample.prompt == sample.prompt.rstrip()
        assert sample.continuation.startswith("\n")
        following = next(filter(str.strip, sample.continuation.split("\n"))).strip()
        kept.add(starts.index(following))
    # 30 % to 90 % of 7 and 6 lines, all of them drawn sooner or later
    assert kept == (set(range(2, 7)) if language == "python" else set(range(2, 6)))


def test_only_variables_of_the_prompt_count_in_their_order() -> None:
    names = ("left", "right", "result", "source", "rest_0")
    found = {cut_at(FUNCTION.format(n=0), row).names for row in range(60)}
    assert found == {names[:3], names[:4], names}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def f(a):\n    b = a\n    return b\n", "fewer than 4 lines of code"),
        ("a = 1\nb = 2\nc = 3\nd = 4\n", "no function"),
        ("def f(:\n", "syntax errors"),
        ("def f(a):\n" + "    a = 1\n" * 700, "longer than 6,000 characters"),
    ],
)
def test_what_cannot_be_cut_says_why(code: str, reason: str) -> None:
    assert cut(Entry(0, "f", code, "python"), seed=0) == reason


def test_samples_are_drawn_by_the_seed_and_sorted_by_row(held_out: Corpus) -> None:
    first = draw_samples(held_out, 10, seed=1)
    rows = [sample.row for sample in first.samples]
    assert rows == sorted(set(rows))
    assert len(rows) == 10
    assert first == draw_samples(held_out, 10, seed=1)
    assert rows != [sample.row for sample in draw_samples(held_out, 10, seed=2).samples]
    assert first.digest == held_out.digest()


def test_more_samples_keep_those_of_fewer(held_out: Corpus) -> None:
    few = draw_samples(held_out, 5, seed=3).samples
    every = draw_samples(held_out, None, seed=3).samples
    assert len(every) == 30
    assert [sample for sample in every if sample.row in {s.row for s in few}] == few


def test_skipped_records_are_counted_and_passed_over(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    codes = ["def f(:", None, "x = 1", FUNCTION.format(n=1)]
    rows = [{"id": n, "code": codes[n % 4]} for n in rng.permutation(400).tolist()]
    corpus = open_python(write_jsonl(tmp_path / "mixed.jsonl", rows))
    found = draw_samples(corpus, None, seed=0)
    assert len(found.samples) == 100
    assert found.skipped == {"null code": 100, "syntax errors": 100, "no function": 100}
    assert len(draw_samples(corpus, 70, seed=0).samples) == 70


def test_a_corpus_without_a_function_is_refused(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "flat.jsonl", [{"id": 1, "code": "x = 1"}])
    with pytest.raises(CorpusError, match="1 no function"):
        draw_samples(open_corpus(path, language="python"), 5, seed=0)
