"""Rules about one device of a ResourceSlice. Source: `pkg/apis/resource/validation`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drayman.api import schema
from drayman.api.field import Path, invalid, not_found, required, too_long
from drayman.api.validation import names
from drayman.api.validation.capacity import device_capacity
from drayman.api.validation.context import Context
from drayman.api.validation.device_names import MAX_KEY, attribute_name, device_name
from drayman.api.validation.node_selector import node_selector
from drayman.api.validation.rules import (
    Errors,
    declared,
    declared_set,
    entries,
    limited,
    matching,
    nothing,
    required_matching,
)
from drayman.api.validation.slice_parts import binding_conditions
from drayman.api.validation.tolerations import device_taint
from drayman.quantity import Quantity

_MAX_NAMED = 32
_MAX_VALUES = 48
_MAX_TEXT = 64
_MAX_TAINTS = 16
_MAX_COUNTER_SETS = 2
_MAX_COUNTERS = 32
_MAX_GROUPS = 2
LIST_ATTRIBUTES = ("bools", "ints", "strings", "versions")
_ATTRIBUTES = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")


@dataclass(frozen=True, slots=True)
class DeviceRules:
    """Rules about devices, which depend on their slice: where it says which nodes a device is for, and what it had."""

    per_device_nodes: bool
    old_devices: Mapping[str, Mapping[str, Any]]
    context: Context

    def device(self, path: Path, device: Mapping[str, Any]) -> Errors:
        """One device. Capacity and taints that did not change are not checked again."""
        old = self.old_devices.get(device.get("name", ""))
        yield from device_name(path.child("name"), device.get("name", ""))
        yield from _attributes(path, device)
        if old is None or old.get("capacity") != device.get("capacity"):
            yield from self._capacity(path.child("capacity"), device)
        if old is None or old.get("taints") != device.get("taints"):
            yield from limited(path.child("taints"), device.get("taints"), _MAX_TAINTS, device_taint)
        yield from declared_set(
            path.child("consumesCounters"),
            device.get("consumesCounters"),
            _MAX_COUNTER_SETS,
            _consumed_counters,
            key=lambda item: item.get("counterSet", ""),
            shown=lambda item: schema.ordered("resource.v1.DeviceCounterConsumption", item),
        )
        yield from self._nodes(path, device)
        yield from binding_conditions(path, device)
        resources = device.get("nodeAllocatableResources") or {}
        for name, resource in sorted(resources.items()):
            yield from _node_resource(path.child("nodeAllocatableResources").key(name), name, resource, device)

    def _capacity(self, path: Path, device: Mapping[str, Any]) -> Errors:
        def rule(path: Path, value: Mapping[str, Any]) -> Errors:
            shareable = bool(device.get("allowMultipleAllocations"))
            yield from device_capacity(path, value, shareable=shareable, context=self.context)

        yield from entries(path, device.get("capacity"), MAX_KEY, attribute_name, rule)

    def _nodes(self, path: Path, device: Mapping[str, Any]) -> Errors:
        given = [name for name in ("nodeName", "nodeSelector", "allNodes") if device.get(name) is not None]
        if not self.per_device_nodes:
            if given:
                text = (
                    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` "
                    "is set to true in the ResourceSlice spec"
                )
                yield invalid(path, None, text)
            return
        text = (
            "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` "
            "is set to true in the ResourceSlice spec"
        )
        yield from _node_fields(path, device, "must not be empty")
        given = set_node_fields(device, ("nodeName", "nodeSelector", "allNodes"))
        if not given:
            yield required(path, text)
        elif len(given) > 1:
            yield invalid(path, f"{{{', '.join(given)}}}", text)


def set_node_fields(parent: Mapping[str, Any], candidates: tuple[str, ...]) -> list[str]:
    """Return the fields that choose nodes, in backticks; an empty name or a false counts as none."""
    return [f"`{name}`" for name in candidates if parent.get(name) or (name == "nodeSelector" and name in parent)]


def _node_fields(path: Path, parent: Mapping[str, Any], empty: str) -> Errors:
    if parent.get("nodeName") is not None:
        if parent["nodeName"]:
            yield from matching(path.child("nodeName"), parent["nodeName"], names.dns_subdomain)
        else:
            yield invalid(path.child("nodeName"), "", empty)
    if parent.get("nodeSelector") is not None:
        yield from node_selector(path.child("nodeSelector"), parent["nodeSelector"])
    if parent.get("allNodes") is False:
        yield invalid(path.child("allNodes"), value=False, detail="must be either unset or set to true")


def _attributes(path: Path, device: Mapping[str, Any]) -> Errors:
    attributes = device.get("attributes") or {}
    named = len(attributes) + len(device.get("capacity") or {})
    if named > _MAX_NAMED:
        yield invalid(path, named, f"the total number of attributes and capacities must not exceed {_MAX_NAMED}")
    values = sum(
        sum(len(attribute.get(name) or ()) for name in LIST_ATTRIBUTES) or 1 for attribute in attributes.values()
    )
    if values > _MAX_VALUES:
        yield invalid(path, values, f"the total number of attribute values must not exceed {_MAX_VALUES}")
    yield from entries(path.child("attributes"), attributes, MAX_KEY, attribute_name, _attribute)


def _attribute(path: Path, attribute: Mapping[str, Any]) -> Errors:
    if attribute.get("string") is not None:
        yield from _text(path.child("string"), attribute["string"])
    if attribute.get("version") is not None:
        yield from _version(path.child("version"), attribute["version"])
    for name in LIST_ATTRIBUTES:
        if attribute.get(name) == []:
            yield invalid(path.child(name), [], "must not be empty if specified")
    for index, text in enumerate(attribute.get("strings") or ()):
        yield from _text(path.child("strings").index(index), text)
    for index, text in enumerate(attribute.get("versions") or ()):
        yield from _version(path.child("versions").index(index), text)
    given = [name for name in _ATTRIBUTES if attribute.get(name) is not None and attribute[name] != []]
    members = ", ".join(f"`{name}`" for name in _ATTRIBUTES)
    if not given:
        yield from declared([invalid(path, "", f"must specify one of: {members}")])
    elif len(given) > 1:
        text = f"must specify exactly one of: {members}"
        yield from declared([invalid(path, f"{{{', '.join(given)}}}", text)])


def _text(path: Path, text: str) -> Errors:
    if names.size(text) > _MAX_TEXT:
        yield too_long(path, _MAX_TEXT)


def _version(path: Path, text: str) -> Errors:
    yield from matching(path, text, names.semver)
    yield from _text(path, text)


def counters(path: Path, value: Mapping[str, Any] | None) -> Errors:
    """Counters of a set, or those that a device takes from it."""
    if not value:
        yield from declared([required(path)])
    elif len(value) > _MAX_COUNTERS:
        yield from limited(path, list(value), _MAX_COUNTERS, nothing)
    else:
        for name in sorted(value):
            yield from declared(matching(path, name, names.dns_label))


def _consumed_counters(path: Path, consumption: Mapping[str, Any]) -> Errors:
    yield from declared(required_matching(path.child("counterSet"), consumption.get("counterSet"), names.dns_label))
    yield from counters(path.child("counters"), consumption.get("counters"))

    def group(path: Path, value: str) -> Errors:
        yield from declared(matching(path, value, names.dns_label))

    yield from declared_set(
        path.child("compatibilityGroups"), consumption.get("compatibilityGroups"), _MAX_GROUPS, group
    )


def _node_resource(path: Path, name: str, resource: Mapping[str, Any], device: Mapping[str, Any]) -> Errors:
    if name not in {"cpu", "memory", "ephemeral-storage"} and not name.startswith("hugepages-"):
        yield invalid(path, name, "must be a node allocatable resource name")
    mapping, overhead = resource.get("mapping"), resource.get("overhead")
    if mapping is None and overhead is None:
        yield required(path, "at least one of mapping or overhead must be set")
    if mapping is not None:
        yield from _node_resource_mapping(path.child("mapping"), mapping, device)
    if overhead is not None:
        yield from _node_resource_overhead(path.child("overhead"), overhead)


def _node_resource_mapping(path: Path, mapping: Mapping[str, Any], device: Mapping[str, Any]) -> Errors:
    key, multiplier = mapping.get("capacityKey"), mapping.get("capacityMultiplier")
    if key is not None:
        if key == "":
            yield invalid(path.child("capacityKey"), "", "capacityKey must not be an empty string")
        elif key not in (device.get("capacity") or {}):
            yield not_found(path.child("capacityKey"), key)
        if multiplier is None:
            text = "capacityMultiplier is required when capacityKey is set"
            yield required(path.child("capacityMultiplier"), text)
        else:
            yield from _positive(path.child("capacityMultiplier"), multiplier)
    if mapping.get("deviceMultiplier") is not None:
        yield from _positive(path.child("deviceMultiplier"), mapping["deviceMultiplier"])
    if multiplier is not None and key is None:
        yield required(path.child("capacityKey"), "capacityKey is required when capacityMultiplier is set")
    given = [name for name in ("capacityKey", "deviceMultiplier") if mapping.get(name) is not None]
    members = "`capacityKey`, `deviceMultiplier`"
    if not given:
        yield from declared([invalid(path, "", f"must specify one of: {members}")])
    elif len(given) > 1:
        text = f"must specify exactly one of: {members}"
        yield from declared([invalid(path, f"{{{', '.join(given)}}}", text)])


def _positive(path: Path, value: str) -> Errors:
    if Quantity(value) <= Quantity(0):
        yield invalid(path, str(Quantity(value)), "must be positive")


def _node_resource_overhead(path: Path, overhead: Mapping[str, Any]) -> Errors:
    given = {name: overhead[name] for name in ("perPod", "perContainer") if overhead.get(name) is not None}
    if not given:
        yield invalid(path, "", "at least one of perPod or perContainer must be set")
    for name, value in given.items():
        if Quantity(value) < Quantity(0):
            yield invalid(path.child(name), str(Quantity(value)), "must be non-negative")
