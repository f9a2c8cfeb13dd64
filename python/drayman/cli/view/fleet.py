"""The devices of a cluster and who uses them, from its ResourceSlices, claims and taint rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman.cli import claims as naming
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.manifest import Manifest

Object = Mapping[str, Any]

STATES = ("free", "used", "shared", "blocked", "tainted", "incomplete", "gone")
"""What a device can be.

`shared`: used, and others may use it too. `blocked`: free, but its counters are used up by other devices. `tainted`:
free, but only for claims that tolerate its taint. `incomplete`: free, but slices of its pool are missing. `gone`: a
claim holds it, and no slice has it.
"""

_ZERO = Quantity(0)


@dataclass(frozen=True, slots=True)
class Holder:
    """A claim that has a device, for one of its requests; `pods` are those that may use the claim."""

    claim: str
    request: str
    pods: tuple[str, ...] = ()
    share: str | None = None
    consumed: Mapping[str, str] = field(default_factory=dict)
    admin: bool = False


@dataclass(slots=True)
class Device:
    """A device of the newest generation of its pool, or one that a claim still holds."""

    driver: str
    pool: str
    name: str
    node: str = ""
    content: Object = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Object] = ()
    holders: list[Holder] = field(default_factory=list)
    state: str = "free"
    short: str | None = None

    @property
    def key(self) -> str:
        """The device as claims name it: `driver/pool/device`."""
        return f"{self.driver}/{self.pool}/{self.name}"

    @property
    def users(self) -> list[Holder]:
        """The holders that keep others from the device; administrators do not."""
        return [holder for holder in self.holders if not holder.admin]

    @property
    def is_shared(self) -> bool:
        """Whether several claims may use it at once."""
        return bool(self.content.get("allowMultipleAllocations"))

    def capacities(self) -> Iterator[tuple[str, Quantity, Quantity]]:
        """Yield name, size and used part of every capacity; where claims do not share, a user has all of it."""
        for name, capacity in (self.content.get("capacity") or {}).items():
            size = Quantity(str(capacity.get("value", "0")))
            if self.is_shared:
                parts = (Quantity(str(one.consumed[name])) for one in self.users if name in one.consumed)
                yield name, size, sum(parts, _ZERO)
            else:
                yield name, size, size if self.users else _ZERO


@dataclass(slots=True)
class CounterSet:
    """What the partitions of a device are made of: by counter what there is, and what each held device consumes."""

    name: str
    sizes: Mapping[str, Quantity]
    consumers: dict[str, Mapping[str, Quantity]] = field(default_factory=dict)

    def used(self, counter: str) -> Quantity:
        """Return how much of a counter is consumed."""
        return sum((parts[counter] for parts in self.consumers.values() if counter in parts), _ZERO)


@dataclass(slots=True)
class Pool:
    """A pool in its newest generation; `outdated` counts the slices of older ones."""

    driver: str
    name: str
    generation: int = -1
    expected: int = 0
    node: str = ""
    slices: list[Object] = field(default_factory=list)
    outdated: int = 0
    devices: list[Device] = field(default_factory=list)
    counters: dict[str, CounterSet] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether all slices of the generation are there; devices of other pools are not allocated."""
        return len(self.slices) == self.expected

    @property
    def state(self) -> str:
        """How complete the pool is, for people."""
        state = "complete" if self.is_complete else f"{len(self.slices)} of {self.expected} slices"
        return f"{state}, {self.outdated} outdated" if self.outdated else state


def count(devices: Sequence[Device]) -> tuple[int, int, int]:
    """Return how many devices there are, how many are used, and how many are free."""
    there = [device for device in devices if device.state != "gone"]
    used = sum(bool(device.users) for device in there)
    return len(there), used, sum(device.state == "free" for device in there)


