"""A maintainer's story: his project gets marks, goes on, and is as it was when he wants it back."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.run import revert
from puzzlemark.errors import (
    CorpusError,
    ManifestError,
    NothingMarked,
    SecretError,
    UsageError,
)
from puzzlemark.protecting.run import protect, revert_repository
from puzzlemark.protecting.worth import Worth
from puzzlemark.protecting.writing import journal_folder
from tests.oracles.python import difference
from tests.protecting.project import CAMEL, SHELF, TEST, commit_all, contents, run_git

MARKED = {
    "shelves/camel.py::joinReleases",
    "shelves/named.py::plan",
    "shelves/shelf.py::Shelf.heaviest",
    "shelves/shelf.py::Shelf.size#2",
    "shelves/shelf.py::spread",
    "shelves/shelf.py::shout",
}


def ids(manifest: Path) -> set[str]:
    return {carrier.id for carrier in load_manifest(manifest)}


def manifest_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.manifest.jsonl.gz")


def test_every_function_that_can_carry_is_marked_and_nothing_else_changes(project: Path) -> None:
    before = contents(project)
    done = protect(project, in_place=True)
    after = contents(project)
    assert ids(manifest_of(project)) == MARKED
    assert set(done.changed) == {f"shelves/{name}.py" for name in ("camel", "named", "shelf")}
    assert {path for path in before if before[path] != after[path]} == set(done.changed)
    for path in done.changed:
        assert difference(before[path].decode(), after[path].decode()) is None
        assert before[path].count(b"\n") == after[path].count(b"\n")
    assert b"optionalReleaseMandatoryRelease" in after["shelves/camel.py"]
    assert done.left_alone["tests"] == 2


def test_what_is_private_is_readable_by_its_owner_only_and_nothing_is_left_beside_it(
    project: Path,
) -> None:
    protect(project, in_place=True, test=TEST)
    beside = {path.name for path in project.parent.iterdir()} - {project.name}
    manifest = manifest_of(project)
    assert beside == {manifest.name, f"{manifest.name}.test.log"}
    assert all(stat.S_IMODE((project.parent / name).stat().st_mode) == 0o600 for name in beside)


def test_a_mark_that_breaks_the_tests_is_found_and_is_the_only_one_refused(project: Path) -> None:
    done = protect(project, in_place=True, test=TEST)
    assert done.refused == ("shelves/named.py::plan",)
    assert ids(manifest_of(project)) == MARKED - set(done.refused)
    assert subprocess.run(TEST, shell=True, cwd=project, check=False).returncode == 0  # noqa: S602
    again = protect(project, update=True, in_place=True, test=TEST)
    assert (again.marks, again.test_runs, again.changed) == (5, 0, ())


def test_a_function_that_was_refused_is_tried_again_when_it_has_changed(project: Path) -> None:
    protect(project, in_place=True, test=TEST)
    file = project / "shelves" / "named.py"
    file.write_text(file.read_text().replace("2 * (", "2 * 1 * ("))
    assert (
        "shelves/named.py::plan" in protect(project, update=True, in_place=True, test=TEST).refused
    )
    assert protect(project, update=True, in_place=True).marks == 5
    file.write_text(file.read_text().replace("2 * 1 *", "2 *  1 *"))
    assert protect(project, update=True, in_place=True).marks == 6


def test_tests_that_fail_before_any_mark_stop_everything(project: Path) -> None:
    before = contents(project)
    with pytest.raises(CorpusError, match="fails before any mark was touched"):
        protect(project, in_place=True, test="exit 3")
    assert contents(project) == before
    assert not manifest_of(project).exists()


def test_tests_that_take_too_long_have_failed(project: Path) -> None:
    with pytest.raises(CorpusError, match="fails before"):
        protect(project, in_place=True, test="sleep 60", test_timeout=0.2)
    assert (
        "not done after 0.2 seconds"
        in manifest_of(project).with_name(f"{manifest_of(project).name}.test.log").read_text()
    )


def test_the_tests_do_not_see_the_secret(project: Path) -> None:
    protect(project, in_place=True, test='test -z "$PUZZLEMARK_SECRET"')


def test_revert_gives_every_byte_back_and_keeps_the_manifest(project: Path) -> None:
    before = contents(project)
    protect(project, in_place=True)
    assert contents(project) != before
    done = revert_repository(project, in_place=True)
    assert contents(project) == before
    assert done.counts == {"reverted": 6, "not in": 0, "not found": 0}
    assert revert_repository(project, in_place=True).counts["not in"] == 6
    assert protect(project, update=True, in_place=True).counts["restored"] == 6


def test_revert_follows_moved_lines_files_and_changes_and_says_what_it_cannot_find(
    project: Path,
) -> None:
    protect(project, in_place=True)
    shelf, camel = project / "shelves" / "shelf.py", project / "shelves" / "camel.py"
    text = shelf.read_text()
    head, spread = text[: text.index("def spread")], text[text.index("def spread") :]
    spread, shout = spread[: spread.index("def shout")], spread[spread.index("def shout") :]
    # lines before it, another file, a changed function, and one that is gone
    shelf.write_text("# new\n\n" + head + spread.replace("found = []", "found = list()"))
    (project / "shelves" / "loud.py").write_text(shout)
    camel.write_text(camel.read_text().replace("def joinReleases", "def joinAll"))
    done = revert_repository(project, in_place=True)
    assert shelf.read_text() == (
        "# new\n\n" + SHELF[: SHELF.index("def shout")].replace("found = []", "found = list()")
    )
    assert (project / "shelves" / "loud.py").read_text() == SHELF[SHELF.index("def shout") :]
    assert done.dropped == {"shelves/camel.py::joinReleases": "its function was not found"}


def test_an_update_keeps_what_stands_drops_what_is_gone_and_marks_what_is_new(
    project: Path,
) -> None:
    protect(project, in_place=True)
    manifest, shelf = manifest_of(project), project / "shelves" / "shelf.py"
    marks = {carrier.id: carrier.marks[0].parts for carrier in load_manifest(manifest)}
    text = shelf.read_text()
    new = "def added(one, two):\n    other = one * two\n    return other - one\n"
    shelf.write_text("# a header\n" + text[: text.index("def shout")] + new)
    done = protect(project, update=True, in_place=True)
    assert done.counts == {"kept": 5, "restored": 0, "again": 0, "new": 1, "dropped": 1}
    after = {carrier.id: carrier.marks[0].parts for carrier in load_manifest(manifest)}
    assert {id_: marks[id_] for id_ in marks if id_ in after} == {
        id_: parts for id_, parts in after.items() if id_ in marks
    }
    assert after.keys() - marks.keys() == {"shelves/shelf.py::added"}
    assert done.dropped == {"shelves/shelf.py::shout": "its function is gone"}


def test_an_update_of_the_unmarked_code_puts_the_same_marks_in(project: Path) -> None:
    before = contents(project)
    protect(project, in_place=True)
    marked = contents(project)
    for path, content in before.items():
        (project / path).write_bytes(content)
    (project / "shelves" / "more.py").write_text("parts_step = start_stop = 1\n")
    done = protect(project, update=True, in_place=True)
    assert (done.counts["restored"], done.counts["new"]) == (6, 0)
    after = contents(project)
    assert {path: after[path] for path in marked} == marked


def test_an_update_takes_a_namesake_before_it_for_what_it_is(project: Path) -> None:
    protect(project, in_place=True)
    shelf = project / "shelves" / "shelf.py"
    text = shelf.read_text()
    other = "    def size(self):\n        return 0\n\n    @property\n"
    shelf.write_text(text.replace("    @property\n", other, 1))
    done = protect(project, update=True, in_place=True)
    assert done.counts == {"kept": 6, "restored": 0, "again": 0, "new": 0, "dropped": 0}
    assert "shelves/shelf.py::Shelf.size#3" in ids(manifest_of(project))


def test_a_function_whose_marked_variable_was_renamed_by_hand_gets_its_mark_again(
    project: Path,
) -> None:
    protect(project, in_place=True)
    camel = project / "shelves" / "camel.py"
    camel.write_text(camel.read_text().replace("optionalReleaseMandatoryRelease", "everyRelease"))
    done = protect(project, update=True, in_place=True)
    assert done.counts == {"kept": 5, "restored": 0, "again": 1, "new": 0, "dropped": 0}
    assert "optionalReleaseMandatoryRelease" in camel.read_text()
    revert_repository(project, in_place=True)
    assert camel.read_text() == CAMEL.replace("allReleases", "everyRelease")


def test_a_mark_comes_again_on_the_same_variable_although_another_is_rarer_now(
    project: Path,
) -> None:
    code = (
        "def mix(red, blue):\n    both = red + blue\n    half = both / 2\n"
        "    dark = half - 1 + half\n    return dark, dark\n"
    )
    file = project / "shelves" / "mix.py"
    file.write_text(code)
    protect(project, in_place=True)
    assert file.read_text() == code.replace("both", "red_blue")
    changed = code.replace("return dark, dark", "return dark, both, both")
    file.write_text(changed)
    assert protect(project, update=True, in_place=True).counts["again"] == 1
    assert file.read_text() == changed.replace("both", "red_blue")


def test_a_mark_whose_old_name_is_taken_now_stays_when_marks_are_taken_out(project: Path) -> None:
    protect(project, in_place=True)
    camel = project / "shelves" / "camel.py"
    text = camel.read_text().replace("    return opt", "    allReleases = 1\n    return opt")
    camel.write_text(text)
    assert protect(project, update=True, in_place=True).counts["kept"] == 6
    done = revert_repository(project, in_place=True)
    assert camel.read_text() == text
    assert done.counts["reverted"] == 6  # of its mark there is nothing to take out any more
    assert not done.dropped


def test_the_rate_bounds_the_marks_and_an_update_never_moves_them(project: Path) -> None:
    done = protect(project, in_place=True, rate=0.3)
    assert (done.marks, done.functions) == (3, 10)
    assert done.worth is not None
    assert done.worth.able == 6
    first = ids(manifest_of(project))
    (project / "shelves" / "new.py").write_text(SHELF.replace("Shelf", "Board"))
    second = protect(project, update=True, in_place=True)
    assert (second.marks, second.counts["kept"]) == (4, 3)
    assert first < ids(manifest_of(project))


def test_worth_is_announced_before_anything_is_written(project: Path) -> None:
    before = contents(project)
    told: list[tuple[Worth, bool]] = []
    protect(
        project, in_place=True, announce=lambda w: told.append((w, contents(project) == before))
    )
    ((worth, was_untouched),) = told
    assert was_untouched
    assert (worth.functions, worth.able, worth.word) == (10, 6, "none")


def test_a_dry_run_writes_nothing_and_says_what_would_be(project: Path) -> None:
    before = contents(project.parent)
    done = protect(project, dry_run=True)
    assert (done.marks, len(done.changed)) == (6, 3)
    assert contents(project.parent) == before


def test_an_output_is_a_marked_copy(repository: Path, tmp_path: Path) -> None:
    before = contents(repository)
    link = repository / "link.py"
    link.symlink_to("shelves/shelf.py")
    (repository / "script.py").write_text(SHELF)
    (repository / "script.py").chmod(0o755)
    commit_all(repository, "More")
    protect(repository, output=tmp_path / "copy", test=TEST)
    assert {p: c for p, c in contents(repository).items() if p in before} == before
    copied = contents(tmp_path / "copy")
    assert copied.keys() == contents(repository).keys()
    assert (tmp_path / "copy" / "link.py").is_symlink()
    assert stat.S_IMODE((tmp_path / "copy" / "script.py").stat().st_mode) == 0o755
    assert copied["shelves/camel.py"] != before["shelves/camel.py"]
    back = revert_repository(tmp_path / "copy", manifest_of(repository), output=tmp_path / "back")
    assert back.counts["reverted"] == 9
    assert contents(tmp_path / "back") == contents(repository)


def test_a_branch_gets_a_commit_and_the_checkout_stays_as_it_is(repository: Path) -> None:
    before, head = contents(repository), run_git(repository, "rev-parse", "HEAD")
    done = protect(repository, branch="release", message="Tidy up", test=TEST)
    assert contents(repository) == before
    assert run_git(repository, "rev-parse", "HEAD") == head
    assert run_git(repository, "status", "--porcelain") == ""
    assert run_git(repository, "log", "-1", "--format=%H %s", "release").split(None, 1) == [
        done.commit,
        "Tidy up\n",
    ]
    changed = run_git(repository, "diff", "--name-only", "main", "release").split()
    assert changed == ["shelves/camel.py", "shelves/shelf.py"]


def test_an_update_moves_the_branch_forward_and_only_when_there_is_something_new(
    repository: Path,
) -> None:
    first = protect(repository, branch="release").commit
    assert protect(repository, update=True, branch="release").commit is None
    (repository / "shelves" / "new.py").write_text("x = 1\n")
    commit_all(repository, "Second")
    second = protect(repository, update=True, branch="release").commit
    parents = run_git(repository, "log", "-1", "--format=%P", "release").split()
    assert parents == [run_git(repository, "rev-parse", "main").strip(), first]
    assert run_git(repository, "rev-parse", "release").strip() == second
    run_git(repository, "checkout", "-q", "release")
    assert protect(repository, update=True, branch="release").counts["kept"] == 6
    assert run_git(repository, "status", "--porcelain") == ""


def test_a_branch_that_is_checked_out_keeps_its_marks_in_the_work_tree(repository: Path) -> None:
    run_git(repository, "checkout", "-q", "-b", "release")
    protect(repository, branch="release")
    assert run_git(repository, "status", "--porcelain") == ""
    assert b"optionalReleaseMandatoryRelease" in contents(repository)["shelves/camel.py"]


def test_a_folder_below_the_top_of_a_repository_is_protected_alone(
    repository: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="lies inside the repository"):
        protect(repository / "shelves", repository / "marks.jsonl", branch="release")
    protect(repository / "shelves", tmp_path / "marks.jsonl", branch="release")
    assert ids(tmp_path / "marks.jsonl") == {each.removeprefix("shelves/") for each in MARKED}
    changed = run_git(repository, "diff", "--name-only", "main", "release").split()
    assert changed == ["shelves/camel.py", "shelves/named.py", "shelves/shelf.py"]


def test_manifest_and_secret_are_refused_inside_the_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PUZZLEMARK_SECRET")
    with pytest.raises(UsageError, match=r"--manifest .* lies inside the repository"):
        protect(repository, repository / ".git" / "marks.jsonl", in_place=True)
    with pytest.raises(UsageError, match=r"--secret-file .* lies inside the repository"):
        protect(repository, secret_file=repository / "secret", in_place=True)
    assert not (repository / "secret").exists()


def test_calls_that_say_too_little_or_too_much_are_refused(project: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="where shall the marks go"):
        protect(project)
    with pytest.raises(UsageError, match="one of --branch, --in-place and --output"):
        protect(project, in_place=True, output=tmp_path / "x")
    with pytest.raises(UsageError, match="not a git work tree"):
        protect(project, branch="release")
    with pytest.raises(UsageError, match="above 0 and at most 1"):
        protect(project, in_place=True, rate=0)
    with pytest.raises(UsageError, match="no grammar for the language"):
        protect(project, in_place=True, languages=["cobol"])
    with pytest.raises(UsageError, match="which every commit would change"):
        protect(project, in_place=True, watermark="synonyms")
    with pytest.raises(ManifestError, match="cannot read the manifest"):
        protect(project, in_place=True, update=True)
    with pytest.raises(NothingMarked, match="no function can carry"):
        protect(project, in_place=True, include=["nowhere/"])
    protect(project, in_place=True)
    with pytest.raises(UsageError, match="there is a manifest already"):
        protect(project, in_place=True)
    with pytest.raises(UsageError, match="one repository has one watermark"):
        protect(project, in_place=True, update=True, mark="P1")


def test_changes_that_are_not_committed_are_not_swept_into_a_branch(repository: Path) -> None:
    (repository / "shelves" / "camel.py").write_text(CAMEL + "\n")
    with pytest.raises(UsageError, match="changed and not committed"):
        protect(repository, branch="release")


def test_an_update_with_another_secret_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protect(project, in_place=True)
    monkeypatch.setenv("PUZZLEMARK_SECRET", "another secret, long enough")
    with pytest.raises(SecretError, match="made with another secret"):
        protect(project, in_place=True, update=True)


def test_the_papers_literal_joining_is_there_for_whoever_wants_it(project: Path) -> None:
    protect(project, in_place=True, watermark="universal:joining=literal", max_line_length=200)
    assert b"optionalRelease_mandatoryRelease" in contents(project)["shelves/camel.py"]


def test_marks_of_a_file_that_is_left_alone_now_stay_known(project: Path) -> None:
    protect(project, in_place=True)
    (project / ".gitattributes").write_text("shelves/camel.py linguist-generated\n")
    done = protect(project, update=True, in_place=True)
    assert done.counts["kept"] == 6
    assert revert_repository(project, in_place=True).counts["reverted"] == 6


OTHERS = {
    "code.js": (
        "export function mix(red, blue) {\n  const both = red + blue;\n  const half = both / 2;\n"
        "  return half;\n}\n"
    ),
    "code.ts": (
        "export const mix = (red: number, blue: number): number => {\n"
        "  const both = red + blue;\n  const half = both / 2;\n  return half;\n};\n"
    ),
    "code.go": (
        "package code\n\nfunc mix(red int, blue int) int {\n\tboth := red + blue\n"
        "\thalf := both / 2\n\treturn half\n}\n"
    ),
}


def test_every_language_with_scopes_goes_the_same_way(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name, text in OTHERS.items():
        (folder / name).write_text(text)
    before = contents(folder)
    done = protect(folder, in_place=True)
    assert done.marks == 3
    assert all(b"redBlue" in content for content in contents(folder).values())
    revert_repository(folder, in_place=True)
    assert contents(folder) == before


def test_the_manifest_of_a_repository_is_not_taken_for_that_of_a_dataset(project: Path) -> None:
    protect(project, in_place=True)
    with pytest.raises(UsageError, match="puzzlemark protect --revert"):
        revert(project, project.parent / "out", manifest_of(project))


# -- a run that is killed --------------------------------------------------------------------------

KILLED = """
import os, sys
from puzzlemark.protecting import writing
from puzzlemark.protecting.run import protect
left = [int(sys.argv[2])]
replace = writing.WorkTree._replace
def dying(self, path, content):
    left[0] -= 1
    if left[0] < 0:
        writing.temporary(self.folder / path).write_bytes(b"cut off")
        os._exit(9)
    replace(self, path, content)
