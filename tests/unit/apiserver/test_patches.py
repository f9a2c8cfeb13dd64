"""JSON patch, merge patch and strategic merge patch."""

from __future__ import annotations

from typing import Any

import pytest

from drayman.testing.apiserver.patches import merge, operations, strategic
from drayman.testing.apiserver.refusal import Refusal

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"

UNPROCESSABLE = "the server rejected our request due to an error in our request"


def pod(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": None, "c": 3}, {"b": 2, "c": 3}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_merge_patch(document: Any, patch: Any, expected: Any) -> None:
    assert merge.merge(document, patch) == expected


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/list/1", "value": 9}, {"list": [1, 9, 2], "a/b": 0}),
        ({"op": "add", "path": "/list/-", "value": 9}, {"list": [1, 2, 9], "a/b": 0}),
        ({"op": "replace", "path": "/a~1b", "value": 5}, {"list": [1, 2], "a/b": 5}),
        ({"op": "remove", "path": "/list/0"}, {"list": [2], "a/b": 0}),
        ({"op": "move", "from": "/a~1b", "path": "/c"}, {"list": [1, 2], "c": 0}),
        ({"op": "copy", "from": "/list", "path": "/c"}, {"list": [1, 2], "a/b": 0, "c": [1, 2]}),
        ({"op": "test", "path": "/list/1", "value": 2}, {"list": [1, 2], "a/b": 0}),
    ],
)
def test_json_patch(operation: dict[str, Any], expected: Any) -> None:
    document = {"list": [1, 2], "a/b": 0}

    assert operations.apply(document, [operation]) == expected
    assert document == {"list": [1, 2], "a/b": 0}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/x"},
        {"op": "test", "path": "/a", "value": 2},
        {"op": "jump", "path": "/a"},
        {"op": "remove", "path": f"/list/{'9' * 5000}"},
    ],
)
def test_json_patch_that_does_not_fit_is_refused(operation: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as refusal:
        operations.apply({"a": 1, "list": []}, [operation])

    assert (refusal.value.status["code"], refusal.value.status["message"]) == (422, UNPROCESSABLE)


def test_json_patch_that_doubles_the_object_again_and_again_is_refused() -> None:
    doublings = [{"op": "copy", "from": "/a", "path": f"/a/{index}"} for index in range(40)]

    with pytest.raises(Refusal) as refusal:
        operations.apply({"a": {"text": "x" * 100}}, doublings)

    assert refusal.value.status["code"] == 422
    assert refusal.value.status["message"] == UNPROCESSABLE


def test_strategic_patch_merges_keyed_lists() -> None:
    document = pod(containers=[{"name": "a", "image": "1", "env": [{"name": "x", "value": "1"}]}])
    patch = {"spec": {"containers": [{"name": "a", "env": [{"name": "y", "value": "2"}]}, {"name": "b"}]}}

    assert strategic.apply(document, patch)["spec"]["containers"] == [
        {"name": "a", "image": "1", "env": [{"name": "y", "value": "2"}, {"name": "x", "value": "1"}]},
        {"name": "b"},
    ]


def test_strategic_patch_replaces_lists_without_keys() -> None:
    document = pod(containers=[{"name": "a", "args": ["1", "2"]}], tolerations=[{"key": "k"}])
    patch = {"spec": {"containers": [{"name": "a", "args": ["3"]}], "tolerations": [{"key": "l"}]}}

    patched = strategic.apply(document, patch)["spec"]

    assert patched == {"containers": [{"name": "a", "args": ["3"]}], "tolerations": [{"key": "l"}]}


def test_strategic_patch_deletes_and_replaces_by_directive() -> None:
    document = pod(
        containers=[{"name": "a", "image": "1"}, {"name": "b"}],
        volumes=[{"name": "v"}, {"name": "w"}],
        nodeSelector={"x": "1"},
    )
    patch = {
        "spec": {
            "containers": [{"name": "a", "$patch": "delete"}],
            "volumes": [{"name": "u"}, {"$patch": "replace"}],
            "nodeSelector": {"$patch": "replace", "y": "2"},
        }
    }

    assert strategic.apply(document, patch)["spec"] == {
        "containers": [{"name": "b"}],
        "volumes": [{"name": "u"}],
        "nodeSelector": {"y": "2"},
    }


def test_strategic_patch_sets_the_order_of_a_list() -> None:
    document = pod(containers=[{"name": "a"}, {"name": "b"}, {"name": "c"}])
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": "c"}, {"name": "d"}, {"name": "a"}],
            "containers": [{"name": "d"}],
        }
    }

    patched = strategic.apply(document, patch)["spec"]["containers"]

    assert [container["name"] for container in patched] == ["b", "c", "d", "a"]


def test_strategic_patch_removes_values_from_a_list_of_values() -> None:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"finalizers": ["a", "b"]}}
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]}}

    assert strategic.apply(document, patch)["metadata"]["finalizers"] == ["c", "b"]


def test_strategic_patch_retains_only_the_keys_that_it_names() -> None:
    document = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
    }
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}

    assert strategic.apply(document, patch)["spec"]["strategy"] == {"type": "Recreate"}


def test_strategic_patch_removes_a_reservation_by_uid() -> None:
    document = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "status": {"reservedFor": [{"uid": "u-1", "name": "a"}, {"uid": "u-2", "name": "b"}]},
    }
    patch = {"status": {"reservedFor": [{"$patch": "delete", "uid": "u-1"}]}}

    assert strategic.apply(document, patch)["status"]["reservedFor"] == [{"uid": "u-2", "name": "b"}]


def test_strategic_patch_without_its_merge_key_is_refused() -> None:
    with pytest.raises(Refusal) as refusal:
        strategic.apply(pod(containers=[]), {"spec": {"containers": [{"image": "i"}]}})

    message = "map: map[image:i] does not contain declared merge key: name"
    assert refusal.value.status["message"] == message


async def test_patch_with_an_unknown_field_is_refused_when_strict(api) -> None:
    await api.pod("p")

    answer = await api.patch(f"{PODS}/p", {"spec": {"foo": 1}}, "strategic-merge-patch+json", fieldValidation="Strict")

    assert answer.code == 422
    assert answer.message == (
        ' "" is invalid: patch: Invalid value: "map[spec:map[foo:1]]": strict decoding error: unknown field "spec.foo"'
    )


async def test_patch_of_another_version_conflicts(api) -> None:
    await api.config_map("c")

    answer = await api.patch(f"{CONFIG_MAPS}/c", {"metadata": {"resourceVersion": "1"}})

    assert answer.code == 409


async def test_patch_for_another_uid_is_invalid(api) -> None:
    created = await api.config_map("c")

    answer = await api.patch(f"{CONFIG_MAPS}/c", {"metadata": {"uid": "u"}})

    assert answer.code == 422
    assert answer.message == 'ConfigMap "c" is invalid: metadata.uid: Invalid value: "u": field is immutable'
    assert await api.get(f"{CONFIG_MAPS}/c") == created


async def test_unknown_kind_of_patch_is_refused(api) -> None:
    await api.config_map("c")

    answer = await api.patch(f"{CONFIG_MAPS}/c", {}, "json")

    assert (answer.code, answer.message) == (415, "415: Unsupported Media Type")
