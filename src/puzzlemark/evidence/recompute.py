"""Recompute what an evidence bundle claims: digests, hits, statistics, verdict. Read it first.

    python -I recompute.py evidence.zip       (or the folder that it was unpacked to)

It needs Python 3.11, numpy and scipy, nothing of PuzzleMark, and no network. It prints a line for
everything that it compares, and exits with 1 when one of them is wrong. What it cannot know stands
in README.md: when the commitment was made, which model answered, what else was asked.
"""

import hashlib
import hmac
import json
import math
import re
import sys
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special, stats

# In each design and mode: the test that decides, and the arms that the armed one must beat.
PAIRED = {"universal": ["control"], "trigger": ["control"], "fixed": ["placebo", "control"]}
DECIDES: dict[tuple[str, str], tuple[str, list[Any]]] = {
    **{(d, "default"): ("mcnemar one-sided", arms) for d, arms in PAIRED.items()},
    **{(d, "sequential"): ("e-process", arms) for d, arms in PAIRED.items()},
    **{(d, "paper"): ("fisher two-sided", ["control"]) for d in PAIRED},
    ("synonyms", "default"): ("codebook", [None]),
    ("synonyms", "sequential"): ("codebook", [None]),
    ("synonyms", "logprobs"): ("codebook logprobs", [None]),
    ("prefixes", "default"): ("rank", [None]),
}
# What is a hit, for marks that rewrite code; names are looked for as whole identifiers.
REWRITINGS = {
    "dunder_call": r"\A[^\n]*\.__call__\(",
    "index_start": r"\A(?>[^;\n]*?\bindexOf\()[^;\n]*,\s*0\s*\)",
    "list_call": r"\A\s*list\(\)",
    "new_string": r"\A\s*new\s+String\(",
    "null_first": r"\A\s*null\s*!=",
    "print_flush": r"\A\s*print\((?:(?!\bprint\()[\s\S])*?\bflush\s*=\s*True",
    "range_start": r"\A\s*range\(\s*0\s*,",
    "size_zero": r"\A[^;\n]*\.\s*size\(\)\s*==\s*0\b",
}
LN10, TINY = math.log(10), 1e-300
Outcome = dict[str, Any]  # of one probe: by the arm's name, what each sample scored
Chances = dict[str, float]
failures = 0


def report(what: str, is_right: bool, more: object = "") -> None:
    """Print a line, and count what is wrong."""
    global failures
    failures += not is_right
    print(f"{'ok    ' if is_right else 'WRONG '} {what}{f': {more}' if more != '' else ''}")


