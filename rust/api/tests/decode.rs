//! Decoding of objects: versions, unions, unknown values, errors.

use drayman_api::{
    AllocationMode, ConstraintKind, DecodeError, DeviceAttribute, DeviceClass, DeviceTaintEffect, NodeSelection,
    Object, RequestKind, Resource, ResourceClaim, ResourceSlice,
};
use serde_json::{Value, json};

fn slice(value: &Value) -> ResourceSlice {
    ResourceSlice::from_json(value.to_string().as_bytes()).expect("a ResourceSlice")
}

fn claim(value: &Value) -> ResourceClaim {
    ResourceClaim::from_json(value.to_string().as_bytes()).expect("a ResourceClaim")
}

fn error(value: &Value) -> String {
    Object::from_json(value.to_string().as_bytes()).expect_err("must not decode").to_string()
}

#[test]
fn beta_device_equals_the_same_device_in_v1() {
    let data = json!({"attributes": {"index": {"int": 3}}, "capacity": {"memory": {"value": "80Gi"}}});
    let mut flat = data.clone();
    flat["name"] = json!("gpu-0");
    let pool = json!({"name": "p", "generation": 2, "resourceSliceCount": 1});
    let spec = |devices: Value| json!({"driver": "d", "pool": pool, "nodeName": "n", "devices": [devices]});
    let beta = json!({"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice", "metadata": {"name": "s"},
        "spec": spec(json!({"name": "gpu-0", "basic": data}))});
    let stable = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec(flat)});
    assert_eq!(slice(&beta), slice(&stable));
    assert_eq!(serde_json::to_value(slice(&beta)).expect("JSON")["spec"], stable["spec"]);
}

