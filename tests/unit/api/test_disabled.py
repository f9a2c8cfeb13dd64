from __future__ import annotations

import copy

from drayman import features
from drayman.api import disabled

SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "spec": {
        "devices": [
            {
                "name": "d",
                "attributes": {"a": {"ints": [1]}, "b": {"int": 1}},
                "taints": [{"key": "k"}],
                "capacity": {"m": {"value": "1", "requestPolicy": {"default": "1"}}},
            }
        ]
    },
}


def test_field_without_its_gate_is_cleared():
    kept = disabled.drop(SLICE, None, features.defaults())
    assert kept["spec"]["devices"][0]["attributes"] == {"a": {}, "b": {"int": 1}}
    assert kept["spec"]["devices"][0]["taints"] == [{"key": "k"}]


def test_field_is_kept_where_the_old_object_used_it():
    assert disabled.drop(SLICE, SLICE, frozenset()) == SLICE


def test_without_gates_a_slice_is_what_it_was_before_them():
    assert disabled.drop(SLICE, None, frozenset())["spec"]["devices"] == [
        {"name": "d", "attributes": {"a": {}, "b": {"int": 1}}, "capacity": {"m": {"value": "1"}}}
    ]


def test_binding_conditions_need_both_of_their_gates():
    slice_ = {**SLICE, "spec": {"devices": [{"name": "d", "bindsToNode": True}]}}
    one, both = (
        frozenset({"DRADeviceBindingConditions"}),
        {"DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"},
    )
    assert disabled.drop(slice_, None, one)["spec"] == {"devices": [{"name": "d"}]}
    assert disabled.drop(slice_, None, both) == slice_


def test_template_is_cleared_below_its_spec():
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "spec": {"spec": {"devices": {"requests": [{"name": "a", "firstAvailable": [{"name": "b"}]}]}}},
    }
    kept = disabled.drop(template, None, frozenset())
    assert kept["spec"]["spec"]["devices"]["requests"] == [{"name": "a"}]


def test_dropped_fields_are_told_with_their_gates():
    gates = features.defaults() - {"DRADeviceTaints"}
    assert list(disabled.dropped(SLICE, gates)) == [
        ("spec.devices.[].taints", ("DRADeviceTaints",)),
        ("spec.devices.[].attributes.{}.ints", ("DRAListTypeAttributes",)),
    ]


def test_input_is_not_changed():
    before = copy.deepcopy(SLICE)
    disabled.drop(SLICE, None, frozenset())
    assert before == SLICE
