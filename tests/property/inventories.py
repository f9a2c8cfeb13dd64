"""Small inventories: pools of few devices in fewer shapes, so that devices are alike and searches have to go back.

What occurs besides plain devices depends on the aspects of a case, see `strategies.ASPECTS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from tests.property.expressions import ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Collection

Object = dict[str, Any]
Aspects = frozenset[str]

DRIVERS = ("gpu.example.com", "nic.example.com")
NODE = "node-1"
LABELS = {"zone": "a", "generation": "7"}
SCALARS = ("model", "numa", "ecc", "version", "net.example.com/rail")
LISTS = ("tags", "nodes")
COUNTERS = ("memory", "slots")

TAINTS = (
    {"key": "broken", "effect": "NoSchedule"},
    {"key": "hot", "value": "x", "effect": "NoExecute"},
    {"key": "noted", "effect": "None"},
)
POLICIES = (
    {"default": "2Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}},
    {"default": "1Gi", "validRange": {"min": "1Gi"}},
    {"default": "0", "validRange": {"min": "0", "step": "3"}},
    {"default": "1Gi", "validValues": ["1Gi", "2Gi", "4Gi"]},
    {"default": "3Gi"},
)
FRACTIONS = (
    {"default": "500m", "validRange": {"min": "500m", "max": "8Gi", "step": "250m"}},
    {"default": "1", "validRange": {"min": "500m", "max": "8", "step": "250m"}},
    {"default": "1", "validRange": {"min": "1", "step": "100u"}},
)


def chance(draw: st.DrawFn, one_in: int) -> bool:
    """Draw whether something happens that does so once in a while; the simplest example is without it."""
    return draw(st.integers(0, one_in - 1)) == one_in - 1


def selector(*requirements: tuple[str, str, list[str]]) -> Object:
    expressions = [
        {"key": key, "operator": operator} | ({"values": values} if values else {})
        for key, operator, values in requirements
    ]
    return {"nodeSelectorTerms": [{"matchExpressions": expressions}]}


SELECTORS = (
    selector(("zone", "In", ["a", "b"])),
    selector(("zone", "NotIn", ["b"]), ("generation", "Gt", ["6"])),
    selector(("zone", "In", ["b", "a"]), ("rack", "DoesNotExist", [])),
    selector(("rack", "Exists", [])),
    {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [NODE]}]}]},
)
TWO_TERMS = {"nodeSelectorTerms": SELECTORS[0]["nodeSelectorTerms"] + SELECTORS[3]["nodeSelectorTerms"]}


@st.composite
def inventories(draw: st.DrawFn, aspects: Aspects) -> list[Object]:
    """Draw the slices of one to three pools, in any order."""
    shapes = draw(st.lists(_shapes(aspects), min_size=1, max_size=3))
    slices: list[Object] = []
    for index in range(draw(st.sampled_from((1, 2, 3, 2, 3)))):
        driver = DRIVERS[1] if index and chance(draw, 3) else DRIVERS[0]
        slices += draw(_pools(aspects, driver, f"pool-{index}", shapes))
    return draw(st.permutations(slices)) if chance(draw, 3) else slices


@st.composite
def _shapes(draw: st.DrawFn, aspects: Aspects) -> Object:
    """Draw what devices of a shape have in common; one in ten attributes is missing."""
    names: Collection[str] = SCALARS + (LISTS if "lists" in aspects else ())
    attributes = {name: draw(st.sampled_from(ATTRIBUTES[name])) for name in names if not chance(draw, 10)}
    if "errors" in aspects and chance(draw, 6):
        attributes["odd"] = draw(st.sampled_from(({}, {"version": "1.x"}, {"ints": []})))
    shape: Object = {"attributes": attributes}
    if "capacity" in aspects or chance(draw, 4):
        shape["capacity"] = draw(_capacities(aspects))
        if "capacity" in aspects and not chance(draw, 4):
            shape["allowMultipleAllocations"] = True
    if "taints" in aspects and chance(draw, 2):
        shape["taints"] = draw(st.lists(st.sampled_from(TAINTS), min_size=1, max_size=2, unique_by=str))
    return shape


@st.composite
def _capacities(draw: st.DrawFn, aspects: Aspects) -> Object:
    capacity: Object = {"memory": {"value": draw(st.sampled_from(("4Gi", "8Gi", "10Gi")))}}
    if "capacity" in aspects and not chance(draw, 3):
        policies = FRACTIONS if "fractions" in aspects else POLICIES
        capacity["memory"]["requestPolicy"] = draw(st.sampled_from(policies))
    if chance(draw, 3):
        capacity["cores"] = {"value": draw(st.sampled_from(("2", "1500m")))}
    return capacity


@st.composite
def _pools(draw: st.DrawFn, aspects: Aspects, driver: str, name: str, shapes: list[Object]) -> list[Object]:
    """Draw a pool: one or two slices with devices, and one with counters where partitions are an aspect."""
    partitioned = "counters" in aspects and not chance(draw, 3)
    bound = "binding" in aspects and chance(draw, 2)
    slices = [draw(_device_slices(aspects, shapes, partitioned, bound)) for _ in range(draw(st.integers(1, 2)))]
    if partitioned:
        slices.append({"sharedCounters": draw(_counter_sets()), "nodeName": NODE})
    for index, spec in enumerate(slices):
        for number, device in enumerate(spec.get("devices", ())):
            device["name"] = f"d{index}{number}"
    pool = {"name": name, "generation": 1, "resourceSliceCount": len(slices)}
    specs = [{"driver": driver, "pool": dict(pool), **spec} for spec in slices]
    if "pools" in aspects and chance(draw, 2):
        draw(st.sampled_from(DEFECTS))(specs)
    metadata = (f"{name}-{driver}-{index}" for index in draw(st.permutations(range(len(specs)))))
    return [
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": label}, "spec": spec}
        for label, spec in zip(metadata, specs, strict=True)
    ]


@st.composite
def _device_slices(draw: st.DrawFn, aspects: Aspects, shapes: list[Object], partitioned: bool, bound: bool) -> Object:
    devices = []
    for _ in range(draw(st.sampled_from((1, 2, 3, 4, 5, 3, 4)))):
        device: Object = {"name": "", **draw(st.sampled_from(shapes))}
        if partitioned and not chance(draw, 4):
            device["consumesCounters"] = [draw(_consumptions("groups" in aspects))]
        if bound and chance(draw, 2):
            device |= {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]}
        if "binding" in aspects and chance(draw, 3):
            device["bindsToNode"] = True
        devices.append(device)
    spec: Object = {"devices": devices, **draw(_places(aspects, devices))}
    if "node-operations" in aspects and chance(draw, 2):
        spec["skipNodeOperations"] = draw(st.sampled_from((["*"], ["NodePrepareResources", "NodeUnprepareResources"])))
    return spec


@st.composite
def _places(draw: st.DrawFn, aspects: Aspects, devices: list[Object]) -> Object:
    """Draw which nodes a slice serves; mostly the one that is asked about."""
    if "nodes" not in aspects:
        return {"nodeName": NODE} if not chance(draw, 8) else {"allNodes": True}
    if chance(draw, 4):
        for device in devices:
            device.update(draw(_place()))
        return {"perDeviceNodeSelection": True}
    return draw(_place())


def _place() -> st.SearchStrategy[Object]:
    named: tuple[Object, ...] = ({"nodeName": NODE}, {"nodeName": NODE}, {"nodeName": "node-2"}, {"allNodes": True})
    selecting = tuple({"nodeSelector": value} for value in (*SELECTORS, *SELECTORS, TWO_TERMS))
    return st.sampled_from(named) | st.sampled_from(selecting)


@st.composite
def _counter_sets(draw: st.DrawFn) -> list[Object]:
    amounts = st.sampled_from(("4", "8", "1500m"))
    names = ("set-0", "set-1")[: draw(st.integers(1, 2))]
    return [{"name": name, "counters": {counter: {"value": draw(amounts)} for counter in COUNTERS}} for name in names]


@st.composite
def _consumptions(draw: st.DrawFn, groups: bool) -> Object:
    counters = draw(st.lists(st.sampled_from(COUNTERS), min_size=1, max_size=2, unique=True))
    amounts = st.sampled_from(("1", "2", "4", "500m", "8"))
    consumption: Object = {
        "counterSet": "set-1" if chance(draw, 10) else "set-0",
        "counters": {counter: {"value": "-1" if chance(draw, 20) else draw(amounts)} for counter in counters},
    }
    if groups and not chance(draw, 3):
        consumption["compatibilityGroups"] = draw(st.lists(st.sampled_from(("mig", "mps")), min_size=1, unique=True))
    return consumption


def _incomplete(specs: list[Object]) -> None:
    for spec in specs:
        spec["pool"]["resourceSliceCount"] += 1


def _counts_differ(specs: list[Object]) -> None:
    specs[-1]["pool"]["resourceSliceCount"] += 1


def _repeated_name(specs: list[Object]) -> None:
    specs[0]["devices"].append(dict(specs[0]["devices"][0]))


def _newer_elsewhere(specs: list[Object]) -> None:
    specs.append({**specs[0], "pool": {**specs[0]["pool"], "generation": 2}})
    _slice_elsewhere(specs)


def _older_left(specs: list[Object]) -> None:
    specs.append({**specs[0], "pool": {**specs[0]["pool"], "generation": 0}, "devices": [{"name": "old"}]})


def _slice_elsewhere(specs: list[Object]) -> None:
    for place in ("allNodes", "nodeSelector", "perDeviceNodeSelection"):
        specs[-1].pop(place, None)
    specs[-1]["nodeName"] = "node-2"


def _unknown_counter(specs: list[Object]) -> None:
    specs[0]["devices"][-1]["consumesCounters"] = [{"counterSet": "nope", "counters": {"memory": {"value": "1"}}}]


DEFECTS = (
    _incomplete,
    _counts_differ,
    _repeated_name,
    _newer_elsewhere,
    _older_left,
    _slice_elsewhere,
    _unknown_counter,
)
