import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from puzzlemark.corpora.base import Corpus
from puzzlemark.errors import UsageError
from puzzlemark.languages.base import find
from puzzlemark.models.base import Answer, BudgetEnded, Failure, Request
from puzzlemark.models.scripted import Scripted
from puzzlemark.quality.measure import (
    AnswersError,
    answers_path,
    compared_tokens,
    measure,
    measure_sample,
    next_line,
)
from puzzlemark.quality.result import Quality, QualityError, Terms, load_quality
from puzzlemark.quality.samples import Sample, draw_samples
from puzzlemark.quality.scoring import Loss

TERMS = Terms(10, 40, 4, 0.0, 0, None, 6000)


def sample(continuation: str, prompt: str = "def f(name, path):") -> Sample:
    language = find("python")
    assert language is not None
    return Sample(3, "f", language, prompt, continuation, ("name", "path"))


def knows(corpus: Corpus) -> Callable[[Request], str]:
    """A model that knows every held-out function by heart."""
    truth = {s.prompt: s.continuation for s in draw_samples(corpus, None, seed=0).samples}
    return lambda request: truth[request.prompt]


class Counted:
    """Counts how often it is asked, and fails, ends or is interrupted when told to."""

    def __init__(self, function: Callable[[Request], str]) -> None:
        self.function, self.asked = function, 0
        self.refuse: Callable[[int], Answer | None] = lambda _nth: None

    def __call__(self, request: Request) -> Answer:
        self.asked += 1
        return self.refuse(self.asked) or self.function(request)


class Letters:
    """A scorer whose loss of a text is its number of lines, a token a character."""

    def describe(self) -> dict[str, str]:
        return {"kind": "letters"}

    def score(self, text: str) -> Loss | Failure:
        if "merge_7" in text:
            return Failure("seven")
        return Loss(float(text.count("\n")), len(text))


def run(
    corpus: Corpus, function: Callable[[Request], Answer], output: Path, batch_size: int = 4
) -> Quality:
    model = Scripted("model", function, batch_size=batch_size)
    return measure(corpus, model, output=output, samples=20, seed=0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n    x =  1\n    y", "x = 1"),
        ("\n\n \t\n\tif a:\r\n", "if a:"),
        (" + 2\n    y = 3", "+ 2"),
        ("  \n ", ""),
        ("", ""),
    ],
)
def test_the_next_line_is_the_first_with_something_on_it(text: str, line: str) -> None:
    assert next_line(text) == line


def test_both_sides_are_cut_to_the_window_or_to_the_truth() -> None:
    long, short = sample("\n  a b c d e f"), sample("\n  a b")
    assert compared_tokens(long, "1 2 3 4 5 6", 4) == (list("1234"), list("abcd"))
    assert compared_tokens(short, "1 2 3 4 5 6", 4) == (list("12"), list("ab"))
    assert compared_tokens(long, "1", 4) == (list("1"), list("abcd"))


def test_one_sample_has_its_numbers() -> None:
    asked = sample("\n    x = name\n    return x")
    found = measure_sample(asked, "\n    x =  name\n    name_path = 1", Loss(6.0, 4), TERMS)
    assert found.bleu == pytest.approx(100 * (3 / 4 * 2 / 3 * 1 / 2 * (1 / 2 / 1)) ** (1 / 4))
    assert (found.exact, found.loss, found.loss_tokens) == (True, 1.5, 4)
    assert found.activation is not None
    assert found.activation.names == ("name_path",)


def test_a_failed_answer_has_no_numbers_but_its_reason() -> None:
    found = measure_sample(sample("\n x"), Failure("too long"), Failure("too long"), TERMS)
    assert (found.failure, found.loss_failure) == ("too long", "too long")
    assert (found.bleu, found.exact, found.activation, found.loss) == (None,) * 4


def test_a_model_that_knows_the_code_is_perfect(held_out: Corpus, tmp_path: Path) -> None:
    quality = run(held_out, knows(held_out), tmp_path / "q.json")
    assert len(quality.samples) == 20
    assert quality.bleu == pytest.approx(100)
    assert quality.corpus_bleu == pytest.approx(100)
    assert (quality.exact, quality.failed, quality.loss) == (1, 0, None)


def test_a_model_that_says_nothing_is_worth_nothing(held_out: Corpus, tmp_path: Path) -> None:
    quality = run(held_out, lambda _request: "", tmp_path / "q.json")
    assert (quality.bleu, quality.corpus_bleu, quality.exact) == (0, 0, 0)


def test_joined_names_are_counted(held_out: Corpus, tmp_path: Path) -> None:
    quality = run(held_out, lambda _request: "\n    left_right = 1\n", tmp_path / "q.json")
    assert all(s.activation and s.activation.universal for s in quality.samples)


