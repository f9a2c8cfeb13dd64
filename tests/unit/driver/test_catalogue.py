"""Hardware of the catalogue."""

from __future__ import annotations

import pytest

from drayman.driver import catalogue
from drayman.errors import InputError


def test_profile_has_the_devices_of_the_example_driver() -> None:
    profile = catalogue.profile("gpu.example.com")

    assert [device["name"] for device in profile.devices("n")] == [f"gpu-{index}" for index in range(8)]
    assert profile.device_class() == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu.example.com"},
        "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]},
    }


def test_uuids_are_the_same_every_time_and_differ_by_node_and_device() -> None:
    def uuids(node: str) -> list[str]:
        devices = catalogue.profile("gpu.example.com").devices(node)
        return [device["attributes"]["uuid"]["string"] for device in devices]

    assert uuids("node-1") == uuids("node-1")
    assert len({*uuids("node-1"), *uuids("node-2")}) == 16


def test_values_can_be_chosen() -> None:
    profile = catalogue.profile(
        "gpu.example.com", devices=1, model="OLD-GPU", driver_version="0.9.0", capacity={"memory": "24Gi"}
    )

    (device,) = profile.devices("n")
    assert device["attributes"]["model"] == {"string": "OLD-GPU"}
    assert device["attributes"]["driverVersion"] == {"version": "0.9.0"}
    assert device["capacity"] == {"memory": {"value": "24Gi"}, "compute": {"value": "100"}}


def test_node_without_devices_publishes_an_empty_pool() -> None:
    (spec,) = catalogue.profile("gpu.example.com", devices=0).slice_specs("n")

    assert spec["devices"] == []
    assert spec["pool"] == {"name": "n", "generation": 1, "resourceSliceCount": 1}


def test_unknown_driver_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        catalogue.profile("gpu.example.org")

    assert str(caught.value) == "the catalogue has no hardware for driver `gpu.example.org`"
    assert caught.value.hint == "known: `gpu.example.com`"
