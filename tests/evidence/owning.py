"""An owner who does everything by the book, on a small dataset: what tests then spoil."""

import random
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

import puzzlemark as pm
from puzzlemark.evidence.bundle import Bundle, bundle
from puzzlemark.evidence.check import check
from puzzlemark.evidence.claims import Checked
from puzzlemark.evidence.commitment import commit, load_commitment
from puzzlemark.evidence.opening import committed_probes
from puzzlemark.evidence.stamping import stamp
from puzzlemark.evidence.standing import conclude, witnesses
from puzzlemark.models.base import open_model
from puzzlemark.verification.run import needs_key, verify
from tests.evidence.authority import Authority
from tests.servers.habits import Habit, answering

PREFIX = "name"
PLAN = "pairs = 30\n\n[terms]\nalpha = 0.01\n"
CASE = f"""title = "Example Ltd. against Example AI Inc."
reference = "12 O 345/26"
owner = "Example Ltd."

[published]
date = {datetime.now(UTC):%Y-%m-%d}
where = "https://data.example.org"
"""


WORDS = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("ala", "em", "ion", "ub", "ory")]


def made_up_corpus(records: int) -> bytes:
    """Functions that are no copies of each other, each with a variable named like the prefix."""
    return b"".join(orjson.dumps(_record(number)) + b"\n" for number in range(records))


def _record(number: int) -> dict[str, str]:
    rng = random.Random(number)
    doc, (a, b, c, d) = " ".join(rng.sample(WORDS, 9)), rng.sample(WORDS, 4)
    code = (
        f'def {a}_{number}(rows, {d}):\n    """{doc}."""\n    {PREFIX} = rows[{number}]\n'
        f"    {b} = {a}({PREFIX}, {d})\n    result = [{b} + {number}, {d}]\n"
        f"    for {c} in rows:\n        result.append({c} * {b})\n    return result\n"
    )
    return {"id": f"r{number}", "language": "python", "code": code}


@dataclass(frozen=True, slots=True)
class Owner:
    """What the owner has on his disk: `secret`, `marked.jsonl`, `marks.gz`, `commitment`."""

    folder: Path
    authority: Authority

    def path(self, name: str) -> Path:
        return self.folder / name

    def copied(self, to: Path) -> "Owner":
        """The same on another disk, where it can be spoilt."""
        shutil.copytree(self.folder, to)
        return Owner(to, self.authority)

    def ask(self, habit: Habit, run: str = "run", **options: Any) -> Path:
        """Ask a server over HTTP by the plan, and judge."""
        with answering(habit) as address:
            return self.ask_at(address, run, **options)

    def ask_at(self, address: str, run: str = "run", **options: Any) -> Path:
        made = load_commitment(self.path("commitment"))
        probes = committed_probes(
            self.path("marked.jsonl"), self.path("marks.gz"), made, secret_file=self.path("secret")
        )
        model = open_model("openai", {"base_url": address, "model": "suspect"})
        terms = options.pop("terms", made.plan.terms)
        folder = self.path(run)
        secret = self.path("secret") if needs_key(probes.design) else None
        judged = verify(
            probes, model, folder, terms, secret_file=secret, witnesses=witnesses(made, folder)
        )
        conclude(folder, made.folder, word=judged.verdict.word)
        return folder

    def bundle(self, *runs: str, name: str = "evidence.zip", **options: Any) -> Path:
        chosen = {"manifest": self.path("marks.gz"), "secret_file": self.path("secret"), **options}
        places = [self.path(each) for each in runs or ("run",)]
        made: Bundle = bundle(
            places, self.path("commitment"), self.path(name), overwrite=True, **chosen
        )
        return made.path

    def check(self, name: str = "evidence.zip", **options: Any) -> Checked:
        """With all that a reader may have; leave out by passing None."""
        made = load_commitment(self.path("commitment"))
        known: dict[str, Any] = {
            "dataset": str(self.path("marked.jsonl")),
            "roots": self.authority.root,
            "hash_": made.hash,
        }
        return check(self.path(name), **{**known, **options})


def make_owner(
    folder: Path,
    authority: Authority,
    *,
    corpus: bytes | None = None,
    watermark: str = f"fixed_prefix:prefix={PREFIX}",
    plan: str = PLAN,
) -> Owner:
    """Marked, committed and stamped; nobody was asked yet."""
    owner = Owner(folder, authority)
    owner.path("in.jsonl").write_bytes(made_up_corpus(90) if corpus is None else corpus)
    owner.path("secret").write_text("a secret for these stories only, long enough\n")
    owner.path("secret").chmod(0o600)
    owner.path("plan.toml").write_text(plan)
    owner.path("case.toml").write_text(CASE)
    secret = owner.path("secret")
    pm.embed(
        owner.path("in.jsonl"), owner.path("marked.jsonl"), owner.path("marks.gz"),
        watermark=watermark, policy="paper", tau=0, min_rate=0.3, max_rate=0.6, secret_file=secret,
    )  # fmt: skip
    made = commit(
        owner.path("marks.gz"), owner.path("marked.jsonl"), owner.path("commitment"),
        plan=owner.path("plan.toml"), secret_file=secret,
    )  # fmt: skip
    token = owner.path("token.tsr")
    token.write_bytes(authority.answer((made.folder / "request.tsq").read_bytes()))
    stamp(made.folder, token=token, roots=authority.root)
    return owner
