"""Drawn names in whole datasets: the key decides the names and nothing else, and all comes back."""

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark.embedding.manifest import Carrier, Manifest
from puzzlemark.embedding.secret import find_secret
from puzzlemark.errors import ManifestError, UsageError
from puzzlemark.watermarks.synonyms import Synonyms

BEACONS = ("a" * 64, "b" * 64)
BOLD: dict[str, Any] = {"share": 1.0, "entropy": 0.2, "inside_line": False}


@pytest.fixture
def corpus_path(tmp_path: Path, corpus_bytes: bytes) -> Path:
    """Every second one of the real functions: enough to draw for, and half the time."""
    path = tmp_path / "functions.jsonl"
    path.write_bytes(b"".join(corpus_bytes.splitlines(keepends=True)[::2]))
    return path


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_text("a secret for the tests only")
    return path


def embed(
    source: Path, output: Path, secret_file: Path, scheme: Synonyms, **options: Any
) -> Manifest:
    options = {"max_rate": 1.0, "overwrite": True, **options}
    summary = pm.embed(source, output, watermark=scheme, secret_file=secret_file, **options)
    return pm.load_manifest(summary.manifest)


def public(carrier: Carrier) -> Any:
    """All that is said of a carrier but the drawn name, and the beacon it was drawn with."""
    marks = [
        (mark.function, mark.draw.group, mark.draw.unit, mark.draw.weights)
        for mark in carrier.marks
        if mark.draw is not None
    ]
    return carrier.row, carrier.id, marks


