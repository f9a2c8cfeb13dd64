"""The kinds of `resource.k8s.io`: defaults, texts of validation, what may change, status apart from spec."""

from __future__ import annotations

from typing import Any

from tests.parity.api import (
    CLAIMS,
    CLASSES,
    SLICES,
    TAINT_RULES,
    TEMPLATES,
    Api,
    Object,
    allocation,
    claim,
    meta,
    sequence,
)

POD = {"resource": "pods", "name": "p", "uid": "uid-of-p"}


def request(name: str = "gpu", **exactly: Any) -> Object:
    return {"name": name, "exactly": {"deviceClassName": "gpu.example.com", **exactly}}


def device_class(api: Api, suffix: str = "", **spec: Any) -> Object:
    return {"metadata": meta(f"{api.name}{suffix}"), "spec": spec}


def selector(expression: str) -> Object:
    return {"cel": {"expression": expression}}


def resource_slice(api: Api, *devices: Object, suffix: str = "", **spec: Any) -> Object:
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
    base = {"driver": "gpu.example.com", "nodeName": "node-1", "pool": pool, "devices": list(devices)}
    return {"metadata": meta(f"{api.name}{suffix}"), "spec": {**base, **spec}}


@sequence
async def defaults_of_a_claim(api: Api) -> None:
    await api.create(CLAIMS, claim("a"))
    await api.create(CLAIMS, claim("b", request(allocationMode="All")))
    first = {"name": "gpu", "firstAvailable": [{"name": "big", "deviceClassName": "gpu.example.com"}]}
    await api.create(CLAIMS, claim("c", first))
    await api.create(CLAIMS, claim("d", request(tolerations=[{"key": "a", "value": "b"}])))
    await api.create(CLAIMS, claim("e", request(count=3, selectors=[selector("true")])))


@sequence
async def requests_of_a_claim_are_validated(api: Api) -> None:
    await api.create(CLAIMS, claim("a", {"name": "gpu"}))
    await api.create(CLAIMS, claim("a", {"name": "gpu", "exactly": {}}))
    await api.create(CLAIMS, claim("a", request("Not_A_Name")))
    await api.create(CLAIMS, claim("a", request(), request()))
    await api.create(CLAIMS, claim("a", request(count=0)))
    await api.create(CLAIMS, claim("a", request(count=-1)))
    await api.create(CLAIMS, claim("a", request(allocationMode="Some")))
    await api.create(CLAIMS, claim("a", request(allocationMode="All", count=2)))
    await api.create(CLAIMS, claim("a", request(deviceClassName="Not A Class")))
    await api.create(CLAIMS, claim("a", *[request(f"r{number}") for number in range(33)]))


@sequence
async def subrequests_of_a_claim_are_validated(api: Api) -> None:
    sub = {"name": "big", "deviceClassName": "gpu.example.com"}
    await api.create(CLAIMS, claim("a", {"name": "gpu", "firstAvailable": []}))
    await api.create(CLAIMS, claim("a", {"name": "gpu", "firstAvailable": [sub, sub]}))
    await api.create(CLAIMS, claim("a", {**request(), "firstAvailable": [sub]}))
    many = [{**sub, "name": f"s{number}"} for number in range(9)]
    await api.create(CLAIMS, claim("a", {"name": "gpu", "firstAvailable": many}))
    await api.create(CLAIMS, claim("a", {"name": "gpu", "firstAvailable": [{"name": "big"}]}))


@sequence
async def selectors_of_a_claim_are_compiled(api: Api) -> None:
    for expression in ("", "true &&", "device.driver", 'device.attributes["a"].b == 1', "nothing == 1", "1 + true"):
        await api.create(CLAIMS, claim("a", request(selectors=[selector(expression)])), dryRun="All")
    await api.create(CLAIMS, claim("a", request(selectors=[{}])))
    await api.create(CLAIMS, claim("a", request(selectors=[selector("true")] * 33)))
    await api.create(CLAIMS, claim("a", request(selectors=[selector(f'"{"x" * 10240}" == ""')])))


