"""Where pages go, and how they are rewritten on the way."""

import pytest

pytest.importorskip("mkdocs", reason="needs the extra docs")

from website import hooks


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("docs/audit.md", "audit.md"),
        ("docs/guides", "guides/README.md"),
        ("ARCHITECTURE.md", "project/architecture.md"),
        ("docs/LOG.md", "project/log.md"),
        ("src/puzzlemark/snippet.py", "source/src/puzzlemark/snippet.py.md"),
        ("examples/plugins", "source/examples/plugins/README.md"),
    ],
)
def test_every_file_has_one_place_and_is_found_again(path: str, place: str) -> None:
    assert hooks.place_of(path) == place
    assert hooks.origin_of(place).removesuffix("/README.md") == path


def test_links_hold_where_a_page_stands_and_code_is_left_alone() -> None:
    code = "```\n[f](g.md)\n```\n"
    page = "[a](../../ARCHITECTURE.md#rooms) ![b](b.svg) [c](https://c.d) [d](#e)\n" + code
    assert hooks.relinked(page, "guides/demo.md") == (
        "[a](../project/architecture.md#rooms) ![b](b.svg) [c](https://c.d) [d](#e)\n"
        "```\n[f](g.md)\n```\n"
    )
    assert hooks.relinked("[x](docs/audit.md)", "project/architecture.md") == "[x](../audit.md)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("text\n- a\n- b\n", "text\n\n- a\n- b\n"),
        ("- a\n  more\n- b\n", "- a\n    more\n- b\n"),
        ("1. a\n   - b\n\ntext", "1. a\n    - b\n\ntext"),
        ("- a\n\n      code\n\ntext\n- b", "- a\n\n        code\n\ntext\n\n- b"),
        ("- a\nlazy\n- b\n\nend\n", "- a\n    lazy\n- b\n\nend\n"),
        ("text\n\n    code - a\n", "text\n\n    code - a\n"),
        ("- a\n\n    more\n\n    - c\n", "- a\n\n      more\n\n    - c\n"),
        ("```\ntext\n- a\n```\n", "```\ntext\n- a\n```\n"),
    ],
)
def test_lists_are_set_apart(before: str, after: str) -> None:
    assert hooks.with_lists_apart(before) == after
