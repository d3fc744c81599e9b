"""Figures of results: panels of lines, bars or violins with common axes, as one SVG picture.

`draw(Figure("Recall", (Panel("P1", (Line("DeCoMa", ((0.0, 31.0), (0.5, 22.0))),)),), ...))`

The words of a figure are text, its colours follow the reader's light or dark mode, and the same
figure is always the same bytes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from puzzlemark.pages.template import render

WIDTH = 640
EDGE = 16  # around the whole
LEFT, BOTTOM, GAP = 54, 26, 34  # of a panel: for its numbers, its names, its title
WORD = 7.6  # a letter of a legend is about so wide
COLOURS = 4  # that the template knows


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from low to high, and those that are written beside it."""

    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool = False
    unit: str = ""

    def share(self, value: float) -> float:
        """How far along the axis a value is: 0 at its low end, 1 at its high one."""
        value = min(max(value, self.low), self.high)
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Line:
    """Points that belong together, from left to right; `spread` is an interval around each."""

    name: str
    points: tuple[tuple[float, float], ...]
    colour: int = 0
    is_dashed: bool = False
    spread: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Bars:
    """One bar for each group of the panel; None: no bar. `beside` are others' values, as ticks."""

    name: str
    heights: tuple[float | None, ...]
    colour: int = 0
    beside: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Violin:
    """How numbers are distributed: `counts` says how many snippets have which number."""

    name: str
    counts: tuple[tuple[float, int], ...]
    colour: int = 0


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot. Bars and violins stand on `groups`, lines on the figure's `across`."""

    title: str
    series: tuple[Line | Bars | Violin, ...]
    groups: tuple[str, ...] = ()
    note: float | None = None  # a line at this height


@dataclass(frozen=True, slots=True)
class Figure:
    """Everything that is drawn."""

    title: str
    panels: tuple[Panel, ...]
    up: Axis
    up_name: str
    across: Axis | None = None
    across_name: str = ""
    subtitle: str = ""
    columns: int = 2
    height: int = 150  # of a panel
    note: str = ""  # what the line across the panels is, or the ticks beside the bars


@dataclass(frozen=True, slots=True)
class _Shape:
    kind: str  # "path" or "rect"
    classes: str
    values: str  # of its `d`, or of its four numbers
    about: str = ""


