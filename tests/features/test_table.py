import numpy as np
import pytest
from hypothesis import given
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


@given(ROWS)
def test_rows_are_kept_as_they_were_measured(rows: list[Row]) -> None:
    table = FeatureTable.from_rows(rows)
    assert len(table) == len(rows)
    assert table.values.dtype == np.int32
    measured = [tuple(row) for row in table.values[table.measured].tolist()]
    assert measured == [row for row in rows if row is not None]


def test_an_empty_table_has_no_rows() -> None:
    assert len(FeatureTable.from_rows([])) == 0
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
