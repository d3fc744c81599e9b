"""What a dishonest owner can do to the files of a run, and what is said of it."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.evidence.commitment import Commitment, CommitmentError, commit
from puzzlemark.evidence.ledger import LedgerError, enter, read_ledger
from puzzlemark.evidence.opening import committed_probes
from puzzlemark.evidence.stamping import make_request, stamp, stamp_line
from puzzlemark.evidence.standing import assess, conclude, witnesses
from puzzlemark.models.base import Answer, Request
from puzzlemark.verification.chain import read_chain
from puzzlemark.verification.probes import ProbeSet
from puzzlemark.verification.run import verify
from puzzlemark.verification.standing import Place
from puzzlemark.verification.transcript import TranscriptError
from tests.evidence.authority import Authority

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")


class Local:
    """A model in this process that is not the owner's to supply."""

    batch_size = 4

    def __init__(self, name: str, word: str = "pass", weights: str = "w") -> None:
        self.name, self.word, self.weights = name, word, weights

    def describe(self) -> dict[str, object]:
        return {"kind": "test", "name": self.name, "sha256": self.weights * 64}

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        return [self.word for _ in requests]


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes, authority: Authority
) -> Commitment:
    """A stamped commitment, with dataset, manifest and secret beside it."""
    folder = tmp_path_factory.mktemp("owner")
    (folder / "in.jsonl").write_bytes(corpus_bytes)
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text("a secret for these tests only, of some length\n")
    (folder / "plan.toml").write_text("pairs = 25\n")
    pm.embed(
        folder / "in.jsonl", folder / "marked.jsonl", folder / "marks.gz",
        watermark="fixed_prefix:prefix=name", policy="paper", tau=0, min_rate=0.2, max_rate=0.5,
        secret_file=folder / "secret",
    )  # fmt: skip
    found = commit(
        folder / "marks.gz", folder / "marked.jsonl", folder / "commitment",
        plan=folder / "plan.toml", secret_file=folder / "secret",
    )  # fmt: skip
    token = folder / "token.tsr"
    token.write_bytes(authority.answer((found.folder / "request.tsq").read_bytes()))
    stamp(found.folder, token=token)
    return found


@pytest.fixture(scope="module")
def probes(made: Commitment) -> ProbeSet:
    folder = made.folder.parent
    return committed_probes(
        folder / "marked.jsonl", folder / "marks.gz", made, secret_file=folder / "secret"
    )


Asked = Callable[..., Path]


@pytest.fixture
def ours(made: Commitment, tmp_path: Path) -> Commitment:
    """A commitment of this test's own, under which nobody was asked."""
    return replace(made, folder=Path(shutil.copytree(made.folder, tmp_path / "commitment")))


@pytest.fixture
def asked(ours: Commitment, probes: ProbeSet, tmp_path: Path) -> Asked:
    def ask(name: str = "run", model: Local | None = None) -> Path:
        folder = tmp_path / name
        run = verify(
            probes, model or Local("suspect"), folder, ours.plan.terms,
            witnesses=witnesses(ours, folder),
        )  # fmt: skip
        conclude(folder, ours.folder, word=run.verdict.word)
        return folder

    return ask


def named(run: Path, commitment: Commitment) -> list[str]:
    return [each.what for each in assess(run, commitment.folder).deviations]


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_an_honest_run_is_confirmatory(asked: Asked, ours: Commitment) -> None:
    run = asked()
    assert named(run, ours) == []
    kept = json.loads((run / "standing.json").read_text())
    assert kept == assess(run, ours.folder).to_json()


def test_an_edited_transcript_is_refused_and_one_that_is_linked_anew_does_not_fit_the_chain(
    asked: Asked, ours: Commitment, tmp_path: Path
) -> None:
    run, other = asked(), asked("other", Local("suspect", "name_item = 1"))
    shutil.copy(run / "transcript.jsonl", tmp_path / "kept")
    rewrite(run / "transcript.jsonl", '"completion":"pass"', '"completion":"name"')
    with pytest.raises(TranscriptError, match="does not follow from the lines before it"):
        assess(run, ours.folder)
    # every link of these answers is well made: they are those of another run
    shutil.copy(other / "transcript.jsonl", run / "transcript.jsonl")
    assert "chain" in named(run, ours)
    assert "do not belong together" in assess(run, ours.folder).deviations[0].sentence


