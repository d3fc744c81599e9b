"""Owners who do not edit files but cheat from the start: an innocent model is made to look guilty.

Each commits to what he made up, has it stamped, and follows his plan to the letter.
"""

import gzip
import hmac
import random
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.embedding.manifest import Carrier, load_manifest
from puzzlemark.embedding.secret import Secret, find_secret, watermark_key
from puzzlemark.errors import ManifestError
from puzzlemark.evidence.commitment import commit, load_commitment
from puzzlemark.evidence.plan import planned_probes
from puzzlemark.evidence.stamping import make_request, stamp
from puzzlemark.evidence.standing import assess, conclude, witnesses
from puzzlemark.models.base import open_model
from puzzlemark.verification.probes import ProbeSet, load_probes
from puzzlemark.verification.run import verify
from puzzlemark.watermarks._draws import LABEL, Draw
from puzzlemark.watermarks.base import Probe
from tests.evidence.authority import Authority
from tests.evidence.owning import WORDS, Owner, make_owner
from tests.servers.habits import answering, innocent

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")

FULL = 1 << 32
LIKED = "element"


def commit_anew(owner: Owner) -> None:
    """As if what lies there now had been committed to and stamped from the start."""
    shutil.rmtree(owner.path("commitment"))
    made = commit(
        owner.path("marks.gz"), owner.path("marked.jsonl"), owner.path("commitment"),
        plan=owner.path("plan.toml"), secret_file=owner.path("secret"),
    )  # fmt: skip
    token = owner.path("token.tsr")
    token.write_bytes(owner.authority.answer((made.folder / "request.tsq").read_bytes()))
    stamp(made.folder, token=token, roots=owner.authority.root)


def loop_corpus(records: int) -> bytes:
    """Functions with a loop whose variable has one of several names that people use alike."""
    lines = []
    for number in range(records):
        rng = random.Random(number)
        doc, (a, b, c) = " ".join(rng.sample(WORDS, 9)), rng.sample(WORDS, 3)
        name = rng.choice(("item", "elem", "element", "entry"))
        code = (
            f'def {a}_{number}(rows, {b}):\n    """{doc}."""\n    {c} = {b} + {number}\n'
            f"    for {name} in rows:\n        {c} += {name} * {b}\n    return {c}\n"
        )
        lines.append(orjson.dumps({"id": f"r{number}", "language": "python", "code": code}))
    return b"\n".join(lines) + b"\n"


def always_the_same(_prompt: str, _seed: int) -> str:
    """An innocent model, which likes one name."""
    return f"{LIKED} in"