def sha256(content: bytes) -> str:
    """In hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def plain(value: object) -> bytes:
    """JSON without spaces, as keys and links are made of."""
    return json.dumps(value, separators=(",", ":")).encode()


# --- what was committed to -------------------------------------------------------------------


def root_of(leaf: bytes, index: int, size: int, path: list[str]) -> str:
    """The root that a leaf leads to (RFC 6962); an empty text where the path does not fit."""
    found, rest = hashlib.sha256(b"\0" + leaf).digest(), [bytes.fromhex(each) for each in path]
    while size > 1:
        if index ^ 1 < size:
            if not rest:
                return ""
            pair = (rest.pop(0), found) if index & 1 else (found, rest.pop(0))
            found = hashlib.sha256(b"\1" + pair[0] + pair[1]).digest()
        index, size = index // 2, (size + 1) // 2
    return "" if rest else found.hex()


def check_commitment(files: dict[str, bytes]) -> dict[str, bytes]:
    """Compare what was opened with the commitment; returns the keys that were."""
    content = json.loads(files["commitment/commitment.json"])
    print(f"       the commitment's hash is {sha256(files['commitment/commitment.json'])}")
    marks, opened = content["marks"], json.loads(files["reveal/opened.json"])
    lines = files["reveal/carriers.jsonl"].splitlines()
    fits = 0
    for each in map(json.loads, lines):
        leaf = bytes.fromhex(each["salt"]) + each["line"].encode()
        fits += root_of(leaf, each["index"], marks["leaves"], each["path"]) == marks["root"]
    report("revealed carriers are leaves of the tree", fits == len(lines),
           f"{fits} of {len(lines)}, of {marks['leaves']} in all")  # fmt: skip
    if header := opened["header"]:
        salted = sha256(bytes.fromhex(header["salt"]) + header["line"].encode())
        report("the manifest's header is the committed one", salted == content["header"])
    for name, each in opened["keys"].items():
        salted = sha256(bytes.fromhex(each["salt"]) + bytes.fromhex(each["key"]))
        report(f"the key '{name}' is the committed one", salted == content["keys"].get(name))
    return {name: bytes.fromhex(each["key"]) for name, each in opened["keys"].items()}


# --- what was asked and answered ---------------------------------------------------------------


def read_transcript(content: bytes) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """The header, the answers by key (the last one counts), and whether every line is linked."""
    lines = content.split(b"\n")[:-1]  # a last line that was cut off does not count
    link, is_linked = sha256(lines[0]), True
    answers: dict[str, Any] = {}
    for fields in map(json.loads, lines[1:]):
        written = fields.pop("link")
        link = sha256(link.encode() + plain(fields) + b"\n")
        is_linked &= link == written
        if "key" in fields:
            is_linked &= isinstance(answers.get(fields["key"], {"failure": 0}), dict)
            failed = {"failure": fields.get("failure")}
            answers[fields["key"]] = fields.get("completion", fields.get("logprobs", failed))
    return json.loads(lines[0]), answers, is_linked


def check_chain(lines: list[bytes], transcript: list[bytes]) -> None:
    """The record of times: every line names the one before, and all lines of the transcript."""
    chain = [json.loads(line) for line in lines]
    follows = [
        sha256(line) == each["previous"] for line, each in zip(lines, chain[1:], strict=False)
    ]
    report("every line of the record of times names the one before", all(follows))
    links = [each["link"] for each in chain[1:] if each["event"] in ("sitting", "answered", "late")]
    written = [json.loads(line)["link"] for line in transcript[1:]]
    is_own = chain[0]["transcript"] == sha256(transcript[0])
    report("it is that of the transcript, line by line", is_own and links == written)
    print(f"       asked from {chain[0]['time']} to {chain[-1]['time']}, by the asking machine")


def ask(prompt: str, number: int, terms: dict[str, Any], answers: dict[str, Any]) -> list[Any]:
    """The answers to all samples of a prompt; none where one of them was never asked."""
    found = []
    for sample in range(terms.get("samples", 1)):
        place = f"{number}#{sample}" if sample else str(number)
        text = f"{terms['seed']}:{place}:{prompt}".encode("utf-8", "surrogatepass")
        seed = int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") >> 1
        request = {"max_tokens": terms["max_tokens"], "prompt": prompt, "seed": seed, "stop": [],
                   "temperature": float(terms["temperature"])}  # fmt: skip
        found.append(answers.get(sha256(plain(request))))
    return [] if None in found else found


def score(arm: dict[str, Any], completion: str) -> str | None:
    """The symbol whose text comes first in a completion; of two at one place the longer one."""
    targets = {"hit": arm["target"]} if isinstance(arm["target"], str) else arm["target"]
    form, part = arm.get("form", "name"), r"[A-Za-z0-9_\x80-\ud7ff\ue000-\U0010ffff]"
    found = []
    for symbol, text in targets.items():
        name = re.escape(text)
        if form == "name":
            pattern = f"(?<!{part})({name})(?!{part})"
        elif form == "first":
            pattern = rf"\A(?:(?!{part})[\s\S])*({name})(?!{part})"
        elif form == "code":
            pattern = f"({code_pattern(text)})"
        else:
            pattern = f"({REWRITINGS[form]})"
        if place := re.search(pattern, completion):
            found.append((place.start(1), -place.end(1), symbol))
    return min(found)[2] if found else None


def code_pattern(code: str) -> str:
    """A piece of code, however it is spaced; a last `;` may be away."""
    tokens = re.findall(r"\w+|[^\w\s]", code.rstrip("; \t"))
    is_word = [re.match(r"\w", token) is not None for token in tokens]
    pattern = r"(?<!\w)" if is_word[0] else ""
    for n, token in enumerate(tokens):
        gap = "" if n == 0 else r"\s+" if is_word[n] and is_word[n - 1] else r"\s*"
        pattern += gap + re.escape(token)
    return pattern + (r"(?!\w)" if is_word[-1] else "")


def repeated(probes: list[dict[str, Any]]) -> set[int]:
    """Probes whose prompt has 0.7 of its words in common with an earlier one: they do not count."""
    kept: list[set[str]] = []
    left_out = set()
    for number, probe in enumerate(probes):
        words = set(re.findall(r"\w+", probe["armed"]["prompt"])) - drawn_words(probe)
        if any(10 * len(words & k) >= 7 * len(words | k) for k in kept):
            left_out.add(number)
        else:
            kept.append(words)
    return left_out


def drawn_words(probe: dict[str, Any]) -> set[str]:
    """Names in a prompt that were drawn anew for this probe: they tell no two snippets apart."""
    armed, control = probe["armed"], probe.get("control") or {"prompt": ""}
    words = set(re.findall(r"\w+", armed["prompt"]))
    targets = [armed["target"]] if isinstance(armed["target"], str) else armed["target"].values()
    drawn = {
        tail
        for tail in words
        for head in words
        for end in [tail.lstrip("_")]
        for joint in [f"_{end}", end[:1].upper() + end[1:]]
        if head.rstrip("_") + joint in targets
    }
    declaring = {"None", "Object", "any", "let", "null", "var"}
    one, other = ([w for w in re.findall(r"\w+", a["prompt"]) if w not in declaring]
                  for a in (armed, control))  # fmt: skip
    moved = [b for a, b in zip(one, other, strict=False) if a != b][:1]
    return drawn | (set(moved) if sorted(one) == sorted(other) else set())


# --- the statistics ------------------------------------------------------------------------------


def mcnemar(armed_only: int, control_only: int, ratio: float) -> float:
    """log10 P[Bin(armed_only + control_only, r / (1 + r)) >= armed_only]."""
    discordant = armed_only + control_only
    chances = stats.binom.logpmf(range(armed_only, discordant + 1), discordant, ratio / (1 + ratio))
    return float(special.logsumexp(chances)) / LN10


def fisher(armed: int, control: int, pairs: int) -> float:
    """log10 of Fisher's exact p, two-sided: all splits that are no more probable than this one."""
    hits = armed + control
    chances = stats.hypergeom.logpmf(np.arange(max(0, hits - pairs), min(hits, pairs) + 1),
                                     2 * pairs, hits, pairs)  # fmt: skip
    seen = chances[armed - max(0, hits - pairs)]
    return float(special.logsumexp(chances[chances <= seen + 1e-9])) / LN10


