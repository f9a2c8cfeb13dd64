"""The columns of volumes, storage classes and CSI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.testing.apiserver.tables.column import AGE, NAME, Column, Object, at, count, flag, text

if TYPE_CHECKING:
    import datetime as dt

_ACCESS_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _phase(obj: Object, now: dt.datetime) -> str:
    return "Terminating" if "deletionTimestamp" in obj["metadata"] else str(at(obj, "status.phase", ""))


def _modes(modes: list[str]) -> str:
    return ",".join(short for mode, short in _ACCESS_MODES.items() if mode in modes)


def _claim_reference(volume: Object, now: dt.datetime) -> str:
    reference = at(volume, "spec.claimRef")
    return f"{reference.get('namespace', '')}/{reference.get('name', '')}" if reference else ""


def _bound(claim: Object, path: str, default: object) -> object:
    """Return what a claim got: nothing before it is bound."""
    return at(claim, path, default) if at(claim, "spec.volumeName") else default


VOLUMES = (
    NAME,
    Column("Capacity", text("spec.capacity.storage", "0")),
    Column("Access Modes", lambda volume, now: _modes(at(volume, "spec.accessModes", []))),
    Column("Reclaim Policy", text("spec.persistentVolumeReclaimPolicy")),
    Column("Status", _phase),
    Column("Claim", _claim_reference),
    Column("StorageClass", text("spec.storageClassName")),
    Column("VolumeAttributesClass", text("spec.volumeAttributesClassName", "<unset>")),
    Column("Reason", text("status.reason")),
    AGE,
    Column("VolumeMode", text("spec.volumeMode", "<unset>"), wide=True),
)
VOLUME_CLAIMS = (
    NAME,
    Column("Status", _phase),
    Column("Volume", text("spec.volumeName")),
    Column("Capacity", lambda claim, now: str(_bound(claim, "status.capacity.storage", ""))),
    Column("Access Modes", lambda claim, now: _modes(_bound_modes(claim))),
    Column("StorageClass", text("spec.storageClassName")),
    Column("VolumeAttributesClass", text("spec.volumeAttributesClassName", "<unset>")),
    AGE,
    Column("VolumeMode", text("spec.volumeMode", "<unset>"), wide=True),
)


def _bound_modes(claim: Object) -> list[str]:
    modes = _bound(claim, "status.accessModes", [])
    return modes if isinstance(modes, list) else []


def _token_audiences(driver: Object, now: dt.datetime) -> str:
    requests = at(driver, "spec.tokenRequests")
    return "<unset>" if requests is None else ",".join(str(request.get("audience", "")) for request in requests)


STORAGE_CLASSES = (
    NAME,
    Column("Provisioner", text("provisioner")),
    Column("ReclaimPolicy", text("reclaimPolicy", "Delete")),
    Column("VolumeBindingMode", text("volumeBindingMode", "Immediate")),
    Column("AllowVolumeExpansion", flag("allowVolumeExpansion")),
    AGE,
)
CSI_NODES = (NAME, Column("Drivers", count("spec.drivers"), "integer"), AGE)
CSI_DRIVERS = (
    NAME,
    Column("AttachRequired", flag("spec.attachRequired", default=True), "boolean"),
    Column("PodInfoOnMount", flag("spec.podInfoOnMount"), "boolean"),
    Column("StorageCapacity", flag("spec.storageCapacity"), "boolean"),
    Column("TokenRequests", _token_audiences),
    Column("RequiresRepublish", flag("spec.requiresRepublish"), "boolean"),
    Column("Modes", lambda driver, now: ",".join(at(driver, "spec.volumeLifecycleModes", ())) or "<none>"),
    AGE,
)
CSI_CAPACITIES = (
    NAME,
    Column("StorageClassName", text("storageClassName")),
    Column("Capacity", text("capacity", "<unset>")),
)
RUNTIME_CLASSES = (NAME, Column("Handler", text("handler")), AGE)
