"""Rules that refuse a function or a variable in PHP and Ruby, which no compiler can judge.

Our programs (`tests/programs`) print other things when one of these rules is lost.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType

import pytest

from puzzlemark.syntax.resolvers import php, ruby
from tests.oracles.compiled import needs_php, needs_ruby
from tests.programs.marking import own_programs, rename_everything
from tests.stories.test_programs import changes, differences

REFUSALS: dict[str, tuple[ModuleType, Sequence[tuple[str, str]]]] = {
    "php": (
        php,
        [
            *(
                ("SCOPE_READERS", name)
                for name in ("compact", "extract", "get_defined_vars", "eval", "reflectionfunction")
            ),
            ("DYNAMIC", "dynamic_variable_name"),
            ("DYNAMIC", "include_expression"),
            ("FIXED", "global_declaration"),
            ("_READERS", "scoped_property_access_expression"),
        ],
    ),
    "ruby": (
        ruby,
        [
            ("SCOPE_READERS", "binding"),
            ("SCOPE_READERS", "eval"),
            ("SCOPE_READERS", "local_variables"),
            ("TEXT_READERS", "instance_eval"),
            ("_READERS", "pair"),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "table", "row"),
    [
        pytest.param(language, table, row, marks=needs)
        for language, needs in (("php", needs_php), ("ruby", needs_ruby))
        for table, row in REFUSALS[language][1]
    ],
)
def test_the_programs_notice_a_lost_refusal(
    language: str, table: str, row: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _ = REFUSALS[language]
    rows = getattr(module, table)
    is_table = isinstance(rows, Mapping)
    lost = {k: v for k, v in rows.items() if k != row} if is_table else rows - {row}
    monkeypatch.setattr(module, table, lost)
    if is_table and table == "DYNAMIC":
        monkeypatch.setattr(module, "KNOWN", module.KNOWN | {row})
    programs = own_programs(language)
    codes = [rename_everything(code, language) for code in programs.values()]
    assert differences(language, changes("renaming", programs, codes))