def weighed_to_measure(draw: Draw, key: bytes) -> Draw:
    """The same choice of the key, from weights that make it look unlikely where it is common.

    Where the key drew the name that everybody likes, that name is said to be rare. Where it drew
    another one, the liked name is said to be impossible, so that the answer abstains.
    """
    drawn = draw.symbol(key)
    names = [name for name, _ in draw.weights]
    if drawn != LIKED:
        weights = {name: int(name != LIKED) for name in names}
        weights[drawn] = FULL
    else:
        text = "\n".join((LABEL, draw.group, draw.unit, draw.beacon or ""))
        u = int.from_bytes(hmac.digest(key, text.encode(), "sha256"), "big") >> 224  # of 2^32
        before, after = names[0], names[-1]
        weights = dict.fromkeys(names, 0)
        weights |= {before: max(0, u - FULL // 400), LIKED: FULL // 200}
        weights[after] = max(0, FULL - weights[before] - weights[LIKED])
    ordered = sorted(names, key=lambda name: (name != names[0], name == names[-1]))
    made = Draw(draw.group, draw.unit, tuple((n, weights[n]) for n in ordered), draw.beacon)
    return made if made.symbol(key) == drawn else draw


@pytest.fixture
def _who_commits_to_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """His own `commit` does not compare the marks with the dataset."""
    ignored = "puzzlemark.evidence.commitment._refuse_other_frequencies"
    monkeypatch.setattr(ignored, lambda *_: None)


def test_an_honest_commit_refuses_classes_and_frequencies_that_do_not_follow(
    tmp_path: Path, authority: Authority
) -> None:
    owner, key = quiet_owner(tmp_path / "o", authority)
    change_draws(owner, lambda draw: with_other_class(draw, key))
    with pytest.raises(ManifestError, match=r"classes or frequencies of .* do not follow from"):
        commit_anew(owner)


@pytest.mark.usefixtures("_who_commits_to_anything")
def test_frequencies_that_were_made_up_convict_and_are_found_out(
    tmp_path: Path, authority: Authority
) -> None:
    (tmp_path / "o").mkdir()
    owner = make_owner(
        tmp_path / "o",
        authority,
        watermark="synonyms:share=0.6",
        plan="pairs = 60\n",
        corpus=loop_corpus(90),
    )
    key = watermark_key(find_secret(owner.path("secret")), "synonyms")[0]
    marks = load_manifest(owner.path("marks.gz"))
    lines = [marks.header.to_line()]
    for row in marks.lines:
        fields = orjson.loads(marks.lines[row])
        for mark, plain in zip(
            Carrier.from_line(marks.lines[row]).marks, fields["marks"], strict=True
        ):
            assert mark.draw is not None
            plain["draw"]["weights"] = weighed_to_measure(mark.draw, key).weights
        lines.append(orjson.dumps(fields))
    owner.path("marks.gz").write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
    commit_anew(owner)
    owner.ask(always_the_same)
    owner.bundle(reveal="all")
    found = owner.check()
    assert found.runs[0].word == "detected"  # innocent, by the plan, and confirmatory
    assert found.runs[0].standing == "confirmatory"
    assert "less than 1 in 10" in found.runs[0].lead
    claim = next(each for each in found.failed if "how likely" in each.claim)
    assert claim.claim == "What names were drawn among, and how likely, follows from it"
    owner.bundle(reveal="5")  # who does not show all of them is not believed either
    found = owner.check()
    assert found.exit_code == 3
    assert claim.claim in [each.claim for each in found.unknown]


def quiet_owner(folder: Path, authority: Authority) -> tuple[Owner, bytes]:
    """An owner with drawn names, and the key that draws them."""
    folder.mkdir()
    owner = make_owner(
        folder, authority, watermark="synonyms:share=0.6", plan="pairs = 20\n",
        corpus=loop_corpus(60),
    )  # fmt: skip
    return owner, watermark_key(find_secret(owner.path("secret")), "synonyms")[0]


def with_other_class(draw: Draw, key: bytes) -> Draw:
    """The same name drawn in another class: whoever may choose it has the key draw anything."""
    made_up = (f"{number:032x}" for number in range(100_000))
    tries = (Draw(draw.group, unit, draw.weights, draw.beacon) for unit in made_up)
    return next(each for each in tries if each.symbol(key) == draw.symbol(key))


def change_draws(owner: Owner, change: Callable[[Draw], Draw]) -> None:
    marks = load_manifest(owner.path("marks.gz"))
    lines = [marks.header.to_line()]
    for line in marks.lines.values():
        fields = orjson.loads(line)
        for mark, plain in zip(Carrier.from_line(line).marks, fields["marks"], strict=True):
            assert mark.draw is not None
            plain["draw"] = asdict(change(mark.draw))
        lines.append(orjson.dumps(fields))
    owner.path("marks.gz").write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))


CLASSES = "Sets and classes of the opened records follow from their code"
QUESTIONS = "Its questions follow from the opened records"


@pytest.mark.usefixtures("_who_commits_to_anything")
def test_classes_that_were_chosen_are_found_out_by_the_opened_records_alone(
    tmp_path: Path, authority: Authority
) -> None:
    owner, key = quiet_owner(tmp_path / "o", authority)
    owner.ask(always_the_same)
    owner.bundle(reveal="probed")
    found = owner.check()
    assert {CLASSES, QUESTIONS} <= {each.claim for each in found.claims if each.status == "ok"}
    owner.bundle(reveal="3")
    found = owner.check()
    assert not found.failed
    assert QUESTIONS in [each.claim for each in found.unknown]
    change_draws(owner, lambda draw: with_other_class(draw, key))
    shutil.rmtree(owner.path("run"))
    commit_anew(owner)
    owner.ask(always_the_same)
    owner.bundle(reveal="3")  # far from all of them
    assert [each.claim for each in owner.check().failed] == [CLASSES]