writing.WorkTree._replace = dying
protect(sys.argv[1], in_place=True)
"""


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_killed_run_leaves_whole_files_and_the_next_one_puts_them_back(
    project: Path, after: int
) -> None:
    before = contents(project)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(project), str(after)], env=dict(os.environ), check=False
    )
    assert killed.returncode == 9
    now = contents(project)
    assert sum(now[path] != before[path] for path in before) == after
    for path in before:
        if path.endswith(".py"):
            assert difference(before[path].decode(), now[path].decode()) is None
    assert journal_folder(manifest_of(project)).is_dir()
    done = protect(project, in_place=True)
    assert done.marks == 6
    assert not journal_folder(manifest_of(project)).exists()
    revert_repository(project, in_place=True)
    assert contents(project) == before


def test_a_failure_in_the_middle_puts_everything_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protect(project, in_place=True)
    manifest, marked = manifest_of(project).read_bytes(), contents(project)
    (project / "shelves" / "new.py").write_text(SHELF)
    before = contents(project)

    def fail(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("puzzlemark.protecting.run._blame", fail)
    with pytest.raises(KeyboardInterrupt):
        protect(project, update=True, in_place=True, test="true")
    assert contents(project) == before != marked
    assert manifest_of(project).read_bytes() == manifest


def test_what_somebody_changes_meanwhile_is_kept_and_the_rest_is_put_back(project: Path) -> None:
    before = contents(project)
    # the second run of the tests, with the marks in, edits a file and fails
    test = "if [ -e ran ]; then echo '# mine' >> shelves/camel.py; exit 1; else touch ran; fi"
    with pytest.raises(CorpusError, match="somebody changed it while protect was at work"):
        protect(project, in_place=True, test=test)
    after = contents(project)
    assert after.pop("shelves/camel.py").endswith(b"# mine\n")
    assert {path: after[path] for path in before if path in after} == {
        path: content for path, content in before.items() if path != "shelves/camel.py"
    }


def test_a_repository_that_git_cannot_read_is_no_plain_folder(project: Path) -> None:
    (project / ".git").write_text("gitdir: nowhere\n")
    with pytest.raises(CorpusError, match="git rev-parse failed"):
        protect(project, in_place=True)


def test_the_summary_is_plain_data(project: Path) -> None:
    done = protect(project, dry_run=True)
    assert json.loads(json.dumps(done.to_json()))["worth"]["word"] == "none"
