"""One study that many tests look at."""

from pathlib import Path

import pytest

from puzzlemark.studying.key import Key
from tests.studying import studies


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, a secret, and the pages of a study with its key."""
    place = tmp_path_factory.mktemp("study")
    studies.write_dataset(place)
    studies.write_secret(place)
    return place


@pytest.fixture(scope="package")
def key(folder: Path) -> Key:
    return studies.make(folder)[1]


@pytest.fixture
def pages(folder: Path, key: Key) -> Path:
    return folder / "pages"
