from __future__ import annotations

import re

import pytest

from drayman import durations


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15s", 15),
        ("1m30s", 90),
        ("2h0m1s", 7201),
        ("500ms", 0.5),
        ("1.5s", 1.5),
        (".5s", 0.5),
        ("0", 0),
        ("-1s", -1),
        ("+1s", 1),
        ("10us", 0.00001),
    ],
)
def test_durations_of_go_are_read(text: str, seconds: float) -> None:
    assert durations.parse(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "5 s", "5s ", "five", "--1s", "1d", "5s1"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"`{text}` is not a duration")):
        durations.parse(text)


@pytest.mark.parametrize(
    "text", ["0s", "15s", "1m0s", "1m30s", "1h0m0s", "2h0m1.5s", "500ms", "1.5ms", "-10s", "-1m30s"]
)
def test_durations_are_shown_as_go_shows_them(text: str) -> None:
    assert durations.show(durations.parse(text)) == text
