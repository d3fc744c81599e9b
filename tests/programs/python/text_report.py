"""A plain report over rows of text: the kind of code that most programs are made of."""

ROWS = """\
north,pens,12,3
south,pens,7,3
north,ink,2,19
south,ink,0,19
"""


def parse(text):
    rows = []
    skipped = 0
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) != 4:
            skipped += 1
            continue
        region, key, amount, price = fields
        value = int(amount) * int(price)
        rows.append({"region": region, "key": key, "value": value})
    return rows, skipped


def summarise(rows, by):
    totals = {}
    order = []
    for row in rows:
        key = row[by]
        value = row["value"]
        if key not in totals:
            order.append(key)
        totals[key] = totals.get(key, 0) + value
    grand = sum(totals.values())
    return [(key, totals[key], totals[key] * 100 // grand) for key in order]


def render(summary):
    lines = []
    width = max(len(key) for key, _, _ in summary)
    for index in range(len(summary)):
        key, value, share = summary[index]
        line = f"{key:<{width}} {value:>4} {share:>3} %"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    rows, skipped = parse(ROWS)
    assert skipped == 0
    assert summarise(rows, "key") == [("pens", 57, 60), ("ink", 38, 40)]
    assert render(summarise(rows, "region")) == "north   74  77 %\nsouth   21  22 %"
    print(render(summarise(rows, "key")))