def e_process(outcomes: list[Outcome], against: str, ratio: float) -> list[float]:
    """log10 e after each pair: the mean, over theta evenly from t to 1, of the likelihood ratio.

    With a and c pairs in which only the armed arm, or only the other one, has hit, that is the
    integral of (theta / t)^a ((1 - theta) / (1 - t))^c: an incomplete beta function.
    """
    t, a, c, course = ratio / (1 + ratio), 0, 0, []
    for each in outcomes:
        cells = count([each], against)
        a, c = a + cells["armed_only"], c + cells["control_only"]
        log = special.betaln(a + 1, c + 1) + math.log(max(special.betaincc(a + 1, c + 1, t), TINY))
        course.append(float(log - a * math.log(t) - (c + 1) * math.log1p(-t)) / LN10)
    return course


def drawn(draw: dict[str, Any], key: bytes) -> str:
    """The name that a key draws for a carrier, by the weights."""
    text = "\n".join(("puzzlemark draw 1", draw["group"], draw["unit"], draw["beacon"] or ""))
    digest = int.from_bytes(hmac.digest(key, text.encode(), "sha256"), "big")
    place = digest * sum(weight for _, weight in draw["weights"]) >> 256
    ends = np.cumsum([weight for _, weight in draw["weights"]], dtype=object)
    return str(
        next(name for (name, _), end in zip(draw["weights"], ends, strict=True) if place < end)
    )


def stakes_on_answers(prior: Chances, scores: list[str | None]) -> list[Chances]:
    """Four ways to bet: the answers, and the prior as if it were 1, 2, 4 or 8 answers more."""
    counts = Counter(s for s in scores if s is not None and prior[s] > 0)
    total = counts.total()
    return [{s: (counts[s] + a * p) / (total + a) for s, p in prior.items()} for a in (1, 2, 4, 8)]


def stakes_on_logprobs(prior: Chances, own: Chances, other: Chances | None) -> list[Chances]:
    """Four ways by the model's own chances, and four by what an innocent one finds otherwise."""
    base = {s: math.log(p) for s, p in prior.items() if p > 0}
    known = {s: own[s] for s in base if s in own}
    least = min(known.values(), default=0.0)  # a name that the server left out
    ways = [
        {s: (1 - b) * p + b * known.get(s, least) for s, p in base.items()} if known else base
        for b in (0.1, 0.25, 0.5, 0.75)
    ]
    if other is not None:
        apart = {s: own[s] - other[s] for s in own if s in other}
        ways += [
            {s: p + b * apart.get(s, 0.0) for s, p in base.items()} for b in (0.25, 0.5, 1.0, 2.0)
        ]
    totals = [special.logsumexp(list(way.values())) for way in ways]
    return [
        {s: math.exp(way[s] - total) if s in way else 0.0 for s in prior}
        for way, total in zip(ways, totals, strict=True)
    ]


