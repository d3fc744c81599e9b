"""What every engine promises, run over all that are found and over one of a stranger's making."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import puzzlemark as pm
from puzzlemark import plugins
from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors.base import keep_parts
from puzzlemark.detectors.decoma import DeCoMa
from puzzlemark.engines.base import Engine, make, open_engine
from puzzlemark.errors import CorpusError, PuzzleMarkError, UsageError
from tests.engines.made_up import Shuffled, ids_of

# what a cluster of ray's uses is told too late for tests/slowness.py to know whose it was
NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] * (name == "ray"))
    for name in (*plugins.names("engines"), "made up")
]


# for the whole file: a cluster takes seconds to start
@pytest.fixture(params=NAMES, scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "ray":
        pytest.importorskip("ray")
    made = Shuffled() if request.param == "made up" else make(2, request.param)
    yield made
    made.close()


def fail_on_seven(number: int) -> int:
    if number == 7:
        raise CorpusError("train.jsonl:7: not a JSON object")
    return number


def double(number: int) -> int:
    return 2 * number


def test_it_is_an_engine(engine: Engine) -> None:
    assert isinstance(engine, Engine)


def test_results_come_in_the_order_of_the_batches(engine: Engine) -> None:
    assert list(engine.map(double, range(30))) == [2 * number for number in range(30)]


def test_no_batches_give_no_results(engine: Engine) -> None:
    assert list(engine.map(double, [])) == []


def test_an_error_arrives_with_the_record_that_it_names(engine: Engine) -> None:
    with pytest.raises(CorpusError, match=r"train\.jsonl:7: not a JSON object"):
        list(engine.map(fail_on_seven, range(20)))


def test_it_can_be_used_again_after_an_error(engine: Engine) -> None:
    with pytest.raises(PuzzleMarkError):
        list(engine.map(fail_on_seven, [7]))
    assert list(engine.map(double, [1, 2])) == [2, 4]


def test_embed_gives_the_same_bytes_as_in_one_process(
    engine: Engine, corpus_path: Path, tmp_path: Path
) -> None:
    outputs = []
    for name, chosen in (("one", "serial"), ("other", engine)):
        data, manifest = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.manifest"
        pm.embed(corpus_path, data, manifest, order="dataset", max_rate=0.2, engine=chosen)
        outputs.append((data.read_bytes(), manifest.read_bytes()))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("method", ["decoma", "killbadcode"])
def test_detect_gives_the_same_bytes_as_in_one_process(
    engine: Engine, method: str, corpus_path: Path, tmp_path: Path
) -> None:
    if method == "killbadcode":
        pytest.importorskip("tokenizers")
    few = tmp_path / "few.jsonl"
    few.write_bytes(b"".join(corpus_path.read_bytes().splitlines(keepends=True)[:120]))
    suspicions = []
    for name, chosen in (("one", "serial"), ("other", engine)):
        output = tmp_path / f"{name}.parquet"
        if method == "decoma":  # its own pairs would be known
            found = pm.detect(few, output, method=DeCoMa(clean_samples=0), engine=chosen)
        else:
            found = pm.detect(few, output, method=method, clean=few, engine=chosen)
        assert found.flagged > 0
        suspicions.append(output.read_bytes())
    assert suspicions[0] == suspicions[1]


def test_what_is_kept_on_the_way_is_written_by_the_caller(
    engine: Engine, corpus_path: Path, tmp_path: Path
) -> None:
    corpus = open_corpus(corpus_path)
    parts = keep_parts(ids_of, corpus, engine=engine, place=tmp_path / "parts")
    kept = b"".join(part.read_bytes() for part in parts).decode().splitlines()
    assert kept == [entry.id for entry in corpus.entries()]


def test_a_made_up_engine_is_used_by_its_name(
    corpus_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point of a third party's package is all that it needs."""
    made: list[Shuffled] = []

    class Remembered(Shuffled):
        def __init__(self, workers: int) -> None:
            super().__init__(workers)
            made.append(self)

    ours = plugins.load

    def load(package: str, name: str) -> object:
        return SimpleNamespace(PLUGIN=Remembered) if name == "shuffled" else ours(package, name)

    monkeypatch.setattr(plugins, "load", load)
    pm.embed(corpus_path, tmp_path / "a.jsonl", order="dataset", engine="shuffled", workers=3)
    pm.embed(corpus_path, tmp_path / "b.jsonl", order="dataset")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    (engine,) = made
    assert (engine.workers, engine.closed) == (3, 1)
    assert engine.maps > 1


def test_an_engine_that_is_passed_in_is_left_open(corpus_path: Path, tmp_path: Path) -> None:
    engine = Shuffled()
    pm.embed(corpus_path, tmp_path / "a.jsonl", order="dataset", engine=engine)
    pm.score(corpus_path, tmp_path / "a.parquet", engine=engine)
    assert engine.closed == 0
    assert engine.maps > 1


def test_an_engine_that_was_made_is_closed_at_the_end() -> None:
    with open_engine("processes", 2) as engine:
        assert list(engine.map(double, [1])) == [2]
    with pytest.raises(RuntimeError, match="shutdown"):
        list(engine.map(double, [1]))


def test_an_unknown_engine_is_a_usage_error(corpus_path: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere.*processes, ray, serial"):
        pm.embed(corpus_path, tmp_path / "a.jsonl", engine="nowhere")
    assert not (tmp_path / "a.jsonl").exists()
