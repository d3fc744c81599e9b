"""The language of the example package, installed as one of somebody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from puzzlemark import plugins
from puzzlemark.languages import base

ENTRY_POINTS = """\
[puzzlemark.languages]
small_go = examples.plugins.src.puzzlemark_example.small_go

[puzzlemark.syntax.resolvers]
small_go = examples.plugins.src.puzzlemark_example.small_go
"""


def forget_plugins() -> None:
    """Look for plug-ins again: a process finds them once."""
    for each in (*vars(plugins).values(), *vars(base).values()):
        if hasattr(each, "cache_clear"):
            each.cache_clear()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    site = tmp_path / "site"
    about = site / "small_go_language-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: small-go-language\nVersion: 1.0\n"
    )
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    with monkeypatch.context() as patched:
        patched.syspath_prepend(site)
        forget_plugins()
        yield
    forget_plugins()
