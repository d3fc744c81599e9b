import base64
import hashlib
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.derived import (
    Change,
    NewValue,
    TextEdits,
    _infer_placer,
    change_cell,
    derive,
    fits,
    infer,
    suggests_derivation,
)
from puzzlemark.corpora.kinds import PLACERS, VALUES, Numeral
from puzzlemark.corpora.records import Columns, Record
from puzzlemark.corpora.writing import write_records
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit, invert_edits
from tests.corpora.making import function, rename

COLUMNS = Columns("code")


@dataclass(frozen=True)
class Sample:
    rows: list[dict[str, Any]]
    columns: Columns = COLUMNS

    def records(self) -> Iterator[Record]:
        return iter(self.rows)


def infer_cells(cells: list[Any], name: str = "cell") -> str | None:
    rows = [{"code": function(nth), name: cell} for nth, cell in enumerate(cells)]
    return infer(Sample(rows)).get(name)


CODES = [function(nth) for nth in range(4)]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (CODES, "copy"),
        ([code.strip() for code in CODES], "stripped copy"),
        ([f"# a file\n{code}\n# end" for code in CODES], "text with the code"),
        ([code.split("\n")[1] for code in CODES], "part of the code"),
        ([" ".join(code.split()) for code in CODES], "joined tokens"),
        ([code.split() for code in CODES], "tokens"),
        ([len(code) for code in CODES], "characters"),
        ([float(len(code)) for code in CODES], "characters"),
        ([hashlib.md5(c.encode()).hexdigest() for c in CODES], "md5"),  # noqa: S324
        ([hashlib.sha256(c.encode()).hexdigest().upper() for c in CODES], "sha256, upper case"),
        (
            [round(sum(map(len, c.split("\n")[:3])) / 3, 2) for c in CODES],
            "mean line length, 2 digits",
        ),
    ],
)
def test_kinds_are_recognised_by_their_values(cells: list[Any], kind: str) -> None:
    assert infer_cells(cells) == kind


def test_one_record_suffices_for_a_hash_and_a_copy_but_not_for_a_number() -> None:
    assert infer_cells([hashlib.sha1(CODES[0].encode()).hexdigest()]) == "sha1"  # noqa: S324
    assert infer_cells(CODES[:1]) == "copy"
    assert infer_cells([len(CODES[0])]) is None
    assert infer_cells([len(CODES[0])], "n_chars") == "characters"


def test_a_number_that_agrees_by_accident_in_some_records_is_not_derived() -> None:
    assert infer_cells([len(CODES[0]), len(CODES[1]), 5, 6]) is None


def test_a_few_wrong_values_do_not_hide_a_derivation() -> None:
    codes = [function(nth) for nth in range(20)]
    sizes: list[Any] = [len(code) for code in codes]
    digests = [hashlib.md5(code.encode()).hexdigest() for code in codes]  # noqa: S324
    for wrong in range(10):
        sizes[wrong], digests[wrong] = 5 + wrong, f"{wrong:032x}"
        few = wrong < 9
        assert infer_cells(sizes) == ("characters" if few else None)
        assert infer_cells(digests) == "md5"


def test_one_long_digest_that_fits_is_no_accident_but_a_short_one_may_be() -> None:
    digests = [hashlib.sha1(code.encode()).hexdigest() for code in CODES]  # noqa: S324
    others = ["0" * 39 + digit for digit in "123"]
    assert infer_cells([digests[0], *others]) == "sha1"
    assert infer_cells([digests[0][:8], *(other[-8:] for other in others)]) == "opaque"


@pytest.mark.parametrize("length", [6, 7, 12, 16, 39, 40])
@pytest.mark.parametrize("upper", [True, False])
def test_shortened_digests_are_recognised(length: int, upper: bool) -> None:
    digests = [hashlib.sha1(code.encode()).hexdigest()[:length] for code in CODES]  # noqa: S324
    kind = "sha1, upper case" if upper else "sha1"
    assert infer_cells([d.upper() if upper else d for d in digests]) == kind
    cell = hashlib.sha1(b"aa = 1\nb = aa + 2\n").hexdigest()[:length]  # noqa: S324
    new = hashlib.sha1(b"key_aa = 1\nb = key_aa + 2\n").hexdigest()[:length]  # noqa: S324
    assert derive_rename("sha1", cell) == NewValue(cell, new)


