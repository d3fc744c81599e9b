"""A class with a method called list: in the class body that name means the method."""


class Store:
    def __init__(self, items=()):
        self.items = [*items]

    def list(self, prefix=""):
        key = prefix.lower()
        value = [item for item in self.items if item.startswith(key)]
        shown = sorted(value)
        return shown

    def extended(self, more=[], times=1):
        merged = self.items + more
        result = []
        for number in range(times):
            result.extend(merged)
        return result

    empty = []

    def first(self, default=[]):
        matches = self.list()
        chosen = matches[0] if matches else default
        answer = (chosen, len(matches))
        return answer


class Catalogue:
    def __init__(self):
        self.rows = []

    def list(self):
        names = []
        for index in range(len(self.rows)):
            name = self.rows[index]
            names.append(name)
        return names


if __name__ == "__main__":
    store = Store(["apple", "avocado", "beet"])
    assert store.list("A") == ["apple", "avocado"]
    assert store.extended(["x"], 2) == ["apple", "avocado", "beet", "x"] * 2
    assert store.extended() == ["apple", "avocado", "beet"]
    assert Store.empty == []
    assert Store().first() == ([], 0)
    catalogue = Catalogue()
    catalogue.rows.append("one")
    assert catalogue.list() == ["one"]
    print(store.first())
