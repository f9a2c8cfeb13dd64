from __future__ import annotations

import pytest

from drayman.api import schema


def pod(**spec: object) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec}


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (pod(nodeNam="n"), 'unknown field "spec.nodeNam"'),
        (pod(containers=[{"imag": "x"}]), 'unknown field "spec.containers[0].imag"'),
        (
            pod(containers={}),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (pod(nodeName=1), "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string"),
        (pod(priority="1"), "json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32"),
        (
            pod(priority=2**40),
            "json: cannot unmarshal number 1099511627776 into Go struct field PodSpec.spec.priority of type int32",
        ),
        (
            pod(hostNetwork="yes"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool",
        ),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": "now"}},
            'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
        ),
        (
            {"apiVersion": "v1", "kind": "Node", "status": {"capacity": {"memory": "1GiB"}}},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ({"apiVersion": "v1", "kind": "Secret", "data": {"a": "?"}}, "illegal base64 data at input byte 0"),
    ],
)
def test_decoder_says_what_the_api_server_says(obj: dict, text: str):
    assert [str(error) for error in schema.strict(obj)] == [text]


def test_unknown_fields_are_listed_in_order_of_their_names_and_left_out():
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "gpu", "count": 1}]}},
    }
    decoded = schema.decode(claim)
    assert [error.field for error in decoded.errors] == [
        "spec.devices.requests[0].count",
        "spec.devices.requests[0].deviceClassName",
    ]
    assert decoded.fatal is None
    assert decoded.object["spec"] == {"devices": {"requests": [{"name": "a"}]}}


def test_wrong_type_outweighs_unknown_fields():
    assert [str(error) for error in schema.strict(pod(a=1, nodeName=1))] == [
        "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string"
    ]


def test_null_is_as_good_as_absent():
    assert schema.decode(pod(nodeName=None, containers=None)) == schema.Decoded(pod())


def test_quantities_are_stored_in_canonical_form():
    node = {"apiVersion": "v1", "kind": "Node", "status": {"capacity": {"memory": "1024Mi", "pods": 110}}}
    assert schema.decode(node).object["status"] == {"capacity": {"memory": "1Gi", "pods": "110"}}


def test_parameters_of_drivers_are_not_looked_into():
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "spec": {"config": [{"opaque": {"driver": "d", "parameters": {"any": ["thing", None]}}}]},
    }
    assert schema.decode(device_class) == schema.Decoded(device_class)


def test_kind_that_is_not_built_in_passes():
    assert schema.decode({"apiVersion": "example.com/v1", "kind": "Thing", "spec": 1}).errors == ()


def test_every_field_type_is_known():
    from drayman.api.schema import table

    scalars = {
        "any",
        "string",
        "bytes",
        "bool",
        "int32",
        "int64",
        "float64",
        "quantity",
        "intOrString",
        "time",
        "microTime",
    }
    elements = {table.element(kind) for fields in table.types().values() for kind in fields.values()}
    while any(kind.startswith(("[]", "map[string]")) for kind in elements):
        elements = {table.element(kind) for kind in elements}
    assert elements - scalars <= set(table.types())


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("spec.devices.contraints", "did you mean `constraints`?"),
        ("spec.devices.requests[0].Exactly", "did you mean `exactly`?"),
        ("spec.devices.requests[0].count", "`count` is a field of `exactly` and of `firstAvailable`"),
        ("spec.devices.requests[0].exactly.colour", None),
        ("nowhere.at.all", None),
    ],
)
def test_hint_names_the_field_that_was_meant(path: str, hint: str | None):
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
    assert schema.field_hint(claim, path) == hint


def test_hint_sees_through_maps_of_a_slice():
    slice_ = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice"}
    assert schema.field_hint(slice_, "spec.devices[0].attributes.model.stringValue") == "did you mean `string`?"


def test_values_are_shown_in_the_order_of_the_go_type():
    shown = schema.ordered("resource.v1.DeviceSubRequest", {"count": 1, "deviceClassName": "gpu", "name": "a"})
    assert list(shown) == ["name", "deviceClassName", "count"]