@pytest.mark.parametrize(
    "algorithm", "md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s".split()
)
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("url", [True, False])
def test_digests_in_base64_are_recognised(algorithm: str, padded: bool, url: bool) -> None:
    codes = [function(nth) for nth in range(30)]
    raw = [hashlib.new(algorithm, code.encode()).digest() for code in codes]
    spell = base64.urlsafe_b64encode if url else base64.b64encode
    cells = [spell(digest).decode() for digest in raw]
    cells = cells if padded else [cell.rstrip("=") for cell in cells]
    rows = [{"code": code, "c": cell} for code, cell in zip(codes, cells, strict=True)]
    assert infer(Sample(rows)) == {"c": f"{algorithm}, base64{'url' * url}"}


def test_digests_as_bytes_and_of_what_the_code_was_before_are_recognised() -> None:
    assert infer_cells([hashlib.sha256(c.encode()).digest() for c in CODES]) == "sha256, raw"
    assert infer_cells([hashlib.sha256(c.encode()).digest()[:8] for c in CODES]) == "sha256, raw"
    stripped = [hashlib.sha256(c.strip().encode()).hexdigest() for c in CODES]
    assert infer_cells(stripped) == "sha256, stripped"
    assert infer_cells([zlib.crc32(c.encode()) for c in CODES]) == "crc32 as a number"
    short = [hashlib.blake2b(c.encode(), digest_size=16).hexdigest() for c in CODES]
    assert infer_cells(short) == "blake2b-128"


def salted(code: str) -> str:
    return hashlib.sha256(b"salt" + code.encode()).hexdigest()


@pytest.mark.parametrize(
    "spell",
    [
        salted,
        lambda code: salted(code)[:8],
        lambda code: salted(code).upper(),
        lambda code: "sha256:" + salted(code),
        lambda code: base64.b64encode(bytes.fromhex(salted(code))).decode(),
        lambda code: bytes.fromhex(salted(code))[:12],
        lambda code: str(uuid.uuid5(uuid.NAMESPACE_OID, code)),
        lambda code: [*bytes.fromhex(salted(code))[:16]],
    ],
)
def test_a_column_of_unknown_digests_is_named_opaque(spell: Any) -> None:
    codes = [function(nth) for nth in range(40)]
    rows = [{"code": code, "c": spell(code)} for code in codes]
    assert infer(Sample(rows)) == {"c": "opaque"}
    assert infer(Sample(rows, Columns("code", id="c"))) == {"c": "opaque"}


