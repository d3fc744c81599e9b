"""Größen und Namen beyond ASCII, in names, strings and comments."""


def fläche(länge, breite):
    # Höhe × Breite
    größe = länge * breite
    key = "Fläche"
    einheit = "m²"
    text = f"{key}: {größe} {einheit}"
    zeichen = [buchstabe for buchstabe in text if ord(buchstabe) > 127]
    return text, zeichen


def greet(names):
    greetings = {"de": "Grüß Gott", "el": "Γειά σου", "ja": "こんにちは", "pl": "Cześć"}
    lines = []
    emoji = "🎉"
    for code, name in names:
        greeting = greetings[code]
        line = f"{greeting}, {name}{emoji}"
        lines.append(line)
    return lines


def mixed():
    π = 3
    radius = 2
    value = π * radius
    κλειδί = value + 1
    parts = []
    for ñ in range(2):
        parts.append(ñ + κλειδί)
    return value, parts


def normal_form():
    ﬁle = 3
    total = file + 1
    other = total * 2
    return other


if __name__ == "__main__":
    assert fläche(2, 3) == ("Fläche: 6 m²", ["ä", "²"])
    assert greet([("de", "Zoë"), ("ja", "Ōe")]) == ["Grüß Gott, Zoë🎉", "こんにちは, Ōe🎉"]
    assert mixed() == (6, [7, 8])
    assert normal_form() == 8
    print(ascii(fläche(1, 1)))
