"""Names in a class body are not seen by its methods; names around it are."""

size = "module"


def make(size):
    key = size * 2
    label = "made"
    width = 5

    class Box:
        size = 99
        double = key
        width = 6
        label = "inner"
        texts = [str(number) for number in range(2)]

        def describe(self):
            value = size + key
            text = f"{label} {value} {self.size} {self.width}"
            return text

        def sides(self, key=key):
            result = [key, self.double]
            return result

    box = Box()
    return box.describe(), box.sides(), box.sides(1), Box.label, Box.texts


class Register:
    entries = []
    limit = 3

    for number in range(limit):
        entries.append(number * number)

    total = sum(entries)
    del number

    def lookup(self, key):
        value = self.entries[key]
        limit = self.limit
        answer = value * limit
        return answer


def unusual():
    class Holder:
        global size
        kept = size

    first = Holder.kept
    second = Holder.__qualname__
    third = [first, second]
    return third


if __name__ == "__main__":
    assert make(2) == ("made 6 99 6", [4, 4], [1, 4], "inner", ["0", "1"])
    assert Register().lookup(2) == 12
    assert Register.total == 5
    assert not hasattr(Register, "number")
    assert unusual() == ["module", "unusual.<locals>.Holder"]
    print(Register.entries)
