"""Inner functions called by keyword, with labels that are also local names."""


def layout(words, width):
    key = "*"
    gap = 1
    lines = []

    def place(text, width=10, gap=0, key="."):
        padding = key * gap
        line = padding + text.ljust(width) + padding
        return line

    for index in range(len(words)):
        text = words[index]
        line = place(text=text, width=width, gap=gap + index, key=key)
        lines.append(line)
    return lines


def forward(**options):
    value = options.pop("value", 1)
    scale = options.pop("scale", 2)
    rest = sorted(options)

    def compute(*, value, scale, rest=()):
        result = value * scale
        names = list(rest)
        return result, names

    outcome = compute(value=value, scale=scale, rest=rest)
    again = dict(value=value, scale=scale)
    return outcome, again, compute(**again)


if __name__ == "__main__":
    assert layout(["ab", "c"], 3) == ["*ab *", "**c  **"]
    assert forward(value=4, z=1, y=2) == ((8, ["y", "z"]), {"value": 4, "scale": 2}, (8, []))
    print("\n".join(layout(["one", "two"], 5)))