def test_with_another_key_the_same_carriers_and_priors_get_other_names(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    # a beacon changes what is drawn, and nothing of the secret order
    one, other = (
        embed(corpus_path, tmp_path / f"{b[0]}.jsonl", secret_file, Synonyms(beacon=b, **BOLD))
        for b in BEACONS
    )
    assert len(one) > 40
    assert [public(each) for each in one] == [public(each) for each in other]
    assert one.header.priors == other.header.priors
    names = [
        [mark.of("target").text for each in manifest for mark in each.marks]
        for manifest in (one, other)
    ]
    changed = sum(a != b for a, b in zip(*names, strict=True))
    assert 0.2 < changed / len(one) < 0.9


def test_a_drawn_name_is_the_one_that_key_and_manifest_give(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    manifest = embed(corpus_path, tmp_path / "m.jsonl", secret_file, Synonyms(**BOLD))
    key = find_secret(secret_file).derive("watermark:synonyms")
    marks = [mark for each in manifest for mark in each.marks]
    for mark in marks:
        assert mark.draw is not None
        assert mark.of("target").text == mark.draw.symbol(key)
    unedited = sum(not mark.edits for mark in marks)
    assert 0 < unedited < len(marks)
    assert manifest.header.counts["unedited"] == unedited


@pytest.mark.parametrize("options", [{}, {"marks_per_record": 3}, {"policy": "paper"}])
def test_revert_and_apply_give_every_byte(
    corpus_path: Path, tmp_path: Path, secret_file: Path, options: dict[str, Any]
) -> None:
    marked, back, again = (tmp_path / f"{name}.jsonl" for name in ("marked", "back", "again"))
    embed(corpus_path, marked, secret_file, Synonyms(**BOLD), **options)
    manifest = f"{marked}.manifest.jsonl.gz"
    pm.revert(marked, back, manifest)
    pm.apply(back, again, manifest)
    assert back.read_bytes() == corpus_path.read_bytes()
    assert again.read_bytes() == marked.read_bytes() != back.read_bytes()


def test_parquet_keeps_its_columns_and_comes_back(
    corpus_bytes: bytes, tmp_path: Path, secret_file: Path
) -> None:
    records = [
        {**orjson.loads(line), "repo": f"p{n % 7}"}
        for n, line in enumerate(corpus_bytes.splitlines()[::2])
    ]
    source, marked, back = (tmp_path / f"{name}.parquet" for name in ("in", "marked", "back"))
    pq.write_table(pa.Table.from_pylist(records), source)
    manifest = embed(source, marked, secret_file, Synonyms(**BOLD))
    assert manifest.header.columns["project"] == "repo"
    after = pq.read_table(marked).to_pylist()
    edited = {each.row for each in manifest if each.edits}
    for row, (one, other) in enumerate(zip(records, after, strict=True)):
        assert (one["code"] != other["code"]) is (row in edited)
        assert other["original_string"] == other["code"]  # derived columns follow
        assert other["size"] == len(other["code"])
    pm.revert(marked, back, f"{marked}.manifest.jsonl.gz")
    assert pq.read_table(back).to_pylist() == records


def test_workers_change_nothing(corpus_path: Path, tmp_path: Path, secret_file: Path) -> None:
    for workers in (1, 2):
        out = tmp_path / f"{workers}.jsonl"
        embed(corpus_path, out, secret_file, Synonyms(**BOLD), workers=workers)
    one, two = (tmp_path / f"{n}.jsonl.manifest.jsonl.gz" for n in (1, 2))
    assert one.read_bytes() == two.read_bytes()
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_features_that_were_measured_before_give_the_same_marks(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    pm.score(corpus_path, tmp_path / "f.parquet")
    plain = embed(corpus_path, tmp_path / "1.jsonl", secret_file, Synonyms(**BOLD))
    reused = embed(
        corpus_path,
        tmp_path / "2.jsonl",
        secret_file,
        Synonyms(**BOLD),
        features=tmp_path / "f.parquet",
    )
    assert list(plain.lines.values()) == list(reused.lines.values())


def test_who_is_left_out_for_another_column_does_not_depend_on_the_draw(
    tmp_path: Path, secret_file: Path
) -> None:
    # a docstring quotes the line that a rename would change: in a third of the records
    loop = "def f{0}(rows):\n    for {1} in rows:\n        show({1}, {0})\n"
    records = []
    for n in range(90):
        name = ("i", "idx", "index")[n % 3]
        quoted = f"see: for {name} in rows:" if n % 5 == 0 else "nothing"
        code = loop.format(n, name)
        records.append({"id": str(n), "language": "python", "code": code, "notes": quoted})
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    rows = []
    for beacon in BEACONS:
        scheme = Synonyms(beacon=beacon, **BOLD)
        manifest = embed(source, tmp_path / "out.jsonl", secret_file, scheme)
        rows.append(list(manifest.lines))
        kept = manifest.header.kept
        assert kept["a line that the mark would change stands in another column, too"] == 18
    assert rows[0] == rows[1] == [n for n in range(90) if n % 5]


def test_no_more_than_a_fifth_of_the_eligible_carry_and_what_is_given_up_is_said(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    def warnings_of(scheme: Synonyms) -> tuple[pm.Summary, str]:
        summary = pm.embed(
            corpus_path,
            tmp_path / "m.jsonl",
            watermark=scheme,
            secret_file=secret_file,
            max_rate=1,
            overwrite=True,
        )
        return summary, " ".join(summary.warnings)

    summary, told = warnings_of(Synonyms(inside_line=False))
    assert summary.marked == summary.counts["eligible"] // 5
    assert "power is given up; see" in told
    assert "concealment is given up" not in told
    summary, told = warnings_of(Synonyms(inside_line=False, share=0.5))
    assert summary.marked == summary.counts["eligible"] // 2
    assert "concealment is given up" in told
    assert "precision of 49%" in told or "precision of 50%" in told
    assert "or give up concealment" in told
    summary, told = warnings_of(Synonyms(inside_line=False, share=1))
    assert summary.marked == summary.counts["eligible"]
    assert "mark a larger dataset" in told
    assert "or give up concealment" not in told  # it was given up already


def test_by_default_at_most_one_record_in_fifty_carries(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    summary = pm.embed(
        corpus_path,
        tmp_path / "m.jsonl",
        watermark=Synonyms(share=1.0, inside_line=False),
        secret_file=secret_file,
    )
    assert summary.marked == summary.records // 50
    assert pm.load_manifest(summary.manifest).header.tau == 0


def test_marks_can_be_shown_and_audited(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    marked = tmp_path / "m.jsonl"
    embed(corpus_path, marked, secret_file, Synonyms(**BOLD))
    manifest = f"{marked}.manifest.jsonl.gz"
    for side in (marked, corpus_path):
        for shown in pm.show(side, manifest, limit=30).marks:
            name = shown.parts[0].text
            assert shown.after.spans
            assert {shown.after.code[s.start : s.end] for s in shown.after.spans} == {name}
            before = {shown.before.code[s.start : s.end] for s in shown.before.spans}
            assert before == {shown.parts[0].was or name}
    found = pm.audit(corpus_path, marked, manifest=manifest)
    assert found.telling == ()


def test_the_secret_order_decides_who_carries(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    scheme = Synonyms(inside_line=False)
    first = list(embed(corpus_path, tmp_path / "m.jsonl", secret_file, scheme).lines)
    secret_file.write_text("another secret for the tests")
    second = list(embed(corpus_path, tmp_path / "m.jsonl", secret_file, scheme).lines)
    assert first != second


def test_a_manifest_with_a_damaged_draw_is_refused(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    embed(corpus_path, tmp_path / "m.jsonl", secret_file, Synonyms(**BOLD), manifest=tmp_path / "x")
    lines = (tmp_path / "x").read_bytes()
    for old, new in ((b'"weights":[[', b'"weights":[[1,'), (b'"unit":', b'"more":1,"unit":')):
        (tmp_path / "y").write_bytes(lines.replace(old, new, 1))
        with pytest.raises(ManifestError, match="y:2: not a mark: "):
            pm.load_manifest(tmp_path / "y")


def test_a_column_that_is_not_there_is_refused_before_anything_is_read(
    corpus_path: Path, tmp_path: Path, secret_file: Path
) -> None:
    with pytest.raises(UsageError, match="for the project"):
        embed(corpus_path, tmp_path / "m.jsonl", secret_file, Synonyms(project="owner"))
    assert not (tmp_path / "m.jsonl").exists()


SEVERAL = """def first(rows):
    total = 0
    for {item} in rows:
        total = total + {item}
    return total


def second(cells):
    count = 0
    for {index} in range(len(cells)):
        count = count + {index}
    return count
"""


def test_several_functions_of_a_record_carry_whatever_is_drawn(
    tmp_path: Path, secret_file: Path
) -> None:
    """The trial of a mark moves with it: else the length of a drawn name decides who carries."""
    sets = (["item", "entry", "element"], ["i", "idx", "index"])
    records = [
        {"id": str(n), "language": "python", "repo": "r", "note": "for item in rows:" * (n % 2),
         "code": SEVERAL.format(item=sets[0][n % 3], index=sets[1][n % 3]) + f"# {n}\n"}
        for n in range(60)
    ]  # fmt: skip
    source = tmp_path / "files.jsonl"
    source.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
    carriers = []
    for number in range(3):
        secret_file.write_text(f"a secret for the tests only, number {number}")
        pm.embed(
            source,
            tmp_path / "m.jsonl",
            tmp_path / "m.gz",
            watermark=Synonyms(inside_line=False, share=1.0, entropy=0.1),
            max_rate=1,
            marks_per_record=2,
            secret_file=secret_file,
            overwrite=True,
        )
        manifest = pm.load_manifest(tmp_path / "m.gz")
        carriers.append({(c.row, m.function) for c in manifest for m in c.marks})
        pm.revert(tmp_path / "m.jsonl", tmp_path / "back.jsonl", tmp_path / "m.gz", overwrite=True)
        assert (tmp_path / "back.jsonl").read_bytes() == source.read_bytes()
    assert carriers[0] == carriers[1] == carriers[2]
    assert len(carriers[0]) > 60
