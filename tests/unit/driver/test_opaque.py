"""Opaque configuration: what is understood, what is refused, and which entry counts."""

from __future__ import annotations

from typing import Any

import pytest

from drayman.driver.opaque import ConfigError, SpacePartitioning, TimeSlicing, parse, sharing_for

HEADER = {"apiVersion": "gpu.resource.example.com/v1alpha1", "kind": "GpuConfig"}


def interval(name: str) -> dict[str, Any]:
    return {**HEADER, "sharing": {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": name}}}


def entry(source: str, parameters: Any, *requests: str, driver: str = "gpu.example.com") -> dict[str, Any]:
    return {"source": source, "requests": list(requests), "opaque": {"driver": driver, "parameters": parameters}}


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [
        (None, TimeSlicing("Default")),
        ({"strategy": "TimeSlicing"}, TimeSlicing("Default")),
        ({"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}}, TimeSlicing("Long")),
        ({"strategy": "SpacePartitioning"}, SpacePartitioning(1)),
        ({"strategy": "SpacePartitioning", "spacePartitioningConfig": {"partitionCount": 10}}, SpacePartitioning(10)),
    ],
)
def test_sharing_is_understood(sharing: Any, expected: object) -> None:
    assert parse({**HEADER, **({"sharing": sharing} if sharing else {})}) == expected


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({**HEADER, "sharing": {}}, "no sharing strategy set"),
        ({**HEADER, "sharing": {"strategy": "MPS"}}, "unknown GPU sharing strategy: MPS"),
        (interval("Forever"), "unknown time-slice interval: Forever"),
        (
            {
                **HEADER,
                "sharing": {
                    "strategy": "SpacePartitioning",
                    "spacePartitioningConfig": {"partitionCount": -1},
                },
            },
            "invalid partition count",
        ),
        (
            {**HEADER, "kind": "NetConfig"},
            'no kind "NetConfig" is registered for version "gpu.resource.example.com/v1alpha1"',
        ),
        (
            {**HEADER, "sharing": {"strategy": "TimeSlicing", "timeslicing": {}}},
            'error decoding config parameters: strict decoding error: unknown field "sharing.timeslicing"',
        ),
        ("fast", "error decoding config parameters: parameters: expected an object"),
    ],
)
def test_unusable_configuration_is_refused(parameters: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(parameters)

    assert str(caught.value) == message


def test_claim_comes_before_class_and_later_before_earlier() -> None:
    entries = [
        entry("FromClaim", interval("Short")),
        entry("FromClaim", interval("Long")),
        entry("FromClass", interval("Medium")),
    ]

    assert sharing_for(entries, "gpu.example.com", "gpu") == TimeSlicing("Long")


@pytest.mark.parametrize(
    ("requests", "expected"),
    [(["gpu"], "Long"), (["gpu/older"], "Long"), (["gpu/latest"], "Default"), (["other"], "Default"), ([], "Long")],
)
def test_entry_for_a_request_applies_to_its_subrequests(requests: list[str], expected: str) -> None:
    entries = [entry("FromClaim", interval("Long"), *requests)]

    assert sharing_for(entries, "gpu.example.com", "gpu/older") == TimeSlicing(expected)


def test_entries_for_other_drivers_are_not_read() -> None:
    entries = [entry("FromClaim", {"kind": "Unknown"}, driver="net.example.com")]

    assert sharing_for(entries, "gpu.example.com", "gpu") == TimeSlicing("Default")


def test_parameters_that_are_not_opaque_are_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        sharing_for([{"source": "FromClass", "requests": []}], "gpu.example.com", "gpu")

    assert str(caught.value) == "only opaque parameters are supported by this driver"