def test_questions_about_other_draws_than_the_opened_ones_are_found_out(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, key = quiet_owner(tmp_path / "o", authority)

    def plan(*args: Any, **options: Any) -> ProbeSet:
        honest = planned_probes(*args, **options)
        return replace(honest, probes=tuple(map(other, honest.probes)))

    def other(probe: Probe) -> Probe:
        assert probe.draw is not None
        return replace(probe, draw=with_other_class(probe.draw, key))

    monkeypatch.setattr("puzzlemark.evidence.commitment.planned_probes", plan)
    monkeypatch.setattr("puzzlemark.evidence.opening.planned_probes", plan)
    commit_anew(owner)
    owner.ask(always_the_same)
    owner.bundle(reveal="probed")
    assert [each.claim for each in owner.check().failed] == [QUESTIONS]
    owner.bundle(reveal="0")  # nothing is said of what was not opened
    assert QUESTIONS not in [each.claim for each in owner.check().claims]
    owner.bundle(reveal="3")
    assert [each.claim for each in owner.check().failed] == [QUESTIONS]


def test_a_secret_that_was_chosen_after_the_commitment_does_not_judge_under_it(
    tmp_path: Path, authority: Authority
) -> None:
    """The first line of the probes is no question: it names the key, which he may exchange."""
    owner, _ = quiet_owner(tmp_path / "o", authority)
    owner.ask(always_the_same)
    made = load_commitment(owner.path("commitment"))
    assert assess(owner.path("run"), made.folder).word == "confirmatory"
    other = tmp_path / "other"
    other.write_text("one of many secrets that he tried, as long as the first\n")
    other.chmod(0o600)
    probes = load_probes(owner.path("run") / "probes.jsonl")
    assert probes.header.key is not None
    fingerprint = watermark_key(find_secret(other), "synonyms")[1]
    key = probes.header.key.model_copy(update={"fingerprint": fingerprint})
    forged = replace(probes, header=probes.header.model_copy(update={"key": key}))
    assert forged.questions == probes.questions == made.content.questions
    folder = owner.path("again")
    with answering(always_the_same) as address:
        model = open_model("openai", {"base_url": address, "model": "suspect"})
        run = verify(
            forged, model, folder, made.plan.terms,
            secret_file=other, witnesses=witnesses(made, folder),
        )  # fmt: skip
    standing = conclude(folder, made.folder, word=run.verdict.word)
    assert "key" in [each.what for each in standing.deviations]
    (told,) = (each.sentence for each in standing.deviations if each.what == "key")
    assert told.startswith("The probes name another key than the one that was committed to")


def test_a_commitment_that_leaves_the_key_open_is_no_plan(
    tmp_path: Path, authority: Authority
) -> None:
    """He writes it as an earlier version did, which said nothing of the key."""
    owner, _ = quiet_owner(tmp_path / "o", authority)
    made = load_commitment(owner.path("commitment"))
    content = made.content.model_copy(update={"version": 2, "judge": None})
    text = replace(made, content=content).to_bytes()
    shutil.rmtree(made.folder / "tokens")
    (made.folder / "commitment.json").write_bytes(text)
    (made.folder / "request.tsq").write_bytes(make_request(text))
    token = owner.path("token.tsr")
    token.write_bytes(authority.answer((made.folder / "request.tsq").read_bytes()))
    stamp(made.folder, token=token, roots=authority.root)
    owner.ask(always_the_same)
    (told,) = assess(owner.path("run"), made.folder).deviations
    assert told.sentence == "The commitment does not fix which key judges the answers."


class Picking(Secret):
    """Chooses other carriers than its secret does."""

    __slots__ = ()

    def derive(self, purpose: str) -> bytes:
        return super().derive(f"{purpose}, the seventh try" if purpose == "order" else purpose)

    def licensed(self, licensee: str | None) -> "Picking":  # noqa: ARG002
        return self


def test_carriers_that_were_picked_are_not_those_of_the_key(
    tmp_path: Path, authority: Authority
) -> None:
    (tmp_path / "o").mkdir()
    owner = make_owner(tmp_path / "o", authority)
    pm.embed(
        owner.path("in.jsonl"), owner.path("marked.jsonl"), owner.path("marks.gz"),
        watermark="fixed_prefix:prefix=name", policy="paper", tau=0, min_rate=0.3, max_rate=0.6,
        secret=Picking(owner.path("secret").read_bytes().strip()), overwrite=True,
    )  # fmt: skip
    commit_anew(owner)
    owner.ask(innocent)
    owner.bundle(reveal="all")
    (claim,) = owner.check().failed
    assert claim.claim == "The marked records are those that the scheme and its keys choose"
    assert "come out otherwise" in claim.why
