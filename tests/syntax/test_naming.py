import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.syntax.naming import (
    concatenate,
    is_compound,
    is_plain_identifier,
    mentions,
    own_convention,
    spelling,
    why_displeasing,
    words,
)

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,11}", fullmatch=True)


@pytest.mark.parametrize(
    ("prefix", "suffix", "snake", "camel"),
    [
        ("key", "iterator", "key_iterator", "keyIterator"),
        ("x", "y", "x_y", "xY"),
        ("key", "_iter", "key_iter", "keyIter"),
        ("key_", "iter", "key_iter", "keyIter"),
        ("_key", "iter_", "_key_iter_", "_keyIter_"),
        ("value", "maxSize", "value_maxSize", "valueMaxSize"),
        ("key", "URL", "key_URL", "keyURL"),
        ("key", "k2", "key_k2", "keyK2"),
        ("key", "__x", "key_x", "keyX"),
    ],
)
def test_two_names_are_joined_by_convention(
    prefix: str, suffix: str, snake: str, camel: str
) -> None:
    assert concatenate(prefix, suffix, "snake") == snake
    assert concatenate(prefix, suffix, "camel") == camel


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("maxHTTPRetries_2", ("max", "HTTP", "Retries", "2")),
        ("key_iterator", ("key", "iterator")),
        ("keyIterator", ("key", "Iterator")),
        ("__init__", ("init",)),
        ("x2", ("x", "2")),
        ("MAX_SIZE", ("MAX", "SIZE")),
        ("_", ()),
        ("größe_x", ("gr", "öß", "e", "x")),
    ],
)
def test_a_name_has_words(name: str, expected: tuple[str, ...]) -> None:
    assert words(name) == expected


@pytest.mark.parametrize("name", ["x_y", "maxValue", "row_2_x", "HTTPServer", "isX", "_a_b"])
def test_two_words_are_a_compound_name(name: str) -> None:
    assert is_compound(name)


@pytest.mark.parametrize("name", ["x", "x2", "_x", "x_", "x_1", "MAX", "Value", "_", "i18"])
def test_one_word_is_no_compound_name(name: str) -> None:
    assert not is_compound(name)


@pytest.mark.parametrize("name", ["x", "_x", "x2", "__x", "xY"])
def test_a_plain_identifier_has_a_letter(name: str) -> None:
    assert is_plain_identifier(name)


@pytest.mark.parametrize("name", ["", "_", "__", "_1", "1x", "é", "a b", "a-b", "x\n", "x$"])
def test_anything_else_is_no_plain_identifier(name: str) -> None:
    assert not is_plain_identifier(name)


@pytest.mark.parametrize(
    "source", ["key", "a.key", '"key"', "# key.", "key_x key", "(key=1)", "-key-"]
)
def test_a_whole_word_is_a_mention(source: str) -> None:
    assert mentions(source.encode(), "key")


@pytest.mark.parametrize(
    "source", ["", "keys", "monkey", "key_", "_key", "key2", "ékey", "keyé", "Key"]
)
def test_a_part_of_a_word_is_no_mention(source: str) -> None:
    assert not mentions(source.encode(), "key")


@given(NAMES, NAMES)
def test_a_concatenation_of_plain_names_is_a_plain_name(prefix: str, suffix: str) -> None:
    if is_plain_identifier(prefix) and is_plain_identifier(suffix):
        assert is_plain_identifier(concatenate(prefix, suffix, "snake"))
        assert is_plain_identifier(concatenate(prefix, suffix, "camel"))


@given(NAMES, NAMES)
def test_a_snake_concatenation_has_the_words_of_both(prefix: str, suffix: str) -> None:
    joined = concatenate(prefix, suffix, "snake")
    assert words(joined) == words(prefix) + words(suffix)


@given(NAMES)
def test_the_words_of_a_name_are_all_of_it(name: str) -> None:
    assert "".join(words(name)) == name.replace("_", "")


@given(NAMES, st.text(alphabet="ab_1 .é", max_size=6), st.text(alphabet="ab_1 .é", max_size=6))
def test_a_mention_is_what_a_regular_expression_finds(name: str, left: str, right: str) -> None:
    import re

    source = left + name + right
    found = re.search(rf"(?<!\w){name}(?!\w)", source) is not None
    assert mentions(source.encode(), name) == found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("max_size", "snake"),
        ("maxSize", "camel"),
        ("size", None),
        ("_size_", None),
        ("x2Y", "camel"),
    ],
)
def test_a_name_says_how_it_joins_its_words(name: str, expected: str | None) -> None:
    assert spelling(name) == expected


@pytest.mark.parametrize(
    ("parts", "names", "text", "expected"),
    [
        (["optionalRelease", "mandatoryRelease"], ["a_b", "c_d"], "e_f g_h", "camel"),
        (["max_size", "x"], ["aB", "cD"], "", "snake"),
        (["key", "value"], ["maxSize", "x"], "e_f g_h", "camel"),
        (["key", "value"], ["x"], "firstName = lastName + e_f", "camel"),
        (["key", "value"], ["x"], "MAX_SIZE Foo_bar", "snake"),
        (["maxSize", "min_size"], ["fullName"], "", "camel"),
    ],
)
def test_the_convention_is_that_of_the_parts_then_of_what_stands_around(
    parts: list[str], names: list[str], text: str, expected: str
) -> None:
    assert own_convention(parts, names, text, "snake") == expected


@pytest.mark.parametrize(
    ("prefix", "suffix", "reason"),
    [
        ("key", "key_x", "repeats itself"),
        ("keys", "key", "repeats itself"),
        ("x1", "x2", "repeats itself"),
        ("f", "x", "single letters"),
        ("a" * 20, "b" * 20, "longer than 40"),
        ("max_size", "lastName", "mix two spellings"),
        ("URL", "path", "constant or a class"),
        ("Node", "path", "constant or a class"),
    ],
)
def test_names_that_a_maintainer_would_stumble_over_are_refused(
    prefix: str, suffix: str, reason: str
) -> None:
    found = why_displeasing(prefix, suffix, concatenate(prefix, suffix, "snake"))
    assert found is not None
    assert reason in found


@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [("key", "x"), ("optionalRelease", "mandatoryRelease"), ("process", "task"), ("k", "name")],
)
def test_ordinary_joined_names_please(prefix: str, suffix: str) -> None:
    assert why_displeasing(prefix, suffix, concatenate(prefix, suffix, "camel")) is None


def test_a_single_capital_pleases_before_an_underscore_only() -> None:
    assert why_displeasing("G", "node", "G_node") is None
    assert why_displeasing("G", "node", "GNode") is not None
