"""Creating, reading and updating objects."""

from __future__ import annotations

import pytest

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


async def test_created_object_gets_what_the_server_gives(api) -> None:
    created = await api.config_map("c", a="1")

    metadata = created["metadata"]
    assert (created["kind"], created["apiVersion"]) == ("ConfigMap", "v1")
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert metadata["resourceVersion"] == "6"
    assert len(metadata["uid"]) == 36
    assert await api.get(f"{CONFIG_MAPS}/c") == created


async def test_two_servers_with_one_seed_give_the_same_names_and_uids(make_api) -> None:
    def body() -> dict[str, object]:
        return {"metadata": {"generateName": "c-"}}

    first = await make_api(seed=7).create(CONFIG_MAPS, body())
    second = await make_api(seed=7).create(CONFIG_MAPS, body())
    other = await make_api(seed=8).create(CONFIG_MAPS, body())

    assert first == second
    assert first["metadata"]["uid"] != other["metadata"]["uid"]
    name = first["metadata"]["name"]
    assert name.startswith("c-")
    assert set(name.removeprefix("c-")) <= set("bcdfghjklmnpqrstvwxz2456789")
    assert len(name) == len("c-") + 5


async def test_metadata_is_kept_when_it_is_trusted(make_api) -> None:
    given = {"name": "c", "uid": "u-1", "creationTimestamp": "2020-01-01T00:00:00Z"}

    trusted = await make_api(trust_metadata=True).create(CONFIG_MAPS, {"metadata": given})
    plain = await make_api().create(CONFIG_MAPS, {"metadata": given})

    assert (trusted["metadata"]["uid"], trusted["metadata"]["creationTimestamp"]) == ("u-1", "2020-01-01T00:00:00Z")
    assert plain["metadata"]["uid"] != "u-1"
    assert plain["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"


async def test_missing_object_is_not_found(api) -> None:
    answer = await api.send("GET", f"{CLAIMS}/c")

    assert answer.code == 404
    assert answer.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'resourceclaims.resource.k8s.io "c" not found',
        "reason": "NotFound",
        "details": {"name": "c", "group": "resource.k8s.io", "kind": "resourceclaims"},
        "code": 404,
    }


async def test_taken_name_is_refused(api) -> None:
    await api.config_map("c")

    answer = await api.send("POST", CONFIG_MAPS, {"metadata": {"name": "c"}})

    assert (answer.code, answer.message) == (409, 'configmaps "c" already exists')


async def test_object_in_a_missing_namespace_is_refused(api) -> None:
    answer = await api.send("POST", "/api/v1/namespaces/x/configmaps", {"metadata": {"name": "c"}})

    assert (answer.code, answer.message) == (404, 'namespaces "x" not found')


async def test_object_of_another_namespace_is_refused(api) -> None:
    answer = await api.send("POST", CONFIG_MAPS, {"metadata": {"name": "c", "namespace": "kube-system"}})

    message = "the namespace of the provided object does not match the namespace sent on the request"
    assert (answer.code, answer.message) == (400, message)


async def test_object_of_another_version_is_refused(api) -> None:
    answer = await api.send("POST", CONFIG_MAPS, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "c"}})

    message = (
        'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version '
        '"v2" in scheme "pkg/runtime/scheme.go:111"'
    )
    assert (answer.code, answer.message) == (400, message)


