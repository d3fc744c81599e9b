"""What a dataset says by nature: how often each name stands where a mark could be, by project."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

Tally = Mapping[str, Mapping[str, int]]  # group -> value -> how often


@dataclass(frozen=True, slots=True)
class Sighting:
    """A place that could carry a mark, as it is counted before anything is drawn."""

    group: str  # what the value is one of
    value: str  # what stands there by nature
    unit: str  # which places are the same one: copies of a function, say


@dataclass(frozen=True, slots=True)
class Counts:
    """All sightings of a dataset, added up."""

    everywhere: Tally = field(default_factory=dict)
    within: Mapping[str, Tally] = field(default_factory=dict)  # by project
    homes: Mapping[str, str] = field(default_factory=dict)  # units of several projects: the first

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
        plain = {
            "everywhere": {group: dict(found) for group, found in self.everywhere.items()},
            "within": {
                project: {group: dict(found) for group, found in tally.items()}
                for project, tally in self.within.items()
            },
            "homes": dict(self.homes),
        }
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
