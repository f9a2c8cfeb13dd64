"""Counters of partitionable devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from drayman.lint.context import finding
from drayman.lint.rule import Severity, rule
from drayman.lint.similar import did_you_mean
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import DeviceView

_Pool: TypeAlias = tuple[str, str, int]
_Sets: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Counter sets by name, counters by theirs."""
_COUNTERS = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: worker-1-counters}
spec:
  driver: gpu.example.com
  nodeName: worker-1
  pool: {name: worker-1, generation: 1, resourceSliceCount: 2}
  sharedCounters:
  - name: gpu-0
    counters: {memory: {value: 80Gi}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: worker-1-devices}
spec:
  driver: gpu.example.com
  nodeName: worker-1
  pool: {name: worker-1, generation: 1, resourceSliceCount: 2}
  devices:
  - name: gpu-0
    attributes: {uuid: {string: GPU-0}}
    consumesCounters: [{counterSet: gpu-0, counters: {memory: {value: 80Gi}}}]
  - name: gpu-0-half-0
    attributes: {parentUUID: {string: GPU-0}}
    consumesCounters: [{counterSet: gpu-0, counters: {memory: {value: 40Gi}}}]
"""


@rule(
    "counter-undefined",
    Severity.ERROR,
    summary="a device consumes a counter that its pool does not have",
    why="""
The counters of a pool are in `sharedCounters` of its slices. The API server sees one slice at a time and accepts any
name; the scheduler takes the pool for invalid and allocates nothing from it.
""",
    bad=_COUNTERS.replace("counters: {memory: {value: 40", "counters: {memroy: {value: 40"),
    good=_COUNTERS,
)
def counter_undefined(context: Context) -> Findings:
    """Look for the counters of every device of a pool that is there as a whole."""
    sets = _counter_sets(context)
    for device in context.devices:
        pool = _pool(device.document.object)
        if pool not in sets:
            continue
        for index, consumption in enumerate(device.fields.get("consumesCounters") or ()):
            path, name = f"{device.path}.consumesCounters[{index}]", consumption.get("counterSet", "")
            if name not in sets[pool]:
                message = f"pool `{device.pool}` has no counter set `{name}`"
                yield finding(device, f"{path}.counterSet", message, did_you_mean(name, sets[pool]))
                continue
            for counter in consumption.get("counters") or {}:
                if counter not in sets[pool][name]:
                    message = f"counter set `{name}` has no counter `{counter}`"
                    hint = did_you_mean(counter, sets[pool][name])
                    at = f"{path}.counters[{counter}]"
                    position = device.document.position(device.document.written_path(at), key=True)
                    yield finding(device, at, message, hint, position=position)


def _counter_sets(context: Context) -> Mapping[_Pool, _Sets]:
    """Return the counter sets by pool, of those pools of which all slices are given."""
    slices: dict[_Pool, list[Mapping[str, Any]]] = {}
    for document in context.of_kind("ResourceSlice"):
        if document.readable:
            slices.setdefault(_pool(document.object), []).append(document.object.get("spec") or {})
    return {
        pool: {
            one.get("name", ""): one.get("counters") or {} for spec in specs for one in spec.get("sharedCounters") or ()
        }
        for pool, specs in slices.items()
        if len(specs) >= max(int((spec.get("pool") or {}).get("resourceSliceCount", 1)) for spec in specs)
    }


def _pool(obj: Mapping[str, Any]) -> _Pool:
    spec = obj.get("spec") or {}
    pool = spec.get("pool") or {}
    return str(spec.get("driver", "")), str(pool.get("name", "")), int(pool.get("generation", 0))


@rule(
    "partition-without-counters",
    Severity.WARNING,
    summary="a whole device and a part of it are published without common counters",
    why="""
Only counters tell the scheduler that a partition and its whole are the same hardware. Without them, or when only one of
the two consumes any, it may give both away at once.
""",
    bad=_COUNTERS.replace("    consumesCounters: [{counterSet: gpu-0, counters: {memory: {value: 80Gi}}}]\n", ""),
    good=_COUNTERS,
)
def partition_without_counters(context: Context) -> Findings:
    """Find parts by the UUID of their parent or by their names; else counters of which nobody can take all."""
    sets = _counter_sets(context)
    by_pool: dict[_Pool, list[DeviceView]] = {}
    for device in context.devices:
        by_pool.setdefault(_pool(device.document.object), []).append(device)
    for pool, devices in by_pool.items():
        by_uuid = {_text(device, "uuid"): device for device in devices if _text(device, "uuid")}
        by_name = {str(device.fields.get("name", "")): device for device in devices}
        reported = set()
        for part in devices:
            whole = by_uuid.get(_text(part, "parentUUID")) or _by_name(part, by_name)
            if whole is None or whole is part or _counter_sets_of(whole) & _counter_sets_of(part):
                continue
            if whole.name not in reported:
                reported.add(whole.name)
                what = f"`{whole.name}` and its part `{part.fields.get('name')}` share no counter"
                yield finding(whole, whole.path, f"{what}: both can be given away", _HINT)
        if not reported:
            yield from _beside(devices, sets.get(pool, {}))


_HINT = "let both consume the counters of the hardware that they share, under `consumesCounters`"


def _beside(devices: Sequence[DeviceView], sets: _Sets) -> Findings:
    """Find devices without counters beside partitions of something that no device is the whole of."""
    used = {name for device in devices for name in _counter_sets_of(device)}
    divided = [name for name, counters in sets.items() if name in used and not _has_whole(devices, name, counters)]
    if not divided:
        return
    for device in devices:
        if not _counter_sets_of(device):
            name = divided[0]
            message = (
                f"`{device.name}` consumes no counter, and no device consumes all of counter set `{name}`: "
                "if it is the whole of those partitions, both can be given away"
            )
            yield finding(device, device.path, message, _HINT)
            return


def _has_whole(devices: Sequence[DeviceView], name: str, counters: Mapping[str, Any]) -> bool:
    """Whether a device consumes all of a counter set."""
    for device in devices:
        for consumption in device.fields.get("consumesCounters") or ():
            taken = consumption.get("counters") or {}
            if consumption.get("counterSet") == name and all(
                Quantity(str((taken.get(counter) or {}).get("value", "0"))) >= Quantity(str(total.get("value", "0")))
                for counter, total in counters.items()
            ):
                return True
    return False


def _by_name(part: DeviceView, by_name: Mapping[str, DeviceView]) -> DeviceView | None:
    """Return the device whose name a partition's begins with: `gpu-0` of `gpu-0-mig-1g`.

    A number alone behind the name makes a partition only of what has counters.
    """
    name = str(part.fields.get("name", ""))
    stems = [name[:at] for at, character in enumerate(name) if character == "-"]
    stem = next((one for one in reversed(stems) if one in by_name), None)
    if stem is None or (name[len(stem) + 1 :].isdecimal() and not _counter_sets_of(part)):
        return None
    return by_name[stem]


def _counter_sets_of(device: DeviceView) -> set[str]:
    return {str(one.get("counterSet", "")) for one in device.fields.get("consumesCounters") or ()}


def _text(device: DeviceView, name: str) -> str:
    return str(((device.fields.get("attributes") or {}).get(name) or {}).get("string") or "")
