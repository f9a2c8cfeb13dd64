"""Deletion: grace periods, finalizers, preconditions, owners and namespaces."""

from __future__ import annotations

from typing import Any

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


def owned_by(*owners: dict[str, Any], **more: Any) -> dict[str, Any]:
    references = [
        {"apiVersion": o["apiVersion"], "kind": o["kind"], "name": o["metadata"]["name"], "uid": o["metadata"]["uid"]}
        for o in owners
    ]
    return {"ownerReferences": [{**reference, **more} for reference in references]}


async def exists(api, path: str) -> bool:
    return (await api.send("GET", path)).code == 200


async def test_unscheduled_pod_is_gone_at_once(api) -> None:
    await api.pod("p")

    answer = await api.send("DELETE", f"{PODS}/p")

    assert (answer.code, answer.body["kind"]) == (200, "Pod")
    assert not await exists(api, f"{PODS}/p")


async def test_bound_pod_stays_for_its_grace_period_until_the_kubelet_ends_it(api) -> None:
    await api.bind(await api.pod("p"))

    marked = await api.send("DELETE", f"{PODS}/p")
    metadata = marked.body["metadata"]
    still_there = await exists(api, f"{PODS}/p")
    await api.send("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 0})

    assert (metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"]) == ("2026-01-01T00:00:30Z", 30)
    assert still_there
    assert not await exists(api, f"{PODS}/p")


async def test_second_deletion_can_only_shorten_the_grace_period(api) -> None:
    await api.bind(await api.pod("p"))
    await api.send("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 20})

    longer = await api.send("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 40})
    shorter = await api.send("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 5})

    assert longer.body["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:20Z"
    assert shorter.body["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:05Z"


async def test_finished_pod_is_gone_at_once(api) -> None:
    await api.bind(await api.pod("p"))
    await api.patch(f"{PODS}/p/status", {"status": {"phase": "Succeeded"}})

    await api.send("DELETE", f"{PODS}/p")

    assert not await exists(api, f"{PODS}/p")


async def test_object_stays_until_its_last_finalizer_is_removed(api) -> None:
    await api.claim("c", metadata={"finalizers": ["example.com/a", "example.com/b"]})

    marked = await api.send("DELETE", f"{CLAIMS}/c")
    await api.patch(f"{CLAIMS}/c", {"metadata": {"finalizers": ["example.com/b"]}})
    still_there = await exists(api, f"{CLAIMS}/c")
    await api.patch(f"{CLAIMS}/c", {"metadata": {"finalizers": None}})

    assert marked.body["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert still_there
    assert not await exists(api, f"{CLAIMS}/c")


async def test_deletion_of_another_uid_or_version_conflicts(api) -> None:
    created = await api.config_map("c")

    uid = await api.send("DELETE", f"{CONFIG_MAPS}/c", {"preconditions": {"uid": "u"}})
    version = await api.send("DELETE", f"{CONFIG_MAPS}/c", {"preconditions": {"resourceVersion": "1"}})

    start = 'Operation cannot be fulfilled on ConfigMap "c": '
    assert uid.message == (
        f"{start}the UID in the precondition (u) does not match the UID in record ({created['metadata']['uid']}). "
        "The object might have been deleted and then recreated"
    )
    assert version.message == (
        f"{start}the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (6). "
        "The object might have been modified"
    )
    assert (uid.code, version.code) == (409, 409)


async def test_dependents_go_with_their_last_owner(api) -> None:
    first, second = await api.config_map("first"), await api.config_map("second")
    await api.config_map("both", metadata=owned_by(first, second))
    await api.config_map("one", metadata=owned_by(first))
    await api.pod("grandchild", metadata=owned_by(await api.get(f"{CONFIG_MAPS}/one")))

    await api.send("DELETE", f"{CONFIG_MAPS}/first")

    listed = await api.get(CONFIG_MAPS)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["both", "second"]
    assert [ref["name"] for ref in listed["items"][0]["metadata"]["ownerReferences"]] == ["second"]
    assert not await exists(api, f"{PODS}/grandchild")


async def test_orphaned_dependents_live_on(api) -> None:
    owner = await api.config_map("owner")
    await api.config_map("dependent", metadata=owned_by(owner))

    await api.send("DELETE", f"{CONFIG_MAPS}/owner", {"propagationPolicy": "Orphan"})

    dependent = await api.get(f"{CONFIG_MAPS}/dependent")
    assert "ownerReferences" not in dependent["metadata"]


async def test_owner_waits_for_blocking_dependents_in_the_foreground(api) -> None:
    owner = await api.config_map("owner")
    await api.claim("c", metadata={"finalizers": ["example.com/x"], **owned_by(owner, blockOwnerDeletion=True)})

    answer = await api.send("DELETE", f"{CONFIG_MAPS}/owner", {"propagationPolicy": "Foreground"})
    waiting = await exists(api, f"{CONFIG_MAPS}/owner")
    await api.patch(f"{CLAIMS}/c", {"metadata": {"finalizers": None}})

    assert answer.body["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert waiting
    assert not await exists(api, f"{CONFIG_MAPS}/owner")


async def test_dependent_created_after_its_owner_was_removed_goes_too(api) -> None:
    owner = await api.config_map("owner")
    await api.send("DELETE", f"{CONFIG_MAPS}/owner")

    await api.config_map("late", metadata=owned_by(owner))

    assert not await exists(api, f"{CONFIG_MAPS}/late")


async def test_dependent_of_an_owner_that_never_existed_stays(api) -> None:
    stranger = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "uid": "u"}}

    await api.config_map("c", metadata=owned_by(stranger))

    assert await exists(api, f"{CONFIG_MAPS}/c")


async def test_pods_of_a_job_are_orphaned_unless_the_deletion_says_otherwise(api) -> None:
    template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
    for name in ("kept", "gone"):
        job = await api.create(JOBS, {"metadata": {"name": name}, "spec": {"template": template}})
        await api.pod(name, metadata=owned_by(job))

    await api.send("DELETE", f"{JOBS}/kept")
    await api.send("DELETE", f"{JOBS}/gone", {"propagationPolicy": "Background"})

    assert await exists(api, f"{PODS}/kept")
    assert not await exists(api, f"{PODS}/gone")


async def test_namespace_goes_when_it_is_empty(api) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
    pods = "/api/v1/namespaces/team/pods"
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"}
    await api.create(pods, {"metadata": {"name": "p"}, "spec": spec})

    answer = await api.send("DELETE", "/api/v1/namespaces/team")
    refused = await api.send("POST", "/api/v1/namespaces/team/configmaps", {"metadata": {"name": "c"}})
    await api.send("DELETE", f"{pods}/p", {"gracePeriodSeconds": 0})

    assert answer.body["status"]["phase"] == "Terminating"
    assert refused.code == 403
    assert refused.message == (
        'configmaps "c" is forbidden: unable to create new content in namespace team because it is being terminated'
    )
    assert not await exists(api, "/api/v1/namespaces/team")


async def test_collection_is_deleted_by_selector(api) -> None:
    await api.config_map("a", metadata={"labels": {"x": "1"}})
    await api.config_map("b")

    answer = await api.send("DELETE", CONFIG_MAPS, labelSelector="x=1")

    assert [item["metadata"]["name"] for item in answer.body["items"]] == ["a"]
    assert await exists(api, f"{CONFIG_MAPS}/b")


async def test_namespaces_of_the_system_stay(api) -> None:
    answer = await api.send("DELETE", "/api/v1/namespaces/default")

    assert (answer.code, answer.message) == (
        403,
        'namespaces "default" is forbidden: this namespace may not be deleted',
    )