@sequence
async def constraints_and_configuration_are_validated(api: Api) -> None:
    await api.create(CLAIMS, claim("a", constraints=[{"requests": ["none"], "matchAttribute": "gpu.example.com/m"}]))
    await api.create(CLAIMS, claim("a", constraints=[{"requests": ["gpu"]}]))
    await api.create(CLAIMS, claim("a", constraints=[{"matchAttribute": "no-domain"}]))
    await api.create(CLAIMS, claim("a", constraints=[{"requests": ["gpu", "gpu"], "matchAttribute": "a.b/c"}]))
    await api.create(CLAIMS, claim("a", config=[{"requests": ["gpu"]}]))
    opaque = {"driver": "gpu.example.com", "parameters": {"a": 1}}
    await api.create(CLAIMS, claim("b", config=[{"requests": ["none"], "opaque": opaque}]))
    await api.create(CLAIMS, claim("b", config=[{"opaque": {**opaque, "driver": "Not A Driver"}}]))
    await api.create(CLAIMS, claim("b", config=[{"opaque": {"driver": "gpu.example.com"}}]))
    await api.create(CLAIMS, claim("b", config=[{"opaque": {**opaque, "parameters": []}}]))


@sequence
async def tolerations_of_a_claim_are_validated(api: Api) -> None:
    await api.create(CLAIMS, claim("a", request(tolerations=[{"key": "a b", "operator": "Exists"}])))
    await api.create(CLAIMS, claim("a", request(tolerations=[{"operator": "Exists", "value": "x"}])))
    await api.create(CLAIMS, claim("a", request(tolerations=[{"operator": "Like", "key": "a"}])))
    await api.create(CLAIMS, claim("a", request(tolerations=[{"key": "a", "effect": "NoStart"}])))
    await api.create(CLAIMS, claim("a", request(tolerations=[{}])))


@sequence
async def capacity_requirements_are_validated(api: Api) -> None:
    await api.create(CLAIMS, claim("a", request(capacity={"requests": {"memory": "10Gi"}})))
    await api.create(CLAIMS, claim("b", request(capacity={"requests": {"no good": "1"}})))
    await api.create(CLAIMS, claim("c", request(capacity={"requests": {"memory": "much"}})))


@sequence
async def spec_of_a_claim_stays(api: Api) -> None:
    made = await api.create(CLAIMS, claim())
    await api.update(CLAIMS, {**made, "spec": claim("c", request(count=2))["spec"]})
    await api.patch(CLAIMS, "c", {"metadata": {"labels": {"a": "b"}}}, "merge")


@sequence
async def status_of_a_claim_is_written_apart(api: Api) -> None:
    made = await api.create(CLAIMS, {**claim(), "status": {"allocation": allocation()}})
    await api.update(CLAIMS, {**made, "status": {"allocation": allocation()}})
    changed = {**made["metadata"], "labels": {"a": "b"}}
    status = {"allocation": allocation(), "reservedFor": [POD]}
    await api.update(CLAIMS, {**made, "metadata": changed, "spec": {}, "status": status}, "status")
    await api.get(CLAIMS, "c")


@sequence
async def allocation_of_a_claim_is_validated(api: Api) -> None:
    made = await api.create(CLAIMS, claim())

    async def store(**status: Any) -> None:
        await api.update(CLAIMS, {**made, "status": status}, "status")

    unknown = allocation()
    unknown["devices"]["results"][0]["request"] = "other"
    await store(allocation=unknown)
    nameless = allocation()
    nameless["devices"]["results"][0]["driver"] = "Not A Driver"
    await store(allocation=nameless)
    await store(allocation=allocation(device="Not_A_Device"))
    await store(reservedFor=[POD])
    await store(allocation=allocation(), reservedFor=[POD, POD])
    await store(allocation=allocation(), reservedFor=[{"resource": "pods"}])
    await store(allocation={**allocation(), "nodeSelector": {}})


@sequence
async def allocation_of_a_claim_stays_while_it_is_reserved(api: Api) -> None:
    made = await api.create(CLAIMS, claim())
    allocated = await api.update(
        CLAIMS, {**made, "status": {"allocation": allocation(), "reservedFor": [POD]}}, "status"
    )
    await api.update(
        CLAIMS, {**allocated, "status": {"allocation": allocation("gpu-1"), "reservedFor": [POD]}}, "status"
    )
    await api.update(CLAIMS, {**allocated, "status": {"reservedFor": [POD]}}, "status")
    free = await api.update(CLAIMS, {**allocated, "status": {"allocation": allocation()}}, "status")
    await api.update(CLAIMS, {**free, "status": {"allocation": allocation("gpu-1")}}, "status")
    await api.update(CLAIMS, {**free, "status": {}}, "status")


@sequence
async def reservations_have_an_end(api: Api) -> None:
    made = await api.create(CLAIMS, claim())
    pods = [{**POD, "name": f"p{number}", "uid": f"u{number}"} for number in range(257)]
    await api.update(CLAIMS, {**made, "status": {"allocation": allocation(), "reservedFor": pods}}, "status")


