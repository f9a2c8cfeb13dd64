from __future__ import annotations

import copy

import pytest

from drayman.api import convert

CLAIM_V1BETA1 = {
    "apiVersion": "resource.k8s.io/v1beta1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c"},
    "spec": {
        "devices": {
            "requests": [
                {"name": "one", "deviceClassName": "gpu", "count": 2, "adminAccess": False},
                {"name": "either", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]},
            ]
        }
    },
}
CLAIM_V1 = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c"},
    "spec": {
        "devices": {
            "requests": [
                {"name": "one", "exactly": {"deviceClassName": "gpu", "count": 2, "adminAccess": False}},
                {"name": "either", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]},
            ]
        }
    },
}
SLICE_V1BETA1 = {
    "apiVersion": "resource.k8s.io/v1beta1",
    "kind": "ResourceSlice",
    "spec": {"nodeName": "n", "devices": [{"name": "d", "basic": {"attributes": {"i": {"int": 1}}, "allNodes": True}}]},
}
SLICE_V1 = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "spec": {"nodeName": "n", "devices": [{"name": "d", "attributes": {"i": {"int": 1}}, "allNodes": True}]},
}


@pytest.mark.parametrize(("old", "new"), [(CLAIM_V1BETA1, CLAIM_V1), (SLICE_V1BETA1, SLICE_V1)])
def test_v1beta1_and_v1_say_the_same_in_two_shapes(old: dict, new: dict):
    assert convert.to_v1(old) == new
    assert convert.from_v1(new, "v1beta1") == old


def test_v1beta2_has_the_shape_of_v1():
    assert convert.from_v1(CLAIM_V1, "v1beta2") == {**CLAIM_V1, "apiVersion": "resource.k8s.io/v1beta2"}
    assert convert.to_v1({**CLAIM_V1, "apiVersion": "resource.k8s.io/v1beta2"}) == CLAIM_V1


def test_template_is_converted_below_its_spec():
    template = {**CLAIM_V1BETA1, "kind": "ResourceClaimTemplate", "spec": {"spec": CLAIM_V1BETA1["spec"]}}
    assert convert.to_v1(template)["spec"]["spec"] == CLAIM_V1["spec"]


def test_empty_node_fields_of_a_v1beta1_slice_are_not_set():
    slice_ = {**SLICE_V1BETA1, "spec": {"nodeName": "", "allNodes": False, "driver": "d"}}
    assert convert.to_v1(slice_)["spec"] == {"driver": "d"}


def test_objects_of_other_groups_stay_as_they_are():
    assert convert.to_v1({"apiVersion": "v1", "kind": "Pod"}) == {"apiVersion": "v1", "kind": "Pod"}


def test_malformed_parts_are_left_for_the_decoder():
    assert convert.to_v1({**CLAIM_V1BETA1, "spec": {"devices": {"requests": "x"}}})["spec"] == {
        "devices": {"requests": "x"}
    }


def test_unknown_version_is_refused():
    with pytest.raises(ValueError, match=r"^`resource\.k8s\.io` has no version `v2`$"):
        convert.from_v1(CLAIM_V1, "v2")


def test_input_is_not_changed():
    before = copy.deepcopy([CLAIM_V1BETA1, CLAIM_V1, SLICE_V1BETA1, SLICE_V1])
    convert.to_v1(CLAIM_V1BETA1)
    convert.to_v1(SLICE_V1BETA1)
    convert.from_v1(CLAIM_V1, "v1beta1")
    convert.from_v1(SLICE_V1, "v1beta1")
    assert before == [CLAIM_V1BETA1, CLAIM_V1, SLICE_V1BETA1, SLICE_V1]
