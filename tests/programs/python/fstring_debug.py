"""f-strings that print the text of their expressions."""


def debug(key, value):
    total = key + value
    items = []
    width = 6
    shown = f"{total=} {items=!r} {total = :>{width}}"
    return shown


def calls(words):
    empty = []
    longest = max(words, key=len)
    text = f"{len(words)=} {sorted(words)=} {[]=} {list(range(2))=}"
    more = f"{longest!r} {empty} {len(longest)}"
    return text, more


def nested(number):
    precision = 2
    half = number / 2
    filler = "*"
    aligned = f"{half:{filler}^{precision + 6}.{precision}f}"
    quoted = f"{'half'} {{half}} {half!s:>5}"
    inner = f"{f'{half}' + f'{precision=}'}"
    return aligned, quoted, inner


def report(rows):
    lines = []
    for index in range(len(rows)):
        row = rows[index]
        line = f"{index}: {row=}"
        lines.append(line)
    print(f"{len(lines)=}", *lines)
    return lines


if __name__ == "__main__":
    assert debug(1, 2) == "total=3 items=[] total =      3"
    assert calls(["bb", "a"]) == (
        "len(words)=2 sorted(words)=['a', 'bb'] []=[] list(range(2))=[0, 1]",
        "'bb' [] 2",
    )
    assert nested(5) == ("**2.50**", "half {half}   2.5", "2.5precision=2")
    assert report(["x"]) == ["0: row='x'"]
