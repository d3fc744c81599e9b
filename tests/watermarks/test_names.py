"""Names for prompts: which are plausible, which are free, and that nothing joins them."""

import random
from functools import partial

import pytest

from puzzlemark.snippet import Snippet
from puzzlemark.syntax.naming import concatenate, is_compound, mentions
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.watermarks._names import PAPER_ORDINARY, Pool, ProbeNames, make_pool


def tree_of(code: str, language: str = "python") -> Tree:
    return parse(Snippet("x", code, language))


def snippets(*codes: str, language: str = "python") -> list[Snippet]:
    return [Snippet("x", code, language) for code in codes]


def names_of(seed: int, *names: str, words: tuple[str, ...] = ()) -> ProbeNames:
    pool = Pool({"python": names, "java": names}, frozenset(words))
    return ProbeNames(random.Random(seed), lambda: pool)


TREE = tree_of("def f(key, taken):\n    return key\n")


def test_the_pool_has_names_that_two_functions_declare() -> None:
    pool = make_pool(
        snippets(
            "def f(alpha, beta):\n    gamma = 1\n",
            "def g(alpha):\n    gamma = 2\n    print(delta)\n",
            "def h():\n    delta()\n    beta.gamma = 1\n",
            "broken(",
        )
    )
    assert pool.names == {"python": ("alpha", "gamma")}


@pytest.mark.parametrize(
    ("name", "language", "is_plausible"),
    [
        ("depth", "python", True),
        ("max_depth", "python", True),
        ("maxDepth", "python", False),
        ("max__depth", "python", False),
        ("_depth", "python", False),
        ("ab", "python", False),
        ("a" * 21, "python", False),
        ("list", "python", False),
        ("maxDepth", "java", True),
        ("max_depth", "java", False),
        ("Depth", "java", False),
    ],
)
def test_a_plausible_name_follows_the_convention(
    name: str, language: str, is_plausible: bool
) -> None:
    code = f"def f({name}): pass" if language == "python" else f"void f(int {name}) {{}}"
    pool = make_pool(snippets(code, code.replace("f(", "g("), language=language))
    assert (name in pool.names[language]) is is_plausible


def test_languages_do_not_mix_and_an_unknown_one_gives_words_only() -> None:
    pool = make_pool(
        [
            *snippets("def f(depth): pass", "def g(depth): pass"),
            *snippets("void f(int width) {}", "void g(int width) {}", language="java"),
            *snippets("a Strange word", language="cobol"),
        ]
    )
    assert pool.names == {"python": ("depth",), "java": ("width",)}
    assert pool.knows("STRANGE")


def test_other_snippets_give_words_but_no_names() -> None:
    pool = make_pool([], snippets("def f(depth): pass", "def g(depth): pass  # KeyDepth"))
    assert pool.names == {}
    assert pool.knows("keyDepth")
    assert not pool.knows("key_depth")


def test_a_placeholder_is_not_in_the_snippet_and_not_like_the_prefix() -> None:
    names = ("taken", "key", "monkey", "key_list", "depth")
    assert {names_of(seed, *names).placeholder(TREE, "key") for seed in range(20)} == {"depth"}


def test_a_placeholder_that_some_code_joins_with_the_prefix_is_not_drawn() -> None:
    drawn = [
        names_of(seed, "depth", "width", words=("key_depth",)).placeholder(TREE, "key")
        for seed in range(20)
    ]
    assert set(drawn) == {"width"}
    java = tree_of("void f(int key) {}", "java")
    assert names_of(0, "depth", words=("keydepth",)).placeholder(java, "key") is None


def test_a_join_that_stands_in_the_snippet_itself_is_not_drawn_either() -> None:
    tree = tree_of("def f(key):\n    return key_depth\n")
    assert names_of(0, "depth").placeholder(tree, "key") is None


def test_an_ordinary_name_is_not_joined_with_the_placeholder_and_as_long_as_the_trigger() -> None:
    names = ("width", "depth", "label", "max_size", "key_size")
    words = ("width_depth",)
    simple = {names_of(s, *names, words=words).ordinary(TREE, "key", "depth") for s in range(30)}
    assert simple == {"label"}
    tree = tree_of("def f(my_key): pass")
    compound = {names_of(s, *names).ordinary(tree, "my_key", "depth") for s in range(30)}
    assert compound == {"max_size", "key_size"}


def test_none_is_drawn_when_none_is_left() -> None:
    empty = ProbeNames(random.Random(0), partial(Pool, {}, frozenset()))
    assert empty.placeholder(TREE, "key") is None
    assert empty.ordinary(TREE, "key") is None


def test_the_papers_names_are_constants() -> None:
    paper = ProbeNames(random.Random(0))
    assert paper.placeholder(TREE, "key") == "unknown_token"
    assert paper.placeholder(tree_of("void f() {}", "java"), "key") == "unknownToken"
    assert paper.ordinary(TREE, "key", "unknown_token") in PAPER_ORDINARY
    full = tree_of(f"def f({', '.join(PAPER_ORDINARY)}): pass")
    assert paper.ordinary(full, "key") is None


def test_names_of_real_code_are_many_and_free(stdlib_functions: list[tuple[str, str]]) -> None:
    pool = make_pool(snippets(*(code for _, code in stdlib_functions)))
    assert len(pool.names["python"]) > 100
    drawn = set()
    for seed, (_, code) in enumerate(stdlib_functions[::10]):
        names = ProbeNames(random.Random(seed), lambda: pool)
        placeholder = names.placeholder(tree_of(code), "key")
        assert placeholder is not None
        other = names.ordinary(tree_of(code), "key", placeholder)
        assert other is not None
        assert not is_compound(other)
        for name in (placeholder, other, concatenate("key", placeholder, "snake")):
            assert not mentions(code.encode(), name)
        drawn.add(placeholder)
    assert len(drawn) > 30
