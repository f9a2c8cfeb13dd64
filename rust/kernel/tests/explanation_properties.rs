//! What explanations say must be true: hints are tried on the objects, what clashes is given to an oracle that tries everything.

use drayman_api::{
    AllocationMode, AllocationResult, CelDeviceSelector, DeviceAllocationResult, DeviceId,
    DeviceRequestAllocationResult, DeviceToleration, ExactDeviceRequest, Metadata, Object, Quantity, RequestKind,
    ResourceClaim, ResourceSlice,
};
use drayman_kernel::{
    At, Budget, Compatibility, Depth, Element, Explanation, Features, Inventory, Outcome, Remedy, SelectorAt,
};
use drayman_testkit::generate::problem;
use drayman_testkit::model::{Answer, Problem};
use drayman_testkit::oracle;
use proptest::prelude::*;

/// Objects of a cluster with one node.
#[derive(Clone)]
struct World {
    features: Vec<&'static str>,
    objects: Vec<Object>,
    claims: Vec<ResourceClaim>,
    node: String,
}

impl World {
    /// Every held device is held by a claim of its own.
    fn new(problem: &Problem) -> Self {
        let objects = problem.objects();
        let node = objects.node.metadata.name.clone();
        let mut all = vec![Object::Node(objects.node), Object::DeviceClass(objects.class)];
        all.extend(objects.slices.into_iter().map(Object::ResourceSlice));
        all.extend(objects.held.iter().map(|device| Object::ResourceClaim(holding(device))));
        Self { features: Problem::GATES.to_vec(), objects: all, claims: objects.claims, node }
    }

    fn inventory(&self) -> Inventory {
        let features = Features::from_gates(self.features.iter().copied());
        let mut inventory = Inventory::new(features, Compatibility::V1_37);
        for object in &self.objects {
            inventory.apply_object(object.clone());
        }
        inventory
    }

    fn outcome(&self) -> Outcome {
        let evaluation = self.inventory().evaluate(&self.claims, Some(&[&self.node]), &mut Budget::unlimited());
        evaluation.outcome(0).expect("a node was asked for")
    }

    fn explain(&self) -> Explanation {
        self.inventory().explain(&self.claims, &[&self.node], Depth::All)
    }

    fn apply(&mut self, change: &Remedy) {
        match change {
            Remedy::TolerateTaint { at, key, value, effect } => {
                let toleration = serde_json::json!({"key": key, "value": value, "effect": effect});
                let toleration: DeviceToleration = serde_json::from_value(toleration).expect("a toleration");
                self.edit(at.as_ref(), |request| request.tolerations.push(toleration.clone()));
            }
            Remedy::DropConstraint { claim, constraint } => {
                self.claim(claim).spec.devices.constraints.remove(*constraint);
            }
            Remedy::FreeClaim { claim } => self.objects.retain(|object| object.metadata().key() != *claim),
            Remedy::ReduceCount { at, count } => self.edit(Some(at), |request| {
                request.allocation_mode = Some(AllocationMode::ExactCount);
                request.count = Some(*count);
            }),
            Remedy::ReduceCapacity { at, capacity, value } => {
                let value: Option<Quantity> = value.as_ref().map(|value| value.parse().expect("a quantity"));
                self.edit(Some(at), |request| {
                    let capacities = &mut request.capacity.as_mut().expect("capacity is asked for").requests;
                    capacities.remove(capacity);
                    capacities.extend(value.clone().map(|value| (capacity.clone(), value)));
                });
            }
            Remedy::GuardSelector { at: SelectorAt::Request(at), index, expression }
            | Remedy::RelaxSelector { at: SelectorAt::Request(at), index, expression } => {
                self.edit(Some(at), |request| {
                    request.selectors[*index].cel = Some(CelDeviceSelector { expression: expression.clone() });
                });
            }
            Remedy::EnableGate { gate } => self.features.push(gate),
            Remedy::RemoveRequest { at } => {
                let devices = &mut self.claim(&at.claim).spec.devices;
                devices.requests.retain(|request| request.name != at.request);
                devices.constraints.retain(|constraint| constraint.requests != [at.request.clone()]);
            }
            Remedy::CompletePool { pool, .. } => {
                let count = i64::try_from(self.slices(pool).count()).expect("few slices");
                self.slices(pool).for_each(|slice| slice.spec.pool.resource_slice_count = count);
            }
            Remedy::UseClass { .. } | Remedy::GuardSelector { .. } | Remedy::RelaxSelector { .. } => {
                unreachable!("problems have one class, and its selector is true")
            }
        }
    }

    fn slices<'a>(&'a mut self, pool: &'a str) -> impl Iterator<Item = &'a mut ResourceSlice> {
        self.objects.iter_mut().filter_map(move |object| match object {
            Object::ResourceSlice(slice) if slice.spec.pool.name == pool => Some(slice),
            _ => None,
        })
    }

    fn claim(&mut self, key: &str) -> &mut ResourceClaim {
        self.claims.iter_mut().find(|claim| claim.metadata.key() == key).expect("a claim of the problem")
    }

