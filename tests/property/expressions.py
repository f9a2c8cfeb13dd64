"""CEL: expressions that mean something on the devices below, some with a mistake in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from tests.property.compounds import COMPOUNDS
from tests.property.grammar import ANY, LEAVES, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

_SLOT = re.compile(r"\$([a-z]+)(?:\[([a-z]+:[a-z]+(?:,[a-z]+:[a-z]+)*)\])?")
_WORD = re.compile(r"\$([A-Z]+)")


@st.composite
def expressions(draw: st.DrawFn, kind: str = "bool", depth: int = 3, mistakes: int = 40) -> str:
    """Draw an expression; one in `mistakes` operands is of any type, so that some do not compile."""
    # One draw a whole expression: many small ones would take longer than the answers.
    choice = draw(st.randoms(use_true_random=True))
    depth = choice.randint(1, depth)

    def fill(wanted: str, left: int, scope: Mapping[str, str]) -> str:
        variables = [name for name, held in scope.items() if wanted in (held, "any") or held == "any"]
        if len(variables) > 0 and choice.random() < 0.5:
            return choice.choice(variables)
        if wanted == "any" or choice.randrange(mistakes) == 0:
            wanted = choice.choice(ANY)
        is_compound = wanted not in LEAVES or (left > 0 and choice.random() < 0.75 and wanted in COMPOUNDS)
        template = choice.choice((COMPOUNDS if is_compound else LEAVES)[wanted])
        template = _WORD.sub(lambda word: WORDS[word[1]], template)
        return _SLOT.sub(lambda slot: fill(slot[1], left - 1, {**scope, **declared(slot[2])}), template)

    return fill(kind, depth, {})


def declared(variables: str | None) -> dict[str, str]:
    """Return the variables of a slot by name: `x:int,k:string`."""
    return dict(variable.split(":") for variable in variables.split(",")) if variables else {}


_TOKENS = re.compile(r"\s+|\w+|\"[^\"]*\"|.", re.DOTALL)
_STRAY = (
    "( ) [ ] { } , . ? ! && || == = @ # \" ' 1 x 1. 0x : in - & | ` \\ true null .? [? let for r' b\" 1u 1e $ ~ é 😀 //"
)


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """Draw an expression with a token too few, too many, or in the wrong place."""
    tokens = _TOKENS.findall(draw(expressions(depth=1)))
    place = draw(st.integers(0, len(tokens) - 1))
    change = draw(st.sampled_from(("drop", "insert", "replace", "repeat", "cut")))
    if change == "cut":
        return "".join(tokens[: place + 1])
    stray: str = draw(st.sampled_from(_STRAY.split()))
    middle = {"drop": [], "repeat": [tokens[place]] * 2}.get(change, [stray])
    kept = [tokens[place]] if change == "insert" else []
    return "".join([*tokens[:place], *middle, *kept, *tokens[place + 1 :]])


ATTRIBUTES: dict[str, tuple[dict[str, Any], ...]] = {
    "model": ({"string": "A"}, {"string": "B 80GB"}, {"string": "A"}, {"int": 1}),
    "arch": ({"string": "x-1"}, {"string": "Ä1"}),
    "numa": ({"int": 0}, {"int": 1}, {"int": 2}, {"string": "1"}),
    "ecc": ({"bool": True}, {"bool": False}),
    "version": ({"version": "1.2.3"}, {"version": "1.2.3+b"}, {"version": "2.0.0-rc.1"}, {"version": "1.10.0"}),
    "tags": ({"strings": ["a", "b"]}, {"strings": ["c"]}, {"string": "a"}),
    "nodes": ({"ints": [0, 1]}, {"ints": [2]}, {"ints": [3, 1, 2]}),
    "net.example.com/rail": ({"int": 3}, {"int": 0}),
    "odd": ({"bools": [True, False]}, {"versions": ["1.0.0", "2.0.0"]}, {}, {"version": "1.x"}),
}
CAPACITIES = {"memory": ("40Gi", "80Gi", "1"), "cores": ("8", "1500m"), "net.example.com/bandwidth": ("100G",)}


@st.composite
def devices(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a device: most of the attributes that expressions speak of, seldom one that cannot be read."""
    attributes = {
        name: draw(st.sampled_from(values))
        for name, values in ATTRIBUTES.items()
        if draw(st.integers(0, 19)) >= (19 if name == "odd" else 2)
    }
    capacity = {
        name: {"value": draw(st.sampled_from(values))}
        for name, values in CAPACITIES.items()
        if draw(st.integers(0, 9)) > 0
    }
    shared = draw(st.sampled_from((None, True, False)))
    return {"driver": WORDS["DOMAIN"], "attributes": attributes, "capacity": capacity} | (
        {} if shared is None else {"allowMultipleAllocations": shared}
    )
