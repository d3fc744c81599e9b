"""Classes with slots, whose attribute names are strings."""


class Point:
    __slots__ = ("x", "y", "key")

    def __init__(self, x, y, key=None):
        self.x = x
        self.y = y
        self.key = key

    def moved(self, dx, dy):
        x = self.x + dx
        y = self.y + dy
        step = Point(x, y, self.key)
        return step

    def fields(self):
        names = []
        for position in range(len(self.__slots__)):
            name = self.__slots__[position]
            value = getattr(self, name)
            names.append((name, value))
        return names


def polygon(corners):
    points = [Point(x, y, key=index) for index, (x, y) in enumerate(corners)]
    area = 0
    previous = points[-1]
    for point in points:
        product = previous.x * point.y - point.x * previous.y
        area += product
        previous = point
    half = abs(area) / 2
    return half, points


def copy_with(point, **changes):
    values = {name: getattr(point, name) for name in point.__slots__}
    for key, value in changes.items():
        values[key] = value
    x, y, label = values["x"], values["y"], values["key"]
    return Point(x, y, key=label)


if __name__ == "__main__":
    half, points = polygon([(0, 0), (2, 0), (2, 2), (0, 2)])
    assert half == 4.0
    assert points[1].moved(1, 1).fields() == [("x", 3), ("y", 1), ("key", 1)]
    assert copy_with(points[2], y=9).fields() == [("x", 2), ("y", 9), ("key", 2)]
    try:
        points[0].colour = "red"
    except AttributeError as problem:
        print(type(problem).__name__)
    print(half, points[3].fields())
