"""Whatever bytes, objects and texts say: the answer is a value, or an error of ours that says what is wrong."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.expressions import expressions
from tests.property.strategies import cases

import drayman
from drayman import cel, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

quick = settings(max_examples=200, database=None)

# Also text that is no Unicode.
texts = st.text(max_size=40) | st.text(st.characters(categories=("Cs", "Nd", "Po")), max_size=10)

numbers = st.one_of(
    st.integers(),
    st.from_regex(r"[+-]?[0-9.]{0,30}(e-?[0-9]{1,12}|[numkKMGTPE]i?)?", fullmatch=True),
    st.sampled_from(["1e999999999", "-1e-999999999", "9" * 2_000, "1Ki" * 50, "0x10", "١", "1\n", "∞"]),
)

leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | texts | numbers

values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)

DEEP = 100_000


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a case for the allocator in which some values were replaced, removed or doubled."""
    case = copy.deepcopy(draw(cases()))
    for _ in range(draw(st.integers(1, 4))):
        container, key = draw(st.sampled_from(list(places(case))))
        match draw(st.integers(0, 2)):
            case 0:
                container[key] = draw(values)
            case 1 if isinstance(container, dict):
                container[draw(texts)] = container.pop(key, None)
            case _:
                container[key] = [container[key], copy.deepcopy(container[key])]
    return case


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in `value` with each of its keys or positions."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def told(call: Callable[[], object]) -> None:
    """Call; an error must be one of ours and say something."""
    message = "no error"
    try:
        call()
    except drayman.DraymanError as error:
        message = str(error)
    assert message


@given(data=st.binary(max_size=200))
@quick
def test_bytes_are_an_object_or_refused(data: bytes) -> None:
    told(lambda: drayman.Inventory().apply(data))
    told(lambda: drayman.Allocator([data], []))
    told(lambda: manifest.parse(data.decode(errors="surrogateescape")))


@given(case=mutated(), cut=st.integers(0, 3_000))
@settings(quick, max_examples=100)
def test_objects_with_odd_values_are_used_or_refused(case: dict[str, Any], cut: int) -> None:
    objects = [part for name in ("classes", "slices", "claims") for part in listed(case.get(name))]
    inventory = drayman.Inventory()
    for obj in [*objects, case.get("node")]:
        told(lambda obj=obj: inventory.apply(obj))  # type: ignore[misc]
        with contextlib.suppress(ValueError):
            raw = json.dumps(obj)
            told(lambda raw=raw: inventory.apply(raw[: cut % (len(raw) + 1)].encode()))  # type: ignore[misc]
            told(lambda raw=raw: manifest.parse(raw[: cut % (len(raw) + 1)]))  # type: ignore[misc]
    budget = drayman.Budget(steps=10_000)
    claims = listed(case.get("claims"))
    told(lambda: len(inventory.evaluate(claims, budget=budget).explanation().tree()))
    told(lambda: allocate(case, claims, budget))


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def allocate(case: dict[str, Any], claims: list[Any], budget: drayman.Budget) -> None:
    allocator = drayman.Allocator(
        listed(case.get("slices")), listed(case.get("classes")), feature_gates="AllAlpha=true,AllBeta=true"
    )
    outcome = allocator.allocate(case.get("node"), claims, budget=budget)  # type: ignore[arg-type]
    if isinstance(outcome, drayman.Unallocatable):
        assert outcome.explanation.line()


@given(value=numbers | texts)
@quick
def test_texts_and_numbers_are_quantities_and_versions_or_refused(value: Any) -> None:
    told(lambda: drayman.Quantity(value) + drayman.Quantity(value) - drayman.Quantity(value))
    told(lambda: str(drayman.Quantity(value)))
    told(lambda: drayman.Version(str(value)))
    told(lambda: drayman.Version(str(value), normalize=True))


@given(expression=expressions() | texts, driver=texts, device=st.dictionaries(texts, values, max_size=3))
@quick
def test_expressions_on_odd_devices_have_a_value_or_are_refused(
    expression: str, driver: str, device: dict[str, Any]
) -> None:
    told(lambda: cel.compile(expression, environment="new"))
    for given_device in (device, {"attributes": device}, {"capacity": device, "driver": driver}):
        told(lambda given_device=given_device: cel.compile(expression).evaluate(given_device))  # type: ignore[misc]
        told(lambda given_device=given_device: cel.compile(expression).matches(given_device, driver))  # type: ignore[misc]


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * DEEP,
        "{" * DEEP,
        '{"a":' * DEEP,
        '{"kind": "Node", "metadata": ' + "[" * DEEP + "]" * DEEP + "}",
        "- " * DEEP,
        "a: &a [" + "*a," * DEEP + "]",
        "&a [*a]",
        "(" * DEEP,
        "!" * DEEP + "true",
        "-" * DEEP + "1",
        "device" + ".a" * DEEP,
        "device" + "[0]" * DEEP,
        "1" + " + 1" * DEEP,
        '"' + "a" * DEEP + '"',
        "[1].map(x, " * 200 + "x" + ")" * 200,
        "1" * DEEP,
        "1." * DEEP,
        "\x00" * DEEP,
    ],
    ids=lambda text: text[:12],
)
def test_deep_and_long_texts_are_read_or_refused(hostile: str) -> None:
    told(lambda: drayman.Inventory().apply(hostile.encode()))
    told(lambda: manifest.parse(hostile))
    told(lambda: cel.compile(hostile).evaluate({}))
    told(lambda: cel.compile(hostile, environment="new"))
    told(lambda: drayman.Quantity(hostile))
    told(lambda: drayman.Version(hostile, normalize=True))
