"""Classes inside of functions, which read the function's variables."""


def account_type(currency, fee):
    key = currency.lower()
    opened = []
    rate = 1 + fee

    class Account:
        def __init__(self, owner, value=0):
            self.owner = owner
            self.value = value
            opened.append(owner)

        def pay(self, amount):
            cost = amount * rate
            before = self.value
            self.value = before - cost
            return self.value

        def __repr__(self):
            name = f"{self.owner}/{key}"
            text = f"{name}:{self.value}"
            return text

    class Savings(Account):
        def pay(self, amount):
            before = super().pay(amount)
            bonus = len(opened)
            self.value += bonus
            return before, self.value

    return Account, Savings, opened


def singleton():
    instance = None
    count = 0

    class Only:
        def __new__(cls):
            nonlocal instance, count
            count += 1
            if instance is None:
                instance = super().__new__(cls)
            return instance

    first, second = Only(), Only()
    same = first is second
    return same, count


if __name__ == "__main__":
    Account, Savings, opened = account_type("EUR", 1)
    plain, saved = Account("Ada", 10), Savings("Bob", 20)
    assert plain.pay(2) == 6
    assert saved.pay(3) == (14, 16)
    assert repr(saved) == "Bob/eur:16"
    assert opened == ["Ada", "Bob"]
    assert singleton() == (True, 2)
    print(plain, saved)
