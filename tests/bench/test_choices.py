"""Which watermarks an experiment is about."""

import pytest

from puzzlemark.bench.choices import choose, language_of, slug, split_specs
from puzzlemark.errors import UsageError
from puzzlemark.watermarks.fixed_prefix import FixedPrefix


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("P1,U1", ["P1", "U1"]),
        ("P1, fixed_prefix:prefix=node", ["P1", "fixed_prefix:prefix=node"]),
        ("coprotector_word:trigger=a,target=b,U1", ["coprotector_word:trigger=a,target=b", "U1"]),
        ('x:names="a,b",U1', ['x:names="a,b"', "U1"]),
        ("universal,a=1", ["universal", "a=1"]),  # a setting of nothing: refused by its name
    ],
)
def test_settings_stay_with_their_watermark(text: str, specs: list[str]) -> None:
    assert split_specs(text) == specs


def test_a_preset_is_for_its_language_and_a_spec_for_each_that_is_given() -> None:
    chosen = choose(["P3", "fixed_prefix:prefix=node"], ["python", "java"])
    assert [(each.name, each.language, each.preset) for each in chosen] == [
        ("P3", "java", "P3"),
        ("fixed_prefix-prefix-node-python", "python", None),
        ("fixed_prefix-prefix-node-java", "java", None),
    ]
    assert chosen[1].watermark == FixedPrefix("node")
    assert [language_of(each.name) for each in chosen] == ["java", "python", "java"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [("P9", "no mark 'P9'; known: B1"), ("nothing:a=1", "no 'nothing' among watermarks")],
)
def test_what_there_is_not_is_refused(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose([spec], ["python"])


def test_two_watermarks_never_share_a_folder() -> None:
    specs = ["coprotector_word:trigger=a,target=b_c", "coprotector_word:trigger=a,target=b_c"]
    assert len(choose(specs, ["python"])) == 1
    assert slug("x:a=b") == slug("x:a-b")
    with pytest.raises(UsageError, match="has the folder"):
        choose(["coprotector_sentence:trigger=a()", "coprotector_sentence:trigger=a;"], ["python"])
