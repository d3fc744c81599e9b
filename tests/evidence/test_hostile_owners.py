"""Owners who do not edit files but cheat from the start: an innocent model is made to look guilty.

Each commits to what he made up, has it stamped, and follows his plan to the letter.
"""

import gzip
import hmac
import random
import shutil
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.embedding.manifest import Carrier, load_manifest
from puzzlemark.embedding.secret import Secret, find_secret, watermark_key
from puzzlemark.evidence.commitment import commit
from puzzlemark.evidence.stamping import stamp
from puzzlemark.watermarks._draws import LABEL, Draw
from tests.evidence.authority import Authority
from tests.evidence.owning import WORDS, Owner, make_owner
from tests.servers.habits import innocent

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
