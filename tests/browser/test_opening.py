"""The looks at pages can fail."""

from pathlib import Path

import pytest

from tests.browser.conftest import Looking


@pytest.mark.parametrize(
    ("body", "ratios"),
    [
        ("<p style='color:#999'>pale</p><p>dark</p>", [2.85, 21.0]),
        ("<p style='opacity:.4'>pale</p>", [2.85]),
        ("<p style='color:rgb(0 0 0 / .4)'>pale</p>", [2.85]),
        ("<div style='background:rgb(0 0 0 / .5)'><p>half</p></div>", [5.28]),
        ("<svg><style>text{fill:#999}</style><text y=20>pale</text></svg>", [2.85]),
        ("<p hidden style='color:#999'>nobody sees it</p>", []),
    ],
)
def test_contrasts_are_those_of_the_formula(
    look: Looking, tmp_path: Path, body: str, ratios: list[float]
) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<body style='background:#fff'>{body}")
    opened = look(page)
    assert [round(ratio, 2) for ratio, *_ in opened.contrasts()] == ratios
    assert len(opened.pale()) == sum(ratio < 4.5 for ratio in ratios)


def test_a_text_that_is_too_wide_is_seen(look: Looking, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<p>{'w' * 500}</p><div style='overflow-x:auto'>{'w' * 500}</div>")
    assert len(look(page).overflowing()) == 1
