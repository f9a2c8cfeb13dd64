"""What is told of selectors from their text."""

from __future__ import annotations

import pytest

from drayman import cel
from drayman.inspection import Access, Key, LiteralValue, Span


def test_an_access_has_its_places_in_lines_and_columns() -> None:
    found = cel.inspect('device.driver == "é" &&\n  has(device.attributes["d"].model)')

    assert found.parsed
    assert found.accesses == (
        Access(
            "attributes",
            Key("d", Span(48, 51, 2, 25, 2, 28)),
            Key("model", Span(53, 58, 2, 30, 2, 35)),
            "has",
            guarded=True,
            span=Span(30, 58, 2, 7, 2, 35),
        ),
    )


def test_operands_are_told_with_their_types() -> None:
    found = cel.inspect('device.driver in ["a", 1u] && device.attributes["d"].i.compareTo(quantity("1Gi")) >= -1.5')

    driver, size = found.comparisons
    assert (driver.left.kind, driver.operator, driver.conjunction) == ("driver", "in", 0)
    assert driver.right.literals == (LiteralValue("string", "a"), LiteralValue("uint", 1))
    assert size.left.member == found.members[0]
    assert found.members[0].access == found.accesses[0]
    assert [argument.text for argument in found.members[0].arguments or ()] == ["1Gi"]
    assert size.right.literals == (LiteralValue("double", -1.5),)


@pytest.mark.parametrize(
    ("expression", "always"),
    [
        ("true", True),
        ("1 > 2", False),
        ("device.driver == 'a' || 1 < 2", True),
        ("device.driver == 'a' && 1 < 2", None),
        ("device.driver ==", None),
    ],
)
def test_a_result_that_needs_no_device_is_told(expression: str, always: bool | None) -> None:
    assert cel.inspect(expression).always is always


def test_comments_of_other_languages_hide_nothing() -> None:
    found = cel.inspect('device.driver == "d" # it\'s ours\n && device.attributes["d"].x')

    assert not found.parsed
    assert [(slip.kind, slip.span.start, slip.replacement) for slip in found.slips] == [("comment", 21, "//")]
    assert [access.span.line for access in found.accesses] == [2]


def test_what_does_not_parse_has_slips_only() -> None:
    found = cel.inspect("device.driver = “d”")

    assert [slip.replacement for slip in found.slips] == ["==", '"', '"']
    assert (found.accesses, found.comparisons) == ((), ())


def test_many_devices_are_read_once_and_answered_in_order() -> None:
    devices = cel.Devices(
        [
            ("d", {"attributes": {"x": {"int": 1}}}),
            ("d", {}),
            ("e", {"attributes": {"d/x": {"int": 2}}}),
            ("d", {"capacity": {"memory": {"value": "much"}}}),
        ]
    )
    last, second, first, unread = cel.compile('device.attributes["d"].x == 1').answers(devices, [2, 1, 0, 3])
    assert (last, str(second), first, unread) == (
        False,
        "no such key: x",
        True,
        False,
    )
