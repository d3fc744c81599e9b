"""Comprehensions have scopes of their own; the first iterable is read outside of them."""

items = ["module"]


def table(rows):
    key = 2
    value = [row[:] for row in rows]
    column = [row[0] for row in value]
    flat = [cell for row in value for cell in row if cell % key]
    pairs = {cell: [other for other in flat if other > cell] for cell in flat}
    unique = {cell // key for row in value for cell in row}
    lazy = (cell * key for cell in column)
    key = 100
    return column, flat, pairs, sorted(unique), list(lazy)


def same_name(number):
    number = [number for number in range(number)]
    total = sum(number for number in number)
    nested = [[number for number in range(number)] for number in number]
    return number, total, nested


def reads_outside():
    local = [item.upper() for item in items]
    squares = [item * item for item in range(4)]
    filtered = [item for item in squares if item not in [item + 1 for item in squares]]
    return local, squares, filtered


class Grid:
    size = 3
    cells = [number * number for number in range(size)]

    def corners(self):
        first = self.cells[0]
        last = self.cells[-1]
        both = [cell for cell in (first, last)]
        return both


if __name__ == "__main__":
    assert table([[1, 2], [3, 4]]) == ([1, 3], [1, 3], {1: [3], 3: []}, [0, 1, 2], [100, 300])
    assert same_name(3) == ([0, 1, 2], 3, [[], [0], [0, 1]])
    assert reads_outside() == (["MODULE"], [0, 1, 4, 9], [0, 4, 9])
    assert Grid().corners() == [0, 4]
    print(Grid.cells)
    print(max(same_name(4)[0]))