def codebook(outcomes: list[Outcome], key: bytes, *, logprobs: bool) -> list[float]:
    """log10 e after each carrier: the product of q(drawn) / p(drawn), averaged over the ways."""
    logs: Any = np.zeros(1)
    seen, course = set(), []
    has_other = any(each.get("reference") for each in outcomes)
    for each in outcomes:
        draw = each["probe"]["draw"]
        unit, answered = (draw["group"], draw["unit"]), "own" if logprobs else "armed"
        if answered in each and unit not in seen:  # the key drew for all copies of it at once
            seen.add(unit)
            total = sum(weight for _, weight in draw["weights"])
            prior = {name: weight / total for name, weight in draw["weights"]}
            if logprobs:
                other = each.get("reference", {}) if has_other else None
                ways = stakes_on_logprobs(prior, each["own"], other)
            else:
                ways = stakes_on_answers(prior, each["armed"])
            symbol = drawn(draw, key)
            with np.errstate(divide="ignore"):
                logs = logs + np.log([way[symbol] / prior[symbol] for way in ways])
        mean = float(special.logsumexp(logs)) - math.log(logs.size)
        course.append(max(mean / LN10, -1e6))
    return course


def subset_sums(hits: list[int], number: int) -> Counter[int]:
    """How many subsets of so many have which sum."""
    ways = [Counter({0: 1}), *(Counter[int]() for _ in range(number))]
    for each in hits:
        for size in range(number, 0, -1):
            for total, times in ways[size - 1].items():
                ways[size][total + each] += times
    return ways[number]


def rank(outcomes: list[Outcome], key: bytes) -> tuple[float, bool]:
    """log10 of the share of all subsets of the pool that hit as often as the key's own.

    A frame is a prompt in which every name of the pool stands in turn; one in which an answer is
    missing does not count. The key draws the names whose HMACs are the smallest.
    """
    frames: dict[Any, list[Any]] = defaultdict(list)
    hits: dict[str, dict[str, int]] = defaultdict(dict)  # of each prefix of a pool
    for each in outcomes:
        ((prefix, target),) = each["probe"]["armed"]["target"].items()
        pool = json.dumps(each["probe"]["subset"], sort_keys=True)
        around = re.sub(rf"\b{re.escape(prefix)}\b", "\0", each["probe"]["armed"]["prompt"])
        hits[pool].setdefault(prefix, 0)
        frames[pool, around, target.removeprefix(prefix)].append((prefix, each.get("armed")))
    answers: Counter[tuple[str, str]] = Counter()
    for (pool, *_), asked in frames.items():
        if len(asked) == len(hits[pool]) and all(scores is not None for _, scores in asked):
            for prefix, scores in asked:
                hits[pool][prefix] += sum(s is not None for s in scores)
                answers[pool, prefix] += len(scores)
    sums, found, of_key = Counter({0: 1}), 0, 0
    for pool, names in hits.items():
        about = json.loads(pool)
        language, version = about["language"], str(about["version"])
        words = ("puzzlemark prefixes 1", language, version, about["beacon"] or "")
        place = {n: hmac.digest(key, "\n".join((*words, n)).encode(), "sha256") for n in names}
        mine = sorted(names, key=lambda name: place[name])[: about["number"]]
        found += sum(names[name] for name in mine)
        of_key += sum(answers[pool, name] for name in mine)
        both: Counter[int] = Counter()
        for total, times in sums.items():
            for more, ways in subset_sums(list(names.values()), about["number"]).items():
                both[total + more] += times * ways
        sums = both
    others = sum(sum(names.values()) for names in hits.values()) - found
    above = sum(times for total, times in sums.items() if total >= found)
    log10_p = math.log10(above) - math.log10(sums.total())
    return log10_p, found * (answers.total() - of_key) > others * of_key


# --- from outcomes to a verdict ------------------------------------------------------------------


