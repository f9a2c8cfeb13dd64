"""Offsets inside a value are places in the file, whatever the style of the scalar."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from drayman.lint.scalar import offsets

LINES = st.text(alphabet="ab =&|'\"\\\t#:é\U0001f600", max_size=12)
VALUES = st.lists(LINES, min_size=1, max_size=5).map("\n".join)
STYLES = st.sampled_from(["|", ">", "'", '"', ""])


@given(VALUES, STYLES, st.integers(6, 40))
def test_every_character_of_a_dumped_value_is_found_where_it_is_written(value: str, style: str, width: int) -> None:
    document = yaml.dump({"a": {"key": value}}, default_style=style or None, width=width, allow_unicode=True)
    events: list[Any] = [e for e in yaml.parse(document, Loader=yaml.CSafeLoader) if isinstance(e, yaml.ScalarEvent)]
    event = events[-1]
    assert event.value == value
    found = offsets(document, event.start_mark.index, event.end_mark.index, value)
    assert found is not None
    assert len(found) == len(value) + 1
    assert list(found) == sorted(found)
    for character, at in zip(value, found, strict=False):
        if character not in " \n":
            assert document[at] in (character, "\\")


@pytest.mark.parametrize(
    ("document", "wanted", "column"),
    [
        ("a: x.bad == 1", "bad", 6),
        ("a: 'it''s bad'", "bad", 11),
        ('a: "\\"q\\" bad"', "bad", 11),
        ("a: &x !!str bad", "bad", 13),
        ("a: one\n  two\n  bad", "bad", 3),
        ("a: |\n  one\n  bad\n", "bad", 3),
        ("a: |-\n    one\n      bad\n", "bad", 7),
        ("a: |2\n    bad\n", "bad", 5),
        ("a: >\n  one\n\n  two bad\n", "bad", 7),
        ("a: >-\n  one\n    bad\n  two\n", "bad", 5),
        ("a: >-\r\n  one\r\n  bad\r\n", "bad", 3),
        ('a: "one \\\n   bad"', "bad", 4),
        ('a: "one\n\n  bad"', "bad", 3),
        ("a: 'one\n\n\n  bad'", "bad", 3),
    ],
)
def test_a_word_in_a_value_has_its_column(document: str, wanted: str, column: int) -> None:
    events: list[Any] = [e for e in yaml.parse(document, Loader=yaml.CSafeLoader) if isinstance(e, yaml.ScalarEvent)]
    event = events[-1]
    found = offsets(document, event.start_mark.index, event.end_mark.index, event.value)
    assert found is not None
    at = found[event.value.index(wanted)]
    line_start = max(document.rfind("\n", 0, at), document.rfind("\r", 0, at)) + 1
    assert (document[at : at + len(wanted)], at - line_start + 1) == (wanted, column)


def test_an_alias_has_no_characters_of_its_own() -> None:
    document = "a: &x some text\nb: *x\n"
    at = document.index("*x")
    assert offsets(document, at, at + 2, "some text") is None
