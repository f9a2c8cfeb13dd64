"""Opaque configuration for drivers, in claims and classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from drayman.lint import opaque
from drayman.lint.context import finding
from drayman.lint.rule import Severity, rule
from drayman.lint.similar import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drayman.lint.context import Context
    from drayman.lint.document import Document
    from drayman.lint.rule import Findings
    from drayman.lint.views import ClaimView

_CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec:
  devices:
    requests:
    - {name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}
    config:
    - opaque:
        driver: gpu.nvidia.com
        parameters:
          apiVersion: resource.nvidia.com/v1beta1
          kind: GpuConfig
          sharing:
            strategy: TimeSlicing
            timeSlicingConfig: {interval: Long}
"""
_CLUSTER = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: worker-1}
spec:
  driver: gpu.nvidia.com
  nodeName: worker-1
  pool: {name: worker-1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
---
"""


@rule(
    "opaque-config-invalid",
    Severity.ERROR,
    summary="configuration that its driver refuses",
    why="""
The API server passes configuration on without looking into it. The driver on the node decodes it strictly when it
prepares the devices, long after the pod was bound: the pod stays in ContainerCreating. Known are the kinds of NVIDIA's
two drivers and of the example driver.
""",
    bad=_CLAIM.replace("interval: Long", "interval: Longest"),
    good=_CLAIM,
)
def opaque_config_invalid(context: Context) -> Findings:
    """Check the parameters for every known driver."""
    for document in context.linted:
        for path, config in _configurations(document):
            given = config.get("opaque") or {}
            for one in opaque.problems(str(given.get("driver") or ""), given.get("parameters")):
                at = f"{path}.opaque.parameters" + (f".{one.path}" if one.path else "")
                tree = document.tree(document.written_path(at))
                key = tree is not None and "unknown field" in one.message
                position = document.position(document.written_path(at), key=key)
                yield finding(document, at, one.message, one.hint, position=position)


@rule(
    "config-for-other-driver",
    Severity.WARNING,
    summary="configuration for a driver that none of the devices belongs to",
    why="""
A driver reads only the entries with its own name, and passes over all others. The rule looks at the ResourceSlices
among the files and in `--with`.
""",
    bad=_CLUSTER + _CLAIM.replace("driver: gpu.nvidia.com", "driver: gpu.nvidia.example"),
    good=_CLUSTER + _CLAIM,
)
def config_for_other_driver(context: Context) -> Findings:
    """Compare the driver of each entry with those of the devices of its requests."""
    for claim in context.claims():
        for index, config in enumerate(claim.devices.get("config") or ()):
            driver = (config.get("opaque") or {}).get("driver")
            drivers = _drivers(context, claim, config)
            if driver and drivers and driver not in drivers:
                listed = " and ".join(f"`{one}`" for one in sorted(drivers))
                message = f"the devices are of driver {listed}, which passes over configuration for `{driver}`"
                path = f"{claim.path}.devices.config[{index}].opaque.driver"
                yield finding(claim, path, message, did_you_mean(driver, drivers))


def _drivers(context: Context, claim: ClaimView, config: Mapping[str, Any]) -> set[str]:
    """Return the drivers of the devices that the entry can apply to; none when that is not known."""
    drivers: set[str] = set()
    for request in claim.requests_named(config.get("requests")):
        devices = context.candidates(request)
        if not devices:
            return set()
        drivers |= {device.driver for device in devices}
    return drivers


def _configurations(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if document.group != "resource.k8s.io":
        return
    spec = document.object.get("spec") or {}
    holders = {
        "DeviceClass": ("spec.config", spec),
        "ResourceClaim": ("spec.devices.config", spec.get("devices") or {}),
        "ResourceClaimTemplate": ("spec.spec.devices.config", (spec.get("spec") or {}).get("devices") or {}),
    }
    if document.kind in holders:
        path, holder = holders[document.kind]
        for index, config in enumerate(holder.get("config") or ()):
            yield f"{path}[{index}]", config
