"""No output of a command touches another of its paths, however they are spelled."""

import os
from pathlib import Path

import pytest

from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart, staging_folder


def refused(tmp_path: Path, output: str | Path, other: str | Path) -> str:
    """The refusal of an output beside an input; both are below the test's folder."""
    with pytest.raises(UsageError) as caught:
        keep_apart({"--output": tmp_path / output}, {"INPUT": tmp_path / other})
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_paths_that_lie_apart_are_fine(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    keep_apart(
        {"--output": tmp_path / "out", "--manifest": tmp_path / "out.gz", "--page": None},
        {"INPUT": [tmp_path / "data", tmp_path / "data" / "a.jsonl"], "--secret-file": None},
    )


@pytest.mark.parametrize(
    ("output", "other", "relation"),
    [
        ("a.jsonl", "a.jsonl", "is the same as"),
        ("x/../a.jsonl", "a.jsonl", "is the same as"),
        ("data/out", "data", "lies inside"),
        ("data/deep/../out", "data", "lies inside"),
        ("data", "data/a.jsonl", "contains"),
        (".", "data/a.jsonl", "contains"),
    ],
)
def test_the_same_inside_and_around_are_refused_with_both_names(
    tmp_path: Path, output: str, other: str, relation: str
) -> None:
    told = refused(tmp_path, output, other)
    assert f"--output {output if output != '.' else tmp_path} {relation} INPUT {other}" in told
    assert "choose another path for --output" in told


def test_it_does_not_matter_whether_the_paths_exist(tmp_path: Path) -> None:
    before = refused(tmp_path, "data/out.jsonl", "data")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "out.jsonl").touch()
    assert refused(tmp_path, "data/out.jsonl", "data") == before


def test_outputs_are_kept_apart_from_each_other(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--manifest \S+/out/m\.gz lies inside --output \S+/out,"):
        keep_apart({"--output": tmp_path / "out", "--manifest": tmp_path / "out" / "m.gz"}, {})


def test_outputs_that_differ_in_case_only_are_one_file_somewhere(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is the same as"):
        keep_apart({"--train": tmp_path / "Data.jsonl", "--test": tmp_path / "data.jsonl"}, {})
    with pytest.raises(UsageError, match="lies inside"):
        keep_apart({"--output": tmp_path / "OUT", "--manifest": tmp_path / "out" / "m"}, {})


def test_inputs_may_be_anywhere(tmp_path: Path) -> None:
    keep_apart({}, {"INPUT": tmp_path, "--manifest": tmp_path / "m.gz"})


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.jsonl").touch()
    (tmp_path / "file").symlink_to(tmp_path / "data" / "a.jsonl")
    (tmp_path / "folder").symlink_to(tmp_path / "data", target_is_directory=True)
    (tmp_path / "dangling").symlink_to(tmp_path / "later")
    assert "is the same as" in refused(tmp_path, "file", "data/a.jsonl")
    assert "is the same as" in refused(tmp_path, "data/a.jsonl", "file")
    assert "lies inside" in refused(tmp_path, "folder/out", "data")
    assert "is the same as" in refused(tmp_path, "later", "dangling")


def test_a_link_is_lost_with_the_folder_that_it_stands_in(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.jsonl").touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "link.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    assert "contains" in refused(tmp_path, "data", "data/link.jsonl")


def test_hard_links_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    os.link(tmp_path / "a", tmp_path / "b")
    assert "is the same as" in refused(tmp_path, "a", "b")


def test_one_folder_under_two_names_is_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system that is blind to case, or with a folder that is mounted twice."""
    (tmp_path / "data").mkdir()
    stat = Path.stat

    def blind(path: Path, **options: bool) -> os.stat_result:
        return stat(Path(str(path).replace("DATA", "data")), **options)

    monkeypatch.setattr(Path, "stat", blind)
    assert "is the same as" in refused(tmp_path, "DATA", "data")
    assert "lies inside" in refused(tmp_path, "DATA/out", "data")
    assert "contains" in refused(tmp_path, "data", "DATA/a.jsonl")


def test_relative_paths_are_those_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(UsageError, match="is the same as"):
        keep_apart({"--output": "a"}, {"INPUT": tmp_path / "here" / "a"})
    with pytest.raises(UsageError, match="contains"):
        keep_apart({"--output": "."}, {"INPUT": "a"})


def test_nothing_may_be_written_where_an_output_is_prepared(tmp_path: Path) -> None:
    output = tmp_path / "m.jsonl"
    inside = staging_folder(output) / "m.gz"
    with pytest.raises(UsageError, match="lies inside"):
        keep_apart({"--output": output, "--manifest": inside}, {})
