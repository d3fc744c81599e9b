import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.errors import UsageError
from puzzlemark.features.table import FEATURES, FeatureTable

Row = tuple[int, ...] | None
ROWS = st.lists(st.none() | st.tuples(*[st.integers(0, 2**31 - 1)] * len(FEATURES)), max_size=12)


def test_select_gives_the_named_columns_of_measured_rows() -> None:
    table = FeatureTable.from_rows([range(10), None, range(10, 20)])
    assert table.measured.tolist() == [True, False, True]
    assert table.select(["dec", "cc"]).tolist() == [[9.0, 0.0], [19.0, 10.0]]


def test_select_copies() -> None:
    table = FeatureTable.from_rows([range(10)])
    table.select(["cc"])[:] = 7
    assert table.values[0, 0] == 0


@settings(deadline=None)
@given(ROWS, st.integers(1, 5))
def test_chunks_join_to_the_whole(rows: list[Row], size: int) -> None:
    whole = FeatureTable.from_rows(rows)
    chunks = (FeatureTable.from_rows(rows[at : at + size]) for at in range(0, len(rows), size))
    joined = FeatureTable.join(chunks)
    assert len(joined) == len(rows)
    assert joined.values.dtype == np.int32
    assert joined.values.tolist() == whole.values.tolist()
    assert joined.measured.tolist() == whole.measured.tolist()
    assert [tuple(row) for row in joined.values[joined.measured].tolist()] == [
        row for row in rows if row is not None
    ]


def test_an_empty_table_has_no_rows() -> None:
    assert len(FeatureTable.join([])) == 0
    assert FeatureTable.from_rows([]).select(["cc", "tc"]).shape == (0, 2)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["cc", "loc"], "no feature 'loc'; known: cc, nloc"),
        (["cc", "tc", "cc"], "'cc' is named twice"),
        ([], "no feature chosen; known: cc"),
    ],
)
def test_a_wrong_choice_of_features_is_refused(names: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        FeatureTable.from_rows([range(10)]).select(names)
