"""CDI specification files: how the container runtime learns what a prepared device does to a container.

One file says what every container with a device of this driver gets; each prepared claim has a file of its own. File
and device names are those of dra-example-driver: runtimes keep what they have read, so a name must never be used for
something else, and the claim's UID sees to that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from drayman.driver import files
from drayman.driver.claims import PreparedClaim, PreparedDevice

Object = dict[str, Any]

COMMON = "common"
"""The device that every container with a device of the driver gets too."""


class CDIWriter:
    """Keeps the CDI files of one driver in `directory`."""

    def __init__(self, directory: Path, driver: str, device_class: str, node_name: str) -> None:
        self._directory = directory
        self._driver = driver
        self._vendor = f"k8s.{driver}"
        self._class = device_class
        self._node_name = node_name

    @property
    def kind(self) -> str:
        """The kind of all devices, `vendor/class`."""
        return f"{self._vendor}/{self._class}"

    def device_ids(self, claim: PreparedClaim, device: PreparedDevice) -> list[str]:
        """Return the qualified names that a container with `device` is given."""
        return [f"{self.kind}={COMMON}", f"{self.kind}={_device_name(claim, device)}"]

    def write_common(self) -> None:
        """Write the file with the device that all containers get."""
        env = [f"KUBERNETES_NODE_NAME={self._node_name}", f"DRA_RESOURCE_DRIVER_NAME={self._driver}"]
        self._write(COMMON, [_device(COMMON, env)])

    def write(self, claim: PreparedClaim) -> None:
        """Write the file of `claim`; a claim without devices here has none."""
        if claim.devices:
            self._write(claim.reference.uid, [_device(_device_name(claim, one), one.env) for one in claim.devices])

    def remove(self, uid: str) -> None:
        """Remove the file of a claim, if there is one."""
        self.path(uid).unlink(missing_ok=True)

    def path(self, identity: str) -> Path:
        """Return where the file of a claim is. Raises :class:`~drayman.errors.InputError` for a UID that is none."""
        part = files.checked_part(identity, "claim UID")
        return self._directory / f"{self._vendor}-{self._class}_{part}.json"

    def _write(self, identity: str, devices: list[Object]) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        spec = {
            "cdiVersion": minimum_version(devices),
            "kind": self.kind,
            "devices": devices,
            "containerEdits": {},
        }
        files.write_json(self.path(identity), spec)


def minimum_version(devices: list[Object]) -> str:
    """Return the lowest version of CDI that has what `devices` use, so that old runtimes read as much as they can."""
    return "0.5.0" if any(device["name"][0].isdigit() for device in devices) else "0.3.0"


def _device(name: str, env: Any) -> Object:
    return {"name": name, "containerEdits": {"env": list(env)}}


def _device_name(claim: PreparedClaim, device: PreparedDevice) -> str:
    share = f"-{files.checked_part(device.share_id, 'share ID')}" if device.share_id else ""
    return f"{claim.reference.uid}-{device.device}{share}"
