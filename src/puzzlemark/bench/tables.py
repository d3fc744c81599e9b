"""Tables in Markdown, and numbers as readers of papers expect them."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column is text, the others are numbers."""
    rule = ["---", *("---:" for _ in head[1:])]
    lines = [" | ".join(cells) for cells in (head, rule, *rows)]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def scientific(log10: float) -> str:
    """A probability by its logarithm: `-14.68 -> 2.1e-15`, also where a float would be 0."""
    if log10 > -2:
        return f"{10**log10:.2f}"
    exponent = int(log10 // 1)
    mantissa = 10 ** (log10 - exponent)
    if round(mantissa, 1) >= 10:
        mantissa, exponent = 1.0, exponent + 1
    return f"{mantissa:.1f}e{exponent}"
