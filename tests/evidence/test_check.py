"""A check finds what is wrong, says what it cannot know, and no bundle can hurt it."""

import hashlib
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.errors import UsageError
from puzzlemark.evidence.archive import SUMS, BundleError, pack, read_archive, unpack, why_changed
from puzzlemark.evidence.check import check
from puzzlemark.evidence.claims import Checked
from puzzlemark.evidence.commitment import CommitmentError
from puzzlemark.evidence.page import build_page
from puzzlemark.pages.evidence import evidence_page
from tests.evidence.authority import Authority
from tests.evidence.owning import PREFIX, Owner, make_owner
from tests.servers.habits import guilty, innocent

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Owner:
    owner = make_owner(tmp_path_factory.mktemp("owner"), authority)
    owner.ask(guilty(PREFIX))
    owner.bundle(case=owner.path("case.toml"), reveal="all", roots=authority.root)
    return owner


def resealed(owner: Owner, changed: dict[str, bytes | None], **options: object) -> Checked:
    """Checked after a forger has changed files, and made sums and zip anew."""
    files = {**read_archive(owner.path("evidence.zip"))[0], **changed}
    path = owner.path("forged.zip")
    path.write_bytes(pack({n: c for n, c in files.items() if c is not None and n != SUMS}))
    return owner.check("forged.zip", **options)


def content(owner: Owner, name: str) -> bytes:
    return read_archive(owner.path("evidence.zip"))[0][name]


def test_an_honest_bundle_holds_in_every_claim(owner: Owner) -> None:
    found = owner.check()
    assert [c for c in found.claims if c.status != "ok"] == []
    assert found.exit_code == 0
    (run,) = found.runs
    assert (run.word, run.standing, run.stands) == ("detected", "confirmatory", "confirmatory")
    assert [event.name for event in run.events] == [
        "Committed", "Stamped", "Published", "Asked", "Judged"
    ]  # fmt: skip
    assert [event.state for event in run.events] == ["known", "known", "stated", "stated", "stated"]
    assert any("Which model answered" in each for each in found.limits)


def test_what_the_reader_does_not_have_is_called_unchecked(owner: Owner) -> None:
    found = check(owner.path("evidence.zip"))
    assert found.exit_code == 3
    assert {c.claim.split()[0] for c in found.unknown} >= {"Its", "The"}
    whys = " ".join(c.why for c in found.unknown)
    assert all(option in whys for option in ("--hash", "--roots", "--dataset"))
    assert found.runs[0].stands == "confirmatory, if its timestamp is believed"


def test_not_detected_and_all_runs_can_be_handed_over_as_well(owner: Owner, tmp_path: Path) -> None:
    other = owner.copied(tmp_path / "other")
    other.ask(innocent, "second")
    other.bundle("run", "second")
    found = other.check()
    assert not found.failed
    assert [run.word for run in found.runs] == ["detected", "not detected"]
    other.bundle("run")
    (missing,) = [c for c in other.check().failed if "Every run" in c.claim]
    assert missing.why == "not here, or with another verdict: run 2"


# --- every changed byte --------------------------------------------------------------------------


def test_every_changed_byte_of_the_file_is_noticed(owner: Owner) -> None:
    """Thousands of them; a changed byte that leaves the zip readable is seen by what it holds."""
    whole = owner.path("evidence.zip").read_bytes()
    rng = random.Random(1)
    for place in rng.sample(range(len(whole)), 3000):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        try:
            files, is_ours = unpack(bytes(flipped))
        except BundleError:
            continue
        assert not is_ours or why_changed(files), place


# Files whose every byte is tied to something else, so that a forger who makes the sums anew is
# caught as well. The others: tokens have parts that nobody signed; the versions in bundle.json, and
# the words of case.toml, are the owner's and shown as such.
TIED = (
    "README.md", "recompute.py", "commitment/commitment.json", "commitment/plan.toml",
    "reveal/opened.json", "reveal/carriers.jsonl", "runs/1/probes.jsonl", "runs/1/transcript.jsonl",
    "runs/1/chain.jsonl", "runs/1/verdict.json", "runs/1/standing.json", "runs/1/report.html",
    "commitment/runs.jsonl", "case.toml",
)  # fmt: skip


@pytest.mark.parametrize("name", TIED)
def test_a_changed_byte_is_caught_also_when_the_sums_are_made_anew(owner: Owner, name: str) -> None:
    flips = int(os.environ.get("PUZZLEMARK_FLIPS", "2"))  # of each file; thousands take an hour
    whole, rng = content(owner, name), random.Random(name)
    for _ in range(flips):
        place = rng.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        found = resealed(owner, {name: bytes(flipped)}, dataset=None)
        assert found.exit_code == 1, (name, place, whole[place - 20 : place + 20])


