//! Upstream's answers on expressions and devices: errors, results, and costs. The tables of this repository are run, and those next to it
//! where there are any.

use std::path::{Path, PathBuf};

use drayman_api::Device;
use drayman_cel::{CelDevice, Environment, Selector};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Case {
    expression: String,
    device: Option<Map<String, Value>>,
    environment: Option<String>,
    #[serde(default)]
    derived: bool,
    expect: Map<String, Value>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a folder that hold cases, in order of their names; none when there is no such folder.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// The device of a case. What upstream's fields have by default is not given.
fn device(given: &Map<String, Value>) -> CelDevice {
    let driver = given.get("driver").and_then(Value::as_str).unwrap_or_default();
    let fields = given.iter().filter(|(name, value)| *name != "driver" && !value.is_null());
    let mut fields: Map<String, Value> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    fields.insert("name".to_owned(), json!("device-1"));
    let device: Device = serde_json::from_value(Value::Object(fields)).expect("a case has a device");
    CelDevice::new(driver, &device)
}

/// What drayman says, in the shape of what upstream said.
fn answer(case: &Case) -> Map<String, Value> {
    let environment = if case.environment.as_deref() == Some("new") { Environment::New } else { Environment::Stored };
    let compile = if case.derived { Selector::compile_derived } else { Selector::compile };
    let mut answer = Map::new();
    let selector = match compile(&case.expression, environment) {
        Ok(selector) => selector,
        Err(error) => {
            answer.insert("compileError".to_owned(), json!(error.to_string()));
            return answer;
        }
    };
    answer.insert("maxCost".to_owned(), json!(selector.max_cost()));
    if case.derived {
        return answer;
    }
    let device = device(&case.device.clone().unwrap_or_default());
    if device.error().is_none() {
        answer.insert("cost".to_owned(), json!(selector.evaluate(&device).cost));
    }
    match selector.matches(&device) {
        Ok(matches) => answer.insert("match".to_owned(), json!(matches)),
        Err(error) => answer.insert("matchError".to_owned(), json!(error.to_string())),
    };
    answer
}

/// Runs all cases of a folder, and tells all that differ. Returns how many there were.
fn run(folder: &Path) -> usize {
    let mut count = 0;
    let mut differing = Vec::new();
    for file in tables(folder) {
        let text = std::fs::read_to_string(&file).expect("a table can be read");
        for (index, line) in text.lines().enumerate() {
            let case: Case = serde_json::from_str(line).expect("a line is a case");
            count += 1;
            let told = answer(&case);
            if told != case.expect {
                let place = format!("{}:{}", file.display(), index + 1);
                differing.push(format!(
                    "{place}\n  {}\n  expected {}\n  found    {}",
                    case.expression,
                    json!(case.expect),
                    json!(told)
                ));
            }
        }
    }
    assert!(differing.is_empty(), "{} of {count} cases differ:\n{}", differing.len(), differing.join("\n"));
    count
}

#[test]
fn answers_are_those_of_upstream() {
    let count = run(&repository().join("tests/conformance/cel"));
    assert!(count > 0, "the tables of this repository are missing");
}

#[test]
fn answers_are_those_of_upstream_on_tables_outside() {
    let folder = repository().join("../shared/conformance");
    if run(&folder) == 0 {
        println!("skipped: there are no tables in {}", folder.display());
    }
}
