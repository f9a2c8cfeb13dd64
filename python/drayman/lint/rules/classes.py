"""DeviceClasses: whether they select anything, and the extended resources that they stand for."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING

from drayman.api.validation import names
from drayman.lint import drivers, views
from drayman.lint.context import finding
from drayman.lint.examples import SLICE
from drayman.lint.rule import Severity, rule
from drayman.lint.similar import similar
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.document import Document
    from drayman.lint.rule import Findings
    from drayman.lint.views import DeviceView

_DRIVER = re.compile(r"""device\.driver\s*==\s*(?:"([^"]*)"|'([^']*)')""")
_CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel: {expression: "device.driver == 'gpu.example.com'"}
"""
_EXTENDED = _CLASS + "  extendedResourceName: example.com/gpu\n"
_SLICE = (
    "---\n"
    + SLICE
    + """\
  devices: [{name: gpu-0}]
"""
)
_NODE = """---
apiVersion: v1
kind: Node
metadata: {name: worker-1}
status: {allocatable: {cpu: "16", example.com/gpu: "1"}}
"""


@rule(
    "class-matches-no-device",
    Severity.WARNING,
    summary="a DeviceClass selects none of the given devices",
    why="""
Claims that use the class can be allocated nowhere. The rule speaks up when there are ResourceSlices among the files or
in `--with`. It keeps silent about a class for a driver of which there is no slice, unless a driver has a similar name.
""",
    bad=_CLASS.replace("gpu.example.com", "gpu.exmaple.com") + _SLICE,
    good=_CLASS + _SLICE,
)
def class_matches_no_device(context: Context) -> Findings:
    """Evaluate the selectors of every class on all devices."""
    drivers = sorted({device.driver for device in context.devices})
    for document in context.linted:
        if (document.group, document.kind) != ("resource.k8s.io", "DeviceClass"):
            continue
        selected = context.class_devices(document.short_name)
        if selected is None or selected or context.find("DeviceClass", document.short_name) is not document:
            continue
        wanted = _drivers(document)
        if not context.complete and wanted and not wanted & set(drivers) and not _mistaken(wanted, drivers):
            continue
        count = len(context.devices)
        listed = ", ".join(f"`{driver}`" for driver in drivers)
        message = f"the class selects none of the {count} devices of driver {listed}"
        if count == 1:
            message = f"the class does not select the one device, of driver {listed}"
        near = next((found for one in sorted(wanted) if (found := similar(one, drivers))), None)
        hint = f"did you mean driver `{near}`?" if near and not wanted & set(drivers) else None
        yield finding(document, "spec.selectors", message, hint)


def _drivers(document: Document) -> set[str]:
    """Return the drivers that the selectors compare `device.driver` with."""
    expressions = [expression.text for expression in views.expressions(document)]
    return {first or second for text in expressions for first, second in _DRIVER.findall(text)}


def _mistaken(wanted: set[str], drivers: list[str]) -> bool:
    """Whether the drivers that are asked for look like mistakes: no names of drivers, or nearly those of others."""
    return any(names.dns_subdomain(one) or similar(one, drivers) for one in wanted)


@rule(
    "duplicate-extended-resource-name",
    Severity.WARNING,
    summary="two DeviceClasses stand for the same extended resource",
    why="""
The API server cannot refuse it. Pods that ask for the resource get devices of the class that was created last, or of
the first by name where the times are equal: which one that is changes when a class is created again.
""",
    bad=_EXTENDED + "---" + _EXTENDED.replace("name: gpu}", "name: old-gpu}"),
    good=_EXTENDED,
)
def duplicate_extended_resource_name(context: Context) -> Findings:
    """Find names that several classes have; where it is known which one counts, speak of the others."""
    by_name: dict[str, list[Document]] = {}
    for document in context.of_kind("DeviceClass"):
        name = (document.object.get("spec") or {}).get("extendedResourceName")
        if name:
            by_name.setdefault(name, []).append(document)
    for name, documents in by_name.items():
        winner = _counts(documents)
        for document in documents:
            others = ", ".join(f"`{one.short_name}`" for one in documents if one is not document)
            if others and document is not winner:
                which = f"that of `{winner.short_name}`" if winner else "the one created last"
                message = f"`{name}` is also the extended resource of DeviceClass {others}: {which} counts"
                yield finding(document, "spec.extendedResourceName", message, "leave the name to one class")


def _counts(documents: list[Document]) -> Document | None:
    """Return the class that was created last, or None when not all of them say when they were."""
    times = [str(document.metadata.get("creationTimestamp") or "") for document in documents]
    if not all(times):
        return None
    # Of classes that are equally old the first by name counts.
    newest = [one for one, time in zip(documents, times, strict=True) if time == max(times)]
    return min(newest, key=lambda one: one.short_name)


@rule(
    "device-plugin-and-dra",
    Severity.WARNING,
    summary="a node offers the same devices by a device plugin and by DRA",
    why="""
A node whose status counts an extended resource has a device plugin for it. When slices have devices of that node for
which a DeviceClass with the same extended resource stands, or which are of the driver that goes with the plugin, the
same hardware may be given away twice: by the kubelet to pods of the plugin, and by the scheduler to claims.
""",
    bad=_EXTENDED + _SLICE + _NODE,
    good=_EXTENDED + _SLICE + _NODE.replace(', example.com/gpu: "1"', ""),
)
def device_plugin_and_dra(context: Context) -> Findings:
    """Compare the status of each node with the devices that slices have there."""
    classes = {
        (one.object.get("spec") or {}).get("extendedResourceName"): one.short_name
        for one in context.of_kind("DeviceClass")
    }
    for node in context.of_kind("Node", group=""):
        devices = [one for one in context.devices if _node(one) == node.short_name]
        for resource, count in ((node.object.get("status") or {}).get("allocatable") or {}).items():
            if "/" not in resource or Quantity(str(count)) == Quantity(0):
                continue
            selected = context.class_devices(classes[resource]) if resource in classes else None
            names = {one.name for one in selected or ()}
            same = next((one for one in devices if one.name in names or _is_of(one.driver, resource)), None)
            if same is None:
                continue
            plugin = f"node `{node.short_name}` has {count} `{resource}` of a device plugin"
            message = f"{plugin}, and `{same.name}` of a DRA driver: both may be the same hardware"
            hint = "run the device plugin or the DRA driver on a node, not both"
            if node.linted:
                yield finding(node, f"status.allocatable[{resource}]", message, hint)
            else:
                yield finding(same.document, "spec.nodeName", message, hint)


def _node(device: DeviceView) -> str:
    spec = device.document.object.get("spec") or {}
    return str(device.fields.get("nodeName") or spec.get("nodeName") or "")


def _is_of(driver: str, resource: str) -> bool:
    """Whether an extended resource and a driver have the names that one vendor gives to both: `a.b/gpu`, `gpu.a.b`."""
    domain, _, name = resource.partition("/")
    known = drivers.known().get(driver)
    plugins = known.resources if known else ()
    return driver == f"{name}.{domain}" or any(fnmatch.fnmatchcase(resource, pattern) for pattern in plugins)
