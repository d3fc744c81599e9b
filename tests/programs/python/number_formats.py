"""Numbers in all their spellings, and arithmetic that must stay exact."""

from decimal import Decimal
from fractions import Fraction


def literals():
    key = 0xFF + 0o17 + 0b101
    value = 1_000_000
    small = 1.5e-3
    imaginary = 3j
    half = .5
    whole = 5.
    numbers = [key, value, small, half, whole]
    return numbers, imaginary * imaginary


def interest(amount, percent, years):
    factor = 1 + Decimal(percent) / 100
    balance = Decimal(amount)
    history = []
    for year in range(years):
        balance = (balance * factor).quantize(Decimal("0.01"))
        history.append(str(balance))
    return history


def harmonic(limit):
    total = Fraction(0)
    terms = []
    for number in range(1, limit + 1):
        term = Fraction(1, number)
        total += term
        terms.append(term)
    largest = max(terms)
    return total, largest


def digits(number, base=10):
    found = []
    sign = "-" if number < 0 else ""
    rest = abs(number)
    while rest:
        rest, digit = divmod(rest, base)
        found.insert(0, "0123456789abcdef"[digit])
    text = sign + ("".join(found) or "0")
    return text


if __name__ == "__main__":
    assert literals() == ([275, 1000000, 0.0015, 0.5, 5.0], -9)
    assert interest("100", "5", 2) == ["105.00", "110.25"]
    assert harmonic(4) == (Fraction(25, 12), 1)
    assert [digits(255, 16), digits(-10, 2), digits(0)] == ["ff", "-1010", "0"]
    print(harmonic(3)[0], round(2.5), 7 // 2)
