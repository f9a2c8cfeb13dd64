from __future__ import annotations

import copy

import pytest

UID = "11111111-2222-3333-4444-555555555555"
REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


def result(**fields: object) -> dict:
    return {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0", **fields}


def claim(**status: object) -> dict:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "team-a", "name": "c", "resourceVersion": "1"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
        "status": status,
    }


def allocation(*results: dict, **fields: object) -> dict:
    return {"devices": {"results": list(results)}, **fields}


def consumer(uid: str = UID, **fields: object) -> dict:
    return {"resource": "pods", "name": "p", "uid": uid, **fields}


def test_allocation_with_a_reservation_is_accepted(update_refusals):
    new = claim(allocation=allocation(result()), reservedFor=[consumer()])
    assert update_refusals(new, claim(), "status") == []


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({"request": "nic"}, [f'request: Invalid value: "nic": {REFERENCE}']),
        ({"pool": ""}, ["pool: Required value"]),
        ({"pool": "a//b"}, ['pool: Invalid value: "a//b": segment 1: must not be empty']),
        ({"driver": "d" * 64}, ["driver: Too long: may not be more than 63 characters"]),
        ({"shareID": "X"}, ['shareID: Invalid value: "X": must be a lowercase UUID in 8-4-4-4-12 format']),
        (
            {"bindingConditions": ["a"]},
            [
                "bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use "
                "bindingConditions"
            ],
        ),
        (
            {"bindingConditions": ["a", "a"], "bindingFailureConditions": ["a"]},
            [
                'bindingConditions[1]: Duplicate value: "a"',
                'bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with '
                "bindingConditions",
            ],
        ),
    ],
)
def test_results_are_well_formed(update_refusals, fields: dict, texts: list[str]):
    new = claim(allocation=allocation(result(**fields)))
    assert update_refusals(new, claim(), "status") == [f"status.allocation.devices.results[0].{text}" for text in texts]


def test_allocation_is_limited_and_says_where_configuration_is_from(update_refusals):
    many = allocation(*[result(device=f"gpu-{index}") for index in range(33)])
    many["devices"]["config"] = [{"opaque": {"driver": "d", "parameters": {}}}, {"source": "FromUser"}]
    many["nodeSelector"] = {}
    path = "status.allocation"
    assert update_refusals(claim(allocation=many), claim(), "status") == [
        f"{path}.devices.config[1].opaque: Required value",
        f"{path}.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
        f"{path}.devices.results: Too many: 33: must have at most 32 items",
        f"{path}.devices.config[0].source: Required value",
        f'{path}.devices.config[1].source: Unsupported value: "FromUser": supported values: "FromClaim", "FromClass"',
    ]


def test_allocation_can_be_removed_but_not_changed(update_refusals):
    old = claim(allocation=allocation(result()))
    assert update_refusals(claim(), old, "status") == []
    assert update_refusals(claim(allocation=allocation(result(device="gpu-1"))), old, "status") == [
        "status.allocation: Invalid value: null: field cannot be modified once set"
    ]


def test_reservation_needs_an_allocation_and_a_whole_consumer(update_refusals):
    new = claim(reservedFor=[consumer(name=""), consumer()])
    assert update_refusals(new, claim(), "status") == [
        "status.reservedFor[0].name: Required value",
        "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
        f'status.reservedFor[1]: Duplicate value: {{"resource":"pods","name":"p","uid":"{UID}"}}',
    ]


def test_claim_takes_256_consumers(update_refusals):
    consumers = [consumer(uid=str(index)) for index in range(257)]
    allocated = allocation(result())
    assert update_refusals(claim(allocation=allocated, reservedFor=consumers[:256]), claim(), "status") == []
    assert update_refusals(claim(allocation=allocated, reservedFor=consumers), claim(), "status") == [
        "status.reservedFor: Too many: 257: must have at most 256 items"
    ]


def test_claim_that_is_being_deleted_takes_no_new_consumers(update_refusals):
    old = claim(allocation=allocation(result()), reservedFor=[consumer()])
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert update_refusals(old, old, "status") == []
    new = copy.deepcopy(old)
    new["status"]["reservedFor"].append(consumer(uid="other"))
    assert update_refusals(new, old, "status") == [
        "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or "
        "`deletionTimestamp` are set"
    ]


def test_drivers_report_on_allocated_devices(update_refusals):
    old = claim(allocation=allocation(result()))
    device = {"driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}
    ready = {"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    good = claim(**old["status"], devices=[{**device, "conditions": [ready], "networkData": {"ips": ["10.0.0.1/8"]}}])
    assert update_refusals(good, old, "status") == []
    bad = [
        {**device, "device": "gpu-1", "networkData": {"interfaceName": "x" * 257, "ips": ["10.0.0.1"]}},
        {**device, "conditions": [{**ready, "status": "Yes"}, {"type": "Ready"}], "data": 1},
        device,
    ]
    assert update_refusals(claim(**old["status"], devices=bad), old, "status") == [
        'status.devices[0]: Invalid value: {"Driver":"gpu.example.com","Pool":"n1","Device":"gpu-1","ShareID":""}: '
        "must be an allocated device in the claim",
        'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, '
        "(e.g. 10.9.8.7/24 or 2001:db8::1/64)",
        'status.devices[1].conditions[1]: Duplicate value: "Ready"',
        'status.devices[1].conditions[0].status: Unsupported value: "Yes": supported values: "False", "True", '
        '"Unknown"',
        "status.devices[1].conditions[1].status: Required value",
        "status.devices[1].conditions[1].lastTransitionTime: Required value",
        "status.devices[1].conditions[1].reason: Required value",
        'status.devices[1].data: Invalid value: "<value omitted>": must be a valid JSON object',
        "status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes",
        'status.devices[2]: Duplicate value: {"driver":"gpu.example.com","pool":"n1","device":"gpu-0"}',
    ]


def test_admin_access_in_a_new_allocation_needs_the_label(update_refusals):
    new = claim(allocation=allocation(result(), result(device="gpu-1", adminAccess=True)))
    text = (
        "status.allocation.devices.results[1].adminAccess: Forbidden: admin access to devices requires the "
        "`resource.kubernetes.io/admin-access: true` label on the containing namespace"
    )
    assert update_refusals(new, claim(), "status") == [text]
    assert update_refusals(new, new, "status") == []
