from email.utils import formatdate

import pytest

from puzzlemark.models._http import retry_after

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        (" 120 ", 120.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), 0.0),
        ("Fri, 15 Jan 2027 08:00:30 GMT", 30.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("1e9", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds
