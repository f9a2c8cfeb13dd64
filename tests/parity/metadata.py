"""Deletion: preconditions, finalizers, grace, owners, collections."""

from __future__ import annotations

from tests.parity.api import CLAIMS, CONFIG_MAPS, PODS, Api, claim, config_map, pod, sequence

FINALIZER = {"finalizers": ["example.com/wait"]}


@sequence
async def deletion_answers_with_a_status(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    await api.delete(CONFIG_MAPS, "c")
    await api.delete(CONFIG_MAPS, "c")


@sequence
async def deletion_of_a_claim_answers_with_the_claim(api: Api) -> None:
    await api.create(CLAIMS, claim())
    await api.delete(CLAIMS, "c")


@sequence
async def deletion_has_preconditions(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map())
    await api.delete(CONFIG_MAPS, "c", {"preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}})
    await api.delete(CONFIG_MAPS, "c", {"preconditions": {"resourceVersion": "1"}})
    await api.delete(CONFIG_MAPS, "c", {"preconditions": {"uid": made["metadata"]["uid"]}})


@sequence
async def finalizers_hold_an_object(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(metadata=FINALIZER))
    await api.delete(CONFIG_MAPS, "c")
    await api.get(CONFIG_MAPS, "c")
    await api.delete(CONFIG_MAPS, "c")
    await api.patch(CONFIG_MAPS, "c", {"metadata": {"finalizers": None}}, "merge")
    await api.get(CONFIG_MAPS, "c")


@sequence
async def object_being_deleted_takes_no_new_finalizers(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(metadata=FINALIZER))
    await api.delete(CONFIG_MAPS, "c")
    await api.patch(CONFIG_MAPS, "c", {"metadata": {"finalizers": ["example.com/wait", "example.com/new"]}}, "merge")
    await api.patch(CONFIG_MAPS, "c", {"metadata": {"labels": {"a": "b"}}}, "merge")


@sequence
async def propagation_of_a_deletion_has_to_be_known(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    await api.delete(CONFIG_MAPS, "c", {"propagationPolicy": "Sometimes"})
    await api.delete(CONFIG_MAPS, "c", {"propagationPolicy": "Background"})


@sequence
async def pod_that_is_bound_nowhere_goes_at_once(api: Api) -> None:
    await api.create(PODS, pod())
    await api.delete(PODS, "p")
    await api.get(PODS, "p")


@sequence
async def bound_pod_is_deleted_with_grace(api: Api) -> None:
    await api.create(PODS, pod(nodeName="node-1"))
    await api.delete(PODS, "p")
    await api.get(PODS, "p")
    await api.delete(PODS, "p", {"gracePeriodSeconds": 5})
    await api.delete(PODS, "p", {"gracePeriodSeconds": 60})
    await api.delete(PODS, "p", {"gracePeriodSeconds": 0})
    await api.get(PODS, "p")


@sequence
async def grace_cannot_be_negative(api: Api) -> None:
    await api.create(PODS, pod(nodeName="node-1", terminationGracePeriodSeconds=7))
    await api.delete(PODS, "p", {"gracePeriodSeconds": -1})
    await api.get(PODS, "p")


@sequence
async def deletion_of_a_collection_takes_selectors(api: Api) -> None:
    for name, colour in (("a", "red"), ("b", "red"), ("c", "blue")):
        await api.create(CONFIG_MAPS, config_map(name, metadata={"labels": {"colour": colour}}))
    await api.delete(CONFIG_MAPS, labelSelector="colour=red")
    await api.get(CONFIG_MAPS, labelSelector="colour")


@sequence
async def owners_are_validated(api: Api) -> None:
    incomplete = [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]
    await api.create(CONFIG_MAPS, config_map(metadata={"ownerReferences": incomplete}))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1", "controller": True}
    await api.create(CONFIG_MAPS, config_map(metadata={"ownerReferences": [owner, {**owner, "uid": "2"}]}))


@sequence
async def uid_and_creation_time_cannot_be_changed(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map())
    changed = {**made["metadata"], "creationTimestamp": "2020-01-01T00:00:00Z", "generation": 7, "selfLink": "x"}
    await api.update(CONFIG_MAPS, {**made, "metadata": changed})


@sequence
async def deletion_timestamp_cannot_be_set(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"}))


@sequence
async def immutable_config_map_stays(api: Api) -> None:
    await api.create(CONFIG_MAPS, {**config_map(a="1"), "immutable": True})
    await api.patch(CONFIG_MAPS, "c", {"data": {"a": "2"}}, "merge")
