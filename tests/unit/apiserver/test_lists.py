"""Lists: selection, pages, versions and forms."""

from __future__ import annotations

import pytest

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def names(listed: dict) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


async def test_list_is_in_the_order_of_keys(api) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "default-x"}})
    await api.create("/api/v1/namespaces/default-x/configmaps", {"metadata": {"name": "c"}})
    for name in ("b", "a"):
        await api.config_map(name)

    listed = await api.get("/api/v1/configmaps")

    # As in etcd, where "-" sorts before "/".
    assert names(listed) == ["c", "a", "b"]
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert listed["metadata"]["resourceVersion"] == "9"


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("app=web", ["a"]),
        ("app==web,tier", ["a"]),
        ("app!=web", ["b", "c"]),
        ("app in (web, db)", ["a", "b"]),
        ("app notin (web)", ["b", "c"]),
        ("!app", ["c"]),
        ("rank>1", ["b"]),
        ("rank<2", ["a"]),
    ],
)
async def test_label_selectors(api, selector: str, expected: list[str]) -> None:
    await api.config_map("a", metadata={"labels": {"app": "web", "tier": "front", "rank": "1"}})
    await api.config_map("b", metadata={"labels": {"app": "db", "rank": "2"}})
    await api.config_map("c")

    assert names(await api.get(CONFIG_MAPS, labelSelector=selector)) == expected


async def test_malformed_label_selector_is_refused(api) -> None:
    answer = await api.send("GET", CONFIG_MAPS, labelSelector="a=b)(")

    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")


async def test_pods_are_selected_by_node_and_phase(api) -> None:
    pod = await api.pod("a")
    await api.pod("b", schedulerName="drayman")
    await api.bind(pod)

    assert names(await api.get(PODS, fieldSelector="spec.nodeName=node-1")) == ["a"]
    assert names(await api.get(PODS, fieldSelector="spec.nodeName=,status.phase=Pending")) == ["b"]
    assert names(await api.get(PODS, fieldSelector="spec.schedulerName=drayman")) == ["b"]
    assert names(await api.get(PODS, fieldSelector="metadata.name!=a")) == ["b"]


async def test_unknown_field_selector_is_refused(api) -> None:
    answer = await api.send("GET", PODS, fieldSelector="spec.x=1")

    assert (answer.code, answer.message) == (400, "field label not supported: spec.x")


async def test_pages_show_the_moment_of_the_first_one(api) -> None:
    for name in "abcd":
        await api.config_map(name)

    first = await api.get(CONFIG_MAPS, limit="2")
    await api.send("DELETE", f"{CONFIG_MAPS}/c")
    await api.patch(f"{CONFIG_MAPS}/d", {"data": {"x": "1"}})
    await api.config_map("e")
    second = await api.get(CONFIG_MAPS, limit="2", **{"continue": first["metadata"]["continue"]})

    assert (names(first), first["metadata"]["remainingItemCount"]) == (["a", "b"], 2)
    assert names(second) == ["c", "d"]
    assert "data" not in second["items"][1]
    assert second["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}


async def test_old_continue_token_is_expired_and_offers_the_rest(make_api) -> None:
    api = make_api(log_size=1)
    for name in "abc":
        await api.config_map(name)
    first = await api.get(CONFIG_MAPS, limit="1")
    await api.config_map("d")
    await api.config_map("e")

    answer = await api.send("GET", CONFIG_MAPS, limit="1", **{"continue": first["metadata"]["continue"]})
    rest = await api.get(CONFIG_MAPS, **{"continue": answer.body["metadata"]["continue"]})

    assert (answer.code, answer.body["reason"]) == (410, "Expired")
    assert names(rest) == ["b", "c", "d", "e"]


async def test_list_at_an_exact_version_shows_the_past(api) -> None:
    old = await api.config_map("a")
    await api.config_map("b")

    version = old["metadata"]["resourceVersion"]
    listed = await api.get(CONFIG_MAPS, resourceVersion=version, resourceVersionMatch="Exact")

    assert (names(listed), listed["metadata"]["resourceVersion"]) == (["a"], version)


async def test_metadata_only_list(api) -> None:
    await api.config_map("a", x="1")

    form = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    listed = (await api.send("GET", CONFIG_MAPS, accept=form)).body

    assert listed["kind"] == "PartialObjectMetadataList"
    assert set(listed["items"][0]) == {"kind", "apiVersion", "metadata"}


async def test_only_protobuf_accepted_is_not_acceptable(api) -> None:
    answer = await api.send("GET", CONFIG_MAPS, accept="application/vnd.kubernetes.protobuf")

    assert answer.code == 406


@pytest.mark.parametrize("number", ["18446744073709551616", "9" * 5000])
async def test_number_that_is_too_large_is_refused(api, number: str) -> None:
    answer = await api.send("GET", CONFIG_MAPS, resourceVersion=number)

    assert (answer.code, answer.message) == (
        400,
        f'invalid resource version: resourceVersion: Invalid value: "{number}": strconv.ParseUint: parsing "{number}": '
        "value out of range",
    )
