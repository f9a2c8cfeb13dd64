"""Whatever is wrong with an object, lint says so and does not fall over."""

from __future__ import annotations

import copy
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from drayman.lint import all_rules, fix, lint
from drayman.lint.source import BREAK

EXAMPLES = sorted({text for rule in all_rules().values() for text in (rule.bad, rule.good)})
ODD = st.sampled_from(
    [None, "", "x", 0, -1, 2**40, 1.5, True, [], {}, [None], [[]], {"": None}, {"a": {"b": []}}, "é\u2028"]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of everything in a value but the whole."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for name, below in items:
        found += [(*path, name), *places(below, (*path, name))]
    return found


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Draw an example in which one to three parts are gone, or are something else."""
    documents = copy.deepcopy(list(yaml.safe_load_all(draw(st.sampled_from(EXAMPLES)))))
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from(places(documents)))
        holder: Any = documents
        for name in path:
            holder = holder[name]
        if draw(st.booleans()):
            holder[last] = copy.deepcopy(draw(ODD))
        else:
            del holder[last]
        if not places(documents):
            break
    return yaml.safe_dump_all(documents, allow_unicode=True)


@settings(max_examples=60)
@given(mutated())
def test_odd_objects_are_linted(text: str) -> None:
    found = lint([("odd.yaml", text)])
    assert found == lint([("odd.yaml", text)])
    for one in found:
        assert 1 <= one.position.line <= len(BREAK.findall(text)) + 1
        assert (one.position.line, one.position.column) <= (one.position.end_line, one.position.end_column)


@settings(max_examples=40)
@given(mutated())
def test_fixes_put_right_what_they_are_about_and_nothing_else_changes(text: str) -> None:
    before = [one for one in lint([("odd.yaml", text)]) if one.fix is not None and one.fix.safe]
    fixed, count = fix([("odd.yaml", text)])
    after = fixed["odd.yaml"]
    assert (count > 0) == (after != text) == bool(before)
    assert not [one for one in lint([("odd.yaml", after)]) if one.fix is not None and one.fix.safe]
    assert fix([("odd.yaml", after)]) == ({"odd.yaml": after}, 0)
