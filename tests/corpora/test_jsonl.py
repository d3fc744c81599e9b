import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.corpora.base import infer
from puzzlemark.corpora.revising import DID_NOT_MATCH, Stale
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit, invert_edits
from tests.corpora.making import function, open_python, records, rename, rewrite, write_jsonl

A = (Edit(0, b"a", b"key_a"),)


def marked(tmp_path: Path, before: bytes, row: int = 0, **kinds: str) -> bytes:
    """The file after the code `a = ...` of one row became `key_a = ...`."""
    (tmp_path / "in.jsonl").write_bytes(before)
    rewrite(tmp_path / "in.jsonl", tmp_path / "out.jsonl", {row: A}, kinds)
    after = (tmp_path / "out.jsonl").read_bytes()
    rewrite(tmp_path / "out.jsonl", tmp_path / "back.jsonl", {row: invert_edits(A)}, kinds)
    assert (tmp_path / "back.jsonl").read_bytes() == before
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"code":"a"}', b'{"code":"key_a"}'),
        (b'{"code":"a"}\n', b'{"code":"key_a"}\n'),
        (b' { "x" : 1.50 , "code" : "a" } \r\n', b' { "x" : 1.50 , "code" : "key_a" } \r\n'),
        (b'\xef\xbb\xbf{"code":"a"}\n', b'\xef\xbb\xbf{"code":"key_a"}\n'),
        (b'\n  \n{"code":"a"}\n\n\n', b'\n  \n{"code":"key_a"}\n\n\n'),
        (b'\xef\xbb\xbf\n{"code":"a"}\n', b'\xef\xbb\xbf\n{"code":"key_a"}\n'),
        (
            b'{"code":"a = \\"\\u00e9\\/\xc3\xa9\\u2028\\"","n":12345678901234567890123}',
            b'{"code":"key_a = \\"\\u00e9\\/\xc3\xa9\\u2028\\"","n":12345678901234567890123}',
        ),
        (b'{"code":"x","x":NaN,"code":"a"}', b'{"code":"x","x":NaN,"code":"key_a"}'),
        (b'{"x":"\\ud800","code":"a"}', b'{"x":"\\ud800","code":"key_a"}'),
        (b'{"co\\u0064e":"a\\r\\n\\ta"}', b'{"co\\u0064e":"key_a\\r\\n\\ta"}'),
    ],
)
def test_only_the_edited_bytes_of_a_line_change(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    assert marked(tmp_path, before) == after


def test_untouched_lines_are_copied_even_when_oddly_spelled(tmp_path: Path) -> None:
    odd = b'{ "code" :\t"\\u0061" , "f": 1.0E+2,"dup":1,"dup":2 }\r\n\n{"code":null}\n'
    assert marked(tmp_path, odd + b'{"code":"a"}', row=2) == odd + b'{"code":"key_a"}'


def test_derived_cells_change_in_place(tmp_path: Path) -> None:
    before = b'{"size": 5, "code": "a = 1", "toks": ["a" , "=", "1"], "again": "a = 1"}\n'
    after = (
        b'{"size": 9, "code": "key_a = 1", "toks": ["key_a" , "=", "1"], "again": "key_a = 1"}\n'
    )
    assert marked(tmp_path, before, size="characters", toks="tokens", again="copy") == after


@pytest.mark.parametrize(
    ("spelled", "expected"),
    [("5", "9"), ("5.0", "9.0"), ("5.00", None), ("0.5e1", None), ("5e0", None)],
)
def test_a_number_is_rewritten_only_in_a_spelling_that_we_reproduce(
    tmp_path: Path, spelled: str, expected: str | None
) -> None:
    (tmp_path / "in.jsonl").write_text(f'{{"code": "a = 1", "size": {spelled}}}\n')
    result = rewrite(tmp_path / "in.jsonl", tmp_path / "out.jsonl", {0: A}, {"size": "characters"})
    text = (tmp_path / "out.jsonl").read_text()
    assert text == f'{{"code": "key_a = 1", "size": {expected or spelled}}}\n'
    assert result.stale == (() if expected else (Stale("size", DID_NOT_MATCH, 1),))
    assert result.recomputed == ({"size": 1} if expected else {})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[1, 2]", r"a\.jsonl:3: not a JSON object; each line must be"),
        (b'"text"', r"a\.jsonl:3: not a JSON object"),
        (b"null", r"a\.jsonl:3: not a JSON object"),
        (b'{"code": "x"', r"a\.jsonl:3: not a JSON object \(.*; repair"),
        (b'{"code": "\xff"}', r"a\.jsonl:3: not valid UTF-8 at byte 10"),
        (b'{"source": "x", "id": 1}', r"a\.jsonl:3: no field 'code' \(it has source, id\)"),
        (b"[" * 100_000, r"a\.jsonl:3: nested too deep"),
        (
            b'{"code": "x", "deep": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "a.jsonl:3: nested too deep",
        ),
    ],
)
def test_a_damaged_line_is_an_error_with_file_and_line(
    tmp_path: Path, line: bytes, message: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"code": "x"}\n\n' + line + b"\n")
    corpus = open_python(path)
    (batch,) = corpus.batches()
    with pytest.raises(CorpusError, match=message):
        batch.entries()


