"""Classes whose bodies define range and print, and use them there."""


class Scale:
    def range(stop):
        key = stop * 10
        value = [key, key + 1]
        return value

    ticks = []
    marks = range(3)

    def print(text, *rest):
        return text + "!" * (1 + len(rest))

    title = print("scale")
    empty = []
    more = [mark for mark in marks]

    def between(self, low, high):
        found = []
        for number in range(high):
            if number >= low:
                found.append(number)
        size = len(found)
        return found, size


class Printer:
    def __init__(self):
        self.lines = []

    def print(self, *words, sep=" "):
        line = sep.join(words)
        number = len(self.lines)
        self.lines.append(f"{number}:{line}")
        return number

    def range(self, start, stop):
        chosen = []
        for index in range(start, stop):
            line = self.lines[index]
            chosen.append(line)
        return chosen


if __name__ == "__main__":
    assert Scale.marks == [30, 31]
    assert Scale.title == "scale!"
    assert Scale.more == [30, 31]
    assert Scale().between(2, 4) == ([2, 3], 2)
    printer = Printer()
    printer.print("a", "b")
    printer.print("c", sep="-")
    assert printer.range(0, 2) == ["0:a b", "1:c"]
    print(Scale.title, Scale.ticks + Scale.empty)