class Fleet:
    """All that the views show: pools with their devices, and the other objects by kind."""

    def __init__(self, manifests: Sequence[Manifest]) -> None:
        self._kinds: dict[str, list[Object]] = {}
        for one in manifests:
            self._kinds.setdefault(one.object["kind"], []).append(one.object)
        self._nodes = {one["metadata"]["name"]: one for one in self.kind("Node")}
        self._rules = [one.get("spec") or {} for one in self.kind("DeviceTaintRule")]
        self.pools: dict[tuple[str, str], Pool] = {}
        self._devices: dict[str, Device] = {}
        for item in self.kind("ResourceSlice"):
            self._add_slice(item)
        for pool in self.pools.values():
            self._add_devices(pool)
        for claim in self.kind("ResourceClaim"):
            self._add_holders(claim)
        for pool in self.pools.values():
            _judge(pool)

    def kind(self, kind: str) -> list[Object]:
        """Return the objects of a kind, in the order in which they came."""
        return self._kinds.get(kind, [])

    @property
    def devices(self) -> list[Device]:
        """All devices: by pool, in the order of the slices; at the end those that are gone."""
        return list(self._devices.values())

    def device(self, result: Object) -> Device | None:
        """Return the device of an allocation's result."""
        return self._devices.get(f"{result['driver']}/{result['pool']}/{result['device']}")

    def pool_of(self, item: Object) -> Pool:
        """Return the pool of a ResourceSlice."""
        spec = item.get("spec") or {}
        key = (str(spec.get("driver", "")), str((spec.get("pool") or {}).get("name", "")))
        return self.pools.setdefault(key, Pool(*key))

    def _add_slice(self, item: Object) -> None:
        pool, given = self.pool_of(item), (item.get("spec") or {}).get("pool") or {}
        generation = int(given.get("generation", 0))
        if generation < pool.generation:
            pool.outdated += 1
            return
        if generation > pool.generation:
            pool.outdated += len(pool.slices)
            pool.generation, pool.slices, pool.expected = generation, [], int(given.get("resourceSliceCount", 0))
        pool.slices.append(item)

    def _add_devices(self, pool: Pool) -> None:
        for item in pool.slices:
            spec = item["spec"]
            for given in spec.get("sharedCounters") or []:
                pool.counters[given["name"]] = CounterSet(given["name"], _quantities(given.get("counters")))
            for content in spec.get("devices") or []:
                node = _node(content) or _node(spec)
                labels = ((self._nodes.get(node) or {}).get("metadata") or {}).get("labels") or {}
                device = Device(pool.driver, pool.name, content["name"], node, content)
                device.labels = {**labels, **(item["metadata"].get("labels") or {})}
                device.taints = [*(content.get("taints") or []), *self._rule_taints(device)]
                pool.devices.append(device)
                self._devices[device.key] = device
        pool.node = next(iter({device.node for device in pool.devices} or {_node(one["spec"]) for one in pool.slices}))
        if len({device.node for device in pool.devices}) > 1:
            pool.node = "<many>"

    def _rule_taints(self, device: Device) -> Iterator[Object]:
        for rule in self._rules:
            selector = rule.get("deviceSelector")
            if selector is not None and all(
                selector.get(name) in (None, value)
                for name, value in (("driver", device.driver), ("pool", device.pool), ("device", device.name))
            ):
                yield rule.get("taint") or {}

    def _add_holders(self, claim: Object) -> None:
        status = claim.get("status") or {}
        consumers = status.get("reservedFor") or []
        pods = tuple(one["name"] for one in consumers if one.get("resource") == "pods")
        for result in ((status.get("allocation") or {}).get("devices") or {}).get("results") or []:
            device = self.device(result)
            if device is None:
                device = Device(result["driver"], result["pool"], result["device"], state="gone")
                self._devices[device.key] = device
            holder = Holder(
                naming.key_of(claim),
                str(result.get("request", "")),
                pods,
                result.get("shareID"),
                result.get("consumedCapacity") or {},
                bool(result.get("adminAccess")),
            )
            device.holders.append(holder)


def _judge(pool: Pool) -> None:
    """Say what each device of the pool is, once all holders are known."""
    for device in pool.devices:
        if device.users:
            device.state = "shared" if device.is_shared else "used"
            for counter_set, parts in _consumption(device):
                if counter_set in pool.counters:
                    pool.counters[counter_set].consumers[device.name] = parts
    left = {
        name: {counter: size - one.used(counter) for counter, size in one.sizes.items()}
        for name, one in pool.counters.items()
    }
    for device in pool.devices:
        if not device.users:
            device.short = _shortage(device, left)
            device.state = _unused_state(device, pool)


def _unused_state(device: Device, pool: Pool) -> str:
    if not pool.is_complete:
        return "incomplete"
    if device.short:
        return "blocked"
    tainted = any(taint.get("effect") in ("NoSchedule", "NoExecute") for taint in device.taints)
    return "tainted" if tainted else "free"


def _shortage(device: Device, left: Mapping[str, Mapping[str, Quantity]]) -> str | None:
    """Return the first counter of which other devices leave too little."""
    for counter_set, parts in _consumption(device):
        for counter, needed in parts.items():
            if needed > left.get(counter_set, {}).get(counter, _ZERO):
                return f"{counter_set}/{counter}"
    return None


def _consumption(device: Device) -> Iterator[tuple[str, Mapping[str, Quantity]]]:
    for one in device.content.get("consumesCounters") or []:
        yield one["counterSet"], _quantities(one.get("counters"))


def _quantities(counters: Object | None) -> dict[str, Quantity]:
    return {name: Quantity(str(counter.get("value", "0"))) for name, counter in (counters or {}).items()}


def _node(where: Object) -> str:
    """Return where a slice or a device can be used, as far as it says so itself."""
    if where.get("nodeName"):
        return str(where["nodeName"])
    if where.get("allNodes"):
        return "<all>"
    return "<selected>" if where.get("nodeSelector") else ""