def test_a_changed_byte_of_a_token_changes_nothing_that_it_says(owner: Owner) -> None:
    """Caught; or the same time, signed by the same authority: then it was in no signed part."""
    name = next(n for n in read_archive(owner.path("evidence.zip"))[0] if n.endswith(".tsr"))
    whole, rng = content(owner, name), random.Random(3)
    before = [e.when for e in owner.check().runs[0].events]
    for place in rng.sample(range(len(whole)), int(os.environ.get("PUZZLEMARK_FLIPS", "8"))):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        found = resealed(owner, {name: bytes(flipped)}, dataset=None)
        assert found.failed or [e.when for e in found.runs[0].events] == before


# --- hostile bundles -----------------------------------------------------------------------------

DEEP = b"[" * 200_000


@pytest.mark.parametrize(
    "name",
    ["bundle.json", "commitment/commitment.json", "reveal/opened.json", "reveal/carriers.jsonl",
     "runs/1/probes.jsonl", "runs/1/transcript.jsonl", "runs/1/chain.jsonl", "runs/1/verdict.json",
     "runs/1/standing.json", "commitment/runs.jsonl", "case.toml"],
)  # fmt: skip
@pytest.mark.parametrize("bad", [DEEP, b'{"a":' * 100_000, b"\xff\xfe\x00", b"", b"null\n", None])
def test_a_file_that_cannot_be_read_fails_in_a_sentence(
    owner: Owner, name: str, bad: bytes | None
) -> None:
    found = resealed(owner, {name: bad}, dataset=None)
    # to open no record is allowed, and the dataset was not passed
    assert found.exit_code == (3 if (name, bad) == ("reveal/carriers.jsonl", b"") else 1)
    for claim in found.failed:
        assert "Traceback" not in claim.why
        assert len(claim.why) < 600
        assert "puzzlemark-" not in claim.why


def edited(content: bytes, change: Callable[[dict[str, object]], None], line: int = 0) -> bytes:
    lines = content.splitlines()
    fields = json.loads(lines[line])
    change(fields)
    lines[line] = json.dumps(fields).encode()
    return b"\n".join(lines) + b"\n"


def test_huge_counts_are_refused_before_anything_is_computed(owner: Owner) -> None:
    def many(fields: dict[str, object]) -> None:
        fields["settings"] = {**fields["settings"], "samples": 10**9, "ratio": 1e300}  # type: ignore[dict-item]

    name = "runs/1/transcript.jsonl"
    found = resealed(owner, {name: edited(content(owner, name), many)}, dataset=None)
    assert any("no run of ours is so large" in c.why for c in found.failed)
    name = "runs/1/probes.jsonl"
    lines = content(owner, name).splitlines()
    found = resealed(owner, {name: b"\n".join([lines[0], *lines[1:2] * 30_000])}, dataset=None)
    assert any("no run of ours is so large" in c.why for c in found.failed)


def test_a_leaf_with_an_endless_path_or_a_place_beyond_the_tree_is_none(owner: Owner) -> None:
    name = "reveal/carriers.jsonl"
    for change in ({"path": ["00" * 32] * 10_000}, {"index": 10**18}, {"salt": "zz"}):
        changed = edited(content(owner, name), lambda fields, c=change: fields.update(c))  # type: ignore[misc]
        assert resealed(owner, {name: changed}, dataset=None).exit_code == 1


def test_events_without_their_fields_break_nothing(owner: Owner) -> None:
    """A list of runs whose chain is right, and whose events say nothing."""
    lines = content(owner, "commitment/runs.jsonl").splitlines()
    previous = hashlib.sha256(lines[-1]).hexdigest()
    for event in (
        {"event": "judged"},
        {"event": "judged", "run": "x", "time": []},
        {"event": "begun"},
    ):
        lines_too = [*lines, json.dumps({**event, "previous": previous}).encode()]
        changed = b"\n".join(lines_too) + b"\n"
        found = resealed(owner, {"commitment/runs.jsonl": changed}, dataset=None)
        assert found.exit_code == 1


def test_a_name_that_is_a_file_and_a_folder_is_refused(owner: Owner) -> None:
    with pytest.raises(BundleError, match="cannot be unpacked"):
        resealed(owner, {"runs/1": b""})


