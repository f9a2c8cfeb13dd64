from __future__ import annotations

import copy

import pytest


def pod(**spec: object) -> dict:
    base = {"containers": [container()]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "team-a", "name": "p"},
        "spec": {name: value for name, value in (base | spec).items() if value is not None},
    }


def container(name: str = "c", **fields: object) -> dict:
    return {"name": name, "image": "box:1", **fields}


def test_pod_with_a_claim_is_accepted(refusals):
    claims = [{"name": "gpu", "resourceClaimName": "shared"}, {"name": "nic", "resourceClaimTemplateName": "t"}]
    used = container(resources={"claims": [{"name": "gpu"}, {"name": "nic", "request": "a"}]})
    assert refusals(pod(containers=[used], resourceClaims=claims)) == []


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            {"name": "gpu"},
            'Invalid value: {"Name":"gpu","ResourceClaimName":null,"ResourceClaimTemplateName":null}: '
            "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
        ),
        (
            {"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"},
            'Invalid value: {"Name":"gpu","ResourceClaimName":"a","ResourceClaimTemplateName":"b"}: '
            "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
        ),
    ],
)
def test_pod_claim_has_one_source(refusals, claim: dict, text: str):
    assert refusals(pod(resourceClaims=[claim])) == [f"spec.resourceClaims[0]: {text}"]


def test_pod_claims_have_names_of_their_own(refusals):
    claims = [
        {"resourceClaimName": "a"},
        {"name": "b", "resourceClaimName": "a"},
        {"name": "b", "resourceClaimName": "a"},
    ]
    assert refusals(pod(resourceClaims=claims)) == [
        "spec.resourceClaims[0].name: Required value",
        'spec.resourceClaims[2].name: Duplicate value: "b"',
    ]


def test_mirror_pod_has_no_claims(refusals):
    mirror = pod(resourceClaims=[{"name": "a", "resourceClaimName": "a"}])
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert refusals(mirror) == ["<nil>: Forbidden: static pods do not support resource claims"]


def test_containers_use_claims_of_their_pod_once(refusals):
    path = "spec.containers[0].resources.claims"
    used = [{"name": "a", "request": "x"}, {"name": "a", "request": "x"}, {"name": "a"}, {"name": "b"}, {}]
    claims = [{"name": "a", "resourceClaimName": "a"}]
    assert refusals(pod(containers=[container(resources={"claims": used})], resourceClaims=claims)) == [
        f'{path}[1]: Duplicate value: "a/x"',
        f'{path}[2]: Duplicate value: "a"',
        f'{path}[3]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a',
        f"{path}[4]: Required value",
    ]
    assert refusals(pod(containers=[container(resources={"claims": [{"name": "b"}]})])) == [
        f'{path}[0]: Not found: "b": must be one of the names in pod.spec.resourceClaims which is empty'
    ]


def test_pod_has_containers_with_names_and_images(refusals):
    assert refusals(pod(containers=None)) == ["spec.containers: Required value"]
    assert refusals(pod(containers=[container(""), container("a", image=""), container("a")])) == [
        "spec.containers[0].name: Required value",
        "spec.containers[1].image: Required value",
        'spec.containers[2].name: Duplicate value: "a"',
    ]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"restartPolicy": "Sometimes"},
            'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        ),
        (
            {"tolerations": [{"key": "k", "operator": "Exists", "effect": "Never"}]},
            'spec.tolerations[0].effect: Unsupported value: "Never": supported values: "NoSchedule", '
            '"PreferNoSchedule", "NoExecute"',
        ),
        (
            {"tolerations": [{"operator": "Equal"}]},
            'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which '
            'means "match all values and all keys"',
        ),
        (
            {"containers": [container(resources={"requests": {"example.com/gpu": "1"}})]},
            "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            {"containers": [container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}})]},
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
        (
            {"containers": [container(volumeMounts=[{"name": "v", "mountPath": "/v"}])]},
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        (
            {"nodeName": "n1", "schedulingGates": [{"name": "g"}]},
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ),
        (
            {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}},
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
            "Required value: must have at least one node selector term",
        ),
    ],
)
def test_pod_spec_keeps_the_rules(refusals, spec: dict, text: str):
    assert refusals(pod(**spec)) == [text]


