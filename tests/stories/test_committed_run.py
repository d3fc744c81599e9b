"""An owner's story: commit, have it stamped, publish, ask over HTTP, judge by the plan.

And the same with each thing that is not as it was planned: it is named, and the verdict is called
exploratory.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.evidence.standing import assess
from tests.evidence.authority import Authority
from tests.evidence.conftest import authority  # noqa: F401
from tests.evidence.test_stamping import address  # noqa: F401
from tests.servers.running import Server, serve

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")

SEARCH = "pairs = 30\n\n[terms]\nalpha = 0.01\ntemperature = 0.5\n"


def typed(*words: object, status: int = 0) -> str:
    done = CliRunner().invoke(application(), [str(word) for word in words])
    assert done.exit_code == status, done.output
    return done.output


@dataclass(frozen=True, slots=True)
class Owner:
    """What the owner has on his disk."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def verify(
        self, run: Path, server: Server, *words: object, commitment: Path | None = None
    ) -> dict[str, Any]:
        output = typed(
            "verify", "--probes", self.path("probes.jsonl"),
            "--commitment", commitment or self.path("commitment"),
            "--model", "openai", "--model-args", f"base_url={server.base_url},model=suspect",
            "-o", run, "--json", *words,
        )  # fmt: skip
        standing: dict[str, Any] = json.loads(output)["standing"]
        return standing


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("server") / "log"
    with serve(log, "--serves", "suspect", "another", "--fingerprint", "fp_7") as running:
        yield running


@pytest.fixture(scope="module")
def owner(
    tmp_path_factory: pytest.TempPathFactory,
    corpus_bytes: bytes,
    authority: Authority,  # noqa: F811
) -> Owner:
    """Marked, committed, stamped, and the probes of the plan made."""
    found = Owner(tmp_path_factory.mktemp("owner"))
    found.path("in.jsonl").write_bytes(corpus_bytes)
    found.path("secret").write_text("a secret for this story only, long enough\n")
    found.path("secret").chmod(0o600)
    found.path("plan.toml").write_text(SEARCH)
    secret = ("--secret-file", found.path("secret"))
    typed(
        "embed", found.path("in.jsonl"), "-o", found.path("marked.jsonl"), *secret,
        "--manifest", found.path("marks.gz"), "--watermark", "fixed_prefix:prefix=name",
        "--policy", "paper", "--tau", 0, "--min-rate", 0.2, "--max-rate", 0.5,
    )  # fmt: skip
    marks = ("--manifest", found.path("marks.gz"))
    typed(
        "commit", *marks, "--dataset", found.path("marked.jsonl"), *secret,
        "--plan", found.path("plan.toml"), "-o", found.path("commitment"),
    )  # fmt: skip
    token = found.path("token.tsr")
    token.write_bytes(authority.answer((found.path("commitment") / "request.tsq").read_bytes()))
    typed("commit", "stamp", found.path("commitment"), "--token", token, "--roots", authority.root)
    typed(
        "probe", found.path("marked.jsonl"), *marks, *secret,
        "--commitment", found.path("commitment"), "-o", found.path("probes.jsonl"),
    )  # fmt: skip
    return found


@pytest.fixture
def fresh(owner: Owner, tmp_path: Path) -> Path:
    """A commitment under which nobody was asked yet."""
    return Path(shutil.copytree(owner.path("commitment"), tmp_path / "commitment"))


def named(standing: dict[str, Any]) -> list[str]:
    return [each["what"] for each in standing["deviations"]]


