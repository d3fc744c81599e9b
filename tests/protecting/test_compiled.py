"""The judge is on trial here: it must pass every right rename and none of the wrong ones."""

import pytest

from puzzlemark.protecting.compiled import NOT_COMPILED, why_different
from tests.oracles.test_python import RIGHT, WRONG, edited


def renames_a_parameter(case: str) -> bool:
    return "parameter" in case


@pytest.mark.parametrize("case", [case for case in RIGHT if not renames_a_parameter(case)])
def test_a_right_rename_of_a_local_passes(case: str) -> None:
    source, *replacements = RIGHT[case]
    assert why_different(source.encode(), edited(source, *replacements).encode()) is None


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_rename_is_told(case: str) -> None:
    source, *replacements = WRONG[case]
    assert why_different(source.encode(), edited(source, *replacements).encode()) is not None


def test_a_renamed_parameter_is_told_as_callers_may_pass_it_by_name() -> None:
    before, after = b"def f(a): return a\n", b"def f(b): return b\n"
    assert why_different(before, after) == "its compiled code would differ: parameters of f"


def test_a_file_of_another_python_is_not_trusted() -> None:
    assert why_different(b"print 1\n", b"print 1\n") == NOT_COMPILED
