"""Hardware that the catalogue does not have, for drivers whose slices someone else publishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Foreign:
    """What a driver is given that publishes nothing and prepares whatever is allocated: every device is there, and
    configuration is not looked at, because only the real driver knows what it means.
    """

    driver: str
    reads_configuration: ClassVar[bool] = False

    @property
    def kind(self) -> str:
        """The class of the CDI devices: what the driver's name begins with, such as `gpu`."""
        label = self.driver.partition(".")[0]
        return label if label[:1].isalpha() else "device"

    def has(self, node: str, pool: str, device: str) -> bool:
        """Return True: nothing is known of the devices."""
        return True

    def devices(self, node: str) -> Sequence[Object]:
        """Return no devices: nothing is known of them."""
        return ()

    def slice_specs(self, node: str) -> Sequence[Object]:
        """Return no slices, which leaves publishing to others."""
        return ()