def test_a_truncated_gzip_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    whole = gzip.compress(
        b"".join(json.dumps({"code": function(n), "n": n**9}).encode() + b"\n" for n in range(9000))
    )
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(whole)
    corpus = open_python(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match=r"a\.jsonl\.gz: damaged or truncated gzip"):
        corpus.count()
    with pytest.raises(CorpusError, match="truncated"):
        corpus.rewrite(tmp_path / "out.jsonl.gz", {}, {})
    assert [place.name for place in tmp_path.iterdir()] == ["a.jsonl.gz"]


def test_codesearchnet_records_are_marked_in_every_column(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {
            "repo": "a/b",
            "original_string": code,
            "language": "python",
            "code": code,
            "code_tokens": code.split(),
            "docstring": "Return the total.",
            "docstring_tokens": ["Return", "the", "total", "."],
            "sha": "85ad7f813ec0e07ecd27042aeb47ff2047631fa5",
            "url": f"https://example.org/{nth}",
            "partition": "train",
        }
        for nth, code in enumerate(map(function, range(6)))
    ]
    path = write_jsonl(tmp_path / "a.jsonl.gz", rows)
    derivations = infer(open_python(path))
    assert derivations == {"original_string": "copy", "code_tokens": "tokens"}
    changes = {nth: rename(rows[nth]["code"], "total", "key_total") for nth in (1, 4)}
    result = rewrite(path, tmp_path / "out.jsonl.gz", changes)
    assert result.recomputed == {"code_tokens": 2, "original_string": 2}
    assert result.stale == ()
    for nth in (1, 4):
        code = rows[nth]["code"].replace("total", "key_total")
        rows[nth] |= {"code": code, "original_string": code, "code_tokens": code.split()}
    expected = write_jsonl(tmp_path / "expected.jsonl", rows).read_bytes()
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == expected


def test_lines_of_many_blocks_keep_their_numbers(tmp_path: Path) -> None:
    lines = [json.dumps({"code": f"a = {n}", "pad": "x" * 900}) for n in range(4000)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*lines[:3000], "", *lines[3000:]]) + "\n[]\n")
    result_before_damage = list(open_python(path).batches())
    assert len(result_before_damage) >= 4
    with pytest.raises(CorpusError, match=r"a\.jsonl:4002: not a JSON object"):
        list(open_python(path).entries())
    rewrite(path, tmp_path / "out.jsonl", {3999: A, 0: A}, {})
    after = (tmp_path / "out.jsonl").read_text().split("\n")
    before = path.read_text().split("\n")
    differing = [n for n, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    assert differing == [0, 4000]
    assert json.loads(after[4000])["code"] == "key_a = 3999"


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl.gz", records(50))
    for name in ("x.jsonl.gz", "y.jsonl.gz"):
        rewrite(path, tmp_path / name, {3: rename(function(3), "total", "key_total")})
    assert (tmp_path / "x.jsonl.gz").read_bytes() == (tmp_path / "y.jsonl.gz").read_bytes()
