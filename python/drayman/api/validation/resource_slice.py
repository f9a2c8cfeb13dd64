"""Rules about ResourceSlice: the pool, the nodes, and what stands beside the devices.

Source: `pkg/apis/resource/validation`. Slices are not compared with each other: pools may be incomplete or clash.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api import schema
from drayman.api.field import Path, forbidden, invalid, required, too_many
from drayman.api.validation import names
from drayman.api.validation.context import Context
from drayman.api.validation.device import LIST_ATTRIBUTES, DeviceRules, counters, set_node_fields
from drayman.api.validation.device_names import declared_qualified_name, driver_name, pool_name
from drayman.api.validation.metadata import metadata, metadata_update
from drayman.api.validation.node_selector import node_selector
from drayman.api.validation.rules import (
    Errors,
    declared,
    declared_set,
    each,
    matching,
    repeated,
    required_matching,
    unchanged,
)
from drayman.api.validation.slice_parts import skipped_node_operations

SPEC = Path("spec")
_MAX_DEVICES = 128
_MAX_DEVICES_WITH_ADVANCED_FEATURES = 64
_MAX_COUNTER_SETS = 8
_NODE_FIELDS = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")


def resource_slice(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new ResourceSlice."""
    yield from metadata(obj.get("metadata") or {}, namespaced=False)
    yield from _spec(obj.get("spec") or {}, None, context)


def resource_slice_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """A slice stays with its driver, pool and node."""
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from _spec(new.get("spec") or {}, old.get("spec") or {}, context)


def warnings(obj: Mapping[str, Any]) -> list[str]:
    """Return the warnings that the API server gives for a slice that it accepts."""
    driver = (obj.get("spec") or {}).get("driver", "")
    if driver == driver.lower():
        return []
    return [f'spec.driver: driver names should be lowercase; "{driver}" contains uppercase characters']


def _spec(spec: Mapping[str, Any], old: Mapping[str, Any] | None, context: Context) -> Errors:
    yield from driver_name(SPEC.child("driver"), spec.get("driver", ""))
    yield from _pool(SPEC.child("pool"), spec.get("pool") or {})
    if old is not None:
        old_pool = old.get("pool") or {}
        yield from unchanged(SPEC.child("pool", "name"), (spec.get("pool") or {}).get("name"), old_pool.get("name"))
        yield from unchanged(SPEC.child("driver"), spec.get("driver"), old.get("driver"))
        yield from unchanged(SPEC.child("nodeName"), spec.get("nodeName"), old.get("nodeName"))
    yield from _nodes(SPEC, spec)
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        yield invalid(SPEC, "", "only one of `sharedCounters` or `devices` is allowed")
    yield from _devices(SPEC.child("devices"), spec, old or {}, context)
    yield from declared_set(
        SPEC.child("sharedCounters"),
        spec.get("sharedCounters"),
        _MAX_COUNTER_SETS,
        _counter_set,
        key=lambda item: item.get("name", ""),
        shown=lambda item: schema.ordered("resource.v1.CounterSet", item),
    )
    if spec.get("partitionTypeAttribute") is not None:
        yield from _partition_type(spec, context)
    yield from skipped_node_operations(SPEC.child("skipNodeOperations"), spec.get("skipNodeOperations"))


def _pool(path: Path, pool: Mapping[str, Any]) -> Errors:
    yield from pool_name(path.child("name"), pool.get("name", ""))
    if pool.get("resourceSliceCount", 0) <= 0:
        yield invalid(path.child("resourceSliceCount"), pool.get("resourceSliceCount", 0), "must be greater than zero")
    if pool.get("generation", 0) < 0:
        yield invalid(path.child("generation"), pool["generation"], "must be greater than or equal to zero")


def _nodes(path: Path, spec: Mapping[str, Any]) -> Errors:
    if spec.get("nodeName") is not None:
        if spec["nodeName"]:
            yield from matching(path.child("nodeName"), spec["nodeName"], names.dns_subdomain)
        else:
            yield invalid(path.child("nodeName"), "", "must be either unset or set to a non-empty string")
    if spec.get("nodeSelector") is not None:
        yield from node_selector(path.child("nodeSelector"), spec["nodeSelector"])
        terms = spec["nodeSelector"].get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            text = "must have exactly one node selector term"
            yield invalid(path.child("nodeSelector", "nodeSelectorTerms"), terms, text)
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name) is False:
            yield invalid(path.child(name), value=False, detail="must be either unset or set to true")
    given = set_node_fields(spec, _NODE_FIELDS)
    rule = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
    if not given:
        yield required(path, rule)
    elif len(given) > 1:
        yield invalid(path, f"{{{', '.join(given)}}}", f"{rule}, but multiple fields are set")


def _devices(path: Path, spec: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    devices = spec.get("devices") or []
    limit = _MAX_DEVICES_WITH_ADVANCED_FEATURES if any(map(_is_advanced, devices)) else _MAX_DEVICES
    if len(devices) > limit:
        yield too_many(path, len(devices), limit)
        return
    old_devices = {device.get("name", ""): device for device in old.get("devices") or ()}
    rules = DeviceRules(bool(spec.get("perDeviceNodeSelection")), old_devices, context)
    yield from each(path, devices, rules.device)
    yield from repeated(path, devices, key=lambda item: item.get("name", ""), shown=lambda item: item.get("name", ""))


def _is_advanced(device: Mapping[str, Any]) -> bool:
    """Return whether a device has what makes slices large: taints, counters, or attributes with lists."""
    if device.get("taints") or device.get("consumesCounters"):
        return True
    attributes = (device.get("attributes") or {}).values()
    return any(attribute.get(name) is not None for attribute in attributes for name in LIST_ATTRIBUTES)


def _counter_set(path: Path, counter_set: Mapping[str, Any]) -> Errors:
    yield from declared(required_matching(path.child("name"), counter_set.get("name"), names.dns_label))
    yield from counters(path.child("counters"), counter_set.get("counters"))


def _partition_type(spec: Mapping[str, Any], context: Context) -> Errors:
    """The attribute that tells partitions apart is a string on each device that consumes counters."""
    name, path = spec["partitionTypeAttribute"], SPEC.child("partitionTypeAttribute")
    if "DRAPartitionableDevicesType" not in context.gates:
        yield from declared([forbidden(path, "")])
    consuming = [
        (index, device) for index, device in enumerate(spec.get("devices") or ()) if device.get("consumesCounters")
    ]
    if not consuming:
        yield invalid(path, name, "may only be set on a slice which declares devices that consume counters")
        return
    malformed = list(declared_qualified_name(path, name))
    yield from malformed
    for index, device in consuming if not malformed else ():
        attributes = device.get("attributes") or {}
        attribute = attributes.get(name, attributes.get(name.removeprefix(f"{spec.get('driver', '')}/")))
        attribute_path = SPEC.child("devices").index(index).child("attributes").key(name)
        if attribute is None:
            text = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
            yield required(attribute_path, text)
        elif attribute.get("string") is None:
            text = "must be a string value because `partitionTypeAttribute` names this attribute"
            yield invalid(attribute_path, attribute, text)
