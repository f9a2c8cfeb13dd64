"""The devices of ResourceSlices: their names, and the names, types and values of their attributes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from drayman.api.validation import names
from drayman.lint import edits, views
from drayman.lint.context import finding
from drayman.lint.examples import SLICE
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import DeviceView

_SLICE = (
    "\n"
    + SLICE
    + """\
  devices:
  - name: gpu-0
    attributes:
      model: {string: LATEST-GPU-MODEL}
      driverVersion: {version: 550.127.8}
  - name: gpu-1
    attributes:
      model: {string: LATEST-GPU-MODEL}
      driverVersion: {version: 550.127.8}
"""
)
_TWO = _SLICE.replace("resourceSliceCount: 1", "resourceSliceCount: 2").split("  - name: gpu-1")[0]
_SECOND = _TWO.replace("metadata: {name: worker-1}", "metadata: {name: worker-1-b}")
_SCALARS = ("bool", "int", "string", "version")
_LISTS = {"bools": "bool", "ints": "int", "strings": "string", "versions": "version"}


@rule(
    "duplicate-device-name",
    Severity.ERROR,
    summary="two devices of one pool have the same name",
    why="""
Two in one slice the API server refuses. Of two slices each is valid by itself, so that it takes them, but the pool as a
whole is invalid: the scheduler allocates nothing from it.
""",
    bad=f"{_TWO}---{_SECOND}",
    good=f"{_TWO}---{_SECOND.replace('gpu-0', 'gpu-1')}",
    refines=True,
)
def duplicate_device_name(context: Context) -> Findings:
    """Compare the devices of each generation of a pool; of one slice the text is that of the API server."""
    seen: dict[tuple[str, str, int, str], DeviceView] = {}
    for device in context.devices:
        pool = (device.document.object.get("spec") or {}).get("pool") or {}
        name = str(device.fields.get("name", ""))
        earlier = seen.setdefault((device.driver, device.pool, int(pool.get("generation", 0)), name), device)
        hint = "give each device of a pool a name of its own"
        if earlier.document is not device.document:
            other = f"ResourceSlice `{earlier.document.short_name}`"
            message = f"`{name}` of pool `{device.pool}` is in {other} too: nothing is allocated from such a pool"
            yield finding(device, f"{device.path}.name", message, hint)
        elif earlier.path != device.path:
            position = device.document.position(device.document.written_path(f"{device.path}.name"))
            message = f'{device.path}: Duplicate value: "{name}"'
            yield finding(device, device.path, message, hint, position=position)


@rule(
    "version-not-semver",
    Severity.ERROR,
    summary="a version attribute is no semantic version",
    why="""
A `version` has three numbers without leading zeros (semver.org 2.0.0). The API server refuses the whole slice, the
driver goes on running, and pods wait for devices that were never published.
""",
    bad=_SLICE.replace("550.127.8}\n  - ", "550.127.08}\n  - "),
    good=_SLICE,
    refines=True,
)
def version_not_semver(context: Context) -> Findings:
    """Check every version, and say how it could be written."""
    for device in _linted(context):
        for path, text in _versions(device):
            problems = names.semver(text)
            if problems:
                message = f'{path}: Invalid value: "{text}": {problems[0]}'
                yield finding(device, path, message, _as_semver(text))


def _versions(device: DeviceView) -> Iterator[tuple[str, str]]:
    for name, attribute in (device.fields.get("attributes") or {}).items():
        path = f"{device.path}.attributes[{name}]"
        if attribute.get("version") is not None:
            yield f"{path}.version", attribute["version"]
        for index, text in enumerate(attribute.get("versions") or ()):
            yield f"{path}.versions[{index}]", text


def _as_semver(text: str) -> str:
    """Return how a version could be written; more than three numbers are lost in one."""
    parts = text.removeprefix("v").split(".")
    if all(part.isdecimal() for part in parts):
        if len(parts) <= 3:
            return f"write `{'.'.join(str(int(part)) for part in [*parts, '0', '0'][:3])}`, or publish it as a `string`"
        return "a version has three numbers: publish it as a `string`"
    return "publish it as a `string`"


@rule(
    "attribute-type-mismatch",
    Severity.WARNING,
    summary="an attribute has different types on different devices",
    why="""
`matchAttribute` and `distinctAttribute` compare type and value: `0` as a number and `"0"` as text never match. A CEL
expression that is right for one type fails on the other.
""",
    bad=_SLICE.replace("{string: LATEST-GPU-MODEL}", "{int: 7}", 1),
    good=_SLICE,
)
def attribute_type_mismatch(context: Context) -> Findings:
    """Find, per attribute, the devices whose type is not the one that most have; once a slice."""
    uses: dict[str, list[tuple[DeviceView, str, str]]] = {}
    for device in context.devices:
        for name, attribute in (device.fields.get("attributes") or {}).items():
            qualified = name if "/" in name else f"{device.driver}/{name}"
            uses.setdefault(qualified, []).append((device, name, _type(attribute)))
    for qualified, found in uses.items():
        types = Counter(kind for _, _, kind in found if kind)
        if len(types) < 2:
            continue
        usual = types.most_common(1)[0][0]
        seen = set()
        for device, name, kind in found:
            if kind in ("", usual) or device.document in seen:
                continue
            seen.add(device.document)
            other = next(one for one, _, its in found if its == usual)
            message = f"`{qualified}` is of type {kind} here, and {usual} on `{other.name}`: the two never match"
            hint = f"publish it as `{usual}` everywhere"
            yield finding(device, f"{device.path}.attributes[{name}]", message, hint)


def _type(attribute: Mapping[str, Any]) -> str:
    """Return the type of an attribute; a list counts as its element, with which it is compared."""
    return next((_LISTS.get(name, name) for name in attribute if name in (*_SCALARS, *_LISTS)), "")


@rule(
    "attribute-redundant-domain",
    Severity.WARNING,
    summary="the name of an attribute or capacity repeats the domain of the driver",
    why="""
A name without domain belongs to the domain of the driver, so `gpu.example.com/model` and `model` of driver
`gpu.example.com` are one attribute. Where both are published it is undefined which value counts.
""",
    bad=_SLICE.replace("      model:", "      gpu.example.com/model:"),
    good=_SLICE,
)
def attribute_redundant_domain(context: Context) -> Findings:
    """Find names with the driver's own domain."""
    for device in _linted(context):
        for field in ("attributes", "capacity"):
            for name in device.fields.get(field) or {}:
                domain, _, bare = name.rpartition("/")
                if not domain or domain != device.driver:
                    continue
                document, both = device.document, bare in device.fields[field]
                path = f"{device.path}.{field}"
                written = document.written_path(f"{path}[{name}]")
                message = f"drop the driver's own domain: `{name}` of driver `{device.driver}` is `{bare}`"
                if both:
                    message += ", which is published too, and which of the two values counts is undefined"
                fix = None if both else edits.rename(document, written, bare)
                hint = f"remove `{name}`" if both else f"write `{bare}`"
                yield finding(device, path, message, hint, position=document.position(written, key=True), fix=fix)


def _linted(context: Context) -> Iterator[DeviceView]:
    return (device for document in context.linted for device in views.devices(document))
