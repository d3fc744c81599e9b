"""Properties, setters and descriptors."""


class Celsius:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = getattr(instance, self.name, 0)
        rounded = round(value, 1)
        return rounded

    def __set__(self, instance, value):
        key = self.name
        lowest = -273.15
        checked = max(value, lowest)
        setattr(instance, key, checked)


class Room:
    temperature = Celsius()

    def __init__(self, temperature):
        self.temperature = temperature
        self._log = []

    @property
    def fahrenheit(self):
        value = self.temperature
        scaled = value * 9 / 5
        result = scaled + 32
        return result

    @fahrenheit.setter
    def fahrenheit(self, value):
        shifted = value - 32
        before = self.temperature
        self.temperature = shifted * 5 / 9
        self._log.append((before, self.temperature))

    @fahrenheit.deleter
    def fahrenheit(self):
        key = len(self._log)
        value = self.temperature
        self.temperature = key - value

    log = property(lambda self: list(self._log))


if __name__ == "__main__":
    room = Room(20)
    assert room.fahrenheit == 68.0
    room.fahrenheit = 50
    assert room.temperature == 10.0
    assert room.log == [(20, 10.0)]
    del room.fahrenheit
    assert room.temperature == -9.0
    assert Room(-500).temperature == -273.1 or Room(-500).temperature == -273.2
    assert isinstance(Room.temperature, Celsius)
    print(room.fahrenheit, room.log)
