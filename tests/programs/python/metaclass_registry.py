"""Metaclasses and hooks that look at the names of a class body."""


class Registry(type):
    known = {}

    @classmethod
    def __prepare__(mcs, name, bases, **options):
        key = options.get("key", name.lower())
        value = dict(registered_as=key)
        return value

    def __new__(mcs, name, bases, namespace, **options):
        created = super().__new__(mcs, name, bases, namespace)
        label = namespace["registered_as"]
        members = [member for member in namespace if not member.startswith("_")]
        mcs.known[label] = members
        return created

    def __init__(cls, name, bases, namespace, **options):
        super().__init__(name, bases, namespace)


class Plain(metaclass=Registry):
    size = 2

    def area(self):
        width = self.size
        height = width + 1
        product = width * height
        return product


class Named(Plain, key="special"):
    for letter in "ab":
        size = 5

    def area(self):
        base = super().area()
        extra = []
        for number in range(2):
            extra.append(base + number)
        return extra


class Hooked:
    subclasses = []

    def __init_subclass__(cls, /, level=0, **options):
        super().__init_subclass__(**options)
        entry = (cls.__name__, level)
        count = len(cls.subclasses)
        cls.subclasses.append((count, entry))


class One(Hooked, level=3): ...


if __name__ == "__main__":
    assert Plain().area() == 6
    assert Named().area() == [30, 31]
    assert Registry.known == {"plain": ["registered_as", "size", "area"],
                              "special": ["registered_as", "letter", "size", "area"]}
    assert Hooked.subclasses == [(0, ("One", 3))]
    print(sorted(Registry.known))
