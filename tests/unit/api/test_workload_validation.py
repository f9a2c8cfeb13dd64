from __future__ import annotations

TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "box:1"}]}}


def deployment(**spec: object) -> dict:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": "team-a", "name": "d"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE, **spec},
    }


def job(restart_policy: str | None = "Never", **spec: object) -> dict:
    template = {"spec": {**TEMPLATE["spec"], "restartPolicy": restart_policy}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"namespace": "team-a", "name": "j"},
        "spec": {"template": template, **spec},
    }


def test_job_and_deployment_are_accepted(refusals):
    assert refusals(job(completions=10, parallelism=2)) == []
    assert refusals(deployment()) == []


def test_pods_of_a_job_do_not_restart_for_ever(refusals):
    assert refusals(job(None)) == [
        'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    ]


def test_numbers_of_a_job_are_not_negative(refusals):
    assert refusals(job(completions=-1)) == ["spec.completions: Invalid value: -1: must be greater than or equal to 0"]


def test_indexed_job_counts_completions(refusals):
    assert refusals(job(parallelism=1, completionMode="Indexed")) == [
        "spec.completions: Required value: when completion mode is Indexed"
    ]


def test_template_of_a_job_never_changes(update_refusals):
    from drayman.api import defaults

    old = defaults.apply(job())
    old["metadata"]["resourceVersion"] = "1"
    new = {**old, "spec": {**old["spec"], "completions": 2}}
    assert update_refusals(new, old) == ["spec.completions: Invalid value: 2: field is immutable"]


def test_deployment_selects_its_own_pods(refusals):
    assert refusals(deployment(selector=None)) == ["spec.selector: Required value"]
    assert refusals(deployment(selector={})) == [
        "spec.selector: Invalid value: {}: empty selector is invalid for deployment"
    ]
    assert refusals(deployment(selector={"matchLabels": {"app": "b"}})) == [
        'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`'
    ]
    exists = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}
    assert refusals(deployment(selector=exists)) == []


def test_claims_in_a_template_are_checked_as_in_a_pod(refusals):
    spec = {**TEMPLATE["spec"], "resourceClaims": [{"name": "gpu"}]}
    assert refusals(deployment(template={**TEMPLATE, "spec": spec})) == [
        'spec.template.spec.resourceClaims[0]: Invalid value: {"Name":"gpu","ResourceClaimName":null,'
        '"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
    ]


def test_nodes_leases_and_namespaces_keep_their_rules(refusals):
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "spec": {"taints": [{"key": "k", "effect": "Never"}]},
        "status": {"capacity": {"cpu": "-1"}},
    }
    assert refusals(node) == [
        'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", '
        '"NoExecute"',
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
    ]
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"namespace": "a", "name": "l"},
        "spec": {"leaseDurationSeconds": 0},
    }
    assert refusals(lease) == ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a.b"}}
    assert refusals(namespace) == ['metadata.name: Invalid value: "a.b": must not contain dots']


def test_object_of_another_kind_needs_a_name(refusals):
    assert refusals({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}) == [
        "metadata.name: Required value: name or generateName is required"
    ]


def test_update_needs_a_resource_version_and_keeps_the_uid(update_refusals):
    old = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "1", "deletionTimestamp": "x"}}
    new = {**old, "metadata": {**old["metadata"], "uid": "2", "finalizers": ["a.b/c"]}}
    assert update_refusals(new, old) == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new "
        'finalizers []string{"a.b/c"}',
        'metadata.resourceVersion: Invalid value: "": must be specified for an update',
        'metadata.uid: Invalid value: "2": field is immutable',
    ]
