"""Modified Kneser-Ney from the definition, with dictionaries and exact fractions: slow, obvious."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
Gram = tuple[object, ...]


class SlowKneserNey:
    """Every number is counted anew from the sentences, whenever it is asked for."""

    def __init__(
        self,
        sentences: Sequence[Sequence[int]],
        order: int,
        discounts: Sequence[Sequence[Fraction]] | None = None,
    ) -> None:
        self.sentences = [(BEGIN, *sentence, END) for sentence in sentences]
        self.order = order
        self.vocabulary = {w for s in self.sentences for w in s} - {BEGIN} | {UNKNOWN, END}
        self.counts = {n: self.adjusted_counts(n) for n in range(1, order + 1)}
        self.discounts = discounts or [self.estimate(n) for n in range(1, order + 1)]
        self.probability = cache(self._probability)

    def occurrences(self, n: int) -> list[Gram]:
        return [s[i : i + n] for s in self.sentences for i in range(len(s) - n + 1)]

    def adjusted_counts(self, n: int) -> Counter[Gram]:
        raw = Counter(self.occurrences(n))
        if n == self.order:
            adjusted = raw
        else:
            before: dict[Gram, set[object]] = {gram: set() for gram in raw}
            for longer in self.occurrences(n + 1):
                before[longer[1:]].add(longer[0])
            adjusted = Counter({g: raw[g] if g[0] == BEGIN else len(before[g]) for g in raw})
        adjusted.pop((BEGIN,), None)
        return adjusted

    def estimate(self, n: int) -> tuple[Fraction, ...]:
        t = Counter(self.counts[n].values())
        fallback = (Fraction(1, 2), Fraction(1), Fraction(3, 2))
        if not (t[1] and t[2] and t[3]):
            return fallback
        y = Fraction(t[1], t[1] + 2 * t[2])
        found = tuple(k - (k + 1) * y * Fraction(t[k + 1], t[k]) for k in (1, 2, 3))
        return found if all(0 < d <= k for k, d in enumerate(found, 1)) else fallback

    def _probability(self, word: object, context: Gram) -> Fraction:
        """P(word | context), where the context is cut to what the model knows."""
        context = context[-(self.order - 1) :] if self.order > 1 else ()
        shorter = (
            self.probability(word, context[1:]) if context else Fraction(1, len(self.vocabulary))
        )
        n = len(context) + 1
        after = {g[-1]: c for g, c in self.counts[n].items() if g[:-1] == context}
        total = sum(after.values())
        if not total:
            return shorter
        off = {w: self.discounts[n - 1][min(c, 3) - 1] for w, c in after.items()}
        direct = (after[word] - off[word]) / total if word in after else Fraction(0)
        return direct + sum(off.values(), Fraction(0)) / total * shorter

    def sentence(self, words: Sequence[object]) -> list[Fraction]:
        """The probability of each word and of the end."""
        known = [w if w in self.vocabulary else UNKNOWN for w in words]
        text = (BEGIN, *known, END)
        return [self.probability(text[i], text[:i]) for i in range(1, len(text))]
