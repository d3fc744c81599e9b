"""The timeline: everything at its place, and no text beyond its box."""

from puzzlemark.pages.timeline import CHARACTERS, MOST_LINES, Event, timeline


def test_events_stand_below_each_other_and_do_not_touch() -> None:
    events = [Event("Stamped", "2026", "word " * words, "known") for words in (0, 3, 30, 300)]
    drawn = timeline(events)
    ends = [max([s.y, *(line.y for line in s.lines)]) for s in drawn.stations]
    starts = [station.y for station in drawn.stations]
    assert all(end < start for end, start in zip(ends, starts[1:], strict=False))
    assert drawn.height >= ends[-1]
    assert all(len(line.text) <= CHARACTERS for s in drawn.stations for line in s.lines)
    assert max(len(s.lines) for s in drawn.stations) == MOST_LINES
    assert drawn.stations[-1].lines[-1].text.endswith("...")


def test_no_events_are_an_empty_picture() -> None:
    assert timeline([]).stations == ()