@pytest.mark.parametrize(
    "spell",
    [
        lambda nth: salted(str(nth // 2)),  # two codes with one value: of something else
        lambda nth: f"sample_{nth:012}",
        lambda nth: f"{nth:08}",
        lambda nth: f"2024-01-01T00:00:{nth:02}Z",
        lambda nth: str(uuid.UUID(int=nth * 7919 << 80 | nth, version=4)),
        lambda nth: salted(str(nth))[: 20 + nth % 3],
        lambda nth: "train" if nth else "valid",
        lambda nth: nth,
        lambda nth: [1, 2, nth],
        lambda nth: nth if nth > 90 else None,
    ],
)
def test_ordinary_columns_are_not_opaque(spell: Any) -> None:
    rows = [{"code": function(nth), "c": spell(nth)} for nth in range(40)]
    assert infer(Sample(rows)) == {}


def test_constant_small_numbers_are_not_taken_for_line_counts() -> None:
    assert infer_cells([3, 3, 3, 3]) is None
    assert infer_cells([3, 3, 3, 3], "n_lines") == "lines"


def test_booleans_are_no_numbers() -> None:
    assert infer_cells([True] * 4, "n_lines") == "unknown"


def test_null_cells_and_null_codes_say_nothing() -> None:
    assert infer_cells([None, CODES[1], None, CODES[3]]) == "copy"
    assert infer_cells([None] * 4, "sha256") is None
    rows: list[dict[str, Any]] = [{"code": None, "size": 4}, {"code": "x = 1", "size": 5}]
    assert infer(Sample(rows)) == {"size": "characters"}


def test_a_copy_with_a_few_other_cells_is_still_a_copy() -> None:
    assert infer_cells([CODES[0], CODES[1], "something else", CODES[3]]) == "copy"


def test_columns_of_ragged_records_are_all_looked_at() -> None:
    rows = [{"code": CODES[0]}, {"code": CODES[1], "again": CODES[1]}]
    assert infer(Sample(rows)) == {"again": "copy"}


@pytest.mark.parametrize(
    "name",
    "code_tokens func_code_tokens content_hash sha256 md5 size length n_lines num_lines loc "
    "avg_line_length max_line_length alphanum_fraction token_count num_tokens hexsha "
    "code_embedding ast".split(),
)
def test_a_name_that_says_derived_is_named_when_no_kind_fits(name: str) -> None:
    assert suggests_derivation(name)
    assert infer_cells(["q", "r", "s", "t"], name) == "unknown"


@pytest.mark.parametrize(
    "name",
    "sha url func_code_url docstring docstring_tokens docstring_summary func_documentation_tokens "
    "func_documentation_string repo repo_name path func_name partition language license source "
    "commit_hash repo_size stars identifier parameters nwo blob".split(),
)
def test_other_columns_give_no_alarm(name: str) -> None:
    assert infer_cells(["q", "r", "s", "t"], name) is None


def derive_rename(kind: str, cell: Any, code: str = "aa = 1\nb = aa + 2\n") -> Any:
    return derive(kind, cell, Change.of(code.encode(), rename(code, "aa", "key_aa")))


def test_edits_move_to_where_the_cell_repeats_the_code() -> None:
    assert derive_rename("text with the code", "# é\naa = 1\nb = aa + 2\n") == TextEdits(
        {0: (Edit(5, b"aa", b"key_aa"), Edit(16, b"aa", b"key_aa"))}
    )
    assert derive_rename("stripped copy", "aa = 1\nb = aa + 2") == TextEdits(
        {0: (Edit(0, b"aa", b"key_aa"), Edit(11, b"aa", b"key_aa"))}
    )
    assert derive_rename("part of the code", "1\nb = aa + 2\n") == TextEdits(
        {0: (Edit(6, b"aa", b"key_aa"),)}
    )
    assert derive_rename("tokens", "aa = 1 b = aa + 2".split()) == TextEdits(
        {0: (Edit(0, b"aa", b"key_aa"),), 5: (Edit(0, b"aa", b"key_aa"),)}
    )
    assert derive_rename("joined tokens", "aa = 1 b = aa + 2") == TextEdits(
        {0: (Edit(0, b"aa", b"key_aa"), Edit(11, b"aa", b"key_aa"))}
    )


def test_values_are_computed_in_the_type_of_the_cell() -> None:
    assert derive_rename("characters", 18) == NewValue(18, 26)
    found = derive_rename("characters", 18.0)
    assert isinstance(found.new, float)
    assert found == NewValue(18.0, 26.0)
    assert derive_rename("mean line length", 8) == NewValue(8, 12)
    assert derive_rename("mean line length", 2, "aa\nbb\ncc") is None  # 10 / 3 is no integer


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("copy", "aa = 1"),
        ("text with the code", "nothing of it"),
        ("tokens", ["aa", "="]),
        ("tokens", "aa"),
        ("tokens", ["aa", None]),
        ("characters", 19),
        ("characters", "18"),
        ("characters", True),
        ("md5", "00"),
        ("md5", 5),
    ],
)
def test_a_cell_that_did_not_follow_from_the_code_is_left(kind: str, cell: Any) -> None:
    assert derive_rename(kind, cell) is None


def test_an_edit_over_the_border_of_a_part_is_left() -> None:
    code = "value = first + second"
    change = Change.of(code.encode(), (Edit(6, b"= f", b"=  f"),))
    assert derive("part of the code", "first + second", change) is None


def test_an_edit_that_could_not_be_undone_is_left() -> None:
    # with `b` renamed to `a`, the code would stand twice in the cell
    change = Change.of(b"b = 1", (Edit(0, b"b", b"a"),))
    assert derive("text with the code", "a = 1; b = 1", change) is None


def test_inserted_code_needs_new_tokens_so_a_list_of_tokens_is_left() -> None:
    change = Change.of(b"a = 1\n", (Edit(6, b"", b"if False: pass\n"),))
    assert derive("tokens", ["a", "=", "1"], change) is None
    assert derive("copy", "a = 1\n", change) == TextEdits({0: change.edits})


@pytest.mark.parametrize("kind", ["characters", "md5", "copy", "stripped copy"])
def test_a_wrong_cell_that_holds_what_the_new_code_gives_stays_wrong_and_comes_back(
    kind: str,
) -> None:
    code = "aa = 1\nb = aa + 2"
    change = Change.of(code.encode(), rename(code, "aa", "key_aa"))
    old, new = (made(kind, text.decode()) for text in (change.old, change.new))
    outcome = derive(kind, new, change)
    assert outcome is not None
    assert change_cell(new, outcome) == old
    undone = derive(kind, old, change.inverse())
    assert undone is not None
    assert change_cell(old, undone) == new


