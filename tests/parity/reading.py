"""Lists, selectors, tables, watches."""

from __future__ import annotations

from tests.parity.api import (
    CLAIMS,
    CLASSES,
    CONFIG_MAPS,
    EVENTS,
    PODS,
    SLICES,
    Api,
    claim,
    config_map,
    meta,
    pod,
    sequence,
)


@sequence
async def empty_list(api: Api) -> None:
    await api.get(CONFIG_MAPS)
    await api.get(CLAIMS)


@sequence
async def label_selectors(api: Api) -> None:
    for name, labels in (("a", {"x": "1", "y": "1"}), ("b", {"x": "2"}), ("c", {})):
        await api.create(CONFIG_MAPS, config_map(name, metadata={"labels": labels}))
    for selector in ("x=1", "x!=1", "x in (1,2),!y", "x notin (2)", "x", "!x", "x>1", "x=1,y==1"):
        await api.get(CONFIG_MAPS, labelSelector=selector)
    for selector in ("x=", "x in ()", "=1", "x=a b", "x in (1"):
        await api.get(CONFIG_MAPS, labelSelector=selector)


@sequence
async def field_selectors(api: Api) -> None:
    await api.create(PODS, pod("a", nodeName="node-1"))
    await api.create(PODS, pod("b"))
    for selector in ("spec.nodeName=node-1", "spec.nodeName=", "metadata.name=b", "status.phase=Pending"):
        await api.get(PODS, fieldSelector=selector)
    for selector in ("status.phase!=Pending", "spec.schedulerName=default-scheduler,metadata.name!=a"):
        await api.get(PODS, fieldSelector=selector)
    await api.get(PODS, fieldSelector="spec.hostname=x")
    await api.get(CONFIG_MAPS, fieldSelector="data.a=1")
    await api.get(CONFIG_MAPS, fieldSelector="metadata.name")


@sequence
async def list_in_pages(api: Api) -> None:
    for name in ("a", "b", "c"):
        await api.create(CONFIG_MAPS, config_map(name))
    first = await api.get(CONFIG_MAPS, limit="2")
    token = first["metadata"]["continue"]
    rest = await api.send("GET", api.path(CONFIG_MAPS), **{"limit": "2", "continue": token})
    assert [item["metadata"]["name"] for item in rest["items"]] == ["c"]


@sequence
async def page_with_a_wrong_token(api: Api) -> None:
    await api.send("GET", api.path(CONFIG_MAPS), **{"limit": "2", "continue": "nonsense"})


@sequence
async def list_at_a_version(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map())
    await api.get(CONFIG_MAPS, resourceVersion=made["metadata"]["resourceVersion"])
    await api.get(CONFIG_MAPS, resourceVersion="0", resourceVersionMatch="NotOlderThan")
    await api.get(CONFIG_MAPS, resourceVersionMatch="Exact")
    await api.get(CONFIG_MAPS, resourceVersion="nonsense")


@sequence
async def watch_tells_of_all_changes(api: Api) -> None:
    before = await api.get(CONFIG_MAPS)
    await api.create(CONFIG_MAPS, config_map(a="1"))
    await api.patch(CONFIG_MAPS, "c", {"data": {"a": "2"}}, "merge")
    await api.delete(CONFIG_MAPS, "c")
    await api.create(CONFIG_MAPS, config_map("held", metadata={"finalizers": ["example.com/wait"]}))
    await api.delete(CONFIG_MAPS, "held")
    await api.patch(CONFIG_MAPS, "held", {"metadata": {"finalizers": None}}, "merge")
    await api.watch(CONFIG_MAPS, before["metadata"]["resourceVersion"])


@sequence
async def watch_resumes_where_it_ended(api: Api) -> None:
    before = await api.get(CONFIG_MAPS)
    await api.create(CONFIG_MAPS, config_map("a"))
    events = await api.watch(CONFIG_MAPS, before["metadata"]["resourceVersion"])
    await api.create(CONFIG_MAPS, config_map("b"))
    await api.watch(CONFIG_MAPS, events[-1]["object"]["metadata"]["resourceVersion"])


@sequence
async def watch_with_selectors_tells_of_objects_that_come_and_go(api: Api) -> None:
    before = await api.get(CONFIG_MAPS)
    version = before["metadata"]["resourceVersion"]
    await api.create(CONFIG_MAPS, config_map())
    await api.patch(CONFIG_MAPS, "c", {"metadata": {"labels": {"on": "yes"}}}, "merge")
    await api.patch(CONFIG_MAPS, "c", {"data": {"a": "1"}}, "merge")
    await api.patch(CONFIG_MAPS, "c", {"metadata": {"labels": {"on": "no"}}}, "merge")
    await api.watch(CONFIG_MAPS, version, labelSelector="on=yes")
    await api.watch(CONFIG_MAPS, version, fieldSelector="metadata.name=other")


