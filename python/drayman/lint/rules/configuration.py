"""Opaque configuration for drivers, in claims and classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from drayman.lint import drivers, opaque
from drayman.lint.context import finding
from drayman.lint.rule import Severity, rule
from drayman.lint.similar import similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drayman.lint.context import Context
    from drayman.lint.document import Document
    from drayman.lint.rule import Findings
    from drayman.lint.views import ClaimView, RequestView

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
    for claim in context.claims():
        yield from _of_other_devices(context, claim)


def _of_other_devices(context: Context, claim: ClaimView) -> Findings:
    """Yield the configurations that NVIDIA's driver does not apply to devices of a request that they name."""
    for index, config in enumerate(claim.devices.get("config") or ()):
        given = config.get("opaque") or {}
        parameters = given.get("parameters")
        kind = str(parameters.get("kind") or "") if isinstance(parameters, Mapping) else ""
        wanted = opaque.TYPES.get((str(given.get("driver") or ""), kind))
        if wanted is None or not config.get("requests"):
            continue
        for request in claim.requests_named(config["requests"]):
            types = _types(context, request)
            if types and wanted not in types:
                listed = "/".join(sorted(types))
                message = f"cannot apply {kind} to devices of type {listed} (request: {request.name})"
                right = next((name for (_, name), type_ in opaque.TYPES.items() if {type_} == types), None)
                path = f"{claim.path}.devices.config[{index}].opaque.parameters.kind"
                yield finding(claim, path, message, f"their configuration is a {right}" if right else None)
                break


def _types(context: Context, request: RequestView) -> set[str]:
    """Return the types of NVIDIA's devices that the request can be given; none where that is not known."""
    public = context.public(request)
    if public is not None:
        return {public[1].name}
    found = [
        (device.attribute("gpu.nvidia.com/type") or {}).get("string") for device in context.candidates(request) or ()
    ]
    return {str(one) for one in found} if all(found) else set()


@rule(
    "config-for-other-driver",
    Severity.WARNING,
    summary="configuration for a driver that none of the devices belongs to",
    why="""
A driver reads only the entries with its own name, and passes over all others. The rule looks at the ResourceSlices
among the files and in `--with`; where there are none, at the public drivers whose classes are asked for.
""",
    bad=_CLUSTER + _CLAIM.replace("driver: gpu.nvidia.com", "driver: gpu.nvidia.example"),
    good=_CLUSTER + _CLAIM,
)
def config_for_other_driver(context: Context) -> Findings:
    """Compare the driver of each entry with those of the devices of its requests."""
    for claim in context.claims():
        for index, config in enumerate(claim.devices.get("config") or ()):
            driver = (config.get("opaque") or {}).get("driver")
            there = _drivers(context, claim, config)
            if driver and there and driver not in there:
                listed = " and ".join(f"`{one}`" for one in sorted(there))
                message = f"the devices are of driver {listed}, which passes over configuration for `{driver}`"
                path = f"{claim.path}.devices.config[{index}].opaque.driver"
                meant = drivers.meant(driver, there) or similar(driver, there)
                yield finding(claim, path, message, f"did you mean `{meant}`?" if meant else None)


def _drivers(context: Context, claim: ClaimView, config: Mapping[str, Any]) -> set[str]:
    """Return the drivers of the devices that the entry can apply to; none when that is not known."""
    found: set[str] = set()
    for request in claim.requests_named(config.get("requests")):
        devices, public = context.candidates(request), context.public(request)
        if not devices and public is None:
            return set()
        found |= {device.driver for device in devices or ()} or ({public[0].name} if public else set())
    return found


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
