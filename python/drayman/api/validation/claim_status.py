"""Rules about the status of a ResourceClaim: allocation, reservations, and what drivers report.

Source: `pkg/apis/resource/validation`. Upstream does not check that allocated devices exist, are free or fit the
request.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from drayman.api import schema
from drayman.api.field import Path, forbidden, invalid, required, too_long, too_many
from drayman.api.validation import names
from drayman.api.validation.claim import RequestNames, admin_access
from drayman.api.validation.configuration import device_configuration, raw_object
from drayman.api.validation.context import Context
from drayman.api.validation.device_names import (
    declared_driver_name,
    declared_pool_name,
    device_name,
    driver_name,
    pool_name,
)
from drayman.api.validation.metadata import conditions, metadata_update
from drayman.api.validation.node_selector import node_selector
from drayman.api.validation.rules import (
    Errors,
    declared,
    declared_list,
    declared_set,
    each,
    matching,
    one_of,
    repeated,
)
from drayman.api.validation.slice_parts import binding_conditions, skipped_node_operations
from drayman.api.validation.tolerations import device_toleration

STATUS = Path("status")
_MAX_CONSUMERS = 256
_MAX_RESULTS = 32
_MAX_CONFIGURATIONS = 64


def claim_status_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """An update of `/status`: allocation is set or removed as a whole, reservations come and go."""
    status, old_status = new.get("status") or {}, old.get("status") or {}
    yield from _admin_access(status.get("allocation"), old_status.get("allocation"), context)
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from declared_set(
        STATUS.child("reservedFor"),
        status.get("reservedFor"),
        _MAX_CONSUMERS,
        _consumer,
        key=lambda item: item.get("uid", ""),
        shown=lambda item: schema.ordered("resource.v1.ResourceClaimConsumerReference", item),
    )
    yield from _devices(STATUS.child("devices"), status)
    yield from _reservations(STATUS.child("reservedFor"), new, old)
    yield from _allocation(STATUS.child("allocation"), new, old_status.get("allocation"))


def _admin_access(new: Mapping[str, Any] | None, old: Mapping[str, Any] | None, context: Context) -> Errors:
    if _first_admin_result(old) is None and (index := _first_admin_result(new)) is not None:
        path = STATUS.child("allocation", "devices", "results").index(index).child("adminAccess")
        yield from admin_access(path, context)


def _results(allocation: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    return ((allocation or {}).get("devices") or {}).get("results") or []


def _first_admin_result(allocation: Mapping[str, Any] | None) -> int | None:
    return next((index for index, result in enumerate(_results(allocation)) if result.get("adminAccess")), None)


def _consumer(path: Path, consumer: Mapping[str, Any]) -> Errors:
    for name in ("resource", "name", "uid"):
        if not consumer.get(name):
            yield required(path.child(name))


def _reservations(path: Path, new: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    status = new.get("status") or {}
    reserved = status.get("reservedFor") or []
    if not reserved:
        return
    if status.get("allocation") is None:
        yield forbidden(path, "may not be specified when `allocated` is not set")
    elif (new.get("metadata") or {}).get("deletionTimestamp"):
        before = (old.get("status") or {}).get("reservedFor") or []
        if any(consumer not in before for consumer in reserved):
            text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            yield forbidden(path, text)


def _allocation(path: Path, new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Errors:
    allocation = (new.get("status") or {}).get("allocation")
    if allocation is None:
        return
    if old is not None:
        if allocation != old:
            yield from declared([invalid(path, None, "field cannot be modified once set")])
        return
    known = RequestNames.of((new.get("spec") or {}).get("devices") or {})

    def result(path: Path, value: Mapping[str, Any]) -> Errors:
        yield from _result(path, value, known)

    def configuration(path: Path, value: Mapping[str, Any]) -> Errors:
        yield from declared(one_of(path.child("source"), value.get("source"), ("FromClaim", "FromClass")))
        yield from known.references(path.child("requests"), value.get("requests"))
        yield from device_configuration(path, value)

    devices = allocation.get("devices") or {}
    yield from declared_list(path.child("devices", "results"), devices.get("results"), _MAX_RESULTS, result)
    yield from declared_list(path.child("devices", "config"), devices.get("config"), _MAX_CONFIGURATIONS, configuration)
    if allocation.get("nodeSelector") is not None:
        yield from node_selector(path.child("nodeSelector"), allocation["nodeSelector"])


def _result(path: Path, result: Mapping[str, Any], known: RequestNames) -> Errors:
    yield from known.reference(path.child("request"), result.get("request", ""))
    yield from declared_driver_name(path.child("driver"), result.get("driver", ""))
    yield from declared_pool_name(path.child("pool"), result.get("pool", ""))
    yield from device_name(path.child("device"), result.get("device", ""))
    yield from binding_conditions(path, result)
    yield from each(path.child("tolerations"), result.get("tolerations"), device_toleration)
    if result.get("shareID") is not None:
        yield from declared(matching(path.child("shareID"), result["shareID"], names.uuid))
    yield from skipped_node_operations(path.child("skipNodeOperations"), result.get("skipNodeOperations"))


def _device_key(item: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(item.get(name) or "" for name in ("driver", "pool", "device", "shareID"))


def _devices(path: Path, status: Mapping[str, Any]) -> Errors:
    devices = status.get("devices") or []
    allocated = {_device_key(result) for result in _results(status.get("allocation"))}

    def device(path: Path, value: Mapping[str, Any]) -> Errors:
        yield from driver_name(path.child("driver"), value.get("driver", ""))
        yield from pool_name(path.child("pool"), value.get("pool", ""))
        yield from device_name(path.child("device"), value.get("device", ""))
        if value.get("shareID") is not None:
            yield from declared(matching(path.child("shareID"), value["shareID"], names.uuid))
        if _device_key(value) not in allocated:
            shown = dict(zip(("Driver", "Pool", "Device", "ShareID"), _device_key(value), strict=True))
            yield invalid(path, shown, _NOT_ALLOCATED)
        yield from _reported(path, value)

    yield from each(path, devices, device)
    shown = "resource.v1.AllocatedDeviceStatus"
    yield from declared(repeated(path, devices, key=_device_key, shown=lambda item: schema.ordered(shown, item)))


_NOT_ALLOCATED = "must be an allocated device in the claim"


def _reported(path: Path, device: Mapping[str, Any]) -> Errors:
    if len(device.get("conditions") or ()) > 8:
        yield too_many(path.child("conditions"), len(device["conditions"]), 8)
    yield from conditions(path.child("conditions"), device.get("conditions"))
    if device.get("data") is not None:
        yield from raw_object(path.child("data"), device["data"], 10 * 1024)
    if device.get("networkData") is not None:
        yield from _network(path.child("networkData"), device["networkData"])


def _network(path: Path, network: Mapping[str, Any]) -> Errors:
    for name, limit in (("interfaceName", 256), ("hardwareAddress", 128)):
        if names.size(network.get(name, "")) > limit:
            yield from declared([too_long(path.child(name), limit)])
    yield from declared_set(path.child("ips"), network.get("ips"), 16, _interface_address)


def _interface_address(path: Path, address: str) -> Errors:
    """An address with the length of its network's prefix, written as Go would."""
    try:
        parsed = ipaddress.ip_interface(address) if "/" in address else None
    except ValueError:
        parsed = None
    if parsed is None:
        text = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        yield invalid(path, address, text)
    elif parsed.with_prefixlen != address:
        yield invalid(path, address, f'must be in canonical form ("{parsed.with_prefixlen}")')