@dataclass(frozen=True, slots=True)
class _Text:
    x: float
    y: float
    text: str
    anchor: str = "middle"
    classes: str = ""


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a panel is, and where a value is in it."""

    left: float
    right: float
    top: float
    bottom: float
    figure: Figure

    def x(self, value: float) -> float:
        assert self.figure.across is not None, "lines stand on an axis"
        share = self.figure.across.share(value)
        return round(self.left + share * (self.right - self.left), 2)

    def y(self, value: float) -> float:
        share = self.figure.up.share(value)
        return round(self.bottom - share * (self.bottom - self.top), 2)


@dataclass(frozen=True, slots=True)
class _Key:
    x: float
    y: float
    name: str
    classes: str
    is_line: bool


def draw(figure: Figure) -> str:
    """The picture, as the text of an SVG file."""
    keys, top = _legend(figure)
    frames = list(_frames(figure, top))
    drawn = [(panel, frame, _shapes(panel, frame)) for panel, frame in frames]
    height = max(frame.bottom for _, frame in frames) + BOTTOM + (26 if figure.across_name else 8)
    return render(
        "figure.svg.jinja",
        figure=figure,
        width=WIDTH,
        height=round(height),
        keys=keys,
        grid=[line for _, frame, _ in drawn for line in _grid(figure, frame)],
        shapes=[shape for _, _, shapes in drawn for shape in shapes],
        texts=[text for panel, frame, _ in drawn for text in _texts(figure, panel, frame)],
        middle=round((top + height) / 2),
        about=" ".join(_in_words(panel) for panel in figure.panels),
    )


def _frames(figure: Figure, top: float) -> Iterator[tuple[Panel, _Frame]]:
    width = (WIDTH - 2 * EDGE) / figure.columns
    for place, panel in enumerate(figure.panels):
        row, column = divmod(place, figure.columns)
        left = EDGE + column * width + LEFT
        above = top + row * (figure.height + GAP + BOTTOM) + GAP
        yield (
            panel,
            _Frame(left, round(left + width - LEFT - 6, 2), above, above + figure.height, figure),
        )


def _legend(figure: Figure) -> tuple[list[_Key], float]:
    """Each name once, in lines that fit; and where the panels begin."""
    keys: list[_Key] = []
    x, y = float(EDGE + 8), 76.0 if figure.subtitle else 58.0
    named = {(each.name, _classes(each)): each for panel in figure.panels for each in panel.series}
    if all(isinstance(each, Violin) for each in named.values()):
        return [], y - 24
    for (name, classes), each in named.items():
        width = 34 + WORD * len(name)
        if x + width > WIDTH - EDGE:
            x, y = float(EDGE + 8), y + 22
        keys.append(_Key(round(x, 1), y, name, classes, isinstance(each, Line)))
        x += width + 14
    if figure.note:
        y += 22
    return keys, y + 4


def _classes(series: Line | Bars | Violin) -> str:
    dashed = " dashed" if isinstance(series, Line) and series.is_dashed else ""
    return f"c{series.colour % COLOURS}{dashed}"


def _grid(figure: Figure, frame: _Frame) -> Iterator[_Shape]:
    for tick in figure.up.ticks:
        yield _Shape("path", "grid", f"M{frame.left} {frame.y(tick)}H{frame.right}")
    yield _Shape("path", "axis", f"M{frame.left} {frame.bottom}H{frame.right}")


def _texts(figure: Figure, panel: Panel, frame: _Frame) -> Iterator[_Text]:
    yield _Text(frame.left, frame.top - 10, panel.title, "start", "panel")
    for tick in figure.up.ticks:
        text = f"{tick:g}{figure.up.unit}"
        yield _Text(frame.left - 7, frame.y(tick) + 4, text, "end")
    if panel.groups:
        for place, name in zip(_places(panel, frame), panel.groups, strict=True):
            yield _Text(round(place, 2), frame.bottom + 18, name)
    elif figure.across is not None:
        for tick in figure.across.ticks:
            yield _Text(frame.x(tick), frame.bottom + 18, f"{tick:g}")


def _shapes(panel: Panel, frame: _Frame) -> list[_Shape]:
    bars = [each for each in panel.series if isinstance(each, Bars)]
    violins = [each for each in panel.series if isinstance(each, Violin)]
    lines = [each for each in panel.series if isinstance(each, Line)]
    shapes = chain(
        chain.from_iterable(_band(line, frame) for line in lines if line.spread),
        chain.from_iterable(_line(line, frame) for line in lines),
        _bars(bars, panel, frame),
        _violins(violins, panel, frame),
    )
    found = list(shapes)
    if panel.note is not None:
        found.append(_Shape("path", "note", f"M{frame.left} {frame.y(panel.note)}H{frame.right}"))
    return found


def _band(line: Line, frame: _Frame) -> Iterator[_Shape]:
    xs = [frame.x(x) for x, _ in line.points]
    there = [f"{x} {frame.y(high)}" for x, (_, high) in zip(xs, line.spread, strict=True)]
    back = [f"{x} {frame.y(low)}" for x, (low, _) in zip(xs, line.spread, strict=True)]
    yield _Shape("path", f"band c{line.colour}", "M" + "L".join(there + back[::-1]) + "Z")


def _line(line: Line, frame: _Frame) -> Iterator[_Shape]:
    points = [f"{frame.x(x)} {frame.y(y)}" for x, y in line.points]
    if points:
        yield _Shape("path", f"line {_classes(line)}", "M" + "L".join(points), line.name)
    if line.is_dashed:
        return
    for x, y in line.points:
        spot = f"M{frame.x(x)} {frame.y(y)}h0"
        yield _Shape("path", f"spot c{line.colour}", spot, f"{line.name}: {x:g}, {y:.3g}")


def _bars(series: Sequence[Bars], panel: Panel, frame: _Frame) -> Iterator[_Shape]:
    if not series or not panel.groups:
        return
    room = (frame.right - frame.left) / len(panel.groups)
    width = round(min(26.0, 0.8 * room / len(series)), 2)
    for place, middle in enumerate(_places(panel, frame)):
        for number, each in enumerate(series):
            x = round(middle + (number - len(series) / 2) * width, 2)
            height = each.heights[place]
            if height is not None:
                y = frame.y(height)
                about = f"{panel.groups[place]}, {each.name}: {height:.3g}"
                values = f"{x + 0.5:g} {y} {width - 1:g} {round(frame.bottom - y, 2)}"
                yield _Shape("rect", f"bar {_classes(each)}", values, about)
            theirs = each.beside[place] if each.beside else None
            if theirs is not None:
                about = f"{panel.groups[place]}, {each.name}, paper: {theirs:g}"
                yield _Shape("path", "beside", f"M{x - 1:g} {frame.y(theirs)}h{width + 2:g}", about)


def _violins(series: Sequence[Violin], panel: Panel, frame: _Frame) -> Iterator[_Shape]:
    if not series:
        return
    half = 0.42 * (frame.right - frame.left) / len(series)
    for middle, each in zip(_places(panel, frame), series, strict=True):
        if not each.counts:
            continue
        outline = density(each.counts, frame.figure.up)
        widest = max(dense for _, dense in outline)
        right = [
            f"{round(middle + half * dense / widest, 2)} {frame.y(at)}" for at, dense in outline
        ]
        left = [
            f"{round(middle - half * dense / widest, 2)} {frame.y(at)}" for at, dense in outline
        ]
        quarters = [quantile(each.counts, share) for share in (0.25, 0.5, 0.75)]
        about = f"{each.name}: quartiles {', '.join(f'{each:g}' for each in quarters)}"
        yield _Shape(
            "path", f"violin {_classes(each)}", "M" + "L".join(right + left[::-1]) + "Z", about
        )
        for number, at in enumerate(quarters):
            dense = _nearest(outline, at)
            reach = round(half * dense / widest, 2)
            middle_line = "median" if number == 1 else ""
            start = round(middle - reach, 2)
            yield _Shape(
                "path", f"quarter {middle_line}".strip(), f"M{start} {frame.y(at)}h{2 * reach:g}"
            )


def _nearest(outline: Sequence[tuple[float, float]], at: float) -> float:
    return min(outline, key=lambda point: abs(point[0] - at))[1]


def _places(panel: Panel, frame: _Frame) -> list[float]:
    room = (frame.right - frame.left) / len(panel.groups)
    return [frame.left + (number + 0.5) * room for number in range(len(panel.groups))]


def density(
    counts: Sequence[tuple[float, int]], axis: Axis, points: int = 80
) -> list[tuple[float, float]]:
    """A kernel estimate along the axis, which ends where the numbers do.

    The kernel is a normal distribution on the axis' own scale, with Scott's bandwidth.
    """
    shares = [axis.share(number) for number, _ in counts]
    weights = [count for _, count in counts]
    total = sum(weights)
    mean = sum(w * s for w, s in zip(weights, shares, strict=True)) / total
    variance = sum(w * (s - mean) ** 2 for w, s in zip(weights, shares, strict=True)) / total
    width = max(math.sqrt(variance) * total ** (-1 / 5), 0.02)
    low, high = min(shares), max(shares)
    places = [low + (high - low) * n / (points - 1) for n in range(points)]
    return [
        (
            _value(axis, at),
            sum(
                w * math.exp(-(((at - s) / width) ** 2) / 2)
                for w, s in zip(weights, shares, strict=True)
            ),
        )
        for at in places
    ]


def _value(axis: Axis, share: float) -> float:
    """The number at a share of the axis; the way back of `share`."""
    if axis.is_log:
        return axis.low * math.exp(share * math.log(axis.high / axis.low))
    return axis.low + share * (axis.high - axis.low)


def quantile(counts: Sequence[tuple[float, int]], share: float) -> float:
    """The smallest number that at least this share does not exceed.

    `quantile([(1, 1), (3, 2)], 0.5) -> 3`.
    """
    total, seen = sum(count for _, count in counts), 0
    for number, count in sorted(counts):
        seen += count
        if seen >= share * total:
            return number
    raise ValueError("no numbers, no quantile")


def _in_words(panel: Panel) -> str:
    """For whoever cannot see the picture: where each line, bar or violin is."""
    said = []
    for each in panel.series:
        if isinstance(each, Line) and each.points:
            first, last = each.points[0], each.points[-1]
            said.append(f"{each.name} from {first[1]:.3g} at {first[0]:g} to {last[1]:.3g}")
        elif isinstance(each, Bars):
            pairs = zip(panel.groups, each.heights, strict=True)
            known = (f"{name} {height:.3g}" for name, height in pairs if height is not None)
            said.append(f"{each.name} {', '.join(known)}")
        elif isinstance(each, Violin) and each.counts:
            said.append(f"{each.name} median {quantile(each.counts, 0.5):g}")
    return f"{panel.title}: {'; '.join(said)}."