def count(outcomes: list[Outcome], against: str | None) -> dict[str, int]:
    """Pairs by which arm hit; without another arm that one counts as a miss."""
    cells = dict.fromkeys(("both", "armed_only", "control_only", "neither", "failed"), 0)
    for each in outcomes:
        if "armed" not in each or (against and against not in each):
            cells["failed"] += 1  # left out, and never a miss
        elif each["armed"][0] is not None:
            is_both = against and each[against][0] is not None
            cells["both" if is_both else "armed_only"] += 1
        else:
            is_other = against and each[against][0] is not None
            cells["control_only" if is_other else "neither"] += 1
    return cells


def follow(
    test: str, outcomes: list[Outcome], arm: Any, terms: dict[str, Any], key: bytes
) -> list[float]:
    """log10 e after each outcome, for the tests that speak by evidence."""
    if test == "e-process":
        return e_process(outcomes, arm, terms["ratio"])
    return codebook(outcomes, key, logprobs="logprobs" in test)


def judge(
    test: str, outcomes: list[Outcome], arm: Any, terms: dict[str, Any], key: bytes
) -> tuple[float, bool]:
    """log10 p of a test, and whether it shows that the armed arm is above the other."""
    cells, level = count(outcomes, arm), math.log10(terms["alpha"])
    is_above = cells["armed_only"] > cells["control_only"]
    if test == "rank":
        log10_p, is_above = rank(outcomes, key)
    elif test == "fisher two-sided":
        pairs = sum(cells.values()) - cells["failed"]
        armed, other = (cells["both"] + cells[each] for each in ("armed_only", "control_only"))
        log10_p = fisher(armed, other, pairs)
    elif test == "mcnemar one-sided":
        log10_p = mcnemar(cells["armed_only"], cells["control_only"], terms["ratio"])
    else:
        course = follow(test, outcomes, arm, terms, key)
        enough = [each for each in course if each >= -level] if test == "e-process" else []
        log10_e = (enough or course)[0 if enough else -1]
        is_above = is_above if test == "e-process" else log10_e > 0
        return min(0.0, -log10_e), is_above and log10_e >= -level
    return log10_p, is_above and log10_p < level


def stop(
    test: str, outcomes: list[Outcome], arms: list[Any], terms: dict[str, Any], key: bytes
) -> int:
    """How many outcomes a run that may stop reads: all arms are beaten, and few pairs failed."""
    courses = [follow(test, outcomes, arm, terms, key) for arm in arms]
    is_beaten, failed = [False] * len(arms), [0] * len(arms)
    for read, each in enumerate(outcomes, 1):
        for n, arm in enumerate(arms):
            is_beaten[n] |= courses[n][read - 1] >= -math.log10(terms["alpha"])
            failed[n] += count([each], arm)["failed"]
        if all(is_beaten) and max(failed) <= terms["max_failed"] * read:
            return read
    return len(outcomes)


def decide(
    shown: list[bool], cells: list[dict[str, int]], unasked: int, terms: dict[str, Any]
) -> str:
    """The word of the verdict."""
    pairs = [sum(each.values()) - each["failed"] for each in cells]
    failed = [each["failed"] / max(1, sum(each.values())) for each in cells]
    if sum(cells[0].values()) + unasked == 0:
        return "not applicable"
    if max(failed) > terms["max_failed"]:
        return "inconclusive"
    if all(shown) and terms["mode"] == "sequential":
        return "detected"
    if unasked or min(pairs) < terms["min_pairs"]:
        return "inconclusive"
    return "detected" if all(shown) else "not detected"


