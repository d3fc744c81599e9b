"""Agreement between people who judged the same things (Krippendorff's alpha, yes or no)."""

from collections.abc import Iterable


def krippendorff_alpha(units: Iterable[tuple[int, int]]) -> float | None:
    """Alpha of judgements by unit, as (yes, no): `krippendorff_alpha([(2, 0), (0, 2)]) -> 1.0`.

    1 is perfect agreement, 0 what chance gives, below 0 is worse than chance. Units with a single
    judgement have nobody to agree with, and do not count. None: there is nothing to compare, or all
    judgements are the same, so that chance would agree as well.
    """
    paired = [(yes, no) for yes, no in units if yes + no >= 2]
    yes, no = sum(unit[0] for unit in paired), sum(unit[1] for unit in paired)
    if not (yes and no):
        return None
    # ordered pairs that differ, each unit's divided by the partners that a judgement has there
    observed = sum(2 * yes * no / (yes + no - 1) for yes, no in paired) / (yes + no)
    expected = 2 * yes * no / ((yes + no) * (yes + no - 1))
    return 1 - observed / expected