    fn edit(&mut self, at: Option<&At>, change: impl Fn(&mut ExactDeviceRequest)) {
        for claim in &mut self.claims {
            let key = claim.metadata.key();
            for request in &mut claim.spec.devices.requests {
                let is_meant = |alternative: Option<&String>| {
                    at.is_none_or(|at| {
                        at.claim == key && at.request == request.name && at.alternative.as_ref() == alternative
                    })
                };
                match &mut request.kind {
                    RequestKind::Exactly(exactly) if is_meant(None) => change(exactly),
                    RequestKind::FirstAvailable(alternatives) => {
                        for alternative in alternatives.iter_mut().filter(|one| is_meant(Some(&one.name))) {
                            change(&mut alternative.request);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

fn holder(device: &DeviceId) -> String {
    format!("held-{}-{}", device.pool, device.device)
}

fn holding(device: &DeviceId) -> ResourceClaim {
    let metadata = Metadata { namespace: "other".to_owned(), name: holder(device), ..Metadata::default() };
    let mut claim = ResourceClaim { metadata, ..ResourceClaim::default() };
    let result = DeviceRequestAllocationResult {
        request: "r".to_owned(),
        driver: device.driver.clone(),
        pool: device.pool.clone(),
        device: device.device.clone(),
        ..DeviceRequestAllocationResult::default()
    };
    let devices = DeviceAllocationResult { results: vec![result], ..DeviceAllocationResult::default() };
    claim.status.allocation = Some(AllocationResult { devices, ..AllocationResult::default() });
    claim
}

/// The problem with nothing in it but some elements.
fn reduced(problem: &Problem, elements: &[Element]) -> Problem {
    let mut reduced = problem.clone();
    let keeps_taint = elements.iter().any(|element| matches!(element, Element::Taint { .. }));
    for (pool, of_problem) in reduced.pools.iter_mut().enumerate() {
        for (position, device) in of_problem.devices.iter_mut().enumerate() {
            device.tainted &= keeps_taint;
            let holder = format!("other/{}", holder(&problem.device(pool, position)));
            device.held &=
                elements.iter().any(|element| matches!(element, Element::Holder { claim, .. } if *claim == holder));
        }
    }
    for (index, claim) in reduced.claims.iter_mut().enumerate() {
        let key = format!("default/claim-{index}");
        let kept: Vec<usize> = (0..claim.requests.len())
            .filter(|request| {
                let element = Element::Request { claim: key.clone(), request: format!("request-{request}") };
                elements.contains(&element)
            })
            .collect();
        let mut position = 0;
        claim.constraints.retain_mut(|constraint| {
            let is_kept = elements.iter().any(|element| {
                matches!(element, Element::Constraint { claim, constraint, .. } if *claim == key && *constraint == position)
            });
            position += 1;
            let request = constraint.request.map(|request| kept.iter().position(|kept| *kept == request));
            constraint.request = request.flatten();
            is_kept && request != Some(None)
        });
        claim.requests = kept.iter().map(|request| claim.requests[*request].clone()).collect();
    }
    reduced
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn every_hint_applied_alone_succeeds(problem in problem()) {
        let world = World::new(&problem);
        if !matches!(world.outcome(), Outcome::Allocated(_)) {
            for hint in &world.explain().groups[0].hints {
                let mut changed = world.clone();
                changed.apply(&hint.change);
                prop_assert!(matches!(changed.outcome(), Outcome::Allocated(_)), "{hint:?}");
            }
        }
    }

    #[test]
    fn core_alone_has_no_solution_and_nothing_in_it_is_idle(problem in problem()) {
        let explanation = World::new(&problem).explain();
        if let Some(core) = &explanation.groups[0].core {
            prop_assert_eq!(oracle::solve(&reduced(&problem, &core.elements)), Answer::NoSolution);
            prop_assert!(core.minimal);
            for left_out in 0..core.elements.len() {
                let mut rest = core.elements.clone();
                rest.remove(left_out);
                prop_assert_ne!(oracle::solve(&reduced(&problem, &rest)), Answer::NoSolution);
            }
        }
    }

    #[test]
    fn every_device_is_counted_once_for_each_request(problem in problem()) {
        let explanation = World::new(&problem).explain();
        let devices: usize = problem.pools.iter().map(|pool| pool.devices.len()).sum();
        for request in &explanation.groups[0].requests {
            let refused: usize = request.facts.iter().map(|fact| fact.count).sum();
            prop_assert_eq!(request.usable + refused, devices);
            prop_assert_eq!(request.devices, devices);
        }
    }

    #[test]
    fn same_input_has_the_same_text_in_bounds(problem in problem()) {
        let world = World::new(&problem);
        let (one, other) = (world.explain(), world.explain());
        prop_assert_eq!(one.tree(), other.tree());
        prop_assert_eq!(one.json().to_string(), other.json().to_string());
        prop_assert_eq!(one.line(), other.line());
        prop_assert!(one.line().len() <= 300);
        prop_assert!(one.tree().lines().all(|line| line.chars().count() <= 100), "{}", one.tree());
    }
}
