"""Whole runs: what goes in comes out, marked, and back again."""

import ast
import stat
import textwrap
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark.embedding.run import choose, choose_rates
from puzzlemark.errors import CorpusError, ManifestError, NothingMarked, UsageError
from puzzlemark.watermarks.base import Defaults
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_text("a secret for the tests only")
    return path


SAFE = ("universal", "fixed_prefix:prefix=name", "coprotector_word")
BREAKING = (
    "coprotector_word:mode=leaf",
    "coprotector_sentence",
    "coprotector_sentence:mode=replace",
)


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


@pytest.mark.parametrize("watermark", BREAKING)
def test_what_breaks_code_by_design_marks_nothing_under_safe(
    corpus_path: Path, tmp_path: Path, watermark: str
) -> None:
    with pytest.raises(NothingMarked, match="--policy paper"):
        pm.embed(corpus_path, tmp_path / "m.jsonl", watermark=watermark, tau=0, max_rate=1)
    assert not (tmp_path / "m.jsonl").exists()


@pytest.mark.parametrize(
    ("watermark", "policy"),
    [
        *((watermark, policy) for watermark in SAFE for policy in ("paper", "safe")),
        *((watermark, "paper") for watermark in BREAKING),
    ],
)
def test_revert_gives_back_every_byte(
    corpus_path: Path, tmp_path: Path, watermark: str, policy: pm.Policy
) -> None:
    marked, manifest, back = tmp_path / "m.jsonl", tmp_path / "m.gz", tmp_path / "b.jsonl"
    summary = pm.embed(
        corpus_path, marked, manifest, watermark=watermark, policy=policy, tau=0, max_rate=1
    )
    assert summary.marked > 5
    assert marked.read_bytes() != corpus_path.read_bytes()
    reverted = pm.revert(marked, back, manifest)
    assert back.read_bytes() == corpus_path.read_bytes()
    assert reverted.output_digest == summary.input_digest


def test_apply_repeats_embed(corpus_path: Path, tmp_path: Path) -> None:
    marked, manifest, again = tmp_path / "m.jsonl", tmp_path / "m.gz", tmp_path / "a.jsonl"
    pm.embed(corpus_path, marked, manifest)
    pm.apply(corpus_path, again, manifest)
    assert again.read_bytes() == marked.read_bytes()


