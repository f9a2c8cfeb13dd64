from __future__ import annotations

from pathlib import Path

import pytest

from drayman import features
from drayman.errors import InputError


@pytest.mark.parametrize(
    ("text", "gates"),
    [
        ("", {}),
        ("A=true", {"A": True}),
        ("A=1, B=F,,C=TRUE", {"A": True, "B": False, "C": True}),
        ("A=true,A=false", {"A": False}),
    ],
)
def test_gates_are_parsed_as_by_upstream(text: str, gates: dict[str, bool]) -> None:
    assert features.parse(text) == gates


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        ("DRADerivedAttributes", "missing bool value for DRADerivedAttributes"),
        (
            "DRADerivedAttributes=yes",
            'invalid value of DRADerivedAttributes=yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
        ),
        ("Nope=true", "unrecognized feature gate: Nope"),
        ("DRAAdminAccess=false", "cannot set feature gate DRAAdminAccess to false, feature is locked to true"),
        (
            "DRADeviceTaints=false",
            "DRADeviceTaintRules is enabled, but depends on features that are disabled: [DRADeviceTaints]",
        ),
        (
            "DRAPartitionableDevicesType=true,DRAPartitionableDevices=false",
            "DRAPartitionableDevicesType is enabled, but depends on features that are disabled: "
            "[DRAPartitionableDevices DRAResourcePoolStatus]",
        ),
    ],
)
def test_refused_gates_are_told_with_upstreams_text(gates: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        features.resolve(feature_gates=gates)
    assert str(caught.value) == message


def test_gate_that_the_version_does_not_have_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        features.resolve(feature_gates={"DRADerivedAttributes": True}, kubernetes_version="1.36")
    assert str(caught.value) == (
        "cannot set feature gate DRADerivedAttributes to true, feature is PreAlpha at emulated version 1.36, "
        "min compatibility version 1.35"
    )


def test_locked_gate_may_be_set_to_its_default() -> None:
    assert features.resolve(feature_gates="DRAAdminAccess=true") == features.defaults()


def test_gate_that_a_newer_version_locks_can_be_changed_in_an_older_one() -> None:
    assert "DRAAdminAccess" not in features.resolve(feature_gates="DRAAdminAccess=false", kubernetes_version="1.35")


def test_exact_set_holds_nothing_else_and_joined_gates_are_split() -> None:
    joined = "DRADeviceBindingConditions+DRAResourceClaimDeviceStatus"
    assert features.resolve([joined]) == {"DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"}


def test_exact_set_and_changes_exclude_each_other() -> None:
    with pytest.raises(InputError) as caught:
        features.resolve([], feature_gates={})
    assert str(caught.value) == "`features` and `feature_gates` exclude each other"


def test_string_is_not_taken_for_a_set_of_letters() -> None:
    with pytest.raises(InputError) as caught:
        features.resolve("DRADeviceTaints=true")
    assert str(caught.value) == "`features` must be a collection of gate names, not a string"
    assert caught.value.hint == "for `A=true,B=false` use `feature_gates`"


def test_unknown_version_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InputError) as caught:
        features.defaults("1.20")
    assert str(caught.value) == "Kubernetes version `1.20` is not known; known are 1.34, 1.35, 1.36, 1.37"


def test_group_of_gates_yields_to_a_gate_that_is_named() -> None:
    enabled = features.resolve(feature_gates="AllAlpha=true,GenericWorkload=true,DRAListTypeAttributes=false")
    assert "DRADerivedAttributes" in enabled
    assert "DRAListTypeAttributes" not in enabled


@pytest.mark.parametrize("version", features.KUBERNETES_VERSIONS)
def test_defaults_of_each_version_have_what_they_require(version: str) -> None:
    assert features.resolve(kubernetes_version=version) == features.defaults(version)


def test_documentation_tells_every_gate_of_dra() -> None:
    text = (Path(__file__).parents[3] / "docs/compatibility.md").read_text()
    documented = [line for line in text.splitlines() if line.startswith("| `D")]
    assert documented == [
        f"| `{name}` | {' | '.join(told(gate, version) for version in features.KUBERNETES_VERSIONS)} |"
        for name, gate in sorted(features.GATES.items())
        if name.startswith("D")
    ]


def told(gate: features.Gate, version: str) -> str:
    stage = gate.at(version)
    if stage is None:
        return "–"
    return f"{stage.stage} {'on' if stage.default else 'off'}{', locked' if stage.locked else ''}"