def test_a_run_that_follows_the_plan_is_confirmatory_also_when_it_was_interrupted(
    owner: Owner,
    server: Server,
    fresh: Path,
    authority: Authority,  # noqa: F811
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    args = f"base_url={server.base_url},model=suspect,max_requests=20,concurrency=2"
    words = ("--probes", owner.path("probes.jsonl"), "--commitment", fresh, "-o", run)
    typed("verify", *words, "--model", "openai", "--model-args", args, "--query-only")
    standing = owner.verify(run, server, "--roots", authority.root, commitment=fresh)
    assert (standing["standing"], standing["deviations"]) == ("confirmatory", [])
    assert standing["run"]["sentence"] == "This is the only run under the commitment."
    assert standing["chain"]["sittings"] == 2  # the second went on with the chain of the first
    assert standing["said"]["model"] == {"suspect": standing["chain"]["answered"]}
    assert list(standing["said"]["system_fingerprint"]) == ["fp_7"]
    assert standing["commitment"]["stamps"][0]["verified"]
    lines = [json.loads(line) for line in (run / "chain.jsonl").read_text().splitlines()]
    assert [each["why"] for each in lines if each.get("event") == "ended"] == [
        "budget",
        "all asked",
    ]
    header = json.loads((run / "transcript.jsonl").read_text().splitlines()[0])
    assert header["settings"]["alpha"] == 0.01  # the plan's
    sources = [lines[0]["source"], header["source"]]
    sources += [json.loads((run / "probes.jsonl").read_text().splitlines()[0])["source"]]
    sources += [json.loads((run / "verdict.json").read_text())["source"]]
    assert all(each == sources[0] for each in sources)
    assert set(sources[0]) == {"dataset", "manifest", "commitment", "salt"}
    # the page says it, and what the server says of itself stands there as its words
    typed("report", run)
    page = (run / "report.html").read_text()
    assert "confirmatory" in page
    assert "said of itself (its words)" in page
    assert "fp_7" in page
    # and anybody finds out the same from the two folders
    assert assess(run, fresh, roots=authority.root).to_json() == standing


def test_an_authority_stamps_the_record_when_asking_begins_and_when_it_ends(
    owner: Owner,
    server: Server,
    fresh: Path,
    authority: Authority,  # noqa: F811
    address: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    stamped = ("--authority", f"{address}/tsa", "--roots", authority.root)
    standing = owner.verify(tmp_path / "run", server, *stamped, commitment=fresh)
    assert standing["standing"] == "confirmatory"
    stamps = standing["chain"]["stamps"]
    assert [each["line"] for each in stamps] == [2, standing["chain"]["lines"]]
    assert all(each["verified"] for each in stamps)
    assert not any("stamped" in note for note in standing["notes"])
    # one that does not answer ends it before the first question
    asked = len(server.requests())
    typed(
        "verify", "--probes", owner.path("probes.jsonl"), "--commitment", fresh,
        "--model", "openai", "--model-args", f"base_url={server.base_url},model=suspect",
        "-o", tmp_path / "other", "--authority", f"{address}/elsewhere", status=1,
    )  # fmt: skip
    assert len(server.requests()) == asked


@pytest.mark.parametrize(
    ("options", "what", "words"),
    [
        (("--alpha", 0.05), ["alpha"], "0.01 was planned, 0.05 was used"),
        (("--temperature", 0), ["temperature"], "0.5 was planned, 0 was used"),
        (("--sequential",), ["mode", "test"], "Another test decides"),
        (("--accept-unlisted",), [], ""),
    ],
)
def test_each_other_term_is_named(
    owner: Owner,
    server: Server,
    fresh: Path,
    tmp_path: Path,
    options: tuple[object, ...],
    what: list[str],
    words: str,
) -> None:
    standing = owner.verify(tmp_path / "run", server, *options, commitment=fresh)
    assert named(standing) == what
    assert words in " ".join(each["sentence"] for each in standing["deviations"])
    assert standing["standing"] == ("exploratory" if what else "confirmatory")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--pairs", 10), ["pairs", "questions"]),
        (("--seed", 5), ["probe_seed", "questions"]),
    ],
)
def test_other_probes_are_named(
    owner: Owner,
    server: Server,
    fresh: Path,
    tmp_path: Path,
    options: tuple[object, ...],
    what: list[str],
) -> None:
    output = typed(
        "verify", owner.path("marked.jsonl"), "--manifest", owner.path("marks.gz"),
        "--secret-file", owner.path("secret"), "--commitment", fresh, *options,
        "--model", "openai", "--model-args", f"base_url={server.base_url},model=suspect",
        "-o", tmp_path / "run", "--json",
    )  # fmt: skip
    found = named(json.loads(output)["standing"])
    assert [each for each in found if each != "seed"] == what


