"""One sequence of requests gets the same answers from both servers: statuses, bodies, watch events, final objects.

The fake server always runs against the recorded answers of the real one; with `-m parity` the real one does, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.parity import servers
from tests.parity.api import sequences
from tests.parity.record import recorded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.parity.api import Sequence

SEQUENCES = [(group, name, one) for group, members in sequences().items() for name, one in members.items()]


@pytest.mark.parametrize(("group", "name", "one"), SEQUENCES, ids=[f"{group}-{name}" for group, name, _ in SEQUENCES])
def test_fake_server_answers_as_the_real_one_did(group: str, name: str, one: Sequence) -> None:
    assert differences(recorded(group)[name], servers.fake_answers(name, one)) == []


@pytest.mark.parity
async def test_real_server_answers_as_it_did() -> None:
    different = {}
    async with servers.real() as transport:
        for group, name, one in SEQUENCES:
            found = differences(recorded(group)[name], await servers.answers(transport, name, one))
            if found:
                different[f"{group}-{name}"] = found

    assert different == {}


def test_no_recorded_answers_are_left_over() -> None:
    groups = {group for group, _, _ in SEQUENCES}
    assert {group: sorted(recorded(group)) for group in groups} == {
        group: sorted(name for owner, name, _ in SEQUENCES if owner == group) for group in groups
    }


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Return where two values differ, each as a line."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            line
            for key in sorted(expected.keys() | found.keys())
            for line in differences(_member(expected, key), _member(found, key), f"{path}.{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for index, (one, other) in pairs for line in differences(one, other, f"{path}[{index}]")]
    return [] if expected == found else [f"{path}: real {expected!r}, fake {found!r}"]


def _member(mapping: Mapping[str, Any], key: str) -> Any:
    return mapping.get(key, "(absent)")
