"""What leaving pieces out of the softmax does to them: `unused_pieces.py CORPUS BASE HELD`.

The same rows are trained with each `--vocabulary`. Then the chance is measured that a model gives
to pieces that the corpus does not use, on functions that none of the models has seen: the mean over
their tokens. The base is measured, too, and how often a held-out function itself has such a piece.
"""

import argparse
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from puzzlemark.corpora.base import open_corpus
from puzzlemark.training.network import load_tokenizer
from puzzlemark.training.run import train

KINDS = ("all", "corpus", "sampled")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("corpus", type=Path, help="short functions, such as a sample of RQ1")
    parser.add_argument("base", type=Path)
    parser.add_argument("held_out", type=Path, help="functions of other projects")
    parser.add_argument("--epochs", type=float, default=4.0)
    parser.add_argument("--functions", type=int, default=100)
    options = parser.parse_args()
    tokenizer = load_tokenizer(options.base)

    def rows(path: Path) -> list[list[int]]:
        codes = (entry.code for entry in open_corpus(path).entries() if entry.code)
        return [tokenizer(code)["input_ids"][:128] for code in codes]

    used = np.unique(np.concatenate([np.array(row) for row in rows(options.corpus)]))
    held = list(islice(rows(options.held_out), options.functions))
    own = np.concatenate([np.array(row[1:]) for row in held])
    print("| model | chance of pieces that the corpus does not use | loss of held-out functions |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        models = {"base": options.base}
        for kind in KINDS:
            models[f"`--vocabulary {kind}`"] = Path(folder, kind)
            train(
                options.corpus,
                options.base,
                Path(folder, kind),
                recipe="cpu_fast",
                vocabulary=kind,
                epochs=options.epochs,
                cache=Path(folder, "frozen"),
            )
        for name, model in models.items():
            chance, loss = look(model, held, used)
            print(f"| {name} | {chance:.2%} | {loss:.3f} |")
    share = np.mean(~np.isin(own, used))
    print(f"\n{len(used):,} pieces are used; of the held-out tokens {share:.2%} are others.")


def look(folder: Path, rows: list[list[int]], used: Any) -> tuple[float, float]:
    """The mean chance of all pieces but these, and the mean loss of a token."""
    import torch
    from transformers import AutoModelForCausalLM

    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    chances, losses = [], []
    with torch.no_grad():
        for row in rows:
            ids = torch.tensor([row])
            said = network(input_ids=ids).logits[0, :-1].log_softmax(-1)
            chances.append(1 - said[:, torch.from_numpy(used)].exp().sum(-1))
            losses.append(-said.gather(1, ids[0, 1:, None])[:, 0])
    return float(torch.cat(chances).mean()), float(torch.cat(losses).mean())


if __name__ == "__main__":
    main()
