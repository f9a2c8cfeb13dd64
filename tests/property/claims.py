"""Claims, and the classes that they name: what is asked for is often nearly, or not quite, there."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.property.expressions import expressions
from tests.property.inventories import DRIVERS, Aspects, Object, chance

OWN = f'device.attributes["{DRIVERS[0]}"]'
OPTIONAL = f'device.attributes["{DRIVERS[0]}"].?'

SELECTORS = (
    f'{OPTIONAL}model.orValue("") == "A"',
    f"{OPTIONAL}numa.orValue(0) in [1, 2]",
    f'has({OWN}.version) && {OWN}.version.isLessThan(semver("2.0.0"))',
    f'device.driver == "{DRIVERS[0]}"',
    f"!{OPTIONAL}ecc.orValue(false)",
    "!device.allowMultipleAllocations",
    f'device.capacity["{DRIVERS[0]}"].?memory.orValue(quantity("8Gi")).compareTo(quantity("8Gi")) >= 0',
)
FAILING = (f"{OWN}.numa == 1", f"{OWN}.nope", f"{OWN}.numa", "device.nope", "1 +", f"{OWN}.model > 1", "")
DERIVED = (
    f"{OPTIONAL}numa.orValue(0) == 0",
    f'{OPTIONAL}model.orValue("none")',
    f"[{OPTIONAL}numa.orValue(3)]",
    "device.driver",
)
FAILING_DERIVED = (f"{OWN}.nope", "device.nope", "[1, device.driver]", "{}")
CONSTRAINED = tuple(f"{DRIVERS[0]}/{name}" for name in ("model", "numa", "version", "ecc"))
LISTED = tuple(f"{DRIVERS[0]}/{name}" for name in ("tags", "nodes"))
RAIL, DERIVED_NAME = "net.example.com/rail", f"{DRIVERS[0]}/derived"

TOLERATIONS: tuple[Object, ...] = (
    {"key": "broken", "operator": "Exists"},
    {"operator": "Exists", "effect": "NoExecute"},
    {"key": "hot", "operator": "Equal", "value": "x"},
    {"operator": "Exists"},
    {"key": "hot", "operator": "Equal", "value": "y", "effect": "NoExecute", "tolerationSeconds": 60},
)


def device_class(name: str, *selectors: str, **spec: Any) -> Object:
    cel = {"selectors": [{"cel": {"expression": text}} for text in selectors]} if selectors else {}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {**cel, **spec},
    }


def opaque(**parameters: str) -> Object:
    return {"opaque": {"driver": DRIVERS[0], "parameters": parameters}}


REQUESTED = ("gpu", "any", "gpu", "any", "gpu", "any", "configured", "nic")
"""Names of classes, the likely ones several times."""

CLASSES = [
    device_class("any"),
    device_class("gpu", f'device.driver == "{DRIVERS[0]}"'),
    device_class("nic", f'device.driver == "{DRIVERS[1]}"'),
    device_class("configured", config=[opaque(of="class"), opaque(of="class as well")]),
    device_class("broken", f"{OWN}.nope"),
]


@st.composite
def claim_lists(draw: st.DrawFn, aspects: Aspects) -> list[Object]:
    """Draw one to three claims, four requests together at most."""
    left = 4
    claims: list[Object] = []
    while left > 0 and len(claims) < 3 and (not claims or chance(draw, 3)):
        requests = draw(st.integers(1, min(3, left)))
        left -= requests
        claims.append(draw(_claims(aspects, f"claim-{len(claims)}", requests)))
    return claims


@st.composite
def _claims(draw: st.DrawFn, aspects: Aspects, name: str, count: int) -> Object:
    requests = [draw(_requests(aspects, f"r{index}")) for index in range(count)]
    devices: Object = {"requests": requests}
    names = [reference for request in requests for reference in references(request)]
    if aspects & {"constraints", "lists", "derived"} or chance(draw, 6):
        devices["constraints"] = draw(st.lists(_constraints(aspects, names), min_size=1, max_size=2))
    if chance(draw, 4):
        devices["config"] = draw(st.lists(_configs(names), min_size=1, max_size=2))
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": name},
        "spec": {"devices": devices},
    }


def references(request: Object) -> list[str]:
    """Return the names by which constraints and configuration can speak of a request."""
    return [request["name"], *(f"{request['name']}/{sub['name']}" for sub in request.get("firstAvailable", ()))]


@st.composite
def _requests(draw: st.DrawFn, aspects: Aspects, name: str) -> Object:
    if "priorities" in aspects and chance(draw, 2):
        count = draw(st.integers(1, 3))
        alternatives = [{"name": f"s{index}", **draw(_bodies(aspects, alternative=True))} for index in range(count)]
        return {"name": name, "firstAvailable": alternatives}
    return {"name": name, "exactly": draw(_bodies(aspects, alternative=False))}


@st.composite
def _bodies(draw: st.DrawFn, aspects: Aspects, alternative: bool) -> Object:
    failing = "errors" in aspects
    body: Object = {
        "deviceClassName": draw(st.sampled_from(("gpu", "any", "gpu", "any", "gpu", "any", "configured", "nic")))
    }
    if failing and chance(draw, 12):
        body["deviceClassName"] = draw(st.sampled_from(("broken", "unknown", "")))
    if chance(draw, 3 if failing else 5):
        body["selectors"] = [{"cel": {"expression": draw(_selectors(failing))}}]
    body |= draw(_counts("all" in aspects, failing))
    if "admin" in aspects and not alternative and chance(draw, 2):
        body["adminAccess"] = not chance(draw, 6)
    if "taints" in aspects and chance(draw, 2):
        body["tolerations"] = draw(st.lists(st.sampled_from(TOLERATIONS), min_size=1, max_size=2))
    if "capacity" in aspects and not chance(draw, 3):
        body["capacity"] = {"requests": draw(_amounts(aspects))}
    if "derived" in aspects and not chance(draw, 3):
        expression = draw(st.sampled_from(FAILING_DERIVED if failing and chance(draw, 4) else DERIVED))
        body["derivedAttributes"] = [{"name": DERIVED_NAME, "expression": expression}]
    return body


@st.composite
def _selectors(draw: st.DrawFn, failing: bool) -> str:
    if failing and chance(draw, 2):
        return draw(st.sampled_from(FAILING))
    return draw(expressions(depth=2, mistakes=400)) if chance(draw, 8) else draw(st.sampled_from(SELECTORS))


@st.composite
def _counts(draw: st.DrawFn, everything: bool, failing: bool) -> Object:
    if chance(draw, 2 if everything else 12):
        return {"allocationMode": "All"}
    if failing and chance(draw, 6):
        return draw(st.sampled_from(({"allocationMode": "ExactCount", "count": 33}, {"allocationMode": "Some"})))
    return {"allocationMode": "ExactCount", "count": draw(st.sampled_from((1, 1, 2, 1, 1, 2, 1, 3)))}


@st.composite
def _amounts(draw: st.DrawFn, aspects: Aspects) -> Object:
    amounts = ["1100m", "600m", "2"] if "fractions" in aspects else ["1Gi", "2Gi", "3Gi", "4Gi", "2500Mi", "9Gi", "0"]
    if "errors" in aspects:
        amounts += ["-1", "1e19"]
    requests = {"memory": draw(st.sampled_from(amounts))}
    if chance(draw, 5):
        requests[draw(st.sampled_from(("cores", f"{DRIVERS[0]}/memory", "nope")))] = "1"
    return requests


@st.composite
def _constraints(draw: st.DrawFn, aspects: Aspects, names: list[str]) -> Object:
    choice = st.sampled_from((*CONSTRAINED, RAIL)) | st.sampled_from(LISTED if "lists" in aspects else CONSTRAINED)
    attribute = DERIVED_NAME if "derived" in aspects and not chance(draw, 3) else draw(choice)
    kind = "distinctAttribute" if chance(draw, 3) else "matchAttribute"
    constraint: Object = {kind: attribute}
    if chance(draw, 3):
        constraint["requests"] = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    return {} if "errors" in aspects and chance(draw, 20) else constraint


@st.composite
def _configs(draw: st.DrawFn, names: list[str]) -> Object:
    requests = draw(st.lists(st.sampled_from([*names, "unknown"]), max_size=3, unique=True))
    return {**({"requests": requests} if requests else {}), **opaque(of="claim")}