def test_the_second_run_says_that_it_is_the_second_of_two(
    owner: Owner, server: Server, fresh: Path, tmp_path: Path
) -> None:
    first = owner.verify(tmp_path / "one", server, commitment=fresh)
    second = owner.verify(tmp_path / "two", server, commitment=fresh)
    assert first["standing"] == "confirmatory"
    assert named(second) == ["runs"]
    assert "the second of two runs" in second["run"]["sentence"]
    assert "the second of two against this model" in second["deviations"][0]["sentence"]
    typed("verify", "--test-only", "-o", tmp_path / "one", "--commitment", fresh)
    again = json.loads((tmp_path / "one" / "standing.json").read_text())
    assert again["standing"] == "confirmatory"
    assert "the first of two runs" in again["run"]["sentence"]


def test_a_run_that_nobody_entered_before_is_late(
    owner: Owner, server: Server, fresh: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    args = f"base_url={server.base_url},model=suspect"
    words = ("--probes", owner.path("probes.jsonl"), "--temperature", 0.5, "--alpha", 0.01)
    typed("verify", *words, "--model", "openai", "--model-args", args, "-o", run, "--query-only")
    for _ in range(2):  # the second time it is known
        typed("verify", "--test-only", "-o", run, "--commitment", fresh)
    standing = json.loads((run / "standing.json").read_text())
    assert named(standing) == ["ledger"]
    assert standing["run"]["of"] == 1


def test_supplied_answers_are_never_confirmatory(
    owner: Owner, server: Server, fresh: Path, tmp_path: Path
) -> None:
    owner.verify(tmp_path / "run", server, commitment=fresh)
    output = typed(
        "verify", "--probes", owner.path("probes.jsonl"), "--commitment", fresh, "--json",
        "--model", "replay", "--model-args", f"file={tmp_path / 'run' / 'transcript.jsonl'}",
        "-o", tmp_path / "replayed",
    )  # fmt: skip
    standing = json.loads(output)["standing"]
    assert "model" in named(standing)
    assert "supplied by the owner" in standing["deviations"][0]["sentence"]


def test_a_commitment_that_nobody_stamped_before_is_the_owners_word(
    owner: Owner,
    server: Server,
    fresh: Path,
    authority: Authority,  # noqa: F811
    tmp_path: Path,
) -> None:
    shutil.rmtree(fresh / "tokens")
    run = tmp_path / "run"
    assert named(owner.verify(run, server, commitment=fresh)) == ["stamp"]
    # one that comes afterwards does not mend it
    lines = (run / "chain.jsonl").read_text().splitlines()
    first = json.loads(lines[0])["time"]
    token = tmp_path / "late.tsr"
    token.write_bytes(authority.answer_later((fresh / "request.tsq").read_bytes()))
    typed("commit", "stamp", fresh, "--token", token)
    (found,) = assess(run, fresh).deviations
    assert found.what == "stamp"
    assert found.planned == first


def test_no_commitment_is_exploratory(owner: Owner, server: Server, tmp_path: Path) -> None:
    args = f"base_url={server.base_url},model=suspect"
    output = typed(
        "verify", "--probes", owner.path("probes.jsonl"), "--model", "openai",
        "--model-args", args, "-o", tmp_path / "run", "--json",
    )  # fmt: skip
    assert named(json.loads(output)["standing"]) == ["commitment"]
