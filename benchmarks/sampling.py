"""How many samples of a prompt cost a local model how much: CPU seconds, side by side in one run.

    python -m benchmarks.sampling smollm2 csn_python_large.jsonl.gz --prompts 12

Prompts are beginnings of functions. Each is asked once; then several times, all requests passed
together in a shuffled order; then as often, one request at a time, so that nothing can be shared.
"""

import argparse
import random
import time
from itertools import islice
from pathlib import Path

from puzzlemark.corpora.base import open_corpus
from puzzlemark.models.base import Request, open_model

SHORTEST, LONGEST = 120, 500  # characters of a prompt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--prompts", type=int, default=12)
    parser.add_argument("--samples", type=int, nargs="+", default=[1, 5, 20])
    parser.add_argument("--tokens", type=int, default=6, help="asked for in each sample")
    args = parser.parse_args()
    fitting = (
        entry.code[: 2 * len(entry.code) // 3]
        for entry in open_corpus(args.corpus).entries()
        if entry.code and SHORTEST < 2 * len(entry.code) // 3 < LONGEST
    )
    prompts = list(islice(fitting, args.prompts))
    one: float | None = None
    for samples in args.samples:
        requests = [
            Request(prompt, args.tokens, 0.7, seed) for prompt in prompts for seed in range(samples)
        ]
        random.Random(0).shuffle(requests)
        # all samples of a prompt in one batch
        model = open_model("hf", pretrained=str(args.model), threads=1, batch_size=max(16, samples))
        model.complete(requests[:1])  # what is done once
        began = time.process_time()
        together = model.complete(requests)
        middle = time.process_time()
        alone = [model.complete([request])[0] for request in requests]
        ended = time.process_time()
        seconds, apart = middle - began, ended - middle
        one = one or seconds
        same = sum(a == b for a, b in zip(together, alone, strict=True))
        print(
            f"{samples:>3} samples of {len(prompts)} prompts: {seconds:7.2f} CPU s together, "
            f"{seconds / one:5.2f} times the first row; {apart:7.2f} one by one, "
            f"{apart / seconds:5.2f} times as long; {same} of {len(requests)} answers alike"
        )


if __name__ == "__main__":
    main()
