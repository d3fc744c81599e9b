"""Rules written as text and run with exec."""


def apply_rules(rules, start):
    state = {"value": start, "log": []}
    for rule in rules:
        before = state["value"]
        exec(rule, {"len": len}, state)
        after = state["value"]
        state["log"].append((before, after))
    return state["value"], state["log"]


def define(names):
    made = {}
    template = "def {name}(value):\n    key = value + {number}\n    return key\n"
    for number in range(len(names)):
        name = names[number]
        source = template.format(name=name, number=number)
        exec(source, made)
    functions = [made[name] for name in names]
    return [function(10) for function in functions]


def reads_locals():
    key = 5
    value = 6
    results = []
    exec("results.append(key * value)")
    return results


def plain(text):
    words = text.split()
    count = len(words)
    longest = max(words, key=len)
    return count, longest


if __name__ == "__main__":
    assert apply_rules(["value = value * 2", "value = value + len('abc')"], 4) == (11, [(4, 8), (8, 11)])
    assert define(["a", "b"]) == [10, 11]
    assert reads_locals() == [30]
    assert plain("to be honest") == (3, "honest")
    print(define(["x", "y", "z"]))
