//! Problems as Kubernetes objects.

use std::collections::BTreeMap;

use drayman_api::{
    AllocationMode, CapacityRequirements, ConstraintKind, Counter, CounterSet, DeviceAttribute, DeviceCapacity,
    DeviceConstraint, DeviceCounterConsumption, DeviceId, DeviceRequest, DeviceSubRequest, DeviceTaint,
    DeviceTaintEffect, DeviceToleration, DeviceTolerationOperator, ExactDeviceRequest, Quantity, RequestKind,
    ResourceClaim, ResourceSlice,
};

use crate::build::{self, DRIVER, named};
use crate::model::{Alternative, Choice, Claim, Device, Pool, Problem};

const NODE: &str = "worker-1";
const COUNTER_SET: &str = "card";
const TAINT: &str = "example.com/faulty";

/// A problem as objects.
#[derive(Clone, Debug)]
pub struct Objects {
    /// The node.
    pub node: drayman_api::Node,
    /// The only class.
    pub class: drayman_api::DeviceClass,
    /// Slices of all pools.
    pub slices: Vec<ResourceSlice>,
    /// The claims.
    pub claims: Vec<ResourceClaim>,
    /// Devices that are held.
    pub held: Vec<DeviceId>,
}

impl Problem {
    /// Gates that problems need.
    pub const GATES: [&str; 7] = [
        "DRAAdminAccess",
        "DRAPrioritizedList",
        "DRAPartitionableDevices",
        "DRAConsumableCapacity",
        "DRADeviceTaints",
        "DRADeviceBindingConditions",
        "DRAResourceClaimDeviceStatus",
    ];

    /// The problem as objects.
    pub fn objects(&self) -> Objects {
        let held = self.pools.iter().flat_map(|pool| {
            let devices = pool.devices.iter().enumerate().filter(|(_, device)| device.held);
            devices.map(|(position, _)| device_id(pool, position))
        });
        Objects {
            node: build::node(NODE),
            class: build::class(),
            slices: self.pools.iter().flat_map(slices).collect(),
            claims: self.claims.iter().enumerate().map(|(index, claim)| claim_object(index, claim)).collect(),
            held: held.collect(),
        }
    }

    /// The name of a device, by positions of pool and device.
    pub fn device(&self, pool: usize, device: usize) -> DeviceId {
        device_id(&self.pools[pool], device)
    }

    /// A choice as it stands in a result: claim, `request` or `request/subrequest`, and the device.
    pub fn result(&self, choice: &Choice) -> (usize, String, DeviceId) {
        let request = &self.claims[choice.claim].requests[choice.request];
        let reference = match request.alternatives.len() {
            1 => request_name(choice.request),
            _ => format!("{}/{}", request_name(choice.request), subrequest_name(choice.alternative)),
        };
        (choice.claim, reference, device_id(&self.pools[choice.pool], choice.device))
    }
}

fn device_id(pool: &Pool, position: usize) -> DeviceId {
    DeviceId { driver: DRIVER.to_owned(), pool: pool.name.clone(), device: device_name(position) }
}

fn device_name(position: usize) -> String {
    format!("gpu-{position}")
}

fn request_name(position: usize) -> String {
    format!("request-{position}")
}

fn subrequest_name(position: usize) -> String {
    format!("choice-{position}")
}

fn quantity(value: u32) -> Quantity {
    Quantity::from_i64(i64::from(value), drayman_api::quantity::Format::DecimalSi)
}

fn counters(values: [u32; 2]) -> BTreeMap<String, Counter> {
    let counter = |(index, value): (usize, u32)| (format!("counter-{index}"), Counter { value: quantity(value) });
    values.into_iter().enumerate().map(counter).collect()
}

