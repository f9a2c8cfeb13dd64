"""Watches."""

from __future__ import annotations

import asyncio
import contextlib

from drayman.clock import VirtualClock, virtual_loop

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


async def test_watch_from_a_version_tells_what_happened_since(api) -> None:
    old = await api.config_map("a")
    await api.config_map("b")
    await api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "1"}})
    await api.send("DELETE", f"{CONFIG_MAPS}/b")

    events = await api.watch(CONFIG_MAPS, resourceVersion=old["metadata"]["resourceVersion"])

    assert await events.names(3) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]


async def test_watch_without_a_version_starts_with_what_exists(api) -> None:
    await api.config_map("b")
    await api.config_map("a")

    events = await api.watch(CONFIG_MAPS)
    first = await events.names(2)
    await api.config_map("c")

    assert first == [("ADDED", "a"), ("ADDED", "b")]
    assert await events.names(1) == [("ADDED", "c")]


async def test_deleted_object_carries_the_version_of_its_deletion(api) -> None:
    created = await api.config_map("a")
    events = await api.watch(CONFIG_MAPS, resourceVersion=created["metadata"]["resourceVersion"])

    await api.send("DELETE", f"{CONFIG_MAPS}/a")

    kind, obj = await events.next()
    assert kind == "DELETED"
    assert int(obj["metadata"]["resourceVersion"]) == int(created["metadata"]["resourceVersion"]) + 1


async def test_object_appears_and_disappears_as_it_starts_and_ceases_to_match(api) -> None:
    pod = await api.pod("p")
    events = await api.watch(PODS, fieldSelector="spec.nodeName=node-1,status.phase!=Succeeded", resourceVersion="5")

    await api.bind(pod)
    await api.patch(f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}})
    await api.patch(f"{PODS}/p/status", {"status": {"phase": "Succeeded"}})

    assert await events.names(3) == [("ADDED", "p"), ("MODIFIED", "p"), ("DELETED", "p")]


async def test_watch_of_one_namespace_does_not_see_another(api) -> None:
    events = await api.watch(CONFIG_MAPS)

    await api.create("/api/v1/namespaces/kube-system/configmaps", {"metadata": {"name": "a"}})
    await api.config_map("b")

    assert await events.names(1) == [("ADDED", "b")]


async def test_end_of_the_initial_state_is_announced(api) -> None:
    await api.config_map("a")

    query = {"sendInitialEvents": "true", "allowWatchBookmarks": "true", "resourceVersionMatch": "NotOlderThan"}
    events = await api.watch(CONFIG_MAPS, **query)

    assert await events.names(1) == [("ADDED", "a")]
    kind, obj = await events.next()
    assert (kind, obj) == (
        "BOOKMARK",
        {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "6", "annotations": {"k8s.io/initial-events-end": "true"}},
        },
    )


async def test_version_that_the_log_has_forgotten_is_gone(make_api) -> None:
    api = make_api(log_size=2)
    for name in "abcd":
        await api.config_map(name)

    events = await api.watch(CONFIG_MAPS, resourceVersion="6")

    ((kind, status),) = await events.rest()
    assert (kind, status["code"], status["message"]) == ("ERROR", 410, "too old resource version: 6 (7)")
    assert status["reason"] == "Expired"


async def test_reader_that_falls_behind_the_log_is_cut_off(make_api) -> None:
    api = make_api(log_size=2)
    events = await api.watch(CONFIG_MAPS)
    await api.config_map("a")
    assert await events.names(1) == [("ADDED", "a")]

    for name in "bcd":
        await api.config_map(name)

    assert await events.rest() == []


async def test_version_from_the_future_is_refused(api) -> None:
    answer = await api.send("GET", CONFIG_MAPS, watch="true", resourceVersion="100")

    assert (answer.code, answer.message) == (504, "Timeout: Too large resource version: 100, current: 5")


def test_watch_ends_after_its_timeout_with_a_bookmark(make_api) -> None:
    api = make_api()
    clock: VirtualClock = api.clock

    async def run() -> float:
        events = await api.watch(CONFIG_MAPS, timeoutSeconds="30", allowWatchBookmarks="true", resourceVersion="5")
        kind, obj = None, None

        async def read() -> None:
            nonlocal kind, obj
            ((kind, obj),) = await events.rest()

        async with asyncio.TaskGroup() as group:
            group.create_task(read())
            await clock.settle()
        assert (kind, obj["metadata"]) == ("BOOKMARK", {"resourceVersion": "5"})
        return clock.monotonic()

    with contextlib.closing(virtual_loop(clock)) as loop:
        assert loop.run_until_complete(run()) == 30.0


async def test_table_watch_tells_rows(api) -> None:
    events = await api.watch(PODS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")

    await api.pod("p")

    kind, table = await events.next()
    assert (kind, table["kind"]) == ("ADDED", "Table")
    assert table["rows"][0]["cells"][:3] == ["p", "0/1", "Pending"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