#[test]
fn beta_request_equals_the_same_request_in_v1() {
    let exactly = json!({"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": "true"}}]});
    let mut flat = exactly.clone();
    flat["name"] = json!("r");
    let alternatives = json!({"name": "alternatives", "firstAvailable": [{"name": "big", "deviceClassName": "gpu"}]});
    let config = json!([{"opaque": {"driver": "d", "parameters": {"b": 1, "a": 2.50}}}]);
    let spec = |request: Value| json!({"devices": {"requests": [request, alternatives], "config": config}});
    let beta = json!({"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "spec": spec(flat)});
    let stable = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": spec(json!({"name": "r", "exactly": exactly}))});
    assert_eq!(claim(&beta), claim(&stable));
    assert_eq!(serde_json::to_value(claim(&beta)).expect("JSON")["spec"], stable["spec"]);
}

#[test]
fn opaque_parameters_are_kept_as_written() {
    let text = r#"{"spec": {"config": [{"opaque": {"driver": "d", "parameters": {"b": 1.50, "a": [ ]}}}]}}"#;
    let class = DeviceClass::from_json(text.as_bytes()).expect("a DeviceClass");
    let parameters = class.spec.config[0].opaque.as_ref().and_then(|opaque| opaque.parameters.as_ref());
    assert_eq!(parameters.map(drayman_api::RawJson::as_str), Some(r#"{"b": 1.50, "a": [ ]}"#));
}

#[test]
fn union_without_a_known_member_is_unknown() {
    let claim = claim(
        &json!({"spec": {"devices": {"requests": [{"name": "r", "future": {}}], "constraints": [{"future": "x"}]}}}),
    );
    assert_eq!(claim.spec.devices.requests[0].kind, RequestKind::Unknown);
    assert_eq!(claim.spec.devices.constraints[0].kind, ConstraintKind::Unknown);
    let slice =
        slice(&json!({"spec": {"driver": "d", "devices": [{"name": "x", "attributes": {"a": {"future": 1}}}]}}));
    assert_eq!(slice.spec.devices[0].attributes["a"], DeviceAttribute::Unknown);
    assert_eq!(slice.spec.node_selection(), NodeSelection::Unknown);
}

#[test]
fn unknown_value_of_an_enumeration_is_kept() {
    let claim = claim(
        &json!({"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "Most"}}]}}}),
    );
    let RequestKind::Exactly(request) = &claim.spec.devices.requests[0].kind else { unreachable!("exactly is set") };
    assert_eq!(request.allocation_mode, Some(AllocationMode::Unknown("Most".to_owned())));
}

#[test]
fn null_is_read_as_absent() {
    let slice = slice(
        &json!({"spec": {"driver": "d", "devices": null, "nodeName": null, "allNodes": true, "sharedCounters": null}}),
    );
    assert_eq!(slice.spec.node_selection(), NodeSelection::All);
    assert!(slice.spec.devices.is_empty());
}

#[test]
fn fields_that_are_missing_are_empty() {
    let slice = slice(
        &json!({"spec": {"driver": "d", "devices": [{"name": null, "taints": [{"key": "k"}], "capacity": {"c": {}}}]}}),
    );
    let device = &slice.spec.devices[0];
    assert_eq!(device.name, "");
    assert_eq!(device.taints[0].effect, DeviceTaintEffect::Unknown(String::new()));
    assert!(device.capacity["c"].value.is_zero());
}

#[test]
fn object_in_the_wrong_form_is_told_as_such() {
    assert_eq!(
        error(&json!({"kind": "ResourceSlice", "spec": "x"})),
        "ResourceSlice: spec: invalid type: string \"x\", expected an object"
    );
    assert_eq!(error(&json!(7)), "object: invalid type: integer `7`, expected an object");
}

#[test]
fn field_of_the_wrong_type_is_named_with_its_object() {
    let broken = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
        "spec": {"driver": "d", "devices": [{"name": "a"}, {"name": 3}]}});
    assert_eq!(error(&broken), "ResourceSlice s: spec.devices[1].name: invalid type: integer `3`, expected a string");
}

#[test]
fn kind_or_version_that_is_not_read_is_an_error() {
    assert_eq!(
        error(&json!({"apiVersion": "v1", "kind": "Pod"})),
        "v1, Kind=Pod is not a kind that the allocator reads"
    );
    assert_eq!(
        error(&json!({"apiVersion": "resource.k8s.io/v9", "kind": "ResourceClaim"})),
        "resource.k8s.io/v9, Kind=ResourceClaim is not a kind that the allocator reads"
    );
    let node = br#"{"apiVersion": "v1", "kind": "Node"}"#;
    let expected = DecodeError::WrongKind { expected: "DeviceClass", kind: "Node".to_owned() };
    assert_eq!(DeviceClass::from_json(node), Err(expected));
}

#[test]
fn text_that_is_not_json_is_an_error_with_its_position() {
    let error = Object::from_json(b"{\"kind\": ").expect_err("broken");
    assert_eq!(error.to_string(), "object: EOF while parsing a value at line 1 column 9");
}

#[test]
fn admin_access_of_a_subrequest_is_ignored_as_an_unknown_field() {
    let claim = claim(&json!({"spec": {"devices": {"requests": [{"name": "r", "firstAvailable": [
        {"name": "a", "deviceClassName": "c", "adminAccess": true}]}]}}}));
    let RequestKind::FirstAvailable(alternatives) = &claim.spec.devices.requests[0].kind else {
        unreachable!("it is set")
    };
    assert_eq!(alternatives[0].request.admin_access, None);
}

#[test]
fn defaults_are_those_of_the_api_server() {
    let mut claim = claim(&json!({"spec": {"devices": {"requests": [
        {"name": "none", "exactly": {"deviceClassName": "c", "tolerations": [{"key": "k"}]}},
        {"name": "all", "exactly": {"deviceClassName": "c", "allocationMode": "All"}},
        {"name": "future", "exactly": {"deviceClassName": "c", "allocationMode": "Most"}},
        {"name": "alternatives", "firstAvailable": [{"name": "a", "deviceClassName": "c"}]}]}}}));
    claim.spec.set_defaults();
    let expected = json!({"devices": {"requests": [
        {"name": "none", "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1,
            "tolerations": [{"key": "k", "operator": "Equal"}]}},
        {"name": "all", "exactly": {"deviceClassName": "c", "allocationMode": "All"}},
        {"name": "future", "exactly": {"deviceClassName": "c", "allocationMode": "Most"}},
        {"name": "alternatives", "firstAvailable": [
            {"name": "a", "deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}]}]}});
    assert_eq!(serde_json::to_value(&claim.spec).expect("JSON"), expected);
}
