"""What licensees who put their copies together can still be shown by: carriers, and evidence.

    python -m benchmarks.collusion csn_python_exact.jsonl.gz

Copies are marked for three licensees with one secret. Whoever compares two of them sees every
place where they differ; what is the same in all of them survives. For `synonyms` the evidence
against each is simulated as well: a model that remembers a share of what the joined copy says, and
answers as nature does elsewhere. Colluders keep one of their own names at random (mix), or write a
name that none of them has, where there is one (break). Sixteen others, who had no part, stand by.
"""

import argparse
import itertools
import json
import math
import random
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import puzzlemark as pm
from puzzlemark.corpora.base import open_corpus
from puzzlemark.embedding.manifest import Manifest
from puzzlemark.embedding.secret import Secret, find_secret, watermark_key
from puzzlemark.statistics.evalues import bet_on_counts, gather
from puzzlemark.watermarks._draws import Draw

COLLUDERS = ("Acme", "Hooli", "Initech")
OTHERS = tuple(f"other {number}" for number in range(16))
SAMPLES = 5  # of each prompt, as `verify` asks
SHARES = (0.2, 0.4, 0.6)  # of the carriers that a model remembers
TRIALS = 50
ALPHA = 1e-6


def main() -> None:
    """Print what survives, then the evidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--records", type=int, help="only so many of the first ones")
    parser.add_argument("--watermarks", nargs="+", default=["synonyms", "prefixes"])
    parser.add_argument("--trials", type=int, default=TRIALS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "secret").touch(0o600)
        (folder / "secret").write_text("a secret for measuring only, of some length")
        dataset = _head(chosen.dataset, folder, chosen.records)
        print("| mark | colluders | carriers of each | of these the same in all their copies |")
        print("|---|---|---|---|")
        manifests = {}
        for watermark in chosen.watermarks:
            copies = [_copy(dataset, folder, watermark, licensee) for licensee in COLLUDERS]
            manifests[watermark] = copies[0][1]
            for number in (2, 3):
                print(_survivors(watermark, copies[:number]), flush=True)
        if "synonyms" in manifests:
            secret = find_secret(folder / "secret")
            _evidence(manifests["synonyms"], secret, chosen.trials)


def _head(dataset: Path, folder: Path, records: int | None) -> Path:
    if records is None:
        return dataset
    corpus = open_corpus(dataset)
    entries = (entry for batch in corpus.batches() for entry in batch.entries())
    output = folder / "head.jsonl"
    with output.open("w", encoding="utf-8") as file:
        for entry in itertools.islice(entries, records):
            line = {"id": entry.id, "code": entry.code, "language": entry.language}
            file.write(json.dumps(line) + "\n")
    return output


def _copy(
    dataset: Path, folder: Path, watermark: str, licensee: str
) -> tuple[dict[int, str], Manifest]:
    """The codes of one licensee's copy where it carries, by row, and its manifest."""
    output = folder / f"{watermark}-{licensee}-{dataset.name}"
    manifest = folder / f"{watermark}-{licensee}.gz"
    pm.embed(
        dataset, output, manifest, watermark=watermark, licensee=licensee,
        secret_file=folder / "secret",
    )  # fmt: skip
    loaded = pm.load_manifest(manifest)
    entries = (entry for batch in open_corpus(output).batches() for entry in batch.entries())
    return {each.row: str(each.code) for each in entries}, loaded


def _survivors(watermark: str, copies: Sequence[tuple[dict[int, str], Manifest]]) -> str:
    """Carriers of the first copy whose records are the same in all of them."""
    codes = [code for code, _ in copies]
    rows = list(copies[0][1].lines)
    same = sum(len({code[row] for code in codes}) == 1 for row in rows)
    carriers = ", ".join(f"{len(manifest):,}" for _, manifest in copies)
    return f"| {watermark} | {len(copies)} | {carriers} | {same:,} ({same / len(rows):.0%}) |"


def _evidence(manifest: Manifest, secret: Secret, trials: int) -> None:
    draws = [mark.draw for carrier in manifest for mark in carrier.marks if mark.draw is not None]
    needed = math.log10(len(COLLUDERS) + len(OTHERS)) - math.log10(ALPHA)
    print(f"\n{len(draws):,} carriers, {len(COLLUDERS) + len(OTHERS)} licensees, alpha {ALPHA:g}: "
          f"log10 e must reach {needed:.2f}\n")  # fmt: skip
    print("| copies | what they do | remembered | log10 e of a colluder (median) | all colluders "
          "named | at least one | innocents named | largest log10 e of an innocent |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for number, how in ((1, "nothing"), (2, "mix"), (3, "mix"), (2, "break"), (3, "break")):
        for share in SHARES:
            print(_row(draws, secret, number, how, share, trials, needed), flush=True)


def _row(
    draws: Sequence[Draw],
    secret: Secret,
    number: int,
    how: str,
    share: float,
    trials: int,
    needed: float,
) -> str:
    found: list[list[float]] = []
    innocent: list[float] = []
    for trial in range(trials):
        rng = random.Random(f"{number} {how} {share} {trial}")
        owner = Secret(secret.derive(f"trial {trial}"))  # other keys each time
        keys = [watermark_key(owner.licensed(name), "synonyms")[0] for name in COLLUDERS[:number]]
        others = [watermark_key(owner.licensed(name), "synonyms")[0] for name in OTHERS]
        counts = [_answers(draw, keys, how, share, rng) for draw in draws]
        priors = [{name: float(chance) for name, chance in d.prior.items()} for d in draws]
        bets = [bet_on_counts(c, prior) for c, prior in zip(counts, priors, strict=True)]

        def evidence(key: bytes, bets: list = bets) -> float:  # type: ignore[type-arg]
            symbols = [draw.symbol(key) for draw in draws]
            return float(gather(zip(bets, symbols, strict=True)).log10_e)

        found.append([evidence(key) for key in keys])
        innocent += (evidence(key) for key in others)
    median = statistics.median(value for values in found for value in values)
    every = sum(all(value >= needed for value in values) for values in found) / trials
    some = sum(any(value >= needed for value in values) for values in found) / trials
    named = sum(value >= needed for value in innocent)
    cells = (number, how, f"{share:.0%}", f"{median:.1f}", f"{every:.0%}", f"{some:.0%}",
             f"{named} of {len(innocent)}", f"{max(innocent):.1f}")  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def _answers(
    draw: Draw, keys: Sequence[bytes], how: str, share: float, rng: random.Random
) -> dict[str, int]:
    """What a model says about a carrier: what the joined copy has, or what nature would say."""
    names = [name for name, _ in draw.weights]
    own = [draw.symbol(key) for key in keys]
    stands = rng.choice(own)
    if how == "break" and len(set(own)) > 1:
        stands = rng.choice([name for name in names if name not in own] or own)
    if rng.random() < share:
        return {stands: SAMPLES}
    weights = [weight for _, weight in draw.weights]
    answers = rng.choices(names, weights, k=SAMPLES)
    return {name: answers.count(name) for name in set(answers)}


if __name__ == "__main__":
    main()
