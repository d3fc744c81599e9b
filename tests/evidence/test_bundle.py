"""A bundle is the same each time, holds what is needed, and gives away what it says."""

import json
import zipfile
from pathlib import Path

import pytest

from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.secret import find_secret
from puzzlemark.errors import UsageError
from puzzlemark.evidence.archive import BundleError, read_archive
from puzzlemark.evidence.bundle import bundle, script
from puzzlemark.evidence.commitment import salt_of
from tests.evidence.authority import Authority
from tests.evidence.owning import PREFIX, Owner, make_owner
from tests.servers.habits import guilty

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Owner:
    owner = make_owner(tmp_path_factory.mktemp("owner"), authority)
    owner.ask(guilty(PREFIX))
    return owner


def test_the_same_input_gives_the_same_bytes(owner: Owner) -> None:
    case = owner.path("case.toml")
    first = owner.bundle(case=case).read_bytes()
    assert owner.bundle(case=case, name="again.zip").read_bytes() == first
    assert (owner.path("again.zip").stat().st_mode & 0o777) == 0o600


def test_it_holds_all_that_a_check_needs(owner: Owner) -> None:
    files, _ = read_archive(owner.bundle(case=owner.path("case.toml")))
    token = next(name for name in files if name.endswith(".tsr"))
    assert sorted(files) == sorted(
        ["README.md", "SHA256SUMS", "bundle.json", "case.toml", "recompute.py", token,
         "commitment/commitment.json", "commitment/plan.toml", "commitment/runs.jsonl",
         "reveal/carriers.jsonl", "reveal/opened.json",
         *(f"runs/1/{name}" for name in ("chain.jsonl", "probes.jsonl", "report.html",
           "standing.json", "transcript.jsonl", "verdict.json"))]
    )  # fmt: skip
    assert files["recompute.py"] == script()
    assert "Example Ltd. against" in files["runs/1/report.html"].decode()
    readme = files["README.md"].decode()
    assert token in readme
    assert "detected, confirmatory" in readme
    for name in ("probes.jsonl", "transcript.jsonl", "chain.jsonl", "verdict.json"):
        assert files[f"runs/1/{name}"] == (owner.path("run") / name).read_bytes()


@pytest.mark.parametrize(
    ("reveal", "opened"), [("3", 3), ("0", 0), ("all", None), ("probed", None)]
)
def test_it_opens_what_it_was_told_to_and_no_more(
    owner: Owner, reveal: str, opened: int | None
) -> None:
    made = bundle(
        [owner.path("run")], owner.path("commitment"), owner.path("r.zip"), reveal=reveal,
        manifest=owner.path("marks.gz"), secret_file=owner.path("secret"), overwrite=True,
    )  # fmt: skip
    files, _ = read_archive(made.path)
    marks, secret = load_manifest(owner.path("marks.gz")), find_secret(owner.path("secret"))
    leaves = [json.loads(line) for line in files["reveal/carriers.jsonl"].splitlines()]
    shown = {json.loads(leaf["line"])["row"] for leaf in leaves}
    tried = 30 + sum(json.loads(files["runs/1/probes.jsonl"].splitlines()[0])["refused"].values())
    expected = {"all": len(marks.lines), "probed": tried}.get(reveal, opened)
    assert len(shown) == len(leaves) == expected
    whole = b"".join(files.values())
    for row in marks.lines:
        assert (salt_of(marks, secret, f"row:{row}").hex().encode() in whole) == (row in shown)
    assert b"a secret for these stories" not in whole
    for name in ("order", "draw", "probes"):
        assert (secret.derive(name).hex().encode() in whole) == (reveal == "all")
    assert any("names in the prompts" in each for each in made.disclosed) == (reveal == "all")
    assert any("marked records" in each for each in made.disclosed) == bool(expected)


def test_what_cannot_be_bundled_is_refused_in_words(owner: Owner, tmp_path: Path) -> None:
    out, commitment, secret = tmp_path / "x.zip", owner.path("commitment"), owner.path("secret")
    runs, marks = [owner.path("run")], owner.path("marks.gz")
    with pytest.raises(UsageError, match="pass --manifest"):
        bundle(runs, commitment, out)
    with pytest.raises(UsageError, match="all, probed, or a number"):
        bundle(runs, commitment, out, reveal="some", manifest=marks, secret_file=secret)
    with pytest.raises(UsageError, match="at least one"):
        bundle([], commitment, out, manifest=marks, secret_file=secret)
    with pytest.raises(BundleError, match="not a run that was judged"):
        bundle([tmp_path / "none"], commitment, out, reveal="0")
    with pytest.raises(UsageError, match="the same as --manifest"):
        bundle(runs, commitment, marks, manifest=marks, secret_file=secret, overwrite=True)
    assert not out.exists()
    bundle(runs, commitment, out, reveal="0")
    with pytest.raises(UsageError, match="already there"):
        bundle(runs, commitment, out, reveal="0")


def test_other_marks_are_refused(owner: Owner, tmp_path: Path) -> None:
    other = owner.copied(tmp_path / "other")
    lines = load_manifest(owner.path("marks.gz"))
    kept = [lines.header.to_line(), *lines.lines.values()]
    kept[-1] = kept[-1].replace(b'"id":"r', b'"id":"s')
    other.path("marks.jsonl").write_bytes(b"\n".join(kept) + b"\n")
    with pytest.raises(BundleError, match="not the marks"):
        other.bundle(manifest=other.path("marks.jsonl"))


def test_it_is_an_ordinary_zip(owner: Owner) -> None:
    with zipfile.ZipFile(owner.bundle()) as opened:
        assert opened.testzip() is None
        assert {entry.date_time for entry in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