def made(kind: str, code: str) -> Any:
    return VALUES[kind](code) if kind in VALUES else code


PIECES = st.sampled_from(["aa", "b", " ", "\n", "key_", "x = 1", "aa = 1", "key_aa = 1"])


@given(
    code=st.lists(PIECES, min_size=1, max_size=6).map("".join),
    cell=st.lists(PIECES, max_size=8).map("".join) | st.integers(0, 40),
    kind=st.sampled_from([*PLACERS, "characters", "words", "lines", "sha1"]),
    listed=st.booleans(),
)
def test_every_cell_comes_back_when_the_change_is_undone(
    code: str, cell: Any, kind: str, listed: bool
) -> None:
    change = Change.of(code.encode(), rename(code, "aa", "key_aa"))
    cell = cell.split(" ") if listed and isinstance(cell, str) else cell
    try:
        outcome = derive(kind, cell, change)
    except CorpusError:
        return  # refused, so nothing is written
    after = cell if outcome is None else change_cell(cell, outcome)
    undone = derive(kind, after, change.inverse())
    assert (after if undone is None else change_cell(after, undone)) == cell


def digits_of(code: str, length: int = 8) -> str:
    return hashlib.sha1(code.encode()).hexdigest()[:length]  # noqa: S324


def test_in_csv_a_digest_without_letters_is_one_before_and_after(tmp_path: Path) -> None:
    codes = (f"def f(key, item):\n    a = key + {n}\n    return a\n" for n in range(4_000))
    marked = {code: code.replace("a", "key_item") for code in codes}
    before = [code for code in marked if digits_of(code).isdigit()][:3]
    after = [code for code in marked if digits_of(marked[code]).isdigit()][:3]
    others = [code for code in marked if not digits_of(code).isdigit()][:60]
    rows = [*before, *after, *others]
    assert len(rows) == 66
    write_records(
        [{"id": str(n), "code": code, "sha": digits_of(code)} for n, code in enumerate(rows)],
        tmp_path / "a.csv",
    )
    corpus = open_corpus(tmp_path / "a.csv", language="python")
    assert infer(corpus) == {"sha": "sha1"}
    changes = {
        row: tuple(Edit(at, b"a", b"key_item") for at in (22, len(code) - 2))
        for row, code in enumerate(rows[:6])
    }
    corpus.rewrite(tmp_path / "b.csv", changes, infer(corpus))
    written = open_corpus(tmp_path / "b.csv", language="python")
    assert infer(written) == {"sha": "sha1"}
    found = list(written.records())
    assert sum("key_item =" in each["code"] for each in found) == 6
    assert [str(each["sha"]) for each in found] == [digits_of(each["code"]) for each in found]
    undone = {row: invert_edits(edits) for row, edits in changes.items()}
    written.rewrite(tmp_path / "c.csv", undone, infer(written))
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
    assert infer(Sample([{**each} for each in corpus.records()])) == {"sha": "sha1"}


def test_in_csv_numbers_among_which_a_text_stands_are_numbers() -> None:
    cells = [*(Numeral(len(function(nth))) for nth in range(9)), "unknown"]
    assert infer_cells(cells) == "characters"
    digest = [Numeral.of(f"{n:08}".replace("0", "7")) for n in range(40)]
    assert infer_cells([*digest, "77ab77c7"]) == infer_cells([*map(str, digest), "77ab77c7"])


@pytest.mark.parametrize("fitting", range(9))
def test_a_column_repeats_the_code_when_most_cells_do(fitting: int) -> None:
    """By shares of all cells, which is the slow obvious way."""
    code = b"def f(a):\n    return a\n"
    cells = [*["def f(a):\n    return a\n"] * fitting, *["return a", "other"] * 4][:8]
    pairs = [(code, cell) for cell in cells]
    shares = {kind: sum(fits(kind, cell, code) for cell in cells) / 8 for kind in PLACERS}
    best = max(shares, key=lambda kind: shares[kind])
    assert _infer_placer(pairs) == (best if shares[best] > 0.5 else None)
    assert _infer_placer(pairs[::-1]) == _infer_placer(pairs)
