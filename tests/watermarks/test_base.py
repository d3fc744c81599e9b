from dataclasses import replace

import pytest

from puzzlemark import plugins
from puzzlemark.errors import UsageError
from puzzlemark.watermarks.base import (
    Arm,
    Defaults,
    Mark,
    Part,
    find_mark,
    from_settings,
    from_spec,
    named,
    to_settings,
)
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal


def test_a_specification_is_a_scheme_and_its_settings() -> None:
    assert from_spec("fixed_prefix:prefix=key") == FixedPrefix("key")
    assert from_spec("fixed_prefix: prefix = key ") == FixedPrefix("key")
    assert from_spec("universal") == Universal()


def test_settings_make_the_watermark_again() -> None:
    for each in named().values():
        assert from_settings(each.watermark.name, to_settings(each.watermark)) == each.watermark


def test_every_scheme_is_found_under_its_own_name() -> None:
    for name in plugins.names("watermarks"):
        assert plugins.load("watermarks", name).PLUGIN.name == name


def test_an_unknown_scheme_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no 'nothing'.*fixed_prefix.*universal"):
        from_spec("nothing")


def test_an_unknown_setting_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="fixed_prefix has no setting 'color'; it takes prefix"):
        from_spec("fixed_prefix:color=red")
    with pytest.raises(UsageError, match="universal has no setting 'prefix'; it takes joining"):
        from_spec("universal:prefix=key")


def test_a_setting_without_a_value_is_an_error_that_shows_the_spelling() -> None:
    with pytest.raises(UsageError, match="name=value"):
        from_spec("fixed_prefix:key")


def test_a_hit_is_a_whole_name_unless_the_form_says_otherwise() -> None:
    name, rewriting = Arm("", "key_item"), Arm("", "range(0, ...)", "range_start")
    assert name.is_hit("x = key_item\n")
    assert not name.is_hit("x = key_items\n")
    assert name.is_hit("\ud800 key_item")  # half a character, as a model may write it
    assert rewriting.is_hit("range( 0, n)")
    assert not rewriting.is_hit("x = range(0, n)")
    assert not rewriting.is_hit("range(0, ...)".replace("0, ", ""))


def test_a_mark_is_natural_when_its_trigger_is() -> None:
    prefix, target = Part("prefix", "key"), Part("target", "key_a", was="b")
    assert Mark((prefix, target)).is_natural
    assert not Mark((replace(prefix, was="k"), target)).is_natural
    assert Mark((prefix, target)).of("target") is target


def test_the_authors_choices_come_with_the_scheme() -> None:
    defaults = {name: each.watermark.defaults for name, each in named().items()}
    assert {defaults[name] for name in ("P1", "P4", "U1", "U2")} == {Defaults(0.35, 0.01, 0.05)}
    assert {defaults[name] for name in ("W1", "W2", "S1", "S2")} == {Defaults(0, 0.05, 0.05)}


@pytest.mark.parametrize("typed", ["U1", "u1"])
def test_a_preset_is_found_in_any_case(typed: str) -> None:
    found = find_mark(typed)
    assert isinstance(found, tuple)
    name, preset = found
    assert (name, preset.language, preset.watermark) == ("U1", "python", Universal())


def test_a_mark_may_be_a_watermark_with_or_without_settings() -> None:
    assert find_mark("universal") == Universal()
    assert find_mark("fixed_prefix:prefix=node") == FixedPrefix("node")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("P11", r"no mark 'P11'; did you mean P1\? Known: B1, B2.*W2, codemark, .*universal;"),
        ("synonym", r"no mark 'synonym'; did you mean synonyms\?"),
        ("nonsense", "no mark 'nonsense'; known: B1, B2"),
        ("universl:joining=own", r"no 'universl' among watermarks; did you mean universal\?"),
    ],
)
def test_a_wrong_mark_is_met_with_the_nearest(typed: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_mark(typed)
