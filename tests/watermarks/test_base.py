import pytest

from puzzlemark import plugins
from puzzlemark.errors import UsageError
from puzzlemark.watermarks.base import from_settings, from_spec, named, to_settings
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
        assert plugins.load("watermarks", name).SCHEME.name == name


def test_an_unknown_scheme_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no 'nothing'.*fixed_prefix.*universal"):
        from_spec("nothing")


def test_an_unknown_setting_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="fixed_prefix has no setting color; it takes prefix"):
        from_spec("fixed_prefix:color=red")
    with pytest.raises(UsageError, match="universal has no setting prefix; it takes no settings"):
        from_spec("universal:prefix=key")


def test_a_setting_without_a_value_is_an_error_that_shows_the_spelling() -> None:
    with pytest.raises(UsageError, match="name=value"):
        from_spec("fixed_prefix:key")
