"""Pods: defaults, claims, binding, status, what can be changed."""

from __future__ import annotations

from tests.parity.api import PODS, Api, Object, meta, pod, sequence

CLAIMED = [{"name": "gpu", "resourceClaimName": "my-gpu"}]


def container(**more: object) -> Object:
    return {"name": "main", "image": "docker.io/drayman/testbox:1", **more}


@sequence
async def defaults_of_a_pod(api: Api) -> None:
    await api.create(PODS, pod())


@sequence
async def defaults_of_a_pod_with_ports_and_probes(api: Api) -> None:
    probe = {"httpGet": {"port": 80}}
    ports = [{"containerPort": 80}]
    volumes = [{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "c"}}]
    one = container(ports=ports, livenessProbe=probe, env=[{"name": "N", "valueFrom": {"fieldRef": {
        "fieldPath": "metadata.name"}}}])  # fmt: skip
    await api.create(PODS, pod(containers=[one], volumes=volumes))


@sequence
async def resources_and_quality_of_service(api: Api) -> None:
    limits = {"limits": {"cpu": "1.50", "memory": "1024Mi"}}
    await api.create(PODS, pod("a", containers=[container(resources=limits)]))
    await api.create(PODS, pod("b", containers=[container(resources={"requests": {"cpu": "0.1"}})]))
    too_much = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    await api.create(PODS, pod("c", containers=[container(resources=too_much)]))


@sequence
async def pod_with_claims(api: Api) -> None:
    one = container(resources={"claims": [{"name": "gpu", "request": "big"}]})
    await api.create(PODS, pod("a", containers=[one], resourceClaims=CLAIMED))
    template = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    await api.create(PODS, pod("b", containers=[one], resourceClaims=template))


@sequence
async def claims_of_a_pod_are_validated(api: Api) -> None:
    await api.create(PODS, pod(resourceClaims=[{"name": "gpu"}]))
    both = [{"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}]
    await api.create(PODS, pod(resourceClaims=both))
    await api.create(PODS, pod(resourceClaims=[*CLAIMED, *CLAIMED]))
    await api.create(PODS, pod(resourceClaims=[{"name": "Bad", "resourceClaimName": "Bad_Name"}]))
    await api.create(PODS, pod(containers=[container(resources={"claims": [{"name": "none"}]})]))
    twice = {"claims": [{"name": "gpu"}, {"name": "gpu"}]}
    await api.create(PODS, pod(containers=[container(resources=twice)], resourceClaims=CLAIMED))


@sequence
async def pods_are_validated(api: Api) -> None:
    await api.create(PODS, pod(containers=[]))
    await api.create(PODS, pod(containers=[{"name": "main"}]))
    await api.create(PODS, pod(containers=[container(), container()]))
    await api.create(PODS, pod(restartPolicy="Sometimes"))
    await api.create(PODS, pod(tolerations=[{"operator": "Exists", "value": "x"}]))
    await api.create(PODS, pod(schedulerName="Not A Name", nodeSelector={"a b": "c"}))


@sequence
async def pod_is_bound_once(api: Api) -> None:
    made = await api.create(PODS, pod())
    metadata = {"name": "p", "namespace": api.namespace}
    target = {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
    other = {**metadata, "uid": "11111111-2222-3333-4444-555555555555"}
    await api.create(PODS, {"metadata": other, "target": target}, "p", "binding")
    await api.create(PODS, {"metadata": metadata, "target": {"kind": "Pod", "name": "x"}}, "p", "binding")
    await api.create(PODS, {"metadata": {**metadata, "uid": made["metadata"]["uid"]}, "target": target}, "p", "binding")
    await api.get(PODS, "p")
    await api.create(PODS, {"metadata": metadata, "target": target}, "p", "binding")


@sequence
async def pod_that_does_not_exist_is_not_bound(api: Api) -> None:
    target = {"kind": "Node", "name": "node-1"}
    await api.create(PODS, {"metadata": {"name": "p", "namespace": api.namespace}, "target": target}, "p", "binding")


@sequence
async def pod_with_gates_is_not_bound(api: Api) -> None:
    await api.create(PODS, pod(schedulingGates=[{"name": "example.com/wait"}]))
    target = {"kind": "Node", "name": "node-1"}
    await api.create(PODS, {"metadata": {"name": "p", "namespace": api.namespace}, "target": target}, "p", "binding")
    await api.patch(PODS, "p", {"spec": {"schedulingGates": None}}, "merge")


@sequence
async def status_is_written_apart(api: Api) -> None:
    made = await api.create(PODS, {**pod(), "status": {"phase": "Running"}})
    await api.update(PODS, {**made, "status": {"phase": "Running"}})
    changed = {**made, "metadata": {**made["metadata"], "labels": {"a": "b"}}, "status": {"phase": "Running"}}
    changed["spec"] = {**made["spec"], "priority": 7}
    await api.update(PODS, changed, "status")
    await api.get(PODS, "p", "status")


@sequence
async def condition_is_patched_by_its_type(api: Api) -> None:
    await api.create(PODS, pod())
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}
    await api.patch(PODS, "p", {"status": {"conditions": [condition]}}, "strategic", "status")
    ready = {"type": "Ready", "status": "False"}
    await api.patch(PODS, "p", {"status": {"conditions": [ready]}}, "strategic", "status")


@sequence
async def spec_of_a_pod_stays(api: Api) -> None:
    await api.create(PODS, pod())
    await api.patch(PODS, "p", {"spec": {"schedulerName": "other"}}, "merge")
    await api.patch(PODS, "p", {"spec": {"containers": [{"name": "main", "image": "new:2"}]}}, "strategic")
    await api.patch(PODS, "p", {"spec": {"activeDeadlineSeconds": 5}}, "merge")
    await api.patch(PODS, "p", {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}, "merge")


@sequence
async def log_of_a_pod_without_a_node(api: Api) -> None:
    await api.create(PODS, pod())
    await api.get(PODS, "p", "log")
    await api.get(PODS, "p", "log", container="none")
    await api.get(PODS, "none", "log")


@sequence
async def priority_classes_have_to_exist(api: Api) -> None:
    await api.create(PODS, pod(priorityClassName="none"))
    await api.create(PODS, pod(priorityClassName="system-node-critical"))


@sequence
async def claim_statuses_of_a_pod(api: Api) -> None:
    template = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    await api.create(PODS, pod(resourceClaims=template))
    made = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu-x"}]}
    await api.patch(PODS, "p", {"status": made}, "strategic", "status")
    other = {"resourceClaimStatuses": [{"name": "none", "resourceClaimName": "x"}]}
    await api.patch(PODS, "p", {"status": other}, "strategic", "status")


@sequence
async def job_gets_defaults_and_a_selector(api: Api) -> None:
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    await api.create("batch/v1/jobs", {"metadata": meta("j"), "spec": {"template": template}})
