import math

from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.bench.records import scientific, table


def test_a_table_is_markdown() -> None:
    assert table(["mark", "p"], [["P1", "0.5"]]) == "| mark | p |\n| --- | ---: |\n| P1 | 0.5 |\n"


def test_probabilities_are_written_as_in_papers() -> None:
    assert scientific(math.log10(2.1e-15)) == "2.1e-15"
    assert scientific(-250.0) == "1.0e-250"
    assert scientific(-400.5) == "3.2e-401"  # a float would be zero
    assert scientific(0.0) == "1.00"
    assert scientific(math.log10(0.05)) == "0.05"
    assert scientific(math.log10(9.97e-7)) == "1.0e-6"


@given(st.floats(-300, -2.001))
def test_what_is_written_can_be_read_again(log10: float) -> None:
    assert math.isclose(math.log10(float(scientific(log10))), log10, abs_tol=0.03)
