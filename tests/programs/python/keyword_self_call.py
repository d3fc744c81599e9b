"""Functions that call themselves by keyword."""


def halve(value, depth=0, trail=None):
    trail = trail or []
    key = value // 2
    rest = value % 2
    step = (key, rest)
    trail.append(step)
    if key == 0:
        return depth, trail
    return halve(value=key, trail=trail, depth=depth + 1)


def change(amount, coins, chosen=()):
    ways = []
    total = sum(chosen)
    if total == amount:
        return [chosen]
    for position in range(len(coins)):
        coin = coins[position]
        rest = coins[position:]
        if total + coin <= amount:
            more = chosen + (coin,)
            ways.extend(change(amount=amount, coins=rest, chosen=more))
    return ways


class Walker:
    def walk(self, node, path="", found=None):
        found = {} if found is None else found
        key = path or "root"
        value = sorted(node)
        for child in value:
            name = f"{key}/{child}"
            self.walk(node=node[child], path=name, found=found)
        found[key] = value
        return found


if __name__ == "__main__":
    assert halve(5) == (2, [(2, 1), (1, 0), (0, 1)])
    assert change(4, [1, 2, 3]) == [(1, 1, 1, 1), (1, 1, 2), (1, 3), (2, 2)]
    tree = {"a": {"b": {}}, "c": {}}
    found = Walker().walk(tree)
    assert found == {"root": ["a", "c"], "root/a": ["b"], "root/a/b": [], "root/c": []}
    print(len(found), sorted(found))
