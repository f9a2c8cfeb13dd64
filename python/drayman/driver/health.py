"""Health of devices, as reported to the kubelet."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from drayman.errors import InputError

if TYPE_CHECKING:
    from drayman.clock import Clock

REPORT_SECONDS = 10.0
"""How often an unchanged report is sent again: after 30 s of silence the kubelet takes a device's health as unknown."""


@dataclass(frozen=True, slots=True)
class DeviceHealth:
    """How one device of a pool is; `message` is for people."""

    pool: str
    device: str
    healthy: bool = True
    message: str = ""


class Health:
    """The health of a driver's devices; all are healthy at first. Used on the driver's event loop only."""

    def __init__(self, clock: Clock, devices: Iterable[DeviceHealth]) -> None:
        self._clock = clock
        self._devices = {device.device: device for device in devices}
        self._changed = asyncio.Event()

    def set(self, device: str, *, healthy: bool, message: str = "") -> None:
        """Report `device` as healthy or not from now on.

        Raises :class:`~drayman.errors.InputError` for a device that there is not.
        """
        if device not in self._devices:
            raise InputError(f"there is no device `{device}`")
        self._devices[device] = replace(self._devices[device], healthy=healthy, message=message)
        self._changed.set()  # wakes those that wait now, and nobody later
        self._changed.clear()

    def report(self) -> list[DeviceHealth]:
        """Return the health of every device."""
        return list(self._devices.values())

    async def next_report(self) -> list[DeviceHealth]:
        """Wait for a change, or until the last report gets old, and return the health of every device."""
        with contextlib.suppress(TimeoutError):
            async with self._clock.timeout(REPORT_SECONDS):
                await self._changed.wait()
        return self.report()
