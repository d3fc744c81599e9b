"""Names with two underscores mean something else inside of a class."""


class Vault:
    def __init__(self, secret):
        self.__secret = secret
        self.__tries = 0

    def open(self, guess):
        __limit = 3
        _Vault__bonus = 4
        key = __limit + __bonus
        value = self.__tries
        self.__tries = value + 1
        return guess == self.__secret, key, self.__tries

    def counts(self):
        _Vault__count = 0
        steps = []
        for number in range(3):
            __count += number
            steps.append(_Vault__count)
        return steps

    def closure(self):
        __inner = []
        total = 5

        def add(value):
            __inner.append(value + total)
            return _Vault__inner

        return add(1), add(2)


class _Quiet:
    def read(self, __first, second=2):
        __sum = __first + second
        doubled = __sum * 2
        label = f"{__sum}/{doubled}"
        return label


def module_level():
    __key = 1
    value = __key + 1
    total = value + __key
    return total


if __name__ == "__main__":
    vault = Vault("x")
    assert vault.open("y") == (False, 7, 1)
    assert vault.open("x") == (True, 7, 2)
    assert vault._Vault__tries == 2
    assert vault.counts() == [0, 1, 3]
    assert vault.closure() == ([6, 7], [6, 7])
    assert _Quiet().read(1) == "3/6"
    assert module_level() == 3
    print(vault.counts(), len("abc"))