def test_resource_without_a_domain_is_a_standard_one(refusals):
    path = "spec.containers[0].resources.requests[gpu]"
    assert refusals(pod(containers=[container(resources={"requests": {"gpu": "1"}})])) == [
        f'{path}: Invalid value: "gpu": must be a standard resource type or fully qualified',
        f'{path}: Invalid value: "gpu": must be a standard resource for containers',
    ]


def stored(**spec: object) -> dict:
    from drayman.api import defaults

    made = defaults.apply(pod(**spec))
    return {**made, "metadata": {**made["metadata"], "resourceVersion": "1"}}


def test_image_of_a_pod_may_change(update_refusals):
    old = stored()
    new = copy.deepcopy(old)
    new["spec"]["containers"][0]["image"] = "box:2"
    assert update_refusals(new, old) == []


def test_rest_of_a_pod_is_fixed(update_refusals):
    old = stored()
    new = copy.deepcopy(old)
    new["spec"]["nodeSelector"] = {"a": "b"}
    (text,) = update_refusals(new, old)
    assert text.splitlines() == [
        "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
        "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        '   "dnsPolicy": "ClusterFirst",',
        '+  "nodeSelector": {',
        '+    "a": "b"',
        "+  },",
        '   "securityContext": {},',
    ]
    assert update_refusals({**new, "spec": {**old["spec"], "containers": []}}, old)[-1] == (
        "spec.containers: Forbidden: pod updates may not add or remove containers"
    )


def test_gated_pod_may_be_given_nodes_and_lose_its_gates(update_refusals):
    old = stored(schedulingGates=[{"name": "g"}])
    new = copy.deepcopy(old)
    new["spec"]["nodeSelector"] = {"a": "b"}
    del new["spec"]["schedulingGates"]
    assert update_refusals(new, old) == []
    assert update_refusals(stored(schedulingGates=[{"name": "other"}]), old) == [
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'other'"
    ]


def test_claims_of_a_pod_never_change(update_refusals):
    old = stored(resourceClaims=[{"name": "a", "resourceClaimName": "a"}])
    new = stored(resourceClaims=[{"name": "a", "resourceClaimName": "b"}])
    (text,) = update_refusals(new, old)
    assert text.startswith("spec: Forbidden: pod updates may not change fields other than ")


def test_tolerations_are_only_added(update_refusals):
    old = stored(tolerations=[{"key": "a", "operator": "Exists"}])
    more = stored(tolerations=[{"key": "b", "operator": "Exists"}, {"key": "a", "operator": "Exists"}])
    assert update_refusals(more, old) == []
    assert update_refusals(old, more) == [
        "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"
    ]


def test_status_names_claims_of_the_spec(update_refusals):
    old = stored(resourceClaims=[{"name": "a", "resourceClaimTemplateName": "t"}])
    new = {**old, "status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "p-a-x"}, {"name": "b"}]}}
    assert update_refusals(new, old, "status") == [
        'status.resourceClaimStatuses[1].name: Invalid value: "b": must match the name of an entry in '
        "`spec.resourceClaims`"
    ]


def test_extended_resource_claim_maps_requests_of_containers(update_refusals):
    old = stored(containers=[container(resources={"limits": {"example.com/gpu": "1"}})])
    mappings = [
        {"containerName": "c", "resourceName": "example.com/gpu", "requestName": "r"},
        {"containerName": "d", "resourceName": "example.com/gpu", "requestName": "r"},
        {"containerName": "c", "resourceName": "example.com/nic", "requestName": "r"},
    ]
    new = {**old, "status": {"extendedResourceClaimStatus": {"requestMappings": mappings}}}
    path = "status.extendedResourceClaimStatus"
    assert update_refusals(new, old, "status") == [
        f'{path}.requestMappings[1].containerName: Invalid value: "d": must match the name of an entry in '
        "spec.initContainers.name or spec.containers.name",
        f'{path}.requestMappings[2].resourceName: Invalid value: "example.com/nic": must match the extended resource '
        "name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests",
        f"{path}.resourceClaimName: Required value",
    ]
