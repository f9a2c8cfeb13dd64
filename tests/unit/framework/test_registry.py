"""Plugins named by people."""

from __future__ import annotations

import pytest

from drayman.errors import InputError
from drayman.framework import registry
from drayman.plugins.node_name import NodeName
from drayman.plugins.node_ports import NodePorts


def test_plugin_is_loaded_by_module_and_class() -> None:
    assert registry.load("drayman.plugins.node_name:NodeName") is NodeName


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.such.module:X", "plugin `no.such.module:X` cannot be loaded: No module named 'no'"),
        (
            "drayman.plugins.node_name:Missing",
            "plugin `drayman.plugins.node_name:Missing` cannot be loaded: "
            "module 'drayman.plugins.node_name' has no attribute 'Missing'",
        ),
        (
            "drayman.plugins.node_name:REASON",
            "plugin `drayman.plugins.node_name:REASON` is not a plugin class: it needs a `name`",
        ),
    ],
)
def test_what_is_no_plugin_is_refused(path: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        registry.load(path)
    assert str(raised.value) == message


def test_later_group_takes_the_place_of_an_earlier_one() -> None:
    class Mine:
        name = "NodeName"

        def __init__(self, _arguments: object, _handle: object) -> None:
            pass

    assert registry.by_name([NodeName, NodePorts], [Mine]) == {"NodeName": Mine, "NodePorts": NodePorts}
