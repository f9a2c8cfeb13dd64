from __future__ import annotations

from typing import Any

import pytest

from drayman.manifest import scalars


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("On", True),
        ("y", True),
        ("no", False),
        ("OFF", False),
        ("", None),
        ("~", None),
        ("Null", None),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("1:30", "1:30"),
        ("190:20:30", "190:20:30"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("1_000", 1000),
        ("010", 8),
        ("0o17", 15),
        ("08", 8),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.0", 1),
        ("1e3", 1000),
        ("1.", 1),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 2**64),
        ("1Gi", "1Gi"),
        ("1.2.3", "1.2.3"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_plain_text_means_what_kubectl_takes_it_for(text: str, value: Any):
    found = scalars.resolve(text, None)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [("1", "!", "1"), ("yes", "tag:yaml.org,2002:str", "yes"), ("1", "tag:yaml.org,2002:float", 1)],
)
def test_quotes_and_tags_decide_the_type(text: str, tag: str, value: Any):
    assert scalars.resolve(text, tag) == value


@pytest.mark.parametrize(
    ("text", "tag", "message"),
    [
        ("x", "tag:yaml.org,2002:int", "`x` is not of type `!!int`"),
        ("aGk=", "tag:yaml.org,2002:binary", "tag `!!binary` is not supported"),
        (".nan", None, "`.nan` is not a number that JSON has"),
        ("9" * 5000, None, f"`{'9' * 60}…` is not a number that JSON has"),
    ],
)
def test_value_that_its_tag_does_not_permit_is_refused(text: str, tag: str | None, message: str):
    with pytest.raises(scalars.ScalarError) as refused:
        scalars.resolve(text, tag)
    assert str(refused.value) == message
