"""The claims that this node prepared, in memory and in a file that outlives the kubelet.

The file has the form of the real kubelet's `dra_manager_state`.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman.errors import DraymanError
from drayman.testing.kubelet.plugins import ClaimId, Device

if TYPE_CHECKING:
    from pathlib import Path

API_VERSION = "checkpoint.dra.kubelet.k8s.io/v1"
FILE_NAME = "dra_manager_state"


class CheckpointError(DraymanError):
    """The checkpoint file cannot be used."""


@dataclass(slots=True)
class ClaimState:
    """A claim that is, or may be, prepared here. `drivers` maps each of its drivers to the devices that it prepared.

    `prepared` and `unpreparing` are not in the file: after a restart every claim that a new pod needs is prepared once
    more, which drivers have to bear.
    """

    claim: ClaimId
    pods: set[str]
    drivers: dict[str, list[Device]]
    prepared: bool = False
    unpreparing: bool = False
    exclusive: frozenset[str] = field(default=frozenset())
    """The devices (`driver/pool/device`) that nobody else may have prepared meanwhile."""

    @property
    def key(self) -> str:
        """The claim's namespace and name."""
        return f"{self.claim.namespace}/{self.claim.name}"

    def devices_for(self, request: str) -> list[tuple[str, Device]]:
        """Return `(driver, device)` for the devices of `request`, or all when it is empty, sorted by driver."""
        return [
            (driver, device)
            for driver, devices in sorted(self.drivers.items())
            for device in devices
            if not request or not device.requests or request in device.requests
        ]


class Checkpoint:
    """The claims by "namespace/name"; :meth:`save` writes them."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self.claims: dict[str, ClaimState] = {}
        if self._path.exists():
            self.claims = {state.key: state for state in map(_state, self._entries())}

    def for_pod(self, uid: str) -> list[ClaimState]:
        """Return the claims that the pod `uid` uses."""
        return [state for _, state in sorted(self.claims.items()) if uid in state.pods]

    def save(self) -> None:
        """Write the file; a crash leaves the old one or the new one."""
        data = json.dumps(
            {
                "kind": "DRACheckpoint",
                "apiVersion": API_VERSION,
                "ClaimInfoStateList": [_entry(state) for _, state in sorted(self.claims.items())],
            },
            separators=(",", ":"),
        )
        content = json.dumps({"Data": data, "Checksum": zlib.crc32(data.encode())})
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(content)
        temporary.replace(self._path)

    def _entries(self) -> list[dict[str, Any]]:
        try:
            content = json.loads(self._path.read_text())
            data, checksum = str(content["Data"]), content["Checksum"]
            if zlib.crc32(data.encode()) != checksum:
                raise CheckpointError(f"checkpoint `{self._path}` is corrupt: its checksum does not match")
            entries: list[dict[str, Any]] = json.loads(data)["ClaimInfoStateList"] or []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"checkpoint `{self._path}` cannot be read: {error}") from error
        return entries


def _entry(state: ClaimState) -> dict[str, Any]:
    return {
        "ClaimUID": state.claim.uid,
        "ClaimName": state.claim.name,
        "Namespace": state.claim.namespace,
        "PodUIDs": {uid: {} for uid in sorted(state.pods)},
        "DriverState": {
            driver: {
                "Devices": [
                    {
                        "PoolName": device.pool,
                        "DeviceName": device.device,
                        "ShareID": device.share_id,
                        "RequestNames": list(device.requests),
                        "CDIDeviceIDs": list(device.cdi_ids),
                    }
                    for device in devices
                ]
            }
            for driver, devices in sorted(state.drivers.items())
        },
        "Exclusive": sorted(state.exclusive),
    }


def _state(entry: dict[str, Any]) -> ClaimState:
    drivers = {
        driver: [
            Device(
                pool=device["PoolName"],
                device=device["DeviceName"],
                requests=tuple(device.get("RequestNames") or ()),
                cdi_ids=tuple(device.get("CDIDeviceIDs") or ()),
                share_id=device.get("ShareID"),
            )
            for device in state.get("Devices") or ()
        ]
        for driver, state in (entry.get("DriverState") or {}).items()
    }
    claim = ClaimId(namespace=entry["Namespace"], uid=entry["ClaimUID"], name=entry["ClaimName"])
    exclusive = frozenset(entry.get("Exclusive") or ())
    return ClaimState(claim, set(entry.get("PodUIDs") or ()), drivers, exclusive=exclusive)
