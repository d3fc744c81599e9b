"""Iterators, containers and operators written by hand."""


class Deck:
    def __init__(self, cards):
        self.cards = list(cards)

    def __iter__(self):
        key = 0
        size = len(self.cards)
        while key < size:
            value = self.cards[key]
            yield value
            key += 1

    def __len__(self):
        return len(self.cards)

    def __getitem__(self, key):
        if isinstance(key, slice):
            chosen = self.cards[key]
            made = Deck(chosen)
            return made
        return self.cards[key]

    def __contains__(self, card):
        return any(card == other for other in self)

    def __add__(self, other):
        both = self.cards + other.cards
        result = Deck(both)
        return result

    def __call__(self, step):
        picked = []
        for index in range(0, len(self), step):
            card = self.cards[index]
            picked.append(card)
        return picked


class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return self

    def __next__(self):
        current = self.start
        following = current - 1
        if current <= 0:
            raise StopIteration
        self.start = following
        return current


def deal(deck, players):
    hands = [[] for _ in range(players)]
    turn = 0
    for card in deck:
        hand = hands[turn % players]
        hand.append(card)
        turn += 1
    sizes = [len(hand) for hand in hands]
    return hands, sizes


if __name__ == "__main__":
    deck = Deck("abcde")
    assert deal(deck, 2) == ([["a", "c", "e"], ["b", "d"]], [3, 2])
    assert deck(2) == ["a", "c", "e"]
    assert "c" in deck and "z" not in deck
    assert list((deck[1:3] + Deck("x"))) == ["b", "c", "x"]
    assert list(Countdown(3)) == [3, 2, 1]
    assert [item for item in zip(Countdown(2), deck)] == [(2, "a"), (1, "b")]
    print(len(deck), max(deck))