def test_the_file_is_the_result(held_out: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "new" / "q.json"
    quality = run(held_out, knows(held_out), path)
    assert load_quality(path) == quality
    fields = json.loads(path.read_text())
    means = sum(sample["bleu"] for sample in fields["samples"]) / 20
    assert means == quality.bleu


def test_a_scorer_gives_the_loss_and_its_failures(held_out: Corpus, tmp_path: Path) -> None:
    model = Scripted("model", knows(held_out))
    quality = measure(held_out, model, output=tmp_path / "q.json", samples=None, scorer=Letters())
    by_id = {sample.id: sample for sample in quality.samples}
    code = next(s.code for s in draw_samples(held_out, None, seed=0).samples if s.id == "f3")
    assert by_id["f3"].loss == pytest.approx(12 / len(code))
    assert (by_id["f7"].loss, by_id["f7"].loss_failure) == (None, "seven")
    assert by_id["f7"].bleu == pytest.approx(100)


def test_an_interrupted_run_asks_nothing_twice_and_ends_the_same(
    held_out: Corpus, tmp_path: Path
) -> None:
    function = Counted(knows(held_out))

    def interrupt(nth: int) -> None:
        if nth == 10:
            raise KeyboardInterrupt

    function.refuse = interrupt
    path = tmp_path / "q.json"
    with pytest.raises(KeyboardInterrupt):
        run(held_out, function, path)
    assert not path.exists()
    kept = answers_path(path)
    with kept.open("ab") as file:
        file.write(b'{"row": 3, "comple')  # a line that a power cut tore
    function.refuse = lambda _nth: None
    resumed = run(held_out, function, path)
    assert function.asked == 10 + 20 - 8  # two batches of four were answered before
    assert resumed == run(held_out, knows(held_out), tmp_path / "whole.json")
    assert path.read_bytes() == (tmp_path / "whole.json").read_bytes()
    run(held_out, function, path)
    assert function.asked == 22


def test_failures_are_asked_again_by_the_next_run(held_out: Corpus, tmp_path: Path) -> None:
    function = Counted(knows(held_out))
    function.refuse = lambda nth: Failure("busy") if nth in (2, 5) else None
    path = tmp_path / "q.json"
    first = run(held_out, function, path)
    assert first.failed == 2
    assert first.bleu == pytest.approx(100)
    second = run(held_out, function, path)
    assert (second.failed, function.asked) == (0, 22)


def test_what_a_spent_budget_bought_is_kept(held_out: Corpus, tmp_path: Path) -> None:
    class Poor(Scripted):
        def complete(self, requests: Sequence[Request]) -> list[Answer]:  # noqa: ARG002
            raise BudgetEnded("spent", {0: "\n    x"})

    path = tmp_path / "q.json"
    with pytest.raises(BudgetEnded):
        measure(held_out, Poor("model", knows(held_out)), output=path, samples=20)
    lines = answers_path(path).read_text().splitlines()
    assert [json.loads(line).get("completion") for line in lines[1:]] == ["\n    x"]


def test_another_run_at_the_same_place_is_refused(held_out: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    run(held_out, knows(held_out), path)
    before = path.read_bytes()
    with pytest.raises(AnswersError, match=r"another measurement: terms\.seed was 0, is 1;"):
        measure(held_out, Scripted("model", knows(held_out)), output=path, samples=20, seed=1)
    with pytest.raises(AnswersError, match=r"model\.\w+ was"):
        measure(held_out, Scripted("other", knows(held_out)), output=path, samples=20)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["notes", "notes\n", '{"a": 1}\n', "[]\n"])
def test_a_file_that_is_no_journal_is_not_touched(
    held_out: Corpus, tmp_path: Path, content: str
) -> None:
    kept = answers_path(tmp_path / "q.json")
    kept.write_text(content)
    with pytest.raises(AnswersError, match="not a file of answers"):
        run(held_out, knows(held_out), tmp_path / "q.json")
    assert kept.read_text() == content


def test_a_changed_line_is_named(held_out: Corpus, tmp_path: Path) -> None:
    run(held_out, knows(held_out), tmp_path / "q.json")
    kept = answers_path(tmp_path / "q.json")
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join([*lines[:4], "{}\n", *lines[5:]]))
    with pytest.raises(AnswersError, match=r"answers\.jsonl:5: not an answer"):
        run(held_out, knows(held_out), tmp_path / "q.json")


@pytest.mark.parametrize(("samples", "window"), [(1, 16), (20, 0)])
def test_too_little_to_measure_is_refused(
    held_out: Corpus, tmp_path: Path, samples: int, window: int
) -> None:
    model = Scripted("model", knows(held_out))
    with pytest.raises(UsageError):
        measure(held_out, model, output=tmp_path / "q.json", samples=samples, window=window)
    assert not answers_path(tmp_path / "q.json").exists()


def test_progress_is_told_by_stage(held_out: Corpus, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    model = Scripted("model", knows(held_out), batch_size=8)
    measure(
        held_out,
        model,
        output=tmp_path / "q.json",
        samples=20,
        scorer=Letters(),
        progress=lambda *call: told.append(call),
    )
    assert told[:4] == [("completing", done, 20) for done in (0, 8, 16, 20)]
    assert told[-1] == ("scoring", 20, 20)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _text: "nonsense", "not JSON"),
        (lambda _text: "[]", "not a file of"),
        (lambda text: text.replace('"version": 1', '"version": 9'), "another PuzzleMark"),
        (lambda text: text.replace('"heldout"', '"held"'), "heldout"),
        (lambda text: text.replace('"exact": true', '"exact": "maybe"', 1), "exact"),
        (lambda text: text.replace('"row"', '"more": 1, "row"', 1), "more"),
        (lambda text: text.replace('"window": 16', '"window": "wide"'), "terms.window"),
    ],
)
def test_a_damaged_result_is_refused(
    held_out: Corpus, tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    path = tmp_path / "q.json"
    run(held_out, knows(held_out), path)
    path.write_text(change(path.read_text()))
    with pytest.raises(QualityError, match=message):
        load_quality(path)
