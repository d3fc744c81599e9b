"""Lines that end with carriage return and line feed."""

TEXT = """first
second"""


def lines(text):
    key = []
    count = 0
    for number in range(len(text)):
        value = text[number]
        if value == "\n":
            count += 1
            key.append(number)
    joined = "%d at %s" % (
        count,
        key,
    )
    return joined


def words(text):
    # a comment
    found = text.split()
    longest = max(found, key=len)
    continued = len(longest) + \
        1
    return found, continued


if __name__ == "__main__":
    assert lines(TEXT) == "1 at [5]"
    assert words(TEXT) == (["first", "second"], 7)
    print(lines(TEXT), sorted(words("b a")[0]))
