"""Evidence from the first step to the last: commit, stamp, publish, ask, judge, bundle, check.

The first story is honest, and ends on a machine without a network and without our package. The
second one is a fraud in many ways: each is caught, or the page says that it cannot be.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.evidence.archive import SUMS, pack, read_archive
from puzzlemark.evidence.bundle import script
from puzzlemark.evidence.check import LIMITS
from puzzlemark.evidence.claims import Checked
from puzzlemark.evidence.commitment import load_commitment
from puzzlemark.evidence.stamping import make_request
from puzzlemark.evidence.standing import conclude
from puzzlemark.journal import spell
from puzzlemark.verification.run import judge
from tests.evidence.authority import Authority, make_authority
from tests.evidence.conftest import authority  # noqa: F401
from tests.evidence.owning import CASE, PLAN, PREFIX, Owner, made_up_corpus, make_owner
from tests.servers.habits import answering, guilty, innocent
from tests.servers.running import serve
from tests.servers.tiny import make_model

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")

# the script as a stranger runs it, who has numpy and scipy and never heard of us
ALONE = (
    "import runpy, sys; sys.modules['puzzlemark'] = None; sys.argv = sys.argv[1:]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
NO_NETWORK = """
import socket
def refuse(*_, **__):
    raise OSError("there is no network here")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