def test_the_answers_of_another_model_do_not_pass_for_this_ones(
    asked: Asked, ours: Commitment
) -> None:
    run, guilty = asked(), asked("guilty", Local("own model", "name_x = 1", "v"))
    for name in ("transcript.jsonl", "chain.jsonl"):
        shutil.copy(guilty / name, run / name)
    rewrite(run / "transcript.jsonl", "own model", "suspect")
    with pytest.raises(TranscriptError):
        assess(run, ours.folder)
    shutil.copy(guilty / "transcript.jsonl", run / "transcript.jsonl")
    assert assess(run, ours.folder).run == Place(2, 2, 1, 1)  # it is the other run, and says so


def test_a_cut_chain_is_named(asked: Asked, ours: Commitment) -> None:
    run = asked()
    lines = (run / "chain.jsonl").read_bytes().splitlines(keepends=True)
    (run / "chain.jsonl").write_bytes(b"".join(lines[:-5]))
    (found,) = assess(run, ours.folder).deviations
    assert found.what == "chain"
    assert "it does not know the last 4 answers" in found.sentence
    (run / "chain.jsonl").unlink()
    assert named(run, ours) == ["chain", "ledger"]
    (run / "chain.jsonl").write_bytes(b"".join(lines).replace(b"answered", b"ANSWERED", 1))
    assert "line" in assess(run, ours.folder).deviations[0].sentence


def test_a_plan_that_was_changed_afterwards_is_another_commitment(
    asked: Asked, ours: Commitment
) -> None:
    run = asked()
    rewrite(ours.folder / "commitment.json", '"alpha":0.05', '"alpha":0.5')
    found = assess(run, ours.folder)
    assert found.word == "exploratory"
    kinds = [each.what for each in found.deviations]
    assert kinds[:2] == ["commitment", "stamp"]  # other probes name it, and no token is about it
    assert {"alpha", "ledger"} <= set(kinds)


def test_a_token_of_something_older_is_none(
    asked: Asked, ours: Commitment, authority: Authority, tmp_path: Path
) -> None:
    run = asked()
    older = tmp_path / "older.tsr"
    older.write_bytes(authority.answer(make_request(b"an older text")))
    (token,) = (ours.folder / "tokens").glob("*.tsr")
    shutil.copy(older, token)
    (found,) = assess(run, ours.folder).deviations
    assert found.what == "stamp"
    assert "something else" in found.sentence


def test_a_swapped_dataset_does_not_open_the_commitment(
    ours: Commitment, tmp_path: Path, corpus_bytes: bytes
) -> None:
    folder = ours.folder.parent
    lines = corpus_bytes.splitlines(keepends=True)
    (folder / "in.jsonl").write_bytes(b"".join(lines[:200]))
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text("a secret for these tests only, of some length\n")
    pm.embed(
        folder / "in.jsonl", folder / "marked.jsonl", folder / "marks.gz",
        watermark="fixed_prefix:prefix=name", policy="paper", tau=0, min_rate=0.2, max_rate=0.5,
        secret_file=folder / "secret",
    )  # fmt: skip
    with pytest.raises(CommitmentError, match="its dataset is not the one"):
        committed_probes(
            folder / "marked.jsonl", folder / "marks.gz", ours, secret_file=folder / "secret"
        )
    # and probes that are made without it, and say that they were, are found out
    probes = pm.probe(folder / "marked.jsonl", folder / "marks.gz", secret_file=folder / "secret")
    assert probes.header.source is not None
    source = probes.header.source.model_copy(update={"commitment": ours.hash, "salt": "0" * 64})
    forged = replace(probes, header=probes.header.model_copy(update={"source": source}))
    run = verify(
        forged, Local("suspect"), tmp_path / "run", ours.plan.terms,
        witnesses=witnesses(ours, tmp_path / "run"),
    )  # fmt: skip
    conclude(run.folder, ours.folder, word=run.verdict.word)
    assert named(run.folder, ours) == ["dataset", "manifest", "questions"]