async def test_update_of_an_old_version_conflicts(api) -> None:
    old = await api.config_map("c", a="1")
    await api.send("PUT", f"{CONFIG_MAPS}/c", {**old, "data": {"a": "2"}})

    answer = await api.send("PUT", f"{CONFIG_MAPS}/c", {**old, "data": {"a": "3"}})

    assert answer.code == 409
    assert answer.message == (
        'Operation cannot be fulfilled on configmaps "c": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


async def test_update_that_changes_nothing_keeps_the_version(api) -> None:
    old = await api.config_map("c", a="1")

    answer = await api.send("PUT", f"{CONFIG_MAPS}/c", old)

    assert answer.body == old


async def test_update_for_another_uid_conflicts(api) -> None:
    old = await api.config_map("c")
    other = {**old, "metadata": {**old["metadata"], "uid": "u-2"}}

    answer = await api.send("PUT", f"{CONFIG_MAPS}/c", other)

    assert answer.code == 409
    assert answer.message == (
        'Operation cannot be fulfilled on configmaps "c": StorageError: invalid object, Code: 4, '
        "Key: /registry/configmaps/default/c, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: UID in precondition: u-2, UID in object meta: {old['metadata']['uid']}"
    )


async def test_changed_spec_is_a_new_generation_and_changed_labels_are_not(api) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    created = await api.create(path, {"metadata": {"name": "d"}, "spec": spec})

    labelled = await api.patch(f"{path}/d", {"metadata": {"labels": {"x": "y"}}})
    scaled = await api.patch(f"{path}/d", {"spec": {"replicas": 3}})

    generations = [obj["metadata"]["generation"] for obj in (created, labelled.body, scaled.body)]
    assert generations == [1, 1, 2]


async def test_status_is_written_by_its_subresource_only(api) -> None:
    claim = await api.claim("c")
    reserved = {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}
    allocation = {"devices": {"results": [{"request": "gpu", "driver": "d", "pool": "p", "device": "x"}]}}
    wanted = {**claim, "status": {"allocation": allocation, **reserved}}

    by_main = await api.send("PUT", f"{CLAIMS}/c", wanted)
    by_status = await api.send("PUT", f"{CLAIMS}/c/status", {**wanted, "spec": {}})

    assert by_main.body.get("status") in (None, {})
    assert by_status.body["status"]["reservedFor"] == reserved["reservedFor"]
    assert by_status.body["spec"] == claim["spec"]


async def test_status_update_does_not_change_metadata_of_a_claim(api) -> None:
    await api.claim("c", metadata={"labels": {"a": "1"}, "finalizers": ["example.com/x"]})

    answer = await api.patch(f"{CLAIMS}/c/status", {"metadata": {"labels": {"a": "2"}, "finalizers": None}})

    assert answer.body["metadata"]["labels"] == {"a": "1"}
    assert answer.body["metadata"]["finalizers"] == ["example.com/x"]


async def test_created_pod_is_pending_whatever_its_author_says(api) -> None:
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}

    created = await api.create(PODS, {**body, "status": {"phase": "Running"}})

    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


async def test_gated_pod_says_so(api) -> None:
    created = await api.pod("p", schedulingGates=[{"name": "example.com/wait"}])

    (condition,) = created["status"]["conditions"]
    assert {name: condition[name] for name in ("type", "status", "reason", "message")} == {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }


async def test_unknown_field_is_refused_warned_about_or_ignored(api) -> None:
    def body(name: str) -> dict[str, object]:
        return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], "foo": 1}}

    strict = await api.send("POST", PODS, body("a"), fieldValidation="Strict")
    warned = await api.send("POST", PODS, body("b"))
    ignored = await api.send("POST", PODS, body("c"), fieldValidation="Ignore")

    text = 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo"'
    assert (strict.code, strict.message) == (400, text)
    assert (warned.code, warned.headers["warning"]) == (201, '299 - "unknown field \\"spec.foo\\""')
    assert "foo" not in warned.body["spec"]
    assert "warning" not in ignored.headers


async def test_dry_run_answers_and_writes_nothing(api) -> None:
    answer = await api.send("POST", CONFIG_MAPS, {"metadata": {"name": "c"}}, dryRun="All")

    assert answer.code == 201
    assert (await api.send("GET", f"{CONFIG_MAPS}/c")).code == 404


async def test_protobuf_body_is_refused(api) -> None:
    answer = await api.send("POST", CONFIG_MAPS, b"k8s\0", content_type="application/vnd.kubernetes.protobuf")

    assert (answer.code, answer.body["reason"]) == (415, "UnsupportedMediaType")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"data": NaN}', b"[" * 100_000])
async def test_malformed_body_is_refused(api, body: bytes) -> None:
    answer = await api.send("POST", CONFIG_MAPS, body)

    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")


async def test_deeply_nested_value_of_any_type_is_stored_or_refused(api) -> None:
    parameters = b'{"a":' * 700 + b"1" + b"}" * 700
    body = (
        b'{"metadata":{"name":"c"},"spec":{"config":[{"opaque":{"driver":"d.example.com","parameters":%s}}]}}'
        % parameters
    )

    answer = await api.send("POST", "/apis/resource.k8s.io/v1/deviceclasses", body)

    assert answer.code in (201, 400)


async def test_yaml_body_is_read(api) -> None:
    created = await api.send("POST", CONFIG_MAPS, b"metadata: {name: c}\n", content_type="application/yaml")

    assert (created.code, created.body["metadata"]["name"]) == (201, "c")


