"""Folders and archives, friendly and hostile."""

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from puzzlemark.errors import CorpusError
from puzzlemark.harvesting.sources import LARGEST, TOO_LARGE, Choice, Source, git_commit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PY = Choice((".py",))


def grow(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def pack(path: Path, files: dict[str, bytes], comment: bytes = b"") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.comment = comment
    return path


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path: Path) -> None:
    grow(tmp_path, {"b/z.py": b"1", "b.py": b"2", "a/c/d.py": b"3", "notes.md": b"4"})
    assert list(Source(tmp_path, PY).files()) == [
        ("a/c/d.py", b"3"),
        ("b/z.py", b"1"),
        ("b.py", b"2"),
    ]


def test_hidden_and_generated_folders_are_left_out(tmp_path: Path) -> None:
    unwanted = [".git/a.py", ".hidden.py", "x/__pycache__/b.py", "node_modules/c/d.py"]
    grow(tmp_path, dict.fromkeys([*unwanted, "kept.py"], b""))
    assert [name for name, _ in Source(tmp_path, PY).files()] == ["kept.py"]


def test_excluded_names_and_paths_are_left_out(tmp_path: Path) -> None:
    grow(tmp_path, dict.fromkeys(["test/a.py", "x/test/b.py", "x/c.py", "x/test_d.py"], b""))
    choice = Choice((".py",), ("test", "x/test_*"))
    assert [name for name, _ in Source(tmp_path, choice).files()] == ["x/c.py"]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = grow(tmp_path / "outside", {"secret.py": b"s"})
    root = grow(tmp_path / "root", {"a.py": b"a"})
    (root / "leak.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    (root / "same.py").symlink_to(root / "a.py")
    (root / "loop").symlink_to(root)
    source = Source(root, PY)
    assert list(source.files()) == [("a.py", b"a"), ("same.py", b"a")]
    assert source.skipped == {"a link out of the folder": 1}


def test_what_is_no_file_is_counted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "gone.py")
    source = Source(tmp_path, PY)
    assert list(source.files()) == []
    assert source.skipped == {"not a regular file": 1, "no such file or directory": 1}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_counted(tmp_path: Path) -> None:
    grow(tmp_path, {"a.py": b"a"})
    (tmp_path / "a.py").chmod(0)
    source = Source(tmp_path, PY)
    assert list(source.files()) == []
    assert source.skipped == {"permission denied": 1}


def test_a_huge_file_is_counted_and_not_read(tmp_path: Path) -> None:
    grow(tmp_path, {"most.py": b"#" * LARGEST, "more.py": b"#" * (LARGEST + 1)})
    source = Source(tmp_path, PY)
    assert [name for name, _ in source.files()] == ["most.py"]
    assert source.skipped == {TOO_LARGE: 1}


def test_a_bomb_in_a_zip_is_counted_and_not_unpacked(tmp_path: Path) -> None:
    source = Source(pack(tmp_path / "a.zip", {"a.py": b"#" * (LARGEST * 20)}), PY)
    assert list(source.files()) == []
    assert source.skipped == {TOO_LARGE: 1}


def test_odd_names_in_a_zip_are_only_names(tmp_path: Path) -> None:
    odd = ["../../up.py", "/etc/root.py", "caf\xe9.py", "a b/c.py", "./dot.py", "folder.py/"]
    source = Source(pack(tmp_path / "a.zip", dict.fromkeys(odd, b"")), PY)
    names = [name for name, _ in source.files()]
    assert names == ["../../up.py", "./dot.py", "/etc/root.py", "a b/c.py", "caf\xe9.py"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_a_damaged_member_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.py": b"x = 1\n" * 500, "b.py": b"kept"})
    content = bytearray(path.read_bytes())
    content[45:55] = b"\xff" * 10
    path.write_bytes(content)
    source = Source(path, PY)
    assert list(source.files()) == [("b.py", b"kept")]
    assert source.skipped == {"damaged in the archive": 1}


def test_an_encrypted_member_is_counted(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.py": b"x"})
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    source = Source(path, PY)
    assert list(source.files()) == []
    assert source.skipped == {"encrypted": 1}


def test_a_tar_is_read_in_its_own_order(tmp_path: Path) -> None:
    path = tmp_path / "project-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("p/b.py", "p/a.py", "p/notes.md"):
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
        link = tarfile.TarInfo("p/link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    source = Source(path, PY)
    assert list(source.files()) == [("p/b.py", b"x"), ("p/a.py", b"x")]
    assert source.origin().repo == "project-1.0"


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_truncated_archive_is_an_error_that_says_so(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a.zip":
        pack(path, {"a.py": os.urandom(5000)})
        damaged = bytearray(path.read_bytes())
        damaged[damaged.index(b"PK\x01\x02")] = 0  # the directory
        path.write_bytes(damaged)
    else:
        with tarfile.open(path, "w:gz") as archive:
            member = tarfile.TarInfo("a.py")
            member.size = 5000
            archive.addfile(member, io.BytesIO(os.urandom(5000)))
        path.write_bytes(path.read_bytes()[:2000])
    source = Source(path, PY)
    assert source.origin().sha == ""
    with pytest.raises(CorpusError, match=r"damaged archive .*fetch it again"):
        list(source.files())


def test_a_single_file_needs_no_extension(tmp_path: Path) -> None:
    grow(tmp_path, {"tool": b"x"})
    assert list(Source(tmp_path / "tool", PY).files()) == [("tool", b"x")]


def test_a_name_that_is_no_text_is_made_printable(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_bytes(b"x")
    assert list(Source(tmp_path, PY).files()) == [("caf\ufffd.py", b"x")]


@pytest.mark.parametrize(
    "files",
    [
        {".git/HEAD": f"{COMMIT}\n"},
        {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": f"{COMMIT}\n"},
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".git/packed-refs": f"# pack-refs\n{'f' * 40} refs/heads/x\n{COMMIT} refs/heads/main\n",
        },
        {
            ".git": "gitdir: real/worktrees/w\n",
            "real/worktrees/w/HEAD": "ref: refs/heads/main\n",
            "real/worktrees/w/commondir": "../..\n",
            "real/refs/heads/main": COMMIT,
        },
    ],
    ids=["detached", "loose", "packed", "worktree"],
)
def test_the_commit_of_a_checkout_is_read_from_its_files(
    tmp_path: Path, files: dict[str, str]
) -> None:
    grow(tmp_path, {name: text.encode() for name, text in files.items()})
    assert git_commit(tmp_path) == COMMIT


@pytest.mark.parametrize("head", ["", "ref: refs/heads/none", "not a commit", "\0"])
def test_a_broken_checkout_has_no_commit(tmp_path: Path, head: str) -> None:
    grow(tmp_path, {".git/HEAD": head.encode()})
    assert git_commit(tmp_path) == ""


def test_an_archive_made_by_git_names_its_commit(tmp_path: Path) -> None:
    path = pack(tmp_path / "shelf-main.zip", {"a.py": b""}, comment=COMMIT.encode())
    origin = Source(path, PY).origin()
    assert (origin.repo, origin.sha) == ("shelf-main", COMMIT)
