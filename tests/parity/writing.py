"""Create, update, patch: what is stored, and what is refused."""

from __future__ import annotations

from tests.parity.api import CLAIMS, CONFIG_MAPS, DEPLOYMENTS, PODS, Api, claim, config_map, meta, pod, sequence


@sequence
async def object_that_exists_is_not_created_again(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    await api.create(CONFIG_MAPS, config_map())
    await api.get(CONFIG_MAPS, "c")


@sequence
async def unknown_object_is_not_found(api: Api) -> None:
    await api.get(CONFIG_MAPS, "nothing")
    await api.update(CONFIG_MAPS, config_map("nothing"))
    await api.delete(CONFIG_MAPS, "nothing")
    await api.patch(CONFIG_MAPS, "nothing", {"data": {"a": "b"}}, "merge")


@sequence
async def namespace_has_to_exist(api: Api) -> None:
    await api.send("POST", "/api/v1/namespaces/nowhere/configmaps", config_map())
    await api.send("GET", "/api/v1/namespaces/nowhere/configmaps")


@sequence
async def namespace_of_the_body_has_to_be_that_of_the_path(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(metadata={"namespace": "default"}))


@sequence
async def name_of_the_body_has_to_be_that_of_the_path(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    await api.send("PUT", api.path(CONFIG_MAPS, "c"), config_map("other"))


@sequence
async def kind_of_the_body_has_to_be_that_of_the_path(api: Api) -> None:
    await api.create(CONFIG_MAPS, {**config_map(), "kind": "Secret"})
    await api.create(CONFIG_MAPS, {**config_map(), "apiVersion": "v2"})


@sequence
async def kind_may_be_left_out_of_the_body(api: Api) -> None:
    await api.create(CONFIG_MAPS, {"metadata": {"name": "c"}, "data": {"a": "b"}})


@sequence
async def body_has_to_be_json(api: Api) -> None:
    await api.create(CONFIG_MAPS, b"{")
    await api.create(CONFIG_MAPS, b"[]")


@sequence
async def media_type_has_to_be_known(api: Api) -> None:
    await api.send("POST", api.path(CONFIG_MAPS), config_map(), content_type="text/plain")
    await api.send("PATCH", api.path(CONFIG_MAPS, "c"), {}, content_type="application/json")


@sequence
async def generated_name_is_stored(api: Api) -> None:
    await api.create(CONFIG_MAPS, {"metadata": {"generateName": "made-"}})


@sequence
async def name_or_generated_name_is_required(api: Api) -> None:
    await api.create(CONFIG_MAPS, {"metadata": {}})


@sequence
async def names_and_labels_are_validated(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("Upper_Case"))
    await api.create(CONFIG_MAPS, config_map(metadata={"labels": {"-bad": "x", "good": "not good"}}))
    await api.create(CONFIG_MAPS, config_map(metadata={"annotations": {"bad key": "x"}}))
    await api.create(CONFIG_MAPS, config_map(metadata={"finalizers": ["nodomain"]}))


@sequence
async def update_needs_the_current_version(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map(a="1"))
    await api.update(CONFIG_MAPS, {**made, "data": {"a": "2"}})
    await api.update(CONFIG_MAPS, {**made, "data": {"a": "3"}})
    await api.get(CONFIG_MAPS, "c")


@sequence
async def update_without_version_replaces(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(a="1"))
    await api.update(CONFIG_MAPS, config_map(b="2"))


@sequence
async def update_that_changes_nothing_keeps_the_version(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map(a="1"))
    await api.update(CONFIG_MAPS, made)


@sequence
async def update_of_another_uid_is_a_conflict(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map(a="1"))
    other = {**made["metadata"], "uid": "11111111-2222-3333-4444-555555555555"}
    await api.update(CONFIG_MAPS, {**made, "metadata": other})


@sequence
async def dry_run_stores_nothing(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(), dryRun="All")
    await api.get(CONFIG_MAPS, "c")
    await api.create(CONFIG_MAPS, config_map(), dryRun="Some")


@sequence
async def merge_patch_sets_and_removes(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(a="1", b="2"))
    await api.patch(CONFIG_MAPS, "c", {"data": {"a": None, "c": "3"}, "metadata": {"labels": {"x": "y"}}}, "merge")


@sequence
async def merge_patch_with_an_old_version_is_a_conflict(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map(a="1"))
    await api.patch(CONFIG_MAPS, "c", {"data": {"a": "2"}}, "merge")
    version = made["metadata"]["resourceVersion"]
    await api.patch(CONFIG_MAPS, "c", {"metadata": {"resourceVersion": version}, "data": {"a": "3"}}, "merge")


@sequence
async def merge_patch_with_another_uid_is_a_conflict(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(a="1"))
    await api.patch(CONFIG_MAPS, "c", {"metadata": {"uid": "11111111-2222-3333-4444-555555555555"}}, "merge")


@sequence
async def patch_cannot_rename(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    await api.patch(CONFIG_MAPS, "c", {"metadata": {"name": "d"}}, "merge")


@sequence
async def json_patch_tests_and_replaces(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(a="1"))
    good = [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "replace", "path": "/data/a", "value": "2"}]
    await api.patch(CONFIG_MAPS, "c", good, "json")
    await api.patch(CONFIG_MAPS, "c", good, "json")
    await api.patch(CONFIG_MAPS, "c", [{"op": "remove", "path": "/data/none"}], "json")
    await api.patch(CONFIG_MAPS, "c", [{"op": "add", "path": "/metadata/labels", "value": {"x": "y"}}], "json")


@sequence
async def strategic_patch_merges_lists_by_key(api: Api) -> None:
    await api.create(PODS, pod(metadata={"labels": {"a": "b"}}))
    patch = {"metadata": {"labels": {"c": "d"}}, "spec": {"containers": [{"name": "main", "image": "other:2"}]}}
    await api.patch(PODS, "p", patch, "strategic")


@sequence
async def strategic_patch_removes_with_directives(api: Api) -> None:
    made = await api.create(CLAIMS, claim())
    reserved = [{"resource": "pods", "name": name, "uid": name} for name in ("a", "b")]
    await api.update(CLAIMS, {**made, "status": {"reservedFor": reserved}}, "status")
    directive = {"status": {"reservedFor": [{"$patch": "delete", "uid": "a"}]}}
    await api.patch(CLAIMS, "c", directive, "strategic", "status")


@sequence
async def apply_creates_and_updates(api: Api) -> None:
    await api.patch(CONFIG_MAPS, "c", config_map(a="1", b="2"), "apply", fieldManager="one")
    await api.patch(CONFIG_MAPS, "c", config_map(a="1"), "apply", fieldManager="one")
    await api.patch(CONFIG_MAPS, "c", config_map(a="3"), "apply", fieldManager="two")
    await api.patch(CONFIG_MAPS, "c", config_map(a="3"), "apply", fieldManager="two", force="true")


@sequence
async def apply_needs_a_manager(api: Api) -> None:
    await api.patch(CONFIG_MAPS, "c", config_map(a="1"), "apply")


@sequence
async def unknown_fields_are_refused_when_asked_to(api: Api) -> None:
    await api.create(CONFIG_MAPS, {**config_map("a"), "unknown": 1}, fieldValidation="Strict")
    await api.create(CONFIG_MAPS, {**config_map("b"), "unknown": 1}, fieldValidation="Warn")
    await api.create(CONFIG_MAPS, {**config_map("c"), "unknown": 1}, fieldValidation="Ignore")


@sequence
async def wrong_types_are_refused(api: Api) -> None:
    await api.create(CONFIG_MAPS, {**config_map(), "data": {"a": 1}})
    await api.create(PODS, pod(priority="high"))
    await api.create(PODS, pod(containers={}))


@sequence
async def defaults_of_a_deployment(api: Api) -> None:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod()["spec"]}
    await api.create(
        DEPLOYMENTS, {"metadata": meta("d"), "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template}}
    )


@sequence
async def generation_counts_changes_of_the_spec(api: Api) -> None:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod()["spec"]}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    await api.create(DEPLOYMENTS, {"metadata": meta("d"), "spec": spec})
    await api.patch(DEPLOYMENTS, "d", {"metadata": {"labels": {"x": "y"}}}, "merge")
    await api.patch(DEPLOYMENTS, "d", {"spec": {"replicas": 2}}, "merge")
    await api.patch(DEPLOYMENTS, "d", {"status": {"replicas": 2}}, "merge", "status")
    await api.get(DEPLOYMENTS, "d", "scale")
