"""Binding, eviction, scale and logs."""

from __future__ import annotations

from typing import Any

import pytest

from drayman.kube.http import Request

PODS = "/api/v1/namespaces/default/pods"


async def test_binding_sets_node_and_condition(api) -> None:
    pod = await api.pod("p")
    await api.patch(f"{PODS}/p/status", {"status": {"nominatedNodeName": "node-1"}})

    answer = await api.bind(pod)
    bound = await api.get(f"{PODS}/p")

    assert (answer.code, answer.body["status"]) == (201, "Success")
    assert bound["spec"]["nodeName"] == "node-1"
    assert "nominatedNodeName" not in bound["status"]
    assert bound["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]


async def test_bound_pod_is_not_bound_again(api) -> None:
    pod = await api.pod("p")
    await api.bind(pod)

    answer = await api.bind(pod, "node-2")

    assert answer.code == 409
    assert answer.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "node-1"'
    )


async def test_gated_pod_is_not_bound(api) -> None:
    answer = await api.bind(await api.pod("p", schedulingGates=[{"name": "example.com/wait"}]))

    assert answer.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p has non-empty .spec.schedulingGates'
    )


async def test_pod_that_is_being_deleted_is_not_bound(api) -> None:
    pod = await api.pod("p", metadata={"finalizers": ["example.com/x"]})
    await api.send("DELETE", f"{PODS}/p")

    answer = await api.bind(pod)

    assert answer.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is being deleted, cannot be assigned to a host'
    )


async def test_binding_for_another_pod_of_the_name_conflicts(api) -> None:
    old = await api.pod("p")
    await api.send("DELETE", f"{PODS}/p")
    new = await api.pod("p")

    answer = await api.bind(old)

    assert answer.code == 409
    assert answer.message == (
        'Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, '
        "Key: /registry/pods/default/p, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: {old['metadata']['uid']}, UID in object meta: {new['metadata']['uid']}"
    )


async def test_eviction_deletes_the_pod(api) -> None:
    await api.pod("p")

    answer = await api.send("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})

    assert answer.code == 201
    assert (await api.send("GET", f"{PODS}/p")).code == 404


async def test_eviction_respects_the_disruption_budget(api) -> None:
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}
    await api.create(budgets, {"metadata": {"name": "b"}, "spec": spec})
    state = {"disruptionsAllowed": 1, "desiredHealthy": 1, "currentHealthy": 2, "expectedPods": 2}
    await api.patch(f"{budgets}/b/status", {"status": state})
    for name in ("p", "q"):
        await api.bind(await api.pod(name, metadata={"labels": {"app": "a"}}))
        await api.patch(f"{PODS}/{name}/status", {"status": {"phase": "Running"}})

    first = await api.send("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})
    second = await api.send("POST", f"{PODS}/q/eviction", {"metadata": {"name": "q"}})

    assert first.code == 201
    assert second.code == 429
    assert second.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert second.body["details"]["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget b needs 1 healthy pods and has 2 currently",
        }
    ]


async def test_scale_changes_the_replicas(api) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    await api.create(path, {"metadata": {"name": "d"}, "spec": spec})

    scale = await api.get(f"{path}/d/scale")
    patched = await api.patch(f"{path}/d/scale", {"spec": {"replicas": 4}})

    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 1})
    assert scale["status"] == {"replicas": 0, "selector": "a=b"}
    assert patched.body["spec"] == {"replicas": 4}
    assert (await api.get(f"{path}/d"))["spec"]["replicas"] == 4


async def test_log_that_was_pushed_is_served(api) -> None:
    await api.bind(await api.pod("p"))

    await api.send("PUT", f"{PODS}/p/log", b"one\ntwo\nthree\n", container="main")

    assert (await api.send("GET", f"{PODS}/p/log")).body == "one\ntwo\nthree\n"
    assert (await api.send("GET", f"{PODS}/p/log", tailLines="1")).body == "three\n"
    assert (await api.send("GET", f"{PODS}/p/log", limitBytes="3")).body == "one"


async def test_followed_log_ends_with_its_container(api) -> None:
    await api.bind(await api.pod("p"))
    await api.send("PUT", f"{PODS}/p/log", b"one\n")

    log = await api.stream(f"{PODS}/p/log", follow="true")
    first = await anext(log)
    await api.send("PUT", f"{PODS}/p/log", b"one\ntwo\n")
    second = await anext(log)
    terminated = {"name": "main", "state": {"terminated": {"exitCode": 0}}}
    await api.patch(f"{PODS}/p/status", {"status": {"containerStatuses": [terminated]}})

    assert (first, second) == (b"one\n", b"two\n")
    assert [chunk async for chunk in log] == []


async def test_log_of_a_pod_without_a_node_is_nothing(api) -> None:
    await api.pod("p")

    answer = await api.server.handle(Request("GET", f"{PODS}/p/log", (), {}))

    assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize(
    ("spec", "query", "message"),
    [
        ({"nodeName": "n"}, {}, 'container "main" in pod "p" is waiting to start: ContainerCreating'),
        ({}, {"container": "x"}, "container x is not valid for pod p"),
        (
            {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]},
            {},
            "a container name must be specified for pod p, choose one of: [a b]",
        ),
    ],
)
async def test_log_that_is_not_there_says_why(api, spec: dict[str, Any], query: dict[str, str], message: str) -> None:
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "i"}], **spec}}
    await api.create(PODS, body)

    answer = await api.send("GET", f"{PODS}/p/log", **query)

    assert (answer.code, answer.message) == (400, message)
