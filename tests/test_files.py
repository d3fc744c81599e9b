"""No output touches another path of its command, or takes the place of a file unasked."""

import os
from pathlib import Path

import pytest

from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart, refuse_existing, replacing, staging_folder
from puzzlemark.staging import staged, write_text
from puzzlemark.stores import locate_output


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


def test_what_exists_is_refused_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    refuse_existing(path, overwrite=False)
    path.write_text("x")
    refuse_existing(path, overwrite=True)
    with pytest.raises(UsageError, match="--force"):
        refuse_existing(path, overwrite=False)
    with pytest.raises(UsageError, match="is a folder"):
        refuse_existing(tmp_path, overwrite=True)


def test_a_link_that_leads_nowhere_is_an_output_that_exists(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="already there"):
        refuse_existing(link, overwrite=False)
    refuse_existing(link, overwrite=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_is_no_file_stays_whoever_forces_it(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link, Path(os.devnull)):
        for may_be_folder in (False, True):
            with pytest.raises(UsageError, match="a pipe, a socket or a device, which stays"):
                refuse_existing(path, overwrite=True, may_be_folder=may_be_folder)
    with pytest.raises(UsageError, match="which stays"), staged(pipe, overwrite=True):
        raise AssertionError("nothing may be written")
    with pytest.raises(UsageError, match="which stays"):
        write_text(pipe, "text")
    assert pipe.is_fifo()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "pipe"]


@pytest.mark.parametrize("name", [".", "/"])
def test_an_output_has_a_name(name: str) -> None:
    with pytest.raises(UsageError, match="no output can take its place"):
        locate_output(name)


def test_a_folder_may_be_replaced_where_a_folder_is_written(tmp_path: Path) -> None:
    refuse_existing(tmp_path, overwrite=True, may_be_folder=True)
    with pytest.raises(UsageError, match="already there"):
        refuse_existing(tmp_path, overwrite=False, may_be_folder=True)


def test_a_file_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "part.npy"
    for text in ("one", "two"):
        with replacing(path) as place:
            place.write_text(text)
            assert not path.exists() or path.read_text() != text
        assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "model"
    for name in ("old", "new"):
        with replacing(path) as place:
            place.mkdir()
            (place / name).write_text("x")
    assert [each.name for each in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_fails_leaves_the_one_before(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "part"
    path.write_text("before")

    def fail() -> None:
        with replacing(path) as place:
            place.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_run_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "part.partial").mkdir()
    (tmp_path / "part.partial" / "half").write_text("x")
    with replacing(tmp_path / "part") as place:
        assert not place.exists()
        place.write_text("whole")
    assert [each.name for each in tmp_path.iterdir()] == ["part"]