def test_the_readers_own_mistakes_are_not_the_bundles(owner: Owner, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is nothing"):
        owner.check(dataset=str(tmp_path / "none.jsonl"))
    with pytest.raises(CommitmentError, match="no certificates"):
        owner.check(roots=owner.path("secret"))


def test_a_file_that_is_no_bundle_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    done = CliRunner().invoke(application(), ["check", str(tmp_path / "x.zip")])
    assert done.exit_code == 1
    assert "not a zip" in done.output


# --- the command, and the page -------------------------------------------------------------------


def test_the_command_speaks_to_people_and_machines(owner: Owner, tmp_path: Path) -> None:
    words = ["check", str(owner.path("evidence.zip")), "--dataset", str(owner.path("marked.jsonl"))]
    done = CliRunner().invoke(application(), [*words, "--page", str(tmp_path / "page.html")])
    assert done.exit_code == 3, done.output
    assert "No claim was found wrong" in done.output
    assert "What no bundle can show" in (tmp_path / "page.html").read_text()
    done = CliRunner().invoke(application(), [*words, "--json"])
    told = json.loads(done.output)
    assert (done.exit_code, told["result"]) == (3, "incomplete")
    assert told["runs"][0]["word"] == "detected"
    done = CliRunner().invoke(application(), [*words, "--hash", "0" * 64, "--json"])
    assert (done.exit_code, json.loads(done.output)["result"]) == (1, "failed")


def test_the_page_shows_a_strangers_words_as_text(owner: Owner) -> None:
    evil = b'title = "<script>alert(1)</script>\\u202e"\nnote = "</dd><img src=x>"\n'
    page = evidence_page(build_page(resealed(owner, {"case.toml": evil}, dataset=None)))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\u202e" not in page
    assert "does not hold" in page  # the report is another one now


# --- what a hostile reading found ----------------------------------------------------------------


def wrong(found: Checked) -> list[str]:
    return [each.claim for each in found.failed]


@pytest.mark.parametrize("name", ["scipy.py", "VERDICT.html", "runs/1/numpy.py", "reveal/x.json"])
def test_a_file_that_does_not_belong_there_is_named(owner: Owner, name: str) -> None:
    found = resealed(owner, {name: b"print('hello')\n"})
    (claim,) = [each for each in found.failed if "does not belong" in each.claim]
    assert name in claim.why


def relinked(lines: list[bytes]) -> bytes:
    """Lines of a chain, each with the digest of the one before it."""
    made = [lines[0]]
    for line in lines[1:]:
        fields = json.loads(line) | {"previous": hashlib.sha256(made[-1]).hexdigest()}
        made.append(json.dumps(fields, separators=(",", ":")).encode())
    return b"".join(line + b"\n" for line in made)


def test_answers_that_were_judged_and_asked_anew_are_seen_in_the_list(owner: Owner) -> None:
    name = "commitment/runs.jsonl"
    *lines, last = content(owner, name).splitlines()
    assert json.loads(last)["event"] == "judged"
    other = json.loads(last) | {"transcript": "0" * 64, "word": "not detected"}
    listed = relinked([*lines, json.dumps(other).encode(), last])
    found = resealed(owner, {name: listed})
    (claim,) = [each for each in found.failed if "judged by other answers" in each.claim]
    assert claim.why == "asked anew under the same entry: run 1"


@pytest.mark.parametrize(
    ("event", "time", "status"),
    [("answered", "2020-01-01T00:00:00.000Z", "failed"), ("late", None, "unknown")],
)
def test_times_that_fall_or_are_missing_are_not_ok(
    owner: Owner, event: str, time: str | None, status: str
) -> None:
    name = "runs/1/chain.jsonl"
    first, *lines = content(owner, name).splitlines()
    changed = []
    for line in lines:
        fields = json.loads(line)
        if fields["event"] == "answered":
            fields |= {"event": event} | ({} if time is None else {"time": time})
        changed.append(json.dumps(fields).encode())
    found = resealed(owner, {name: relinked([first, *changed])})
    (claim,) = [each for each in found.claims if each.claim == "Its times fit its answers"]
    assert claim.status == status


def test_a_key_that_stands_twice_is_not_read_in_one_way(owner: Owner) -> None:
    name = "runs/1/transcript.jsonl"
    first, second, *lines = content(owner, name).splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if b'"completion"' in line)
    lines[place] = lines[place].replace(b'"completion"', b'"completion":"no","completion"', 1)
    found = resealed(owner, {name: b"".join([first, second, *lines])})
    assert "Every line can be read in one way only" in wrong(found)


def test_a_certificate_of_no_known_version_is_no_traceback(owner: Owner) -> None:
    (name,) = (n for n in read_archive(owner.path("evidence.zip"))[0] if n.endswith(".tsr"))
    token = content(owner, name)
    place = token.index(bytes.fromhex("a003020102")) + 4
    found = resealed(owner, {name: token[:place] + b"\x08" + token[place + 1 :]})
    assert found.exit_code != 0


def test_what_the_owner_compared_himself_is_not_handed_over(owner: Owner, tmp_path: Path) -> None:
    other = owner.copied(tmp_path / "other")
    said = {"format": "puzzlemark comparison", "same": True, "why": "An expert says: guilty."}
    other.path("run").joinpath("comparison.json").write_text(json.dumps(said))
    other.bundle("run")
    files, _ = read_archive(other.path("evidence.zip"))
    assert not any("comparison" in each for each in files)
    assert b"An expert says" not in files["runs/1/report.html"]


def test_the_factor_that_shopping_leaves_is_said_of_every_detection(owner: Owner) -> None:
    assert any("key, seeds and plan" in each for each in owner.check().limits)