@sequence
async def watch_from_the_beginning_of_time_starts_with_what_there_is(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    await api.watch(CONFIG_MAPS, "0")
    await api.watch(CONFIG_MAPS, "")


@sequence
async def watch_from_a_forgotten_version_is_too_old(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    await api.watch(CONFIG_MAPS, "1")


@sequence
async def watch_with_initial_events_marks_their_end(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    initial = {"sendInitialEvents": "true", "allowWatchBookmarks": "true", "resourceVersionMatch": "NotOlderThan"}
    await api.watch(CONFIG_MAPS, "", **initial)
    await api.watch(CONFIG_MAPS, "", sendInitialEvents="true")


@sequence
async def watch_of_a_nonsense_version(api: Api) -> None:
    await api.watch(CONFIG_MAPS, "nonsense")


@sequence
async def table_of_config_maps_and_claims(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map(a="1", b="2"))
    await api.create(CLAIMS, claim())
    await api.table(CONFIG_MAPS)
    await api.table(CLAIMS)
    await api.table(CLAIMS, "c")


@sequence
async def table_of_pods(api: Api) -> None:
    await api.create(PODS, pod("a"))
    await api.create(PODS, pod("b", nodeName="node-1"))
    running = {"state": {"running": {}}, "ready": True, "restartCount": 2, "name": "main", "image": "i", "imageID": ""}
    await api.patch(PODS, "b", {"status": {"phase": "Running", "containerStatuses": [running]}}, "strategic", "status")
    await api.table(PODS)
    await api.table(PODS, "b", includeObject="Object")
    await api.table(PODS, "b", includeObject="None")


@sequence
async def tables_of_classes_and_slices(api: Api) -> None:
    labels = {"labels": {"sequence": api.name}}
    expression = 'device.driver == "gpu.example.com"'
    await api.create(CLASSES, {"metadata": meta(f"{api.name}", **labels), "spec": {"selectors": [
        {"cel": {"expression": expression}}]}})  # fmt: skip
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "nodeName": "node-1", "pool": pool, "devices": [{"name": "gpu-0"}]}
    await api.create(SLICES, {"metadata": meta(f"{api.name}", **labels), "spec": spec})
    await api.table(CLASSES, labelSelector=f"sequence={api.name}")
    await api.table(SLICES, labelSelector=f"sequence={api.name}")
    await api.get(SLICES, labelSelector=f"sequence={api.name}", fieldSelector="spec.nodeName=node-1")
    await api.get(SLICES, labelSelector=f"sequence={api.name}", fieldSelector="spec.driver=other.example.com")


@sequence
async def events_of_both_groups_are_the_same_objects(api: Api) -> None:
    regarding = {"kind": "Pod", "namespace": api.namespace, "name": "p", "uid": "1", "apiVersion": "v1"}
    event = {
        "metadata": meta("p.1"),
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "drayman",
        "reportingInstance": "drayman-1",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "type": "Warning",
        "note": "0/1 nodes are available",
        "regarding": regarding,
    }
    await api.create(EVENTS, event)
    await api.get("v1/events", "p.1")
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}}
    await api.patch(EVENTS, "p.1", series, "merge")
    await api.get("v1/events", fieldSelector="involvedObject.name=p,reason=FailedScheduling")
    await api.table("v1/events")
    await api.create(EVENTS, {**event, "metadata": meta("p.2"), "note": "x" * 1025})
    await api.create(EVENTS, {**event, "metadata": meta("p.3"), "type": "Odd", "reason": ""})


@sequence
async def unknown_paths(api: Api) -> None:
    await api.send("GET", "/apis/nothing.example.com/v1")
    await api.send("GET", f"/api/v1/namespaces/{api.namespace}/nothings")
    await api.send("GET", "/apis/resource.k8s.io/v9")
    await api.get(CONFIG_MAPS, "c", "status")
    await api.send("POST", api.path(CONFIG_MAPS, "c"), config_map())
    await api.send("PUT", api.path(CONFIG_MAPS), config_map())


@sequence
async def discovery_of_the_group(api: Api) -> None:
    await api.send("GET", "/apis/resource.k8s.io")
    await api.send("GET", "/apis/resource.k8s.io/v1")
