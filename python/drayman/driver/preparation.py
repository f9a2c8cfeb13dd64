"""Prepares and unprepares claims on this node: checks, environment, CDI files, checkpoint. No gRPC, no API server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drayman.driver import claims, opaque
from drayman.driver.cdi import CDIWriter
from drayman.driver.checkpoint import Checkpoint
from drayman.driver.claims import ClaimReference, PreparedClaim, PreparedDevice
from drayman.errors import DraymanError

if TYPE_CHECKING:
    from drayman.driver.catalogue import Foreign, Profile


class PreparationError(DraymanError):
    """A claim cannot be prepared; `str()` is what the kubelet shows."""


class Preparation:
    """The prepared claims of one node and driver.

    Calls are short and do not wait, so the event loop's order is the only lock that is needed.
    """

    def __init__(self, profile: Profile | Foreign, node_name: str, cdi: CDIWriter, checkpoint: Path) -> None:
        self._profile = profile
        self._node_name = node_name
        self._cdi = cdi
        self._checkpoint = Checkpoint(checkpoint)

    def restore(self) -> None:
        """Write the CDI files again: their folder is usually in memory, and empty after a reboot."""
        self._cdi.write_common()
        for claim in self._checkpoint.values():
            self._cdi.write(claim)

    def prepare(self, reference: ClaimReference, claim: Mapping[str, Any]) -> PreparedClaim:
        """Make the devices of an allocated `claim` ready, or find that they are. Idempotent.

        Raises :class:`PreparationError` and :class:`~drayman.errors.InputError`; nothing has changed then.
        """
        prepared = self._checkpoint.get(reference.uid)
        if prepared is None:
            prepared = PreparedClaim(reference, tuple(self._device(reference, claim, one) for one in self._own(claim)))
            self._check_unused(prepared)
        # Also on replay: the kubelet asks again after a restart, when the file may be gone.
        self._cdi.write(prepared)
        if reference.uid not in self._checkpoint:
            self._checkpoint.add(prepared)
        return prepared

    def unprepare(self, uid: str) -> None:
        """Undo :meth:`prepare`; a claim that is not prepared is left alone. Raises `InputError` for a UID that is none.

        The file goes first: after a crash in between the kubelet asks again.
        """
        self._cdi.remove(uid)
        self._checkpoint.remove(uid)

    def device_ids(self, claim: PreparedClaim, device: PreparedDevice) -> list[str]:
        """Return the CDI devices for a container that uses `device`."""
        return self._cdi.device_ids(claim, device)

    def _own(self, claim: Mapping[str, Any]) -> list[claims.Object]:
        return claims.results(claim, self._profile.driver)

    def _device(self, reference: ClaimReference, claim: Mapping[str, Any], result: Mapping[str, Any]) -> PreparedDevice:
        device = result["device"]
        if not self._profile.has(self._node_name, result["pool"], device):
            raise PreparationError(f"requested device is not allocatable: {device}")
        configurations = claims.configurations(claim) if self._profile.reads_configuration else ()
        sharing = opaque.sharing_for(configurations, self._profile.driver, result["request"])
        admin = bool(result.get("adminAccess"))
        return PreparedDevice(
            request=result["request"],
            pool=result["pool"],
            device=device,
            env=environment(self._profile.kind, reference.uid, result, sharing),
            share_id=result.get("shareID"),
            exclusive=not admin and not result.get("shareID"),
        )

    def _check_unused(self, wanted: PreparedClaim) -> None:
        """Refuse a device that another claim holds.

        The driver is the last to notice that two schedulers gave out one device, or that a device was freed while its
        user still ran.
        """
        names = {(device.pool, device.device) for device in wanted.devices if device.exclusive}
        for other in self._checkpoint.values():
            for device in other.devices:
                if device.exclusive and (device.pool, device.device) in names:
                    raise PreparationError(
                        f"device {device.device} is already prepared for claim {other.reference} "
                        f"({other.reference.uid})"
                    )


def environment(kind: str, uid: str, result: Mapping[str, Any], sharing: opaque.Sharing) -> tuple[str, ...]:
    """Return the variables that tell a container which device it has, as dra-example-driver spells them."""
    device = result["device"]
    family = kind.upper()
    variable = f"{family}_DEVICE_{_upper(device.removeprefix(f'{kind}-'))}"
    env = {
        f"{family}_DEVICE_{_upper(device)}_RESOURCE_CLAIM": uid,
        "DRA_ADMIN_ACCESS": "true" if result.get("adminAccess") else "false",
        variable: device,
    }
    match sharing:
        case opaque.TimeSlicing(interval):
            env[f"{variable}_SHARING_STRATEGY"] = "TimeSlicing"
            env[f"{variable}_TIMESLICE_INTERVAL"] = interval
        case opaque.SpacePartitioning(partition_count):
            env[f"{variable}_SHARING_STRATEGY"] = "SpacePartitioning"
            env[f"{variable}_PARTITION_COUNT"] = str(partition_count)
    for name, quantity in sorted((result.get("consumedCapacity") or {}).items()):
        env[f"{variable}_{_upper(name.rpartition('/')[2])}"] = quantity
    return tuple(f"{name}={value}" for name, value in env.items())


def _upper(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()
