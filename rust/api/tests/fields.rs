//! The structs hold every field of upstream's types that they should: each is read, or listed here as ignored with the reason.
//!
//! Upstream's fields come from the table that `hack/update` makes of Kubernetes' `OpenAPI` files.

use std::collections::{BTreeMap, BTreeSet};

use drayman_api as api;
use serde::de::{DeserializeOwned, Deserializer, Visitor, value::Error};
use serde::forward_to_deserialize_any;

const TABLE: &str = include_str!("../../../python/drayman/api/schema/table.json");

/// Fields that no allocation depends on.
const IGNORED: &[(&str, &str, &str)] = &[
    ("AllocatedDeviceStatus", "data", "a driver's report to people"),
    ("AllocatedDeviceStatus", "networkData", "a driver's report to people"),
    ("DeviceTaintRule", "status", "the eviction controller's report"),
];

/// Members that say what an object is; they are read before the object.
const HEADER: [&str; 2] = ["apiVersion", "kind"];

#[test]
fn every_upstream_field_is_read_or_ignored_for_a_reason() {
    let table: Table = serde_json::from_str(TABLE).expect("the table that hack/update makes");
    let mut differences = Vec::new();
    for (name, ours) in structs() {
        let upstream: BTreeSet<&str> = table.types[&format!("resource.v1.{name}")]
            .keys()
            .map(String::as_str)
            .filter(|field| !HEADER.contains(field))
            .filter(|field| !IGNORED.iter().any(|(ignored, of, _)| (*ignored, of) == (name, field)))
            .collect();
        differences.extend(upstream.difference(&ours).map(|field| format!("{name}.{field} is not read")));
        differences.extend(ours.difference(&upstream).map(|field| format!("{name}.{field} is unknown upstream")));
    }
    assert_eq!(differences, Vec::<String>::new());
}

#[test]
fn every_ignored_field_exists_upstream() {
    let table: Table = serde_json::from_str(TABLE).expect("the table that hack/update makes");
    for (name, field, reason) in IGNORED {
        assert!(table.types[&format!("resource.v1.{name}")].contains_key(*field), "{name}.{field} ({reason}) is gone");
    }
}

fn structs() -> Vec<(&'static str, BTreeSet<&'static str>)> {
    // A subrequest is a name beside the fields of a request that has no admin access.
    let mut subrequest = fields::<api::ExactDeviceRequest>();
    subrequest.remove("adminAccess");
    subrequest.insert("name");
    vec![
        ("AllocatedDeviceStatus", fields::<api::AllocatedDeviceStatus>()),
        ("AllocationResult", fields::<api::AllocationResult>()),
        ("CELDeviceSelector", fields::<api::CelDeviceSelector>()),
        ("CapacityRequestPolicy", fields::<api::CapacityRequestPolicy>()),
        ("CapacityRequestPolicyRange", fields::<api::CapacityRequestPolicyRange>()),
        ("CapacityRequirements", fields::<api::CapacityRequirements>()),
        ("Counter", fields::<api::Counter>()),
        ("CounterSet", fields::<api::CounterSet>()),
        ("Device", fields::<api::Device>()),
        ("DeviceAllocationConfiguration", fields::<api::DeviceAllocationConfiguration>()),
        ("DeviceAllocationResult", fields::<api::DeviceAllocationResult>()),
        ("DeviceAttribute", fields::<api::DeviceAttribute>()),
        ("DeviceCapacity", fields::<api::DeviceCapacity>()),
        ("DeviceClaim", fields::<api::DeviceClaim>()),
        ("DeviceClaimConfiguration", fields::<api::DeviceClaimConfiguration>()),
        ("DeviceClass", fields::<api::DeviceClass>()),
        ("DeviceClassConfiguration", fields::<api::DeviceClassConfiguration>()),
        ("DeviceClassSpec", fields::<api::DeviceClassSpec>()),
        ("DeviceConstraint", fields::<api::DeviceConstraint>()),
        ("DeviceCounterConsumption", fields::<api::DeviceCounterConsumption>()),
        ("DeviceDerivedAttribute", fields::<api::DeviceDerivedAttribute>()),
        ("DeviceRequest", fields::<api::DeviceRequest>()),
        ("DeviceRequestAllocationResult", fields::<api::DeviceRequestAllocationResult>()),
        ("DeviceSelector", fields::<api::DeviceSelector>()),
        ("DeviceSubRequest", subrequest),
        ("DeviceTaint", fields::<api::DeviceTaint>()),
        ("DeviceTaintRule", fields::<api::DeviceTaintRule>()),
        ("DeviceTaintRuleSpec", fields::<api::DeviceTaintRuleSpec>()),
        ("DeviceTaintSelector", fields::<api::DeviceTaintSelector>()),
        ("DeviceToleration", fields::<api::DeviceToleration>()),
        ("ExactDeviceRequest", fields::<api::ExactDeviceRequest>()),
        ("NodeAllocatableMapping", fields::<api::NodeAllocatableMapping>()),
        ("NodeAllocatableOverhead", fields::<api::NodeAllocatableOverhead>()),
        ("NodeAllocatableResource", fields::<api::NodeAllocatableResource>()),
        ("OpaqueDeviceConfiguration", fields::<api::OpaqueDeviceConfiguration>()),
        ("ResourceClaim", fields::<api::ResourceClaim>()),
        ("ResourceClaimConsumerReference", fields::<api::ConsumerReference>()),
        ("ResourceClaimSpec", fields::<api::ResourceClaimSpec>()),
        ("ResourceClaimStatus", fields::<api::ResourceClaimStatus>()),
        ("ResourceClaimTemplate", fields::<api::ResourceClaimTemplate>()),
        ("ResourceClaimTemplateSpec", fields::<api::ResourceClaimTemplateSpec>()),
        ("ResourcePool", fields::<api::ResourcePool>()),
        ("ResourceSlice", fields::<api::ResourceSlice>()),
        ("ResourceSliceSpec", fields::<api::ResourceSliceSpec>()),
    ]
}

#[derive(serde::Deserialize)]
struct Table {
    types: BTreeMap<String, BTreeMap<String, String>>,
}

/// The fields that a struct reads: what its derived `Deserialize` asks for.
fn fields<T: DeserializeOwned>() -> BTreeSet<&'static str> {
    let mut asked: &'static [&'static str] = &[];
    let result: Result<T, Error> = T::deserialize(Recorder(&mut asked));
    assert!(result.is_err(), "the recorder has no data");
    asked.iter().copied().collect()
}

struct Recorder<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Recorder<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("there is no data"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