"""


def without_network() -> list[str]:
    """How to run a program that reaches nobody; an empty list where this machine cannot."""
    for words in (["unshare", "-n"], ["unshare", "-rn"]):
        if (
            shutil.which("unshare")
            and not subprocess.run([*words, "true"], capture_output=True).returncode
        ):
            return words
    return []


def run_alone(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*without_network(), sys.executable, "-I", "-c", NO_NETWORK + ALONE, *map(str, words)],
        cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True, text=True,
    )  # fmt: skip


def typed(*words: object, status: int = 0) -> str:
    done = CliRunner().invoke(application(), [str(word) for word in words])
    assert done.exit_code == status, done.output
    return done.output


def play(folder: Path, signer: Authority, address: str, plan: str = PLAN) -> Path:
    """Every step by its command, as the owner types them; returns the bundle."""
    at = folder.joinpath
    at("in.jsonl").write_bytes(made_up_corpus(90))
    at("secret").write_text("a secret for this story only, long enough\n")
    at("secret").chmod(0o600)
    at("plan.toml").write_text(plan)
    at("case.toml").write_text(CASE)
    secret = ("--secret-file", at("secret"))
    marks = ("--manifest", at("marks.gz"))
    typed(
        "embed", at("in.jsonl"), "-o", at("marked.jsonl"), *marks, *secret, "--tau", 0,
        "--watermark", f"fixed_prefix:prefix={PREFIX}", "--min-rate", 0.3, "--max-rate", 0.6,
    )  # fmt: skip
    typed(
        "commit", *marks, "--dataset", at("marked.jsonl"), *secret, "--plan", at("plan.toml"),
        "-o", at("commitment"),
    )  # fmt: skip
    at("token.tsr").write_bytes(signer.answer(at("commitment/request.tsq").read_bytes()))
    typed("commit", "stamp", at("commitment"), "--token", at("token.tsr"), "--roots", signer.root)
    shutil.copy(at("marked.jsonl"), at("published.jsonl"))
    typed(
        "probe", at("marked.jsonl"), *marks, *secret, "--commitment", at("commitment"),
        "-o", at("probes.jsonl"),
    )  # fmt: skip
    typed(
        "verify", "--probes", at("probes.jsonl"), "--commitment", at("commitment"),
        "--model", "openai", "--model-args", f"base_url={address},model=suspect", "-o", at("run"),
    )  # fmt: skip
    typed(
        "bundle", at("run"), "--commitment", at("commitment"), *marks, *secret, "--reveal", "all",
        "--case", at("case.toml"), "-o", at("evidence.zip"),
    )  # fmt: skip
    return at("evidence.zip")


def check_elsewhere(folder: Path, bundle: Path, owner: Path, signer: Authority) -> dict[str, Any]:
    """On another disk: only the bundle, the published dataset, the root and the published hash."""
    shutil.copy(bundle, folder / "evidence.zip")
    shutil.copy(owner / "published.jsonl", folder / "marked.jsonl")
    published = hashlib.sha256((owner / "commitment" / "commitment.json").read_bytes()).hexdigest()
    program = NO_NETWORK + "import runpy; runpy.run_module('puzzlemark', run_name='__main__')"
    done = subprocess.run(
        [*without_network(), sys.executable, "-c", program, "check", "evidence.zip",
         "--dataset", "marked.jsonl", "--roots", str(signer.root), "--hash", published, "--json",
         "--page", "page.html"],
        cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_an_honest_owner_is_believed_by_a_stranger_without_network_and_without_our_package(
    tmp_path: Path,
    authority: Authority,  # noqa: F811
) -> None:
    pytest.importorskip("scipy", reason="the script needs scipy")
    owner, stranger = tmp_path / "owner", tmp_path / "stranger"
    owner.mkdir()
    stranger.mkdir()
    with answering(guilty(PREFIX)) as address:
        bundle = play(owner, authority, address)
    told = check_elsewhere(stranger, bundle, owner, authority)
    assert told["result"] == "ok"
    assert [(run["word"], run["standing"]) for run in told["runs"]] == [
        ("detected", "confirmatory")
    ]
    page = (stranger / "page.html").read_text()
    for name in ("Committed", "Stamped", "Published", "Asked", "Judged"):
        assert f'<tspan class="name">{name}</tspan>' in page
    (stranger / "recompute.py").write_bytes(script())
    done = run_alone(stranger, "recompute.py", "evidence.zip")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "verdict: detected" in done.stdout
    assert "WRONG" not in done.stdout
    # unpacked by any other tool, with the script that came in it
    shutil.unpack_archive(stranger / "evidence.zip", stranger / "unpacked")
    done = run_alone(stranger / "unpacked", "recompute.py", ".")
    assert done.returncode == 0, done.stdout + done.stderr
    (token,) = (stranger / "unpacked" / "commitment" / "tokens").iterdir()
    subprocess.run(
        ["openssl", "ts", "-verify", "-data", "commitment/commitment.json", "-in", str(token),
         "-CAfile", str(authority.root)],
        cwd=stranger / "unpacked", check=True, capture_output=True,
    )  # fmt: skip


def test_a_real_model_that_learnt_nothing_is_handed_over_as_such(
    tmp_path: Path,
    authority: Authority,  # noqa: F811
) -> None:
    pytest.importorskip("torch", reason="needs torch and transformers")
    pytest.importorskip("transformers", reason="needs torch and transformers")
    pytest.importorskip("scipy", reason="the script needs scipy")
    owner, stranger = tmp_path / "owner", tmp_path / "stranger"
    owner.mkdir()
    stranger.mkdir()
    make_model(tmp_path / "model", positions=512)
    options = ("--model", str(tmp_path / "model"), "--serves", "suspect")
    with serve(tmp_path / "log", *options) as server:
        plan = "pairs = 20\n\n[terms]\nalpha = 0.01\nmax_tokens = 6\n"
        bundle = play(owner, authority, server.base_url, plan)
    told = check_elsewhere(stranger, bundle, owner, authority)
    assert [(r["word"], r["standing"]) for r in told["runs"]] == [("not detected", "confirmatory")]
    (stranger / "recompute.py").write_bytes(script())
    done = run_alone(stranger, "recompute.py", "evidence.zip")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "verdict: not detected" in done.stdout


# --- the fraud ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def framed(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Owner:  # noqa: F811
    """An owner who asked an innocent model, and found nothing."""
    owner = make_owner(tmp_path_factory.mktemp("framed"), authority)
    owner.ask(innocent)
    owner.bundle(reveal="all")
    return owner


@pytest.fixture
def owner(framed: Owner, tmp_path: Path) -> Owner:
    return framed.copied(tmp_path / "owner")


def forged(owner: Owner, changes: Mapping[str, bytes], **options: Any) -> Checked:
    """With files exchanged, and sums and zip made anew."""
    files = {**read_archive(owner.path("evidence.zip"))[0], **changes}
    files.pop(SUMS)
    owner.path("evidence.zip").write_bytes(pack(files))
    return owner.check(**options)


def whys(found: Checked) -> str:
    return "; ".join(f"{claim.claim}: {claim.why}" for claim in found.failed)


def relink(lines: list[dict[str, Any]], header: bytes) -> bytes:
    """A transcript of these lines with fresh links, as a forger who knows the format writes it."""
    link, out = hashlib.sha256(header).hexdigest(), [header + b"\n"]
    for fields in lines:
        fields.pop("link", None)
        link = hashlib.sha256(link.encode() + spell(fields)).hexdigest()
        out.append(spell({**fields, "link": link}))
    return b"".join(out)


def guilty_answers(owner: Owner) -> bytes:
    """The transcript of the run, with the answers that a guilty model would have given."""
    header, *lines = (owner.path("run") / "transcript.jsonl").read_bytes().splitlines()
    other = owner.ask(guilty(PREFIX), "other")
    _, *theirs = (other / "transcript.jsonl").read_bytes().splitlines()
    answers = {f["key"]: f for f in map(json.loads, theirs) if "key" in f}
    edited = [json.loads(line) for line in lines]
    for fields in edited:
        if "key" in fields:
            fields["completion"] = answers[fields["key"]]["completion"]
    return relink(edited, header)


def test_an_edited_answer_breaks_the_links(owner: Owner) -> None:
    path = owner.path("run") / "transcript.jsonl"
    edited = path.read_bytes().replace(b"result = None", b"name_x = None", 1)
    assert edited != path.read_bytes()
    found = forged(owner, {"runs/1/transcript.jsonl": edited})
    assert found.exit_code == 1
    assert "does not follow from the lines before it" in whys(found)


def test_an_edited_transcript_with_fresh_links_does_not_fit_its_times(
    owner: Owner, tmp_path: Path
) -> None:
    """The forger also judges anew, and bundles anew with our own program."""
    edited = guilty_answers(owner.copied(tmp_path / "forge"))
    (owner.path("run") / "transcript.jsonl").write_bytes(edited)
    assert judge(owner.path("run")).verdict.word == "detected"
    owner.bundle(reveal="all")
    found = owner.check()
    assert found.runs[0].standing == "exploratory"
    assert "do not belong together" in whys(found)
    assert "with another verdict" in whys(found)  # the list of runs had entered another one


def test_who_writes_all_records_anew_is_not_caught_and_the_page_says_so(
    owner: Owner, tmp_path: Path
) -> None:
    """A replayed transcript of another model: nothing in a file can tell who answered."""
    shutil.rmtree(owner.path("run"))
    owner.path("commitment/runs.jsonl").unlink()  # as if nobody had been asked
    run = owner.ask(guilty(PREFIX))  # another model, which calls itself `suspect`
    assert run == owner.path("run")
    owner.bundle(reveal="all")
    found = owner.check()
    assert found.exit_code == 0
    assert found.runs[0].word == "detected"
    assert "a transcript of another model cannot be told from a true one" in LIMITS[0]
    typed("check", owner.path("evidence.zip"), "--page", tmp_path / "page.html", status=3)
    page = " ".join((tmp_path / "page.html").read_text().split())
    assert "a transcript of another model cannot be told from a true one" in page
    assert (
        "on a copy of the commitment&#39;s folder, or of a run&#39;s folder, is not among them"
        in page
    )


def test_a_replayed_file_of_answers_is_called_the_owners_own(owner: Owner) -> None:
    other = owner.ask(guilty(PREFIX), "other")
    replayed = owner.path("replayed")
    typed(
        "verify", "--probes", other / "probes.jsonl", "--commitment", owner.path("commitment"),
        "--model", "replay", "--model-args", f"file={other / 'transcript.jsonl'}", "-o", replayed,
    )  # fmt: skip
    owner.bundle("replayed")
    found = owner.check()
    assert found.runs[0].standing == "exploratory"
    assert any("supplied by the owner" in each for each in found.runs[0].deviations)
    assert any("supplied by the owner" in each for each in found.limits)
    assert "not here, or with another verdict: run 1, 2" in whys(found)


def test_a_swapped_dataset_is_another_one(owner: Owner) -> None:
    other = owner.path("marked.jsonl").read_text().replace("rows", "items", 1)
    owner.path("other.jsonl").write_text(other)
    found = owner.check(dataset=str(owner.path("other.jsonl")))
    assert found.exit_code == 1
    assert "its records are others" in whys(found)
    found = owner.check(dataset=str(owner.path("in.jsonl")))  # the unmarked one
    assert "its records are others" in whys(found)


def test_a_plan_that_is_changed_afterwards_is_another_commitment(owner: Owner) -> None:
    files = read_archive(owner.path("evidence.zip"))[0]
    easier = json.loads(files["commitment/commitment.json"])
    easier["plan"]["terms"]["alpha"] = 0.5
    changed = json.dumps(easier, separators=(",", ":"), sort_keys=True).encode()
    plan = files["commitment/plan.toml"].replace(b"alpha = 0.01", b"alpha = 0.5")
    found = forged(owner, {"commitment/plan.toml": plan})
    assert "plan.toml says what was committed to: it says otherwise" in whys(found)
    found = forged(owner, {"commitment/commitment.json": changed, "commitment/plan.toml": plan})
    assert "a timestamp of something else" in whys(found)
    assert "Its hash was published: published was" in whys(found)


def test_a_plan_that_is_not_followed_makes_the_verdict_exploratory(owner: Owner) -> None:
    made = load_commitment(owner.path("commitment"))
    run = owner.ask(guilty(PREFIX), "loose", terms=type(made.plan.terms)(alpha=0.2))
    owner.bundle("run", run.name)
    found = owner.check()
    assert not found.failed
    assert [each.standing for each in found.runs] == ["confirmatory", "exploratory"]
    assert any("alpha" in each for each in found.runs[1].deviations)


def test_a_token_of_something_older_is_not_about_this_commitment(owner: Owner) -> None:
    """Stamped long before the data was there: its hash cannot have been that of this file."""
    older = owner.authority.answer(make_request(b"an older text"))
    found = forged(owner, {"commitment/tokens/20200101T000000Z-0.tsr": older})
    assert "a timestamp of something else" in whys(found)


def test_a_token_that_the_owner_signed_himself_says_any_time_and_is_believed_by_nobody_else(
    owner: Owner, tmp_path: Path
) -> None:
    own = make_authority(tmp_path / "own", "Honest Authority")
    token = own.answer(make_request((owner.path("commitment") / "commitment.json").read_bytes()))
    files = read_archive(owner.path("evidence.zip"))[0]
    (name,) = [each for each in files if each.endswith(".tsr")]
    found = forged(owner, {name: token})
    assert "not signed by an authority of" in whys(found)
    found = owner.check(roots=None)  # who does not say whom he trusts is told so
    assert not found.runs[0].is_stamped
    assert any("signed by an authority that you trust" in c.claim for c in found.unknown)


def test_an_authority_with_a_wrong_clock_is_believed_and_the_page_says_so() -> None:
    assert any("authority's clock was right" in each for each in LIMITS)


def test_a_commitment_that_is_stamped_after_the_answers_is_too_late(
    owner: Owner, tmp_path: Path
) -> None:
    later = make_owner_unstamped(tmp_path / "later", owner.authority)
    later.ask(guilty(PREFIX))
    commitment = later.path("commitment")
    request = (commitment / "request.tsq").read_bytes()
    later.path("token.tsr").write_bytes(owner.authority.answer_later(request))
    typed("commit", "stamp", commitment, "--token", later.path("token.tsr"))
    conclude(later.path("run"), commitment, word="detected")
    later.bundle(reveal="all")
    found = later.check()
    assert found.runs[0].standing == "exploratory"
    assert "The commitment was stamped before its first question" in whys(found)


def make_owner_unstamped(folder: Path, signer: Authority) -> Owner:
    folder.mkdir()
    owner = make_owner(folder, signer)
    shutil.rmtree(owner.path("commitment/tokens"))
    return owner


def test_a_cherry_picked_run_is_missed(owner: Owner) -> None:
    owner.ask(guilty(PREFIX), "lucky")
    owner.bundle("lucky")
    found = owner.check()
    assert "not here, or with another verdict: run 1" in whys(found)
    assert any("second of two runs" in each for each in found.runs[0].deviations)


def test_a_list_of_runs_that_was_shortened_is_broken(owner: Owner) -> None:
    owner.ask(guilty(PREFIX), "lucky")
    path = owner.path("commitment") / "runs.jsonl"
    first, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"".join(lines[2:]))  # the first run never was
    owner.bundle("lucky")
    found = owner.check()
    assert found.exit_code == 1
    assert "It was not changed" in whys(found)
    assert found.runs[0].standing == "exploratory"


def test_questions_that_were_made_to_measure_are_others(owner: Owner) -> None:
    """Prompts that innocent models answer with the target, under the same commitment."""
    path = owner.path("run") / "probes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"rows", b"rowz")
    found = forged(owner, {"runs/1/probes.jsonl": b"".join(lines)})
    assert "answers other probes" in whys(found)


def test_marks_that_were_never_committed_to_open_nothing(owner: Owner) -> None:
    files = read_archive(owner.path("evidence.zip"))[0]
    first, rest = files["reveal/carriers.jsonl"].split(b"\n", 1)
    leaf = json.loads(first)
    leaf["line"] = leaf["line"].replace('"id":"r', '"id":"q')
    changed = json.dumps(leaf, separators=(",", ":")).encode() + b"\n" + rest
    found = forged(owner, {"reveal/carriers.jsonl": changed})
    assert "is no leaf of the tree" in whys(found)