def test_changed_probes_are_not_the_questions_that_were_committed_to(
    ours: Commitment,
    probes: ProbeSet,
    tmp_path: Path,
) -> None:
    header = probes.header.model_copy(update={"pairs": len(probes.probes)})
    swapped = replace(probes, header=header, probes=probes.probes[::-1])
    run = verify(
        swapped, Local("suspect"), tmp_path / "run", ours.plan.terms,
        witnesses=witnesses(ours, tmp_path / "run"),
    )  # fmt: skip
    conclude(run.folder, ours.folder, word=run.verdict.word)
    assert named(run.folder, ours) == ["questions"]


def test_a_run_that_was_picked_among_several_shows_how_many_there_were(
    asked: Asked, ours: Commitment
) -> None:
    runs = [asked(name) for name in ("one", "two", "three")]
    assert [named(run, ours) for run in runs] == [[], ["runs"], ["runs"]]
    assert assess(runs[2], ours.folder).run == Place(3, 3, 3, 3)
    # whoever takes the others out of the list breaks it, or the run does not fit it any more
    path = ours.folder / "runs.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    begun = [line for line in lines if b'"begun"' in line]
    path.write_bytes(lines[0] + begun[2])
    assert "ledger" in named(runs[2], ours)
    with pytest.raises(LedgerError):
        read_ledger(ours)
    path.unlink()
    transcript = json.loads((runs[2] / "transcript.jsonl").read_text().splitlines()[0])
    enter(ours, "suspect", transcript)
    assert named(runs[2], ours) == ["ledger"]


def test_another_name_for_the_same_weights_is_the_same_model(
    asked: Asked, ours: Commitment
) -> None:
    asked("one")
    renamed = asked("two", Local("another name"))
    different = asked("three", Local("third", weights="z"))
    assert named(renamed, ours) == ["runs"]
    assert named(different, ours) == []
    assert assess(different, ours.folder).run == Place(3, 3, 1, 1)


def test_a_run_is_stamped_and_a_chain_that_is_written_later_than_it_says_is_named(
    asked: Asked, ours: Commitment, authority: Authority, tmp_path: Path
) -> None:
    run = asked()
    record = read_chain(run / "chain.jsonl")
    token = tmp_path / "token.tsr"
    token.write_bytes(authority.answer(make_request(record.lines[-1])))
    kept = stamp_line(run, len(record.lines), record.lines[-1], token=token, roots=authority.root)
    assert kept.is_verified
    standing = assess(run, ours.folder, roots=authority.root)
    assert standing.deviations == ()
    assert standing.chain is not None
    assert standing.chain["stamps"][0]["line"] == len(record.lines)
    # a chain that is cut behind the stamp has no such line any more
    (run / "chain.jsonl").write_bytes(b"".join(line + b"\n" for line in record.lines[:-1]))
    assert named(run, ours) == ["chain"]


def test_a_time_after_the_stamp_is_named(
    asked: Asked, ours: Commitment, authority: Authority, tmp_path: Path
) -> None:
    run = asked()
    path = run / "chain.jsonl"
    *lines, last = path.read_bytes().splitlines()
    later = f"{datetime.now(UTC).year + 4}"  # which has a 29th of February if this year has
    said = json.loads(last)
    forged = last.replace(said["time"].encode(), (later + said["time"][4:]).encode())
    path.write_bytes(b"".join(line + b"\n" for line in [*lines, forged]))
    token = tmp_path / "token.tsr"
    token.write_bytes(authority.answer(make_request(forged)))
    stamp_line(run, len(lines) + 1, forged, token=token)
    (found,) = assess(run, ours.folder).deviations
    assert "after the one at which it was stamped" in found.sentence


def test_a_commitment_under_which_models_were_asked_is_not_replaced(
    asked: Asked, ours: Commitment, made: Commitment
) -> None:
    asked()
    shutil.rmtree(ours.folder / "tokens")
    folder = made.folder.parent
    with pytest.raises(CommitmentError, match="models were asked under it"):
        commit(
            folder / "marks.gz", folder / "marked.jsonl", ours.folder,
            secret_file=folder / "secret", overwrite=True,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Place(1, 1, 1, 1), "the only run under the commitment"),
        (Place(2, 2, 1, 1), "the second of two runs under the commitment, the only one against"),
        (Place(2, 3, 2, 2), "the second of three runs under the commitment, the second of two"),
        (Place(12, 40, 1, 2), "run number 12 of 40 runs"),
    ],
)
def test_runs_are_counted_in_words(place: Place, words: str) -> None:
    assert words in place.sentence
