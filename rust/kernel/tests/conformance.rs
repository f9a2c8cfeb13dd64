//! Upstream's answers on known inputs. The cases stay outside of this repository; without them the test passes with a note.

use std::fmt::Write as _;
use std::path::PathBuf;

use drayman_api::{DeviceClass, Node, ResourceClaim, ResourceSlice};
use drayman_kernel::{AllocatedState, Allocator, Budget, Compatibility, Features, Outcome};
use serde::Deserialize;
use serde_json::{Value, json};

/// A case whose input does not survive JSON: an attribute with an empty list of versions was written as one without any value.
const NOT_EXPRESSIBLE: &str = "list-attributes-distinct-constaint-with-empty-or-unknown-type.json";

#[derive(Deserialize)]
struct Case {
    features: Vec<String>,
    node: Node,
    classes: Vec<DeviceClass>,
    slices: Vec<ResourceSlice>,
    claims: Vec<ResourceClaim>,
    allocated: State,
    expect: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    devices: Vec<String>,
    shared: Vec<Share>,
    consumed_capacity: std::collections::BTreeMap<String, std::collections::BTreeMap<String, drayman_api::Quantity>>,
}

#[derive(Deserialize)]
struct Share {
    driver: String,
    pool: String,
    device: String,
    #[serde(rename = "shareID")]
    id: String,
}

impl State {
    fn read(self) -> AllocatedState {
        let id = |text: &str| text.parse().expect("driver/pool/device");
        AllocatedState {
            devices: self.devices.iter().map(|device| id(device)).collect(),
            shared: self
                .shared
                .into_iter()
                .map(|Share { driver, pool, device, id }| drayman_api::SharedDeviceId {
                    device: drayman_api::DeviceId { driver, pool, device },
                    share_id: id,
                })
                .collect(),
            consumed_capacity: self
                .consumed_capacity
                .iter()
                .map(|(device, amounts)| (id(device), amounts.clone()))
                .collect(),
        }
    }
}

fn answer(case: Case) -> Value {
    let features = Features::from_gates(case.features.iter().map(String::as_str));
    let state = case.allocated.read();
    let mut allocator = Allocator::new(features, Compatibility::V1_37, &state, case.classes, case.slices);
    let outcome = allocator.allocate(&case.node, &case.claims, &mut Budget::unlimited());
    match outcome.expect("an unlimited budget is not interrupted") {
        Outcome::Allocated(allocated) => {
            let mut share_ids = |_: &ResourceClaim, _: usize| "<share-id>".to_owned();
            json!({"results": allocated.results(&mut share_ids)})
        }
        Outcome::Unallocatable => json!({"results": null}),
        Outcome::Failed(error) => json!({"error": {"message": error.to_string(), "nodeLocal": error.node_local()}}),
    }
}

#[test]
fn upstreams_answers_are_given() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/allocator");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} does not exist", folder.display());
        return;
    };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| !path.ends_with(NOT_EXPRESSIBLE));
    paths.sort();
    let mut failures = String::new();
    let mut failed = 0;
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("the case can be read");
        let case: Case = serde_json::from_str(&text).expect("the case has the known shape");
        let expected = case.expect.clone();
        let actual = answer(case);
        if actual != expected {
            failed += 1;
            let _ = writeln!(failures, "{}\n  expected {expected}\n  actual   {actual}", path.display());
        }
    }
    assert_eq!(failed, 0, "{failed} of {} cases differ:\n{failures}", paths.len());
}
