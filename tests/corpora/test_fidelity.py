"""Every format gives the same dataset back; only marked cells get other bytes."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import puzzlemark as pm
from puzzlemark import plugins
from puzzlemark.corpora.base import infer, open_corpus
from puzzlemark.corpora.formats.base import load_format
from puzzlemark.corpora.lines import PACKINGS, read_blocks, write_blocks
from puzzlemark.corpora.shards import Shard
from puzzlemark.corpora.writing import write_records
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit
from tests.corpora.making import rename

FORMATS = plugins.names("corpora.formats")
CODE = 'def f{n}(data):\n    """Say "{n}", é."""\n    key = data[{n}]\n    step = key + {n}\n'
CODE += "    total = step * 2\n    other = total + key\n    return other\n"


def functions(count: int) -> list[dict[str, Any]]:
    codes = [CODE.replace("{n}", str(n)) for n in range(count)]
    return [
        {"id": f"f{n}", "code": code, "size": len(code), "language": "python", "repo": "a, b"}
        for n, code in enumerate(codes)
    ]


def answers(count: int) -> list[dict[str, Any]]:
    records = functions(count)
    return [
        {"id": each["id"], "answer": f'So, "{nth}":\n```python\n{each["code"]}```\nDone é.'}
        for nth, each in enumerate(records)
    ]


@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize("format_", FORMATS)
def test_marked_reverted_and_audited(tmp_path: Path, format_: str, fenced: bool) -> None:
    ending = load_format(format_).EXTENSIONS[-1]
    paths = [tmp_path / f"{name}{ending}" for name in ("in", "out", "back", "same")]
    write_records((answers if fenced else functions)(40), paths[0])
    marks = tmp_path / "marks.jsonl"
    options: dict[str, Any] = {"code_column": ":fenced"} if fenced else {}
    summary = pm.embed(
        paths[0],
        paths[1],
        marks,
        watermark="universal",
        tau=0,
        min_rate=1,
        max_rate=1,
        secret_file=tmp_path / "secret",
        **options,
    )
    assert summary.marked == summary.records == 40
    assert summary.recomputed == ({} if fenced else {"size": 40})
    assert pm.audit(paths[0], paths[1], marks).telling == ()
    pm.revert(paths[1], paths[2], marks)
    open_corpus(paths[0], language="python", **options).rewrite(paths[3], {})
    assert paths[2].read_bytes() == paths[3].read_bytes() == paths[0].read_bytes()
    lines = Path(marks).read_bytes().splitlines()[1:]
    assert lines == _marks_of_lines(tmp_path, fenced, options)


def _marks_of_lines(folder: Path, fenced: bool, options: dict[str, Any]) -> list[bytes]:
    """The same marks whatever the format: here those of JSON Lines."""
    write_records((answers if fenced else functions)(40), folder / "lines.jsonl")
    pm.embed(
        folder / "lines.jsonl",
        folder / "marked.jsonl",
        folder / "lines.marks.jsonl",
        watermark="universal",
        tau=0,
        min_rate=1,
        max_rate=1,
        secret_file=folder / "secret",
        **options,
    )
    return (folder / "lines.marks.jsonl").read_bytes().splitlines()[1:]


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_damaged_file_says_so(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"a.jsonl{packing}"
    with write_blocks(path) as out:
        out.write(b'{"code": "x"}\n' * 9000)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match="damaged or truncated"):
        list(read_blocks(path))
    path.write_bytes(b"no such thing at all" * 10)
    with pytest.raises(CorpusError, match="damaged or truncated"):
        list(read_blocks(path))


@pytest.mark.parametrize("packing", PACKINGS)
def test_packed_bytes_follow_from_the_content_alone(tmp_path: Path, packing: str) -> None:
    content = json.dumps(functions(3000)).encode()
    for name, step in (("a", 1000), ("b", 1 << 22)):
        with write_blocks(tmp_path / f"{name}{packing}") as out:
            for at in range(0, len(content), step):
                out.write(content[at : at + step])
    assert (tmp_path / f"a{packing}").read_bytes() == (tmp_path / f"b{packing}").read_bytes()
    assert b"".join(read_blocks(tmp_path / f"a{packing}")) == content


ARRAY = (
    '\ufeff [\r\n  { "id" : 1.0, "code": "a = \\u00e9 \\/"\r\n} ,\n\n'
    '{"code":"b","id":2 },{"id":[{"x":"]"}], "code": "c\\"["}\n]\n \n'
)


def test_everything_in_and_between_the_records_of_an_array_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(ARRAY, encoding="utf-8", newline="")
    corpus = open_corpus(path, language="python")
    assert [record["code"] for record in corpus.records()] == ["a = é /", "b", 'c"[']
    assert [batch.lines.tolist() for batch in corpus.batches() if batch.lines is not None] == [
        [2, 5, 5]
    ]
    corpus.rewrite(tmp_path / "b.json", {0: (Edit(0, b"a", b"key"),), 2: (Edit(0, b"c", b"x"),)})
    expected = ARRAY.replace('"a = ', '"key = ').replace('"c\\"', '"x\\"')
    assert (tmp_path / "b.json").read_text(encoding="utf-8").replace("\r", "") == (
        expected.replace("\r", "")
    )
    assert (tmp_path / "b.json").read_bytes() == expected.encode()
    corpus.rewrite(tmp_path / "c.json", rows=[1, 2])
    assert len(json.loads((tmp_path / "c.json").read_text(encoding="utf-8-sig"))) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[{"code": "1"} {"code": "2"}]', "1: no comma after a record"),
        ('[{"code": "1"},', "ends inside its array"),
        ('[{"code": "1"}] x', "something stands after"),
        ('[{"code": "x}]', "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('{\n "data": []\n}', r"jq -c '\.data\[\]' a\.json > a\.jsonl"),
        ("7", "begins with 7"),
    ],
)
def test_no_array_of_records_is_an_error_that_helps(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=says):
        list(open_corpus(tmp_path / "a.json", language="python").records())


def test_lines_in_a_json_file_are_read_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"code": "a"}\n\n{"code": "b"}', encoding="utf-8")
    corpus = open_corpus(path, language="python")
    assert corpus.count() == 2
    corpus.rewrite(tmp_path / "b.json", {1: (Edit(0, b"b", b"c"),)})
    assert (tmp_path / "b.json").read_text(encoding="utf-8") == '{"code": "a"}\n\n{"code": "c"}'


TABLE = (
    '\ufeff"id";code;n;other\r\n'
    '1;"def f():\r\n  s = ""é;"" + ""x""\r\n  return s";"28";  padded \r\n'
    "\r\n"
    "x2;s = 1;5;0.50\r\n"
    '3;"""s""";3;'
)


def test_only_the_cells_that_change_get_other_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TABLE.encode())
    corpus = open_corpus(path, language="python")
    rows = list(csv.reader(io.StringIO(TABLE.removeprefix("\ufeff"), newline=""), delimiter=";"))
    codes = [row[1] for row in rows[1:] if row]
    assert [record["code"] for record in corpus.records()] == codes
    changes = {nth: rename(code, "s", "key") for nth, code in enumerate(codes)}
    corpus.rewrite(tmp_path / "b.csv", changes, {"n": "characters"})
    expected = TABLE.replace("  s =", "  key =").replace("return s", "return key")
    expected = expected.replace("x2;s = 1;5;", "x2;key = 1;7;").replace('"""s""";3', '"""key""";5')
    assert (tmp_path / "b.csv").read_bytes() == expected.encode()


def test_a_tab_stands_between_the_cells_of_tsv(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"code\tid\nx = 1, 2\t7\n")
    (record,) = open_corpus(path, language="python").records()
    assert record == {"code": "x = 1, 2", "id": "7"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('code,id\n"x,1\n', "2: a quotation mark opens here"),
        ('code,id\nx"y"z,1\n', "2: a quotation mark inside a cell"),
        ("code,id\nx\n", "2: 1 cells, but 2 columns"),
        ("code,code\nx,y\n", "two columns have the same name"),
        ("code,id\n\xe9,1\n", "iconv -f latin1"),
        ("code\0,id\n", "NUL"),
    ],
)
def test_no_table_is_an_error_that_helps(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode("latin1"))
    with pytest.raises(CorpusError, match=says):
        list(open_corpus(tmp_path / "a.csv", language="python").records())


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", ["stream", "file"])
def test_an_arrow_file_keeps_its_kind_schema_batches_and_compression(
    tmp_path: Path, codec: str | None, kind: str
) -> None:
    table = pa.Table.from_pylist(functions(50)).replace_schema_metadata({"huggingface": "{}"})
    table = table.append_column("tag", pa.array(["a", None] * 25).dictionary_encode())
    path = tmp_path / "a.arrow"
    options = pa.ipc.IpcWriteOptions(compression=codec)
    make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with path.open("wb") as out, make(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=20)
    corpus = open_corpus(path)
    derived = infer(corpus)
    change = {7: rename(functions(8)[7]["code"], "total", "key_total")}
    corpus.rewrite(tmp_path / "b.arrow", change, derived)
    back = {7: rename(change_back(functions(8)[7]["code"]), "key_total", "total")}
    marked = open_corpus(tmp_path / "b.arrow")
    marked.rewrite(tmp_path / "c.arrow", back, derived)
    corpus.rewrite(tmp_path / "d.arrow", {}, derived)
    assert (tmp_path / "c.arrow").read_bytes() == (tmp_path / "d.arrow").read_bytes()
    read = pa.ipc.open_file if kind == "file" else pa.ipc.open_stream
    with read(pa.memory_map(str(tmp_path / "b.arrow"))) as reader:
        again = reader.read_all()
    assert again.schema.equals(table.schema, check_metadata=True)
    assert [batch.num_rows for batch in again.to_batches()] == [20, 20, 10]
    grown = (tmp_path / "b.arrow").stat().st_size / path.stat().st_size
    assert 0.9 < grown < 1.2
    assert load_format("arrow").count(Shard("b", tmp_path / "b.arrow", "arrow")) == 50


def change_back(code: str) -> str:
    return code.replace("total", "key_total")
