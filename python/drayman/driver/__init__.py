"""The mock DRA driver: hardware as data, ResourceSlices, the kubelet's gRPC protocols and CDI files.

`drayman.driver.catalogue` needs nothing but the base installation; :class:`Driver` needs the extra `driver`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.errors import MissingExtraError

if TYPE_CHECKING:
    from drayman.driver.driver import Driver
    from drayman.driver.faults import Fault, Faults

__all__ = ["Driver", "Fault", "Faults"]


def __getattr__(name: str) -> Any:
    """Import gRPC only when a driver is wanted: the catalogue is used without it."""
    if name in ("Fault", "Faults"):
        from drayman.driver import faults

        return getattr(faults, name)
    if name == "Driver":
        try:
            from drayman.driver import driver
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] not in ("grpc", "google"):
                raise
            raise MissingExtraError("the mock driver", "driver") from error
        return driver.Driver
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
