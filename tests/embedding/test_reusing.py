"""What `embed` can be given in the place of a path and of a survey."""

from pathlib import Path
from typing import Any

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UsageError

JAVA = """int index(String key, int limit) {
    int found = key.length();
    int shorter = found - limit;
    return shorter;
}
"""


def outputs(folder: Path, name: str) -> tuple[bytes, bytes]:
    return (folder / f"{name}.jsonl").read_bytes(), (folder / f"{name}.manifest").read_bytes()


@pytest.fixture
def mixed(corpus_path: Path, tmp_path: Path) -> Path:
    """Python and Java, and some that cannot be measured, for several reasons."""
    records = [orjson.loads(line) for line in corpus_path.read_bytes().splitlines()[:150]]
    for record in records:
        record["language"] = "python"
    for place, changed in (
        (5, {"code": "def f(:"}),
        (9, {"code": None}),
        (20, {"language": "cobol"}),
        (33, {"code": ""}),
    ):
        records[place] |= changed
    for place in range(40, 60):
        records[place] |= {"language": "java", "code": JAVA}
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


@pytest.mark.parametrize("mark", ["U1", "P1", "P3", "S1"])
def test_features_of_an_earlier_score_give_the_same_bytes(
    mixed: Path, tmp_path: Path, mark: str
) -> None:
    features = tmp_path / "features.parquet"
    pm.score(mixed, features)
    for name, given in (("without", None), ("with", features)):
        pm.embed(
            mixed,
            tmp_path / f"{name}.jsonl",
            tmp_path / f"{name}.manifest",
            mark=mark,
            policy="paper",
            min_rate=0.2,
            max_rate=0.3,
            tau=0.1,
            order="dataset",
            features=given,
        )
    assert outputs(tmp_path, "with") == outputs(tmp_path, "without")


def test_nothing_is_measured_again(
    mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pm.score(mixed, tmp_path / "f.parquet")

    def refuse(*_: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr("puzzlemark.embedding.survey.measure", refuse)
    pm.embed(mixed, tmp_path / "out.jsonl", mark="U1", features=str(tmp_path / "f.parquet"))
    with pytest.raises(AssertionError, match="measured again"):
        pm.embed(mixed, tmp_path / "other.jsonl", mark="U1")


def test_the_features_that_were_scored_by_are_used(mixed: Path, tmp_path: Path) -> None:
    pm.score(mixed, tmp_path / "f.parquet", features=("cc", "nloc"))
    stages = []
    for name, given in (("a", tmp_path / "f.parquet"), ("b", ("cc", "nloc")), ("c", "cc,nloc")):
        data, manifest = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.manifest"
        pm.embed(mixed, data, manifest, mark="U1", order="dataset", features=given)
        assert pm.load_manifest(manifest).header.features == ("cc", "nloc")
        stages.append(outputs(tmp_path, name))
    assert stages[0] == stages[1] == stages[2]


def test_features_of_another_dataset_are_refused(mixed: Path, tmp_path: Path) -> None:
    pm.score(mixed, tmp_path / "f.parquet")
    lines = mixed.read_bytes().splitlines(keepends=True)
    changed = orjson.loads(lines[0])
    changed["code"] += "\n# changed\n"
    for other in ([orjson.dumps(changed) + b"\n", *lines[1:]], lines[:-1], [*lines, lines[0]]):
        mixed.write_bytes(b"".join(other))
        with pytest.raises(UsageError, match=r"another dataset|more records"):
            pm.embed(mixed, tmp_path / "o.jsonl", mark="U1", features=tmp_path / "f.parquet")
        assert not (tmp_path / "o.jsonl").exists()


def test_features_of_other_columns_or_another_language_are_refused(
    mixed: Path, tmp_path: Path
) -> None:
    features = tmp_path / "f.parquet"
    pm.score(mixed, features, id_column="code")
    with pytest.raises(UsageError, match="its columns are not those of this run"):
        pm.embed(mixed, tmp_path / "o.jsonl", mark="U1", features=features)
    pm.score(mixed, features, language="java", overwrite=True)
    with pytest.raises(UsageError, match="measured as java"):
        pm.embed(mixed, tmp_path / "o.jsonl", mark="U1", features=features)


@pytest.mark.parametrize("content", [b"", b"PAR1 no PAR1"])
def test_a_file_without_features_is_refused(mixed: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f.parquet").write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read as features"):
        pm.embed(mixed, tmp_path / "o.jsonl", mark="U1", features=tmp_path / "f.parquet")


def test_an_open_corpus_is_as_good_as_its_path(corpus_path: Path, tmp_path: Path) -> None:
    corpus = open_corpus(corpus_path)
    for name, given in (("path", corpus_path), ("corpus", corpus)):
        data, manifest = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.manifest"
        pm.embed(given, data, manifest, order="dataset")
        pm.score(given, tmp_path / f"{name}.parquet")
    assert outputs(tmp_path, "path") == outputs(tmp_path, "corpus")
    one, other = (tmp_path / f"{name}.parquet" for name in ("path", "corpus"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("given", [{"code_column": "code"}, {"language": "python"}])
def test_what_an_open_corpus_says_is_not_said_again(
    corpus_path: Path, tmp_path: Path, given: dict[str, Any]
) -> None:
    with pytest.raises(UsageError, match=f"leave out {next(iter(given))}"):
        pm.embed(open_corpus(corpus_path), tmp_path / "o.jsonl", **given)


def test_input_output_and_manifest_come_in_one_order(corpus_path: Path, tmp_path: Path) -> None:
    marked, back, manifest = tmp_path / "m.jsonl", tmp_path / "b.jsonl", tmp_path / "m.gz"
    pm.embed(corpus_path, marked, manifest, max_rate=0.3)
    pm.revert(marked, back, manifest)
    assert back.read_bytes() == corpus_path.read_bytes()
    pm.apply(path=back, manifest=manifest, output=tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == marked.read_bytes()