fn slices(pool: &Pool) -> Vec<ResourceSlice> {
    let mut slices = Vec::new();
    let count = 1 + i64::from(pool.counters.is_some());
    let mut add = |suffix: &str| {
        let mut slice = build::node_slice(NODE, Vec::new());
        slice.metadata = named(&format!("{}-{suffix}", pool.name));
        slice.spec.pool.name.clone_from(&pool.name);
        slice.spec.pool.resource_slice_count = count;
        slices.push(slice);
        slices.len() - 1
    };
    let devices = add("devices");
    let shared = pool.counters.map(|counters| (add("counters"), counters));
    slices[devices].spec.devices =
        pool.devices.iter().enumerate().map(|(position, device)| device_object(pool, position, device)).collect();
    if let Some((slice, values)) = shared {
        slices[slice].spec.shared_counters =
            vec![CounterSet { name: COUNTER_SET.to_owned(), counters: counters(values) }];
    }
    slices
}

fn device_object(pool: &Pool, position: usize, device: &Device) -> drayman_api::Device {
    let mut object = build::device(&device_name(position));
    let string = |value: u8| DeviceAttribute::String(format!("value-{value}"));
    object.attributes.extend(device.color.map(|color| ("color".to_owned(), string(color))));
    object.attributes.extend(device.numa.map(|numa| ("numa".to_owned(), DeviceAttribute::Int(i64::from(numa)))));
    let capacity = |memory| DeviceCapacity { value: quantity(memory), request_policy: None };
    object.capacity.extend(device.memory.map(|memory| ("memory".to_owned(), capacity(memory))));
    object.allow_multiple_allocations = device.shareable.then_some(true);
    if device.tainted {
        object.taints.push(DeviceTaint {
            key: TAINT.to_owned(),
            value: String::new(),
            effect: DeviceTaintEffect::NoSchedule,
            time_added: None,
        });
    }
    object.consumes_counters.extend(device.consumes.map(|consumes| DeviceCounterConsumption {
        counter_set: COUNTER_SET.to_owned(),
        counters: counters(consumes),
        compatibility_groups: Vec::new(),
    }));
    if pool.binds {
        object.binding_conditions = vec!["ready".to_owned()];
        object.binding_failure_conditions = vec!["broken".to_owned()];
    }
    object
}

fn claim_object(index: usize, claim: &Claim) -> ResourceClaim {
    let requests = claim.requests.iter().enumerate().map(|(position, request)| {
        let kind = match request.alternatives.as_slice() {
            [alternative] => RequestKind::Exactly(exactly(alternative)),
            alternatives => RequestKind::FirstAvailable(
                alternatives
                    .iter()
                    .enumerate()
                    .map(|(position, alternative)| DeviceSubRequest {
                        name: subrequest_name(position),
                        request: exactly(alternative),
                    })
                    .collect(),
            ),
        };
        DeviceRequest { name: request_name(position), kind }
    });
    let mut object = build::claim(&format!("claim-{index}"), requests.collect());
    let constraints = claim.constraints.iter().map(|constraint| {
        let attribute = format!("{DRIVER}/{}", if constraint.numa { "numa" } else { "color" });
        DeviceConstraint {
            requests: constraint.request.map(request_name).into_iter().collect(),
            kind: if constraint.distinct {
                ConstraintKind::DistinctAttribute(attribute)
            } else {
                ConstraintKind::MatchAttribute(attribute)
            },
        }
    });
    object.spec.devices.constraints = constraints.collect();
    object
}

fn exactly(alternative: &Alternative) -> ExactDeviceRequest {
    let mut request = build::exactly(1);
    request.count = alternative.count.map(i64::from);
    if alternative.count.is_none() {
        request.allocation_mode = Some(AllocationMode::All);
    }
    request.selectors.extend(alternative.color.map(|color| {
        let value = if alternative.unguarded { "color" } else { "?color.orValue(\"\")" };
        build::selector(&format!("device.attributes[\"{DRIVER}\"].{value} == \"value-{color}\""))
    }));
    if alternative.tolerates {
        request.tolerations.push(DeviceToleration {
            key: Some(TAINT.to_owned()),
            operator: Some(DeviceTolerationOperator::Exists),
            ..DeviceToleration::default()
        });
    }
    request.capacity = alternative
        .memory
        .map(|memory| CapacityRequirements { requests: BTreeMap::from([("memory".to_owned(), quantity(memory))]) });
    request.admin_access = alternative.admin.then_some(true);
    request
}
