from pathlib import Path

import pytest

from puzzlemark.embedding.showing import show
from puzzlemark.errors import ManifestError, SecretError
from puzzlemark.protecting.dataset import as_dataset, is_repository, show_files
from puzzlemark.protecting.run import protect, revert_repository
from puzzlemark.verification.making import build_probes
from tests.protecting.project import CAMEL, make_project

# enough unmarked functions for names to draw from, and some more that carry
MORE = "\n\n".join(
    f"def work_{number}(alpha{number}, beta{number}):\n"
    f"    gamma{number} = alpha{number} * beta{number} + {number}\n"
    f"    delta{number} = gamma{number} ** {number}\n"
    f"    return delta{number}"
    for number in range(6)
)
WORDS = "apple pear plum grape lemon melon peach mango fig date lime berry".split()
PLAIN = "\n\n".join(  # a name is ordinary when two functions have it
    f"def {kind}_{word}(x):\n    {word} = x.{word}()\n    return {word}"
    for word in WORDS
    for kind in ("get", "find")
)


@pytest.fixture
def marked(tmp_path: Path) -> tuple[Path, Path]:
    folder = make_project(tmp_path / "shelves")
    (folder / "shelves" / "more.py").write_text(MORE + "\n\n" + PLAIN + "\n")
    protect(folder, tmp_path / "marks.jsonl", in_place=True)
    return folder, tmp_path / "marks.jsonl"


def test_probes_are_made_from_a_repository_as_from_a_dataset(marked: tuple[Path, Path]) -> None:
    with as_dataset(*marked) as (dataset, manifest):
        probes = build_probes(dataset, manifest, pairs=50)
    assert len(probes.probes) >= 5
    prompts = [probe.armed.prompt for probe in probes.probes]
    assert any(prompt.startswith("def ") for prompt in prompts)


def test_probes_are_made_of_a_later_commit_and_know_what_still_stands(
    marked: tuple[Path, Path],
) -> None:
    folder, listed = marked
    camel = folder / "shelves" / "camel.py"
    camel.write_text("# new\n" + camel.read_text().replace(".extend(", " .extend("))
    (folder / "shelves" / "named.py").unlink()
    with as_dataset(folder, listed) as (dataset, manifest):
        shown = show(dataset, manifest, limit=None)
    ids = {mark.id for mark in shown.marks}
    assert "shelves/camel.py::joinReleases" in ids
    assert not any("named" in each for each in ids)
    (mark,) = [mark for mark in shown.marks if mark.id == "shelves/camel.py::joinReleases"]
    assert "allReleases .extend" in mark.before.code


def test_anything_else_is_passed_on_as_it_is(tmp_path: Path) -> None:
    with as_dataset("data.jsonl", tmp_path / "marks.jsonl") as found:
        assert found == ("data.jsonl", tmp_path / "marks.jsonl")
    assert not is_repository(tmp_path, tmp_path / "none")


def test_a_repository_without_its_marks_is_refused(marked: tuple[Path, Path]) -> None:
    revert_repository(*marked, in_place=True)
    with pytest.raises(ManifestError, match="none of the marks"), as_dataset(*marked):
        pass


def test_the_diff_of_a_file_is_the_same_from_either_side(marked: tuple[Path, Path]) -> None:
    diffs = show_files(*marked)
    assert list(diffs) == [f"shelves/{name}.py" for name in ("camel", "more", "named", "shelf")]
    assert diffs["shelves/camel.py"].splitlines()[:5] == [
        "--- a/shelves/camel.py",
        "+++ b/shelves/camel.py",
        "@@ -1,5 +1,5 @@",
        " def joinReleases(optionalRelease, mandatoryRelease):",
        "-    allReleases = list(optionalRelease)",
    ]
    revert_repository(*marked, in_place=True)
    assert (marked[0] / "shelves" / "camel.py").read_text() == CAMEL
    assert show_files(*marked) == diffs


def test_an_error_names_the_files_that_the_user_knows(
    marked: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other-secret"
    other.write_text("another secret than that of the marks", encoding="utf-8")
    other.chmod(0o600)

    def ask() -> None:
        with as_dataset(*marked) as (dataset, manifest):
            build_probes(dataset, manifest, secret_file=other)

    with pytest.raises(SecretError) as raised:
        ask()
    assert str(raised.value).startswith(f"{marked[1]}: its marks were made with another secret")
