import pytest

from puzzlemark.languages.base import find
from puzzlemark.quality.activation import Activation, find_activation
from puzzlemark.quality.samples import Sample


def sample(
    names: str = "name path key", more: str = "", truth: str = "", language: str = "python"
) -> Sample:
    found = find(language)
    assert found is not None
    prompt = f"def f({', '.join(names.split())}):\n    {more}"
    return Sample(0, "f", found, prompt, truth, tuple(names.split()))


@pytest.mark.parametrize(
    ("completion", "names"),
    [
        ("\n    name_path = 1", ("name_path",)),
        ("\n    path_key = name_key", ("name_key", "path_key")),
        ("\n    path_name = 1", ()),  # not in the order in which they occur
        ("\n    namePath = 1", ()),  # another language's convention
        ("\n    name_path_key = 1", ()),  # a longer name
        ("\n    name_name = name", ()),
        ("\n    self.name_path = 1", ("name_path",)),
        ("", ()),
    ],
)
def test_new_names_that_join_two_variables_are_found(
    completion: str, names: tuple[str, ...]
) -> None:
    assert find_activation(sample(), completion).names == names


def test_java_joins_by_a_capital() -> None:
    found = find_activation(sample(language="java"), "int namePath = path_key;")
    assert found.names == ("namePath",)


def test_a_name_of_the_prompt_is_not_new() -> None:
    assert find_activation(sample(more="x = name_path"), "name_path += 1") == Activation()


def test_only_the_first_two_are_universal() -> None:
    assert find_activation(sample(), "name_path").universal
    assert not find_activation(sample(), "name_key = path_key").universal


def test_a_fixed_prefix_counts_where_it_is_a_variable() -> None:
    assert find_activation(sample("key a b"), "key_b", "key").fixed
    assert not find_activation(sample("key a b"), "a_b", "key").fixed
    assert not find_activation(sample("x a b"), "key_b", "key").fixed
    assert not find_activation(sample("key a b"), "key_b").fixed


def test_one_name_made_in_two_ways_is_one_name_of_both_kinds() -> None:
    found = find_activation(sample("a b_c a_b c"), "a_b_c", "a_b")
    assert found == Activation(("a_b_c",), universal=True, fixed=True)


def test_a_name_that_the_author_wrote_is_natural() -> None:
    assert find_activation(sample(truth="name_path = 1"), "name_path").natural
    assert not find_activation(sample(truth="name_path = 1"), "name_path = path_key").natural
    assert not find_activation(sample(truth="name_path = 1"), "nothing").natural


def test_names_without_a_letter_join_nothing() -> None:
    assert find_activation(sample("_ x"), "_x = x_ = __x").names == ()
