"""Whole cases for the allocator, in the shape of the conformance table: inventory, claims, state and features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st
from tests.property.claims import CLASSES, claim_lists
from tests.property.inventories import DRIVERS, LABELS, NODE, Aspects, Object, chance, inventories

if TYPE_CHECKING:
    from collections.abc import Iterator

ASPECTS = (
    "admin",
    "all",
    "binding",
    "capacity",
    "constraints",
    "counters",
    "derived",
    "errors",
    "fractions",
    "groups",
    "lists",
    "node-operations",
    "nodes",
    "pools",
    "priorities",
    "taints",
)
"""What a case is about; a few of them meet in each."""

IMPLIED = {"fractions": "capacity", "groups": "counters"}

FEATURES = (
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADerivedAttributes",
    "DRADeviceBindingConditions+DRAResourceClaimDeviceStatus",
    "DRADeviceCompatibilityGroups",
    "DRADeviceTaints",
    "DRAFractionalCapacityRange",
    "DRAListTypeAttributes",
    "DRAOptionalNodeOperations",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
)


@st.composite
def cases(draw: st.DrawFn) -> Object:
    """Draw a case, without its answer."""
    aspects = draw(st.frozensets(st.sampled_from(ASPECTS), min_size=1, max_size=4))
    aspects |= {implied for aspect, implied in IMPLIED.items() if aspect in aspects}
    slices = draw(inventories(aspects))
    declared = {"status": {"declaredFeatures": ["DRAOptionalNodeOperations"]}} if chance(draw, 2) else {}
    return {
        "features": draw(_features()),
        "node": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": LABELS}, **declared},
        "classes": CLASSES,
        "slices": slices,
        "claims": draw(claim_lists(aspects)),
        "allocated": draw(_states(slices, aspects)),
    }


@st.composite
def _features(draw: st.DrawFn) -> list[str]:
    """Draw features: mostly all, or all but one or two."""
    missing = draw(st.lists(st.sampled_from(FEATURES), min_size=1, max_size=2)) if chance(draw, 2) else []
    return [feature for feature in FEATURES if feature not in missing]


@st.composite
def _states(draw: st.DrawFn, slices: list[Object], aspects: Aspects) -> Object:
    """Draw what is allocated already: nothing in half of the cases, else one device in four."""
    state: Object = {"devices": [], "shared": [], "consumedCapacity": {}}
    if not chance(draw, 2):
        return state
    for name, device in devices_of(slices):
        if not chance(draw, 4):
            continue
        if device.get("allowMultipleAllocations") and not chance(draw, 8):
            driver, pool, short = name.split("/")
            share = f"00000000-0000-0000-0000-{len(state['shared']):012}"
            state["shared"].append({"driver": driver, "pool": pool, "device": short, "shareID": share})
            if not chance(draw, 4):
                state["consumedCapacity"][name] = {"memory": draw(st.sampled_from(("1Gi", "4Gi", "7Gi", "20Gi")))}
        else:
            state["devices"].append(name)
    if chance(draw, 6):
        state["devices"].append(f"{DRIVERS[0]}/pool-0/gone")
    return state


def devices_of(slices: list[Object]) -> Iterator[tuple[str, Object]]:
    """Yield each device of the slices once, with its full name."""
    seen = set()
    for spec in (item["spec"] for item in slices):
        for device in spec.get("devices", ()):
            name = f"{spec['driver']}/{spec['pool']['name']}/{device['name']}"
            if name not in seen:
                seen.add(name)
                yield name, device