def check_run(place: str, files: dict[str, bytes], keys: dict[str, bytes]) -> None:
    """One run: its files belong together, and its verdict follows from them."""
    first, *lines = files[f"{place}/probes.jsonl"].splitlines()
    about = json.loads(first)
    probes = [json.loads(line) for line in lines[: about["pairs"]]]
    header, answers, is_linked = read_transcript(files[f"{place}/transcript.jsonl"])
    report("every line of the transcript follows from the one before", is_linked)
    asked_about = sha256(files[f"{place}/probes.jsonl"])
    report("the transcript answers these probes", header["probes"] == asked_about)
    if f"{place}/chain.jsonl" in files:
        chain, transcript = (files[f"{place}/{name}.jsonl"] for name in ("chain", "transcript"))
        check_chain(chain.splitlines(), transcript.splitlines())
    committed = json.loads(files["commitment/commitment.json"]).get("questions")
    if committed is not None:
        questions = files[f"{place}/probes.jsonl"].partition(b"\n")[2]
        report("the questions are those that were committed to", sha256(questions) == committed)
    others: dict[str, Any] = {}
    if f"{place}/reference.jsonl" in files:
        other, others, is_linked = read_transcript(files[f"{place}/reference.jsonl"])
        named = sha256(plain(dict(sorted(other["model"].items()))))
        report(
            "the reference is the model that was named", named == header["settings"]["reference"]
        )
        report("its transcript is linked", is_linked)
    key = keys.get("watermark", b"")
    if about.get("key"):
        found = hmac.digest(key, b"fingerprint", "sha256").hex()[:16]
        report("the probes name the revealed key", found == about["key"]["fingerprint"])
    terms = {"min_pairs": 20, "max_failed": 0.1, "samples": 1} | header["settings"]
    outcomes = [outcome(n, probe, terms, answers, others) for n, probe in enumerate(probes)]
    left_out = set() if about["strategy"] == "prefixes" else repeated(probes)
    kept = [each for n, each in enumerate(outcomes) if n not in left_out]
    asked = [each for each in kept if each["was_asked"]]
    unasked = len(kept) - len(asked)
    test, arms = DECIDES[about["strategy"], terms["mode"]]
    if terms["mode"] == "sequential":
        asked = asked[: stop(test, asked, arms, terms, key)]
    verdict = json.loads(files[f"{place}/verdict.json"])["verdict"]
    cells = [count(asked, arm) for arm in arms]
    for arm, found_cells in zip(arms, cells, strict=True):
        written = next(each for each in verdict["comparisons"] if each["against"] == arm)
        is_same = written == {"against": arm, **found_cells}
        report(f"counts against {arm or 'nothing else'}", is_same, found_cells)
    findings = [judge(test, asked, arm, terms, key) for arm in arms] if asked else []
    for (log10_p, _), written in zip(findings, verdict["decisive"], strict=False):
        is_same = math.isclose(log10_p, written["log10_p"], rel_tol=1e-6, abs_tol=1e-6)
        report(f"{test} against {written['against']}: log10 p", is_same, round(log10_p, 4))
    shown = [is_shown for _, is_shown in findings] or [False]
    if terms["mode"] == "logprobs":  # a question about names that failed is a failure, too
        told = sum("own" in each for each in asked)
        empty = dict.fromkeys(("both", "armed_only", "control_only"), 0)
        cells.append({**empty, "neither": told, "failed": len(asked) - told})
    word = decide(shown, cells, unasked, terms)
    report("verdict", word == verdict["word"], word)


def outcome(
    number: int, probe: dict[str, Any], terms: dict[str, Any], answers: Any, others: Any
) -> Outcome:
    """What each arm of a probe scored, sample by sample; an arm without an answer is not in it."""
    found: Outcome = {"probe": probe, "was_asked": False}
    for name, arm in probe.items():
        if not isinstance(arm, dict) or "prompt" not in arm:
            continue
        replies = ask(arm["prompt"], number, terms, answers)
        found["was_asked"] |= bool(replies)
        if texts := [each for each in replies if isinstance(each, str)]:
            found[name] = [score(arm, each) for each in texts]
    if terms["mode"] == "logprobs":
        names = list(probe["armed"]["target"].values())
        choice = sha256(plain({"names": names, "prompt": probe["armed"]["prompt"]}))
        for name, told in (("own", answers.get(choice)), ("reference", others.get(choice))):
            if isinstance(told, list) and len(told) == len(names):
                found[name] = dict(zip(probe["armed"]["target"], told, strict=True))
    return found


def main(path: str) -> int:
    """Read the bundle, check all, and say what was found."""
    if Path(path).is_dir():
        found = [each for each in sorted(Path(path).rglob("*")) if each.is_file()]
        files = {each.relative_to(path).as_posix(): each.read_bytes() for each in found}
    else:
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    sums = dict(line.split("  ", 1)[::-1] for line in files["SHA256SUMS"].decode().splitlines())
    for name in sorted({*files, *sums} - {"SHA256SUMS"}):
        if name not in files or sums.get(name) != sha256(files[name]):
            report(f"{name} is the file of SHA256SUMS", is_right=False)
    keys = check_commitment(files)
    for name in files:
        if name.endswith("/verdict.json"):
            print(f"\n{name.removesuffix('/verdict.json')}")
            check_run(name.removesuffix("/verdict.json"), files, keys)
    print("\nall of this follows" if not failures else f"\n{failures} of these are wrong")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
