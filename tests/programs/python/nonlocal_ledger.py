"""A ledger whose balance is changed by inner functions."""

balance = -1


def open_ledger(owner):
    balance = 0
    entries = []
    highest = 0
    currency = "EUR"

    def book(amount):
        nonlocal balance, highest
        before = balance
        balance += amount
        highest = max(highest, balance)
        entries.append((before, amount, balance))
        return balance

    def statement():
        lines = [f"{owner} ({currency})"]
        for number, (before, amount, after) in enumerate(entries, 1):
            sign = "+" if amount >= 0 else "-"
            lines.append(f"{number}. {before} {sign} {abs(amount)} = {after}")
        lines.append(f"highest {highest}")
        return "\n".join(lines)

    def undo():
        nonlocal balance
        before, amount, after = entries.pop()
        balance = before
        return amount + after - before - amount

    return book, statement, undo


def three_levels():
    key = "outer"
    value = 1
    steps = []

    def middle():
        value = 10

        def inner():
            nonlocal value
            value += 1
            steps.append((key, value))

        inner()
        inner()
        return value

    result = middle()
    for number in range(2):
        steps.append((key, value + number))
    return result, steps


if __name__ == "__main__":
    book, statement, undo = open_ledger("Ada")
    assert [book(5), book(-2), book(9)] == [5, 3, 12]
    assert undo() == 9
    assert book(1) == 4
    assert balance == -1
    assert three_levels() == (12, [("outer", 11), ("outer", 12), ("outer", 1), ("outer", 2)])
    print(statement())
