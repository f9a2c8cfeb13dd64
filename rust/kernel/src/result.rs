//! What an allocation looks like in the status of its claim.

use std::sync::Arc;

use drayman_api::{
    AllocationConfigSource, AllocationResult, DeviceAllocationConfiguration, DeviceAllocationResult,
    DeviceRequestAllocationResult, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm,
    ResourceClaim,
};

use crate::capacity::Amounts;
use crate::error::AllocationError;
use crate::features::Feature;
use crate::inventory::layout::PoolView;
use crate::plan::{Alternative, ClaimPlan, Plan};
use crate::search::{Assignment, Choice};

/// Gives shares of devices their identity.
pub trait ShareIds {
    /// The ID for the result at a position of a claim's allocation. Every call must give another one.
    fn share_id(&mut self, claim: &ResourceClaim, result: usize) -> String;
}

impl<F: FnMut(&ResourceClaim, usize) -> String> ShareIds for F {
    fn share_id(&mut self, claim: &ResourceClaim, result: usize) -> String {
        self(claim, result)
    }
}

/// The devices that were found for the claims of a pod on one node. Independent of later changes of the inventory.
#[derive(Debug)]
pub struct Allocated {
    plan: Arc<Plan>,
    node: Arc<str>,
    devices: Vec<Given>,
}

/// A device that was found.
#[derive(Debug)]
struct Given {
    choice: Choice,
    view: Arc<PoolView>,
    /// Position in the layout.
    device: usize,
    share: Option<Amounts>,
}

