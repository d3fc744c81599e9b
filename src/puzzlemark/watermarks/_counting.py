"""What a dataset says by nature of the places where a mark could be: counts, or learnt chances."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from puzzlemark.habits.seen import Spot

PARTS = 1000  # a learnt chance is a whole number of them

Tally = Mapping[str, Mapping[str, int]]  # group -> value -> how often


@dataclass(frozen=True, slots=True)
class Sighting:
    """A place that could carry a mark, as it is counted before anything is drawn."""

    group: str  # what the value is one of
    value: str  # what stands there by nature
    unit: str  # which places are the same one: copies of a function, say
    can_carry: bool = True  # of others is only learnt
    spot: Spot | None = None  # what stands around it, for a watermark that learns from that


@dataclass(frozen=True, slots=True)
class Counts:
    """All sightings of a dataset, added up."""

    everywhere: Tally = field(default_factory=dict)
    within: Mapping[str, Tally] = field(default_factory=dict)  # by project
    homes: Mapping[str, str] = field(default_factory=dict)  # units of several projects: the first
    # by group and unit, the chances of the group's values in PARTS, in the group's order
    learnt: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)

    def weights(self, sighting: Sighting, project: str, pull: int) -> dict[str, int]:
        """How likely each value is: its count in the project + `pull` x its share of all.

        Whole numbers, without a common divisor. Copies of a unit in other projects have the chances
        of the first one, so that one draw fits them all.
        """
        home = self.homes.get(sighting.unit, project)
        everywhere = self.everywhere.get(sighting.group, {})
        own = self.within.get(home, {}).get(sighting.group, {})
        total = sum(everywhere.values())
        found = {
            value: own.get(value, 0) * total + pull * count for value, count in everywhere.items()
        }
        divisor = math.gcd(*found.values()) or 1
        return {value: weight // divisor for value, weight in found.items()}

    @property
    def digest(self) -> str:
        """SHA-256 of the whole table: to commit to it before the first question."""
        plain: dict[str, object] = {
            "everywhere": {group: dict(found) for group, found in self.everywhere.items()},
            "within": {
                project: {group: dict(found) for group, found in tally.items()}
                for project, tally in self.within.items()
            },
            "homes": dict(self.homes),
        }
        if self.learnt:
            rows = ([group, unit, *parts] for (group, unit), parts in self.learnt.items())
            plain = {"learnt": sorted(rows, key=str)}
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
