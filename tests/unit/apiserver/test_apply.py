"""Server-side apply."""

from __future__ import annotations

from typing import Any

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


async def apply(api, manager: str, body: dict[str, Any], path: str = f"{CONFIG_MAPS}/c", **query: str) -> Any:
    return await api.patch(path, body, "apply-patch+yaml", fieldManager=manager, **query)


def owners(obj: dict[str, Any]) -> dict[str, Any]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"]["managedFields"]}


async def test_apply_creates_what_does_not_exist(api) -> None:
    answer = await apply(api, "one", {"data": {"a": "1"}})

    assert (answer.code, answer.body["data"]) == (201, {"a": "1"})
    assert answer.body["metadata"]["managedFields"] == [
        {
            "manager": "one",
            "operation": "Apply",
            "apiVersion": "v1",
            "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:a": {}}},
        }
    ]


async def test_manager_lets_go_of_what_it_no_longer_says(api) -> None:
    await apply(api, "one", {"data": {"a": "1", "b": "2"}})
    await apply(api, "two", {"data": {"b": "2", "c": "3"}})

    answer = await apply(api, "one", {"data": {}})

    assert answer.body["data"] == {"b": "2", "c": "3"}


async def test_field_of_another_manager_conflicts_unless_forced(api) -> None:
    await apply(api, "one", {"data": {"a": "1"}})

    refused = await apply(api, "two", {"data": {"a": "2"}})
    forced = await apply(api, "two", {"data": {"a": "2"}}, force="true")

    assert refused.code == 409
    assert refused.message == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    assert refused.body["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"}
    ]
    assert owners(forced.body) == {"two": {"f:data": {"f:a": {}}}}


async def test_several_conflicts_are_listed_by_manager(api) -> None:
    await apply(api, "one", {"data": {"a": "1", "b": "1"}})
    await apply(api, "two", {"data": {"c": "1"}})

    answer = await apply(api, "three", {"data": {"a": "2", "b": "2", "c": "2"}})

    assert answer.message == (
        'Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n- .data.b\nconflicts with "two":\n- .data.c'
    )


async def test_equal_values_are_owned_together(api) -> None:
    await apply(api, "one", {"data": {"a": "1"}})

    answer = await apply(api, "two", {"data": {"a": "1"}})

    assert set(owners(answer.body)) == {"one", "two"}


async def test_repeated_apply_writes_nothing(api) -> None:
    first = await apply(api, "one", {"data": {"a": "1"}})

    second = await apply(api, "one", {"data": {"a": "1"}})

    assert second.body == first.body


async def test_what_was_there_before_belongs_to_nobody_in_particular(api) -> None:
    await api.config_map("c", a="1")

    answer = await apply(api, "one", {"data": {"a": "2"}})

    assert answer.message == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using v1 at 2026-01-01T00:00:00Z: .data.a'
    )


async def test_update_takes_over_what_it_changes(api) -> None:
    await apply(api, "one", {"data": {"a": "1", "b": "1"}})

    answer = await api.patch(f"{CONFIG_MAPS}/c", {"data": {"b": "2"}})

    assert owners(answer.body) == {"one": {"f:data": {"f:a": {}}}, "test": {"f:data": {"f:b": {}}}}


async def test_items_of_keyed_lists_have_owners_of_their_own(api) -> None:
    def body(*containers: dict[str, Any]) -> dict[str, Any]:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": list(containers)}}
        return {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}

    path = f"{DEPLOYMENTS}/d"
    await apply(api, "one", body({"name": "x", "image": "1"}, {"name": "y", "image": "1"}), path)
    await apply(api, "two", {"spec": {"template": {"spec": {"containers": [{"name": "z", "image": "1"}]}}}}, path)

    refused = await apply(api, "two", body({"name": "x", "image": "2"}), path)
    answer = await apply(api, "one", body({"name": "x", "image": "3"}), path)

    assert refused.message == (
        'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="x"].image'
    )
    containers = answer.body["spec"]["template"]["spec"]["containers"]
    assert [(container["name"], container["image"]) for container in containers] == [("x", "3"), ("z", "1")]


async def test_status_is_applied_by_its_own_subresource(api) -> None:
    pods = "/api/v1/namespaces/default/pods"
    await api.pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}])
    statuses = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu-x"}]}

    answer = await apply(api, "controller", {"status": statuses}, f"{pods}/p/status", force="true")

    assert answer.body["status"]["resourceClaimStatuses"] == statuses["resourceClaimStatuses"]
    assert answer.body["status"]["phase"] == "Pending"
    entry = answer.body["metadata"]["managedFields"][-1]
    assert (entry["manager"], entry["subresource"]) == ("controller", "status")


async def test_apply_without_a_manager_is_refused(api) -> None:
    answer = await api.patch(f"{CONFIG_MAPS}/c", {"data": {}}, "apply-patch+yaml")

    assert answer.code == 422
    assert answer.message == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    )


async def test_yaml_body_is_applied(api) -> None:
    answer = await apply(api, "one", b"data:\n  a: '1'\n")  # type: ignore[arg-type]

    assert answer.body["data"] == {"a": "1"}
