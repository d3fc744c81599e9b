"""Small studies for tests, and simulated panels: nobody was asked."""

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

import puzzlemark as pm
from puzzlemark.pages.study import read_data
from puzzlemark.studying.key import Key, load_key
from puzzlemark.studying.making import Made, make_study

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lamda omicron".split()
PYTHON = '''def {a}_{n}(key, {b}):
    """Tell the {a} of a {b}."""
    count = len({b})
    {c} = [key] * count
    for {d} in {b}:
        {c}.append({d} + {n})
    total = sum({c})
    return total
'''
JAVA = """int {a}{n}(int key, int[] {b}) {{
    int count = {b}.length;
    int {c} = key + {n};
    for (int {d} : {b}) {{
        {c} += {d} * count;
    }}
    int total = {c} - count;
    return total;
}}
"""
SECRET = "a secret that every test knows"  # noqa: S105
MARKS = ("fixed_prefix:prefix=key", "universal")
MARKING = pm.StudyMarking(tau=0, min_rate=0.6, max_rate=1)


def functions(count: int) -> list[dict[str, str]]:
    """Distinct functions in two languages."""
    rng = random.Random(5)
    records = []
    for n in range(count):
        for language, text in (("python", PYTHON), ("java", JAVA)):
            a, b, c, d = rng.sample(WORDS, 4)
            code = text.format(a=a, b=b, c=c, d=d, n=n)
            records.append({"id": f"{language}-{n}", "language": language, "code": code})
    return records


def write_dataset(folder: Path, count: int = 40) -> Path:
    path = folder / "functions.jsonl"
    path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in functions(count)))
    return path


def write_secret(folder: Path) -> Path:
    path = folder / "secret"
    path.touch(mode=0o600)
    path.write_text(SECRET)
    return path


def make(folder: Path, output: str = "pages", **options: Any) -> tuple[Made, Key]:
    """A study of two watermarks in two languages: four snippets each, one marked."""
    design = options.pop("design", pm.StudyDesign("balanced", 4, 1, 2, 8))
    made = make_study(
        [folder / "functions.jsonl"],
        folder / output,
        marks=options.pop("marks", MARKS),
        design=design,
        marking=options.pop("marking", MARKING),
        secret_file=folder / "secret",
        **options,
    )
    return made, load_key(made.key)


def data_of(path: Path) -> dict[str, Any]:
    return read_data(path.read_text())


def text_of(pieces: Sequence[Sequence[str]]) -> str:
    return "".join(text for _, text in pieces)


Decide = Callable[[str, int, bool], bool]  # who, snippet, is it marked?


def answer(
    key: Key, who: str, decide: Decide, *, rounds: Sequence[int] = (1, 2), study: str | None = None
) -> dict[str, Any]:
    """What the page of a participant would export."""
    participant = key.participants[who]
    told: dict[str, Any] = {
        "format": "study answers",
        "version": 1,
        "study": study or key.study,
        "participant": who,
        "rounds": [
            {
                "round": number,
                "answers": [
                    {
                        "snippet": label,
                        "suspicious": decide(who, shown.snippet, shown.is_marked),
                        "milliseconds": 1000 + shown.snippet,
                    }
                    for label, shown in participant.shown.items()
                ],
            }
            for number in rounds
        ],
    }
    return seal(told, participant.token)


def seal(told: dict[str, Any], token: str) -> dict[str, Any]:
    """The seal, as study.js makes it."""
    lines = "".join(
        f"{each['round']} {said['snippet']} {int(said['suspicious'])} {said['milliseconds']}\n"
        for each in told["rounds"]
        for said in each["answers"]
    )
    text = f"{token}\n{told['study']}\n{told['participant']}\n{lines}"
    return {**told, "seal": hashlib.sha256(text.encode()).hexdigest()}


def write_panel(folder: Path, key: Key, decide: Decide) -> list[Path]:
    """The answers of everybody."""
    folder.mkdir(exist_ok=True)
    paths = []
    for who in key.participants:
        paths.append(folder / f"{who}.json")
        paths[-1].write_text(json.dumps(answer(key, who, decide)))
    return paths
