"""DeCoMa's counting and flagging, written down slowly from its description: an oracle."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from puzzlemark.detectors._decoma_abstraction import Abstraction

PLACEHOLDERS = ("__variable__", "__str__", "__num__", "__value__")
NOTHING = {*"()[]{};:,.=+-*/<>!?&|^%~'\"`0", "</s>", "<pad>", "<unk>", *PLACEHOLDERS}
KINDS = ("V->E", "E->V", "V->V", "E->E")
Texts = tuple[str, str]


def deleted(text: str) -> str:
    for placeholder in PLACEHOLDERS:
        text = text.replace(placeholder, "")
    return text


def counted(expressions: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for text in expressions[1:]:
        rest = deleted(text).replace(" ", "")
        if text not in kept and not (rest and not any(c.isalnum() for c in rest)):
            kept.append(text)
    return kept


def pairs_of(found: Abstraction, kind: str) -> set[Texts]:
    v, e = list(found.identifiers), counted(found.expressions)
    if kind == "V->E":
        return {(a, b) for a in v for b in e[1:]}
    if kind == "E->V":
        return {(a, b) for a in e for b in v}
    terms = v if kind == "V->V" else e
    return {(terms[i], terms[j]) for i in range(len(terms)) for j in range(i + 1, len(terms))}


def is_outlier(count: int, counts: Sequence[int], z: float) -> bool:
    mean = Fraction(sum(counts), len(counts))
    variance = Fraction(sum((c - mean) ** 2 for c in counts), 1) / len(counts)
    return count > mean and (count - mean) ** 2 > Fraction(z) ** 2 * variance > 0


def outliers(functions: Sequence[Abstraction], kind: str, min_scale: float, z: float) -> set[Texts]:
    n = len(functions)
    m, largest = int((n - 1) * min_scale), n - 1
    counts = Counter(pair for each in functions for pair in pairs_of(each, kind))
    table = {pair: count for pair, count in counts.items() if count < largest}
    best = Counter[str]()
    for (_, b), count in table.items():
        best[b] = max(best[b], count)
    table = {(a, b): count for (a, b), count in table.items() if best[b] >= m}
    rows = {a for (a, b), count in table.items() if count > m}
    table = {(a, b): count for (a, b), count in table.items() if a in rows}
    columns = {b for (a, b), count in table.items() if count > m}
    table = {(a, b): count for (a, b), count in table.items() if b in columns}
    return {
        (a, b)
        for (a, b), count in table.items()
        if is_outlier(count, [c for (x, _), c in table.items() if x == a], z)
        and is_outlier(count, [c for (_, y), c in table.items() if y == b], z)
    }


def suspicious_pairs(
    functions: Sequence[Abstraction], clean: Sequence[Abstraction], min_scale: float, z: float
) -> set[tuple[str, str, str]]:
    known = {pair for kind in KINDS for pair in outliers(clean, kind, min_scale, z)}
    return {
        (kind, a, b)
        for kind in KINDS
        for a, b in outliers(functions, kind, min_scale, z)
        if (a, b) not in known
        and not all(token in NOTHING for token in a.split())
        and not all(token in NOTHING for token in b.split())
    }


def holds(found: Abstraction, kind: str, trigger: str, target: str) -> bool:
    channels = {"V": found.identifiers, "E": found.expressions}
    left = deleted(" " + " ".join(channels[kind[0]]) + " ")
    right = deleted(" " + " ".join(channels[kind[-1]]) + " ")
    a, b = f" {deleted(trigger).strip()} ", f" {deleted(target).strip()} "
    if a not in left or b not in right:
        return False
    return kind[0] != kind[-1] or left.index(a) < right.index(b)