async def test_unknown_path_is_not_found(api) -> None:
    answer = await api.send("GET", "/apis/example.com/v1/things")

    assert (answer.code, answer.body) == (404, "404 page not found\n")


async def test_unserved_verb_is_refused(api) -> None:
    answer = await api.send("POST", "/api/v1/pods", {})

    assert (answer.code, answer.body["reason"]) == (405, "MethodNotAllowed")


async def test_versions_before_v1_are_served_on_request_only(make_api) -> None:
    path = "/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims"
    request = {"name": "gpu", "deviceClassName": "gpu.example.com"}
    body = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}}
    api = make_api(runtime_config={"resource.k8s.io/v1beta1": True})

    created = await api.create(path, body)
    stored = await api.get(f"{CLAIMS}/c")

    assert (await make_api().send("GET", path)).code == 404
    assert created["apiVersion"] == "resource.k8s.io/v1beta1"
    assert created["spec"]["devices"]["requests"][0]["deviceClassName"] == "gpu.example.com"
    assert stored["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == "gpu.example.com"


async def test_event_is_one_object_in_both_groups(api) -> None:
    body = {
        "metadata": {"name": "e", "namespace": "default"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "FailedScheduling",
        "note": "0/1 nodes are available",
        "type": "Warning",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "drayman",
        "reportingInstance": "drayman-0",
        "action": "Scheduling",
    }

    created = await api.create("/apis/events.k8s.io/v1/namespaces/default/events", body)
    core = await api.get("/api/v1/namespaces/default/events", fieldSelector="involvedObject.name=p")

    assert created["note"] == "0/1 nodes are available"
    (event,) = core["items"]
    assert (event["message"], event["involvedObject"]["name"]) == ("0/1 nodes are available", "p")
    assert event["reportingComponent"] == "drayman"


async def test_pod_gets_the_priority_of_its_class(api) -> None:
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    await api.create(classes, {"metadata": {"name": "high"}, "value": 100})
    await api.create(classes, {"metadata": {"name": "usual"}, "value": 10, "globalDefault": True})

    named = await api.pod("a", priorityClassName="high")
    unnamed = await api.pod("b")
    own = await api.pod("c", priority=5)

    assert (named["spec"]["priority"], named["spec"]["preemptionPolicy"]) == (100, "PreemptLowerPriority")
    assert (unnamed["spec"]["priority"], unnamed["spec"]["priorityClassName"]) == (10, "usual")
    assert own["spec"]["priority"] == 5


async def test_pod_of_a_missing_priority_class_is_forbidden(api) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "priorityClassName": "high"}

    answer = await api.send("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})

    assert (answer.code, answer.message) == (
        403,
        'pods "p" is forbidden: no PriorityClass with name high was found',
    )


async def test_job_gets_a_selector_of_its_own(api) -> None:
    template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
    job = await api.create(
        "/apis/batch/v1/namespaces/default/jobs", {"metadata": {"name": "j"}, "spec": {"template": template}}
    )

    uid = job["metadata"]["uid"]
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert job["spec"]["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": uid,
        "job-name": "j",
    }


async def test_changed_effect_of_a_taint_rule_is_as_old_as_the_change(api) -> None:
    rules = "/apis/resource.k8s.io/v1/devicetaintrules"
    taint = {"key": "example.com/k", "effect": "NoSchedule", "timeAdded": "2025-01-01T00:00:00Z"}
    rule = await api.create(rules, {"metadata": {"name": "r"}, "spec": {"taint": taint}})

    changed = await api.patch(f"{rules}/r", {"spec": {"taint": {"effect": "NoExecute"}}})

    assert rule["spec"]["taint"]["timeAdded"] == "2025-01-01T00:00:00Z"
    assert changed.body["spec"]["taint"]["timeAdded"] == "2026-01-01T00:00:00Z"


async def test_half_a_surrogate_pair_is_replaced_and_the_object_can_be_read(api) -> None:
    body = b'{"metadata": {"name": "c"}, "data": {"half": "a\\ud800b", "whole": "\\ud83d\\ude00"}}'

    created = await api.send("POST", CONFIG_MAPS, body)

    assert (created.code, created.body["data"]) == (201, {"half": "a\ufffdb", "whole": "\U0001f600"})
    assert len((await api.get(CONFIG_MAPS))["items"]) == 1
