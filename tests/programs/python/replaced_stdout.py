"""Output goes to an object that can write and nothing else."""

import sys


class Recorder:
    def __init__(self):
        self.parts = []

    def write(self, text):
        self.parts.append(text)
        return len(text)


def record(lines):
    recorder = Recorder()
    before = sys.stdout
    sys.stdout = recorder
    try:
        for number, line in enumerate(lines):
            shown = str(number) + line
            print(shown)
    finally:
        sys.stdout = before
    key = "".join(recorder.parts)
    value = key.splitlines()
    return value


def table(rows):
    widths = []
    for column in range(len(rows[0])):
        cells = [len(row[column]) for row in rows]
        widest = max(cells)
        widths.append(widest)
    lines = ["|".join(cell.ljust(size) for cell, size in zip(row, widths)) for row in rows]
    return lines


if __name__ == "__main__":
    assert record(["a", "b"]) == ["0a", "1b"]
    assert table([("a", "bcd"), ("ef", "g")]) == ["a |bcd", "ef|g  "]
    assert record(table([("x", "y")])) == ["0x|y"]