impl Allocated {
    /// Devices are named by their positions in `views`, what the node sees.
    pub(crate) fn new<'a>(
        plan: Arc<Plan>,
        node: Arc<str>,
        assignments: &[Assignment],
        view: impl Fn(usize) -> Option<&'a Arc<PoolView>>,
    ) -> Self {
        let given = |assignment: &Assignment| {
            Some(Given {
                choice: assignment.choice,
                view: Arc::clone(view(assignment.spot.pool)?),
                device: assignment.spot.device,
                share: assignment.share.clone(),
            })
        };
        Self { plan, node, devices: assignments.iter().filter_map(given).collect() }
    }

    /// Fails where the node selector of a claim cannot be made.
    pub(crate) fn check(&self) -> Result<(), AllocationError> {
        if self.devices.iter().all(|given| given.view.layout.names_node) {
            return Ok(());
        }
        let claims = self.plan.claims.iter().enumerate();
        claims.map(|(index, claim)| self.node_selector(index, claim)).try_for_each(|selector| selector.map(|_| ()))
    }

    /// The node that the devices were looked for on.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// For each request of each claim, the position of the alternative that was chosen; 0 without `firstAvailable`.
    pub fn chosen(&self, claim: usize, request: usize) -> usize {
        let of_request = |given: &&Given| given.choice.claim == claim && given.choice.request == request;
        self.devices.iter().find(of_request).map_or(0, |given| given.choice.alternative)
    }

    /// The allocation of each claim, in the order of the claims.
    pub fn results(&self, share_ids: &mut dyn ShareIds) -> Vec<AllocationResult> {
        let claims = self.plan.claims.iter().enumerate();
        claims.map(|(index, claim)| self.result(index, claim, share_ids)).collect()
    }

    fn result(&self, index: usize, claim: &ClaimPlan, share_ids: &mut dyn ShareIds) -> AllocationResult {
        let devices = self.devices_of(index).enumerate();
        AllocationResult {
            devices: DeviceAllocationResult {
                results: devices.map(|(position, given)| self.device(claim, position, given, share_ids)).collect(),
                config: self.config(index, claim),
            },
            // Whether it can be made was found out before.
            node_selector: self.node_selector(index, claim).unwrap_or_default(),
            allocation_timestamp: None,
        }
    }

    fn devices_of(&self, claim: usize) -> impl Iterator<Item = &Given> {
        self.devices.iter().filter(move |given| given.choice.claim == claim)
    }

    fn device(
        &self,
        claim: &ClaimPlan,
        position: usize,
        given: &Given,
        share_ids: &mut dyn ShareIds,
    ) -> DeviceRequestAllocationResult {
        let alternative = &claim.requests[given.choice.request].alternatives[given.choice.alternative];
        let layout = &given.view.layout;
        let (device, slice) = (layout.device(given.device), layout.slice(given.device));
        let conditions = self.plan.features.has(Feature::BindingConditions);
        let if_on =
            |conditions_of_device: &Vec<String>| if conditions { conditions_of_device.clone() } else { Vec::new() };
        DeviceRequestAllocationResult {
            request: alternative.reference.clone(),
            driver: layout.id.driver.clone(),
            pool: layout.id.pool.clone(),
            device: device.name.clone(),
            admin_access: alternative.admin.then_some(true),
            tolerations: alternative.request.tolerations.clone(),
            binding_conditions: if_on(&device.binding_conditions),
            binding_failure_conditions: if_on(&device.binding_failure_conditions),
            share_id: given.share.as_ref().map(|_| share_ids.share_id(&claim.object, position)),
            consumed_capacity: given.share.clone().unwrap_or_default(),
            skip_node_operations: slice.object.spec.skip_node_operations.clone(),
        }
    }

    /// Configuration of the classes in order of requests, each class once, then that of the claim as far as it concerns what was chosen.
    fn config(&self, index: usize, claim: &ClaimPlan) -> Vec<DeviceAllocationConfiguration> {
        let chosen: Vec<_> = (0..claim.requests.len()).map(|request| self.alternative(index, claim, request)).collect();
        let mut config = Vec::new();
        for (position, alternative) in chosen.iter().enumerate() {
            let same_class = |other: &&&Alternative| other.class.metadata.name == alternative.class.metadata.name;
            if chosen[..position].iter().any(|other| same_class(&other)) {
                continue;
            }
            let requests: Vec<_> = chosen.iter().filter(same_class).map(|other| other.reference.clone()).collect();
            config.extend(alternative.class.spec.config.iter().map(|entry| DeviceAllocationConfiguration {
                source: AllocationConfigSource::FromClass,
                requests: requests.clone(),
                opaque: entry.opaque.clone(),
            }));
        }
        let names = |requests: &[String], position: usize| {
            let (request, alternative) = (&claim.requests[position], chosen[position]);
            requests.iter().any(|name| *name == request.name || *name == alternative.reference)
        };
        let of_claim = claim.object.spec.devices.config.iter();
        let concerns =
            |requests: &[String]| requests.is_empty() || (0..chosen.len()).any(|position| names(requests, position));
        config.extend(of_claim.filter(|entry| concerns(&entry.requests)).map(|entry| DeviceAllocationConfiguration {
            source: AllocationConfigSource::FromClaim,
            requests: entry.requests.clone(),
            opaque: entry.opaque.clone(),
        }));
        for entry in &mut config {
            if (0..chosen.len()).all(|position| names(&entry.requests, position)) {
                // Empty means all.
                entry.requests.clear();
            }
        }
        config
    }

    fn alternative<'a>(&self, index: usize, claim: &'a ClaimPlan, request: usize) -> &'a Alternative {
        &claim.requests[request].alternatives[self.chosen(index, request)]
    }

    /// The nodes that reach all devices of a claim: the target node alone if a device is bound to it, else those that all selectors of
    /// the slices match.
    fn node_selector(&self, index: usize, claim: &ClaimPlan) -> Result<Option<NodeSelector>, AllocationError> {
        let mut merged = NodeSelectorTerm::default();
        for given in self.devices_of(index) {
            let (device, slice) = (given.view.layout.device(given.device), given.view.layout.slice(given.device));
            let (node_name, selector) = if slice.per_device() {
                (&device.node_name, &device.node_selector)
            } else {
                (&slice.object.spec.node_name, &slice.object.spec.node_selector)
            };
            if node_name.is_some() || device.binds_to_node == Some(true) {
                return Ok(Some(only(&self.node)));
            }
            match selector.as_ref().map(|selector| selector.node_selector_terms.as_slice()) {
                None | Some([]) => {}
                Some([term]) => {
                    merge(&mut merged.match_fields, &term.match_fields);
                    merge(&mut merged.match_expressions, &term.match_expressions);
                }
                Some(terms) => {
                    let claim = claim.object.metadata.name.clone();
                    return Err(AllocationError::NodeSelectorTerms { claim, terms: terms.len() });
                }
            }
        }
        let is_empty = merged.match_fields.is_empty() && merged.match_expressions.is_empty();
        Ok((!is_empty).then(|| NodeSelector { node_selector_terms: vec![merged] }))
    }
}

fn only(node: &str) -> NodeSelector {
    let name = NodeSelectorRequirement {
        key: "metadata.name".to_owned(),
        operator: NodeSelectorOperator::In,
        values: vec![node.to_owned()],
    };
    NodeSelector {
        node_selector_terms: vec![NodeSelectorTerm { match_fields: vec![name], match_expressions: Vec::new() }],
    }
}

/// Adds requirements that are not there yet; the order of their values does not matter.
fn merge(merged: &mut Vec<NodeSelectorRequirement>, more: &[NodeSelectorRequirement]) {
    let values = |requirement: &NodeSelectorRequirement| {
        let mut values = requirement.values.clone();
        values.sort_unstable();
        values.dedup();
        values
    };
    for requirement in more {
        let same = |known: &NodeSelectorRequirement| {
            known.key == requirement.key
                && known.operator == requirement.operator
                && values(known) == values(requirement)
        };
        if !merged.iter().any(same) {
            merged.push(requirement.clone());
        }
    }
}