@sequence
async def devices_in_the_status_of_a_claim(api: Api) -> None:
    made = await api.create(CLAIMS, claim())
    device = {"driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
    now = "2026-01-01T00:00:00Z"
    ready = {"type": "Ready", "status": "True", "reason": "Up", "message": "", "lastTransitionTime": now}
    status = {"allocation": allocation(), "devices": [{**device, "conditions": [ready], "data": {"a": 1}}]}
    stored = await api.update(CLAIMS, {**made, "status": status}, "status")
    other = {**status, "devices": [{**device, "device": "gpu-9"}]}
    await api.update(CLAIMS, {**stored, "status": other}, "status")
    address = {**device, "networkData": {"ips": ["1.2.3.4"]}}
    await api.update(CLAIMS, {**stored, "status": {**status, "devices": [address]}}, "status")


@sequence
async def finalizer_protects_an_allocated_claim(api: Api) -> None:
    finalizer = {"finalizers": ["resource.kubernetes.io/delete-protection"]}
    made = await api.create(CLAIMS, claim(metadata=finalizer))
    await api.update(CLAIMS, {**made, "status": {"allocation": allocation(), "reservedFor": [POD]}}, "status")
    deleted = await api.delete(CLAIMS, "c")
    more = {**POD, "name": "q", "uid": "uid-of-q"}
    status = {"allocation": allocation(), "reservedFor": [POD, more]}
    await api.update(CLAIMS, {**deleted, "status": status}, "status")
    await api.table(CLAIMS, "c")
    await api.patch(CLAIMS, "c", {"status": None}, "merge", "status")
    await api.patch(CLAIMS, "c", {"metadata": {"finalizers": None}}, "merge")


@sequence
async def template_of_a_claim(api: Api) -> None:
    spec = {"metadata": {"labels": {"a": "b"}}, "spec": claim()["spec"]}
    await api.create(TEMPLATES, {"metadata": meta("t"), "spec": spec})
    changed = {"spec": {"spec": {"devices": {"requests": [request(count=2)]}}}}
    await api.patch(TEMPLATES, "t", changed, "merge")
    bad = {**spec, "spec": claim("c", request(count=-1))["spec"]}
    await api.create(TEMPLATES, {"metadata": meta("bad"), "spec": bad})
    named = {**spec, "metadata": {"name": "x", "labels": {"-a": "b"}}}
    await api.create(TEMPLATES, {"metadata": meta("named"), "spec": named})
    await api.table(TEMPLATES)


@sequence
async def device_class_is_validated(api: Api) -> None:
    await api.create(CLASSES, device_class(api, selectors=[selector("device.driver ==")]))
    await api.create(CLASSES, device_class(api, config=[{}]))
    await api.create(CLASSES, device_class(api, extendedResourceName="no-domain"))
    await api.create(CLASSES, device_class(api, extendedResourceName="example.com/gpu"))
    await api.patch(CLASSES, api.name, {"spec": {"selectors": [selector("true")]}}, "merge")
    await api.create(CLASSES, {"metadata": meta("Not A Class")})


@sequence
async def slice_of_a_node(api: Api) -> None:
    attributes = {"model": {"string": "a"}, "index": {"int": 3}, "ok": {"bool": True}, "v": {"version": "1.2.3"}}
    device = {"name": "gpu-0", "attributes": attributes, "capacity": {"memory": {"value": "81920Mi"}}}
    made = await api.create(SLICES, resource_slice(api, device))
    pool = {**made["spec"]["pool"], "generation": 2}
    await api.update(SLICES, {**made, "spec": {**made["spec"], "pool": pool}})
    await api.patch(SLICES, api.name, {"spec": {"nodeName": "node-2"}}, "merge")
    await api.patch(SLICES, api.name, {"spec": {"driver": "other.example.com"}}, "merge")
    await api.patch(SLICES, api.name, {"spec": {"pool": {"name": "other"}}}, "merge")


@sequence
async def place_of_a_slice_is_validated(api: Api) -> None:
    await api.create(SLICES, resource_slice(api, nodeName=None))
    await api.create(SLICES, resource_slice(api, allNodes=True))
    await api.create(SLICES, resource_slice(api, nodeName=None, allNodes=False))
    await api.create(SLICES, resource_slice(api, nodeName="Not_A_Node"))
    await api.create(SLICES, resource_slice(api, nodeName=None, nodeSelector={"nodeSelectorTerms": []}))
    bad = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In"}]}]}
    await api.create(SLICES, resource_slice(api, nodeName=None, nodeSelector=bad))
    await api.create(SLICES, resource_slice(api, pool={"name": "", "generation": -1, "resourceSliceCount": 0}))
    await api.create(SLICES, resource_slice(api, driver=""))


@sequence
async def devices_of_a_slice_are_validated(api: Api) -> None:
    await api.create(SLICES, resource_slice(api, {"name": "Bad_Name"}))
    await api.create(SLICES, resource_slice(api, {"name": "a"}, {"name": "a"}))
    await api.create(SLICES, resource_slice(api, *[{"name": f"d{number}"} for number in range(129)]))
    for value in ({}, {"string": "a", "int": 1}, {"version": "1.2"}, {"string": "x" * 65}):
        await api.create(SLICES, resource_slice(api, {"name": "a", "attributes": {"model": value}}))
    await api.create(SLICES, resource_slice(api, {"name": "a", "attributes": {"no good": {"int": 1}}}))
    many = {f"a{number}": {"int": number} for number in range(33)}
    await api.create(SLICES, resource_slice(api, {"name": "a", "attributes": many}))
    await api.create(SLICES, resource_slice(api, {"name": "a", "capacity": {"memory": {"value": "much"}}}))


@sequence
async def taints_of_a_device_are_validated(api: Api) -> None:
    good = {"key": "example.com/broken", "value": "yes", "effect": "NoSchedule"}
    await api.create(SLICES, resource_slice(api, {"name": "a", "taints": [good]}))
    for wrong in ({"key": "a b"}, {"effect": "NoStart"}, {"effect": ""}, {"value": "not good"}):
        await api.create(SLICES, resource_slice(api, {"name": "a", "taints": [{**good, **wrong}]}, suffix="-bad"))
    await api.create(SLICES, resource_slice(api, {"name": "a", "taints": [good] * 17}, suffix="-bad"))


@sequence
async def counters_of_a_slice_are_validated(api: Api) -> None:
    counters = {"memory": {"value": "10Gi"}}
    await api.create(SLICES, resource_slice(api, sharedCounters=[{"name": "set", "counters": counters}], devices=None))
    twice = [{"name": "set", "counters": counters}] * 2
    await api.create(SLICES, resource_slice(api, sharedCounters=twice, devices=None, suffix="-bad"))
    empty = [{"name": "set", "counters": {}}]
    await api.create(SLICES, resource_slice(api, sharedCounters=empty, devices=None, suffix="-bad"))
    both = {"sharedCounters": [{"name": "set", "counters": counters}]}
    await api.create(SLICES, resource_slice(api, {"name": "a"}, suffix="-bad", **both))
    consumes = [{"counterSet": "set", "counters": {"memory": {"value": "1Gi"}}}]
    await api.create(SLICES, resource_slice(api, {"name": "a", "consumesCounters": consumes}, suffix="-user"))
    await api.create(SLICES, resource_slice(api, {"name": "a", "consumesCounters": [{}]}, suffix="-bad"))


@sequence
async def capacity_of_a_device_that_is_shared_is_validated(api: Api) -> None:
    policy = {"default": "1Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}}
    device = {
        "name": "a",
        "allowMultipleAllocations": True,
        "capacity": {"memory": {"value": "80Gi", "requestPolicy": policy}},
    }
    await api.create(SLICES, resource_slice(api, device))
    for wrong in ({"default": "9Gi"}, {"default": "1500Mi"}, {"validValues": ["1Gi"]}, {"default": None}):
        capacity = {"memory": {"value": "80Gi", "requestPolicy": {**policy, **wrong}}}
        await api.create(SLICES, resource_slice(api, {**device, "capacity": capacity}, suffix="-bad"))
    await api.create(SLICES, resource_slice(api, {**device, "allowMultipleAllocations": False}, suffix="-bad"))


@sequence
async def taint_rule_is_validated(api: Api) -> None:
    taint = {"key": "example.com/broken", "effect": "NoExecute"}
    await api.create(TAINT_RULES, {"metadata": meta(api.name), "spec": {"taint": taint}})
    select = {"deviceSelector": {"driver": "gpu.example.com", "pool": "node-1"}, "taint": taint}
    await api.create(TAINT_RULES, {"metadata": meta(api.name), "spec": select})
    await api.patch(TAINT_RULES, api.name, {"spec": {"taint": {"effect": "None"}}}, "merge")
    await api.create(TAINT_RULES, {"metadata": meta(f"{api.name}-bad"), "spec": {"taint": {"key": ""}}})
    bad = {"deviceSelector": {"driver": "Not A Driver"}, "taint": {**taint, "effect": "Often"}}
    await api.create(TAINT_RULES, {"metadata": meta(f"{api.name}-bad"), "spec": bad})