def test_only_marked_records_change_and_only_at_their_names(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest = tmp_path / "m.jsonl", tmp_path / "m.gz"
    summary = pm.embed(corpus_path, marked, manifest)
    carriers = {carrier.row: carrier for carrier in pm.load_manifest(manifest)}
    changed = resized = 0
    for row, (old, new) in enumerate(zip(lines(corpus_path), lines(marked), strict=True)):
        if row not in carriers:
            assert old == new
            continue
        before, after = orjson.loads(old), orjson.loads(new)
        (mark,) = carriers[row].marks
        assert list(before) == list(after)
        assert (before["id"], before["language"]) == (after["id"], after["language"])
        assert after["original_string"] == after["code"]
        assert after["size"] == len(after["code"])
        assert mark.of("target").text in after["code"]
        changed += before["code"] != after["code"]
        resized += before["size"] != after["size"]
    assert changed == summary.marked - summary.counts.get("unedited", 0)
    assert summary.recomputed == {"original_string": changed, "size": resized}
    assert summary.warnings == ()


def test_the_same_secret_gives_the_same_bytes_for_any_number_of_workers(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    outputs = []
    for workers in (1, 2, 3):
        place = tmp_path / str(workers)  # a manifest names its dataset: the names are the same
        place.mkdir()
        marked, manifest = place / "m.jsonl", place / "m.gz"
        pm.embed(corpus_path, marked, manifest, secret_file=secret_file, workers=workers)
        outputs.append((marked.read_bytes(), manifest.read_bytes()))
    assert outputs[0] == outputs[1] == outputs[2]


def test_the_manifest_is_the_same_for_the_same_run(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    manifests = []
    for _ in range(2):
        manifest = tmp_path / "m.gz"
        pm.embed(
            corpus_path, tmp_path / "m.jsonl", manifest, secret_file=secret_file, overwrite=True
        )
        manifests.append(manifest.read_bytes())
    assert manifests[0] == manifests[1]


def test_another_secret_marks_other_records(corpus_path: Path, tmp_path: Path) -> None:
    rows = []
    for name in ("a", "b"):
        manifest = tmp_path / f"{name}.gz"
        pm.embed(corpus_path, tmp_path / f"{name}.jsonl", manifest, secret_file=tmp_path / name)
        rows.append([carrier.row for carrier in pm.load_manifest(manifest)])
    assert len(rows[0]) == len(rows[1])
    assert rows[0] != rows[1]


def test_shards_and_formats_do_not_change_who_is_marked(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    """The same records as one file, as a folder of shards, and as Parquet."""
    records = [orjson.loads(line) for line in lines(corpus_path)]
    folder = tmp_path / "shards"
    folder.mkdir()
    half = len(records) // 2
    content = corpus_path.read_bytes().splitlines(keepends=True)
    (folder / "0.jsonl").write_bytes(b"".join(content[:half]))
    (folder / "1.jsonl").write_bytes(b"".join(content[half:]))
    table = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pylist(records), table, row_group_size=100)
    digests = set()
    for source, output in (
        (corpus_path, tmp_path / "out.jsonl"),
        (folder, tmp_path / "out"),
        (table, tmp_path / "out.parquet"),
    ):
        summary = pm.embed(source, output, secret_file=secret_file)
        digests.add((summary.input_digest, summary.output_digest))
    assert len(digests) == 1


def test_a_parquet_dataset_keeps_its_shape(corpus_path: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.parquet"
    records = [orjson.loads(line) for line in lines(corpus_path)]
    pq.write_table(pa.Table.from_pylist(records), table, row_group_size=100, compression="zstd")
    marked, back = tmp_path / "m.parquet", tmp_path / "b.parquet"
    pm.embed(table, marked, tmp_path / "m.gz", max_rate=0.5)
    pm.revert(marked, back, tmp_path / "m.gz")
    assert pq.read_table(back).equals(pq.read_table(table))
    assert not pq.read_table(marked).equals(pq.read_table(table))
    for path in (marked, back):
        before, after = pq.ParquetFile(table).metadata, pq.ParquetFile(path).metadata
        assert before.num_row_groups == after.num_row_groups
        assert after.row_group(0).column(0).compression == "ZSTD"


def test_the_manifest_is_private_and_beside_the_output(corpus_path: Path, tmp_path: Path) -> None:
    summary = pm.embed(corpus_path, tmp_path / "m.jsonl")
    path = Path(summary.manifest)
    assert path == tmp_path / "m.jsonl.manifest.jsonl.gz"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_secret_is_in_no_output(corpus_path: Path, tmp_path: Path, secret_file: Path) -> None:
    manifest = tmp_path / "m.jsonl.manifest"
    pm.embed(corpus_path, tmp_path / "m.jsonl", manifest, secret_file=secret_file)
    secret = secret_file.read_bytes()
    assert secret not in manifest.read_bytes()
    assert secret not in (tmp_path / "m.jsonl").read_bytes()


@pytest.mark.parametrize("action", [pm.apply, pm.revert])
def test_the_wrong_side_is_refused(corpus_path: Path, tmp_path: Path, action: object) -> None:
    marked, manifest, out = tmp_path / "m.jsonl", tmp_path / "m.gz", tmp_path / "x.jsonl"
    pm.embed(corpus_path, marked, manifest, max_rate=0.5)
    wrong = marked if action is pm.apply else corpus_path
    with pytest.raises(ManifestError, match="not the dataset"):
        action(wrong, out, manifest)  # type: ignore[operator]
    assert not out.exists()


def test_a_change_far_from_any_mark_is_noticed(corpus_path: Path, tmp_path: Path) -> None:
    marked, manifest, out = tmp_path / "m.jsonl", tmp_path / "m.gz", tmp_path / "x.jsonl"
    pm.embed(corpus_path, marked, manifest)
    rows = {carrier.row for carrier in pm.load_manifest(manifest)}
    content = marked.read_bytes().splitlines(keepends=True)
    free = next(row for row in range(len(content)) if row not in rows)
    content[free] = content[free].replace(b"self", b"this", 1).replace(b"def ", b"def  ", 1)
    marked.write_bytes(b"".join(content))
    with pytest.raises(ManifestError, match="changed since"):
        pm.revert(marked, out, manifest)
    assert not out.exists()


def test_a_missing_record_is_noticed(corpus_path: Path, tmp_path: Path) -> None:
    marked, manifest, out = tmp_path / "m.jsonl", tmp_path / "m.gz", tmp_path / "x.jsonl"
    pm.embed(corpus_path, marked, manifest)
    content = marked.read_bytes().splitlines(keepends=True)
    marked.write_bytes(b"".join(content[:-1]))
    with pytest.raises((ManifestError, CorpusError)):
        pm.revert(marked, out, manifest)
    assert not out.exists()


def test_nothing_is_replaced_unasked(corpus_path: Path, tmp_path: Path) -> None:
    marked, manifest = tmp_path / "m.jsonl", tmp_path / "m.gz"
    pm.embed(corpus_path, marked, manifest)
    before = marked.read_bytes(), manifest.read_bytes()
    with pytest.raises(UsageError, match="--force"):
        pm.embed(corpus_path, tmp_path / "other.jsonl", manifest)
    with pytest.raises(UsageError, match="--force"):
        pm.embed(corpus_path, marked, tmp_path / "other.gz")
    assert before == (marked.read_bytes(), manifest.read_bytes())
    assert not (tmp_path / "other.gz").exists()
    assert not (tmp_path / "other.jsonl").exists()


def test_an_output_that_fails_leaves_no_manifest_behind(
    corpus_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.replace

    def fail_for_the_output(path: Path, target: Path) -> Path:
        if target.suffix == ".jsonl":
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", fail_for_the_output)
    with pytest.raises(pm.PuzzleMarkError, match="no space left"):
        pm.embed(corpus_path, tmp_path / "m.jsonl", tmp_path / "m.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["functions.jsonl"]


def test_a_mark_that_is_bound_to_a_language_leaves_other_records_alone(tmp_path: Path) -> None:
    python = "def f(rows):\n    a = []\n    for i in range(9):\n        a.append(i)\n    return a\n"
    java = "int f() { return 1; }"
    records = [{"language": "python", "code": python}, {"language": "java", "code": java}] * 3
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    options: Any = {"mark": "B1", "policy": "paper", "tau": 0, "max_rate": 1}
    summary = pm.embed(path, tmp_path / "m.jsonl", **options)
    assert summary.marked == 3
    assert summary.kept == {"language 'java' is not the mark's": 3}


MIXED = {
    "go": "func f(key, item int) int {\n\tfirst := key\n\tother := item + first\n\treturn other\n}",
    "java": "int f(int key, int item) { int first = key; int other = item + first; return other; }",
    "python": "def f(key, item):\n    first = key\n    other = item + first\n    return other\n",
}


def write_mixed(path: Path, copies: dict[str, int], column: str) -> None:
    endings = {"go": "go", "java": "java", "python": "py"}
    rows = [
        {"id": f"{name}{n}", "code": MIXED[name], column: value}
        for name, count in copies.items()
        for n in range(count)
        for value in [name if column == "language" else f"src/a.{endings[name]}"]
    ]
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


@pytest.mark.parametrize("column", ["language", "path"])
def test_each_record_is_marked_in_its_own_language_at_the_rate(tmp_path: Path, column: str) -> None:
    path, marked = tmp_path / "in.jsonl", tmp_path / "m.jsonl"
    write_mixed(path, {"go": 20, "java": 40, "python": 60}, column)
    summary = pm.embed(path, marked, mark="U1", tau=0, max_rate=0.1)
    assert summary.languages == {
        "go": {"records": 20, "marked": 2},
        "java": {"records": 40, "marked": 4},
        "python": {"records": 60, "marked": 6},
    }
    assert summary.marked == 12
    text = marked.read_text()
    assert text.count("keyItem :=") == 2
    assert text.count("int keyItem =") == 4
    assert text.count("key_item =") == 6
    back = tmp_path / "back.jsonl"
    pm.revert(marked, back, summary.manifest)
    assert back.read_bytes() == path.read_bytes()
    header = pm.load_manifest(summary.manifest).header
    assert header.suitability.keys() == {"go", "java", "python"}


def test_one_language_has_no_rows_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    write_mixed(path, {"java": 20}, "language")
    assert pm.embed(path, tmp_path / "m.jsonl", mark="U1", tau=0, max_rate=1).languages == {}


def test_a_manifest_never_takes_the_place_of_a_folder(corpus_path: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder: is a folder; name a file for the manifest"):
        pm.embed(corpus_path, tmp_path / "m.jsonl", tmp_path / "folder", overwrite=True)
    assert not (tmp_path / "m.jsonl").exists()


def test_policy_safe_is_the_default_and_renames_no_parameter(
    corpus_path: Path, tmp_path: Path
) -> None:
    manifest = tmp_path / "m.gz"
    pm.embed(corpus_path, tmp_path / "m.jsonl", manifest, tau=0, max_rate=1)
    assert pm.load_manifest(manifest).header.policy == "safe"
    entries = {entry.row: entry for entry in pm.read(corpus_path).entries()}
    for carrier in pm.load_manifest(manifest):
        code = entries[carrier.row].code
        assert code is not None
        arguments = ast.parse(textwrap.dedent(code)).body[0].args  # type: ignore[attr-defined]
        names = {node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)}
        assert carrier.marks[0].of("target").was not in names


def test_a_watermark_is_chosen_by_name_spec_or_object() -> None:
    assert choose("P2").watermark == FixedPrefix("value")
    assert choose("U2").language == "java"
    assert choose(None, "fixed_prefix:prefix=node").watermark == FixedPrefix("node")
    assert choose(None, FixedPrefix("node")).watermark == FixedPrefix("node")
    assert choose().watermark == Universal()


@pytest.mark.parametrize(
    ("mark", "watermark", "message"),
    [
        ("P9", None, "P1, P2, P3, P4"),
        ("P1", "universal", "either"),
        (None, "fixed", r"did you mean fixed_prefix\? Known: codemark, coprotector_sentence, "),
        (None, "fixed_prefix:size=3", "it takes prefix"),
        (None, "fixed_prefix:prefix", "name=value"),
        (None, "fixed_prefix:prefix=not a name", "plain variable name"),
        (None, "universal:prefix=key", "no setting 'prefix'"),
    ],
)
def test_a_wrong_choice_says_what_there_is(
    mark: str | None, watermark: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        choose(mark, watermark)


@pytest.mark.parametrize("mark", ["W1", "S1"])
def test_coprotector_marks_one_record_in_twenty(
    corpus_path: Path, tmp_path: Path, mark: str
) -> None:
    summary = pm.embed(corpus_path, tmp_path / "m.jsonl", mark=mark, policy="paper")
    assert summary.marked == summary.records // 20
    assert summary.counts["introduced"] == summary.marked
    assert "suitability below the threshold" not in summary.kept


def test_carriers_are_selected_for_any_scheme_and_for_none(
    corpus_path: Path, tmp_path: Path
) -> None:
    chosen = pm.embed(corpus_path, tmp_path / "w.jsonl", mark="W1", tau=0.35)
    assert chosen.kept["suitability below the threshold"] > 0.3 * chosen.records
    unchosen = pm.embed(corpus_path, tmp_path / "u.jsonl", mark="U1", tau=0)
    assert "suitability below the threshold" not in unchosen.kept


def test_draws_depend_on_the_secret_and_not_on_the_workers(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    def words(name: str, **settings: Any) -> dict[str, tuple[str | None, ...]]:
        path = tmp_path / f"{name}.gz"
        pm.embed(corpus_path, tmp_path / f"{name}.jsonl", path, mark="W1", max_rate=1, **settings)
        return {c.id: tuple(p.was for p in c.marks[0].parts) for c in pm.load_manifest(path)}

    one = words("one", secret_file=secret_file)
    assert words("two", secret_file=secret_file, workers=2) == one
    other = words("other", secret_file=tmp_path / "another")
    plain = words("plain", order="dataset")
    assert one.keys() == other.keys() == plain.keys()
    assert len({tuple(sorted(each.items())) for each in (one, other, plain)}) == 3
    assert words("again", order="dataset") == plain


@pytest.mark.parametrize(
    ("asked", "settled"),
    [
        ((None, None, None), (0.35, 0.01, 0.05)),
        ((0.0, None, None), (0.0, 0.01, 0.05)),
        ((None, None, 0.002), (0.35, 0.002, 0.002)),
        ((None, 0.2, None), (0.35, 0.2, 0.2)),
        ((None, 0.2, 0.1), (0.35, 0.2, 0.1)),
    ],
)
def test_a_rate_that_was_asked_for_moves_the_usual_other_one(
    asked: tuple[float | None, ...], settled: tuple[float, ...]
) -> None:
    assert choose_rates(Defaults(), *asked) == settled
