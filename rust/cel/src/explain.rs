//! Why an expression says no of a device: which of its parts do, and what they saw.
//!
//! A [`Dissection`] is made once of an expression's text: it is cut at `&&`, `||`, `!` and `?:`, down to parts that are cut no further. Those
//! are compiled by themselves, and so is every value of `device` that they read.

mod accept;
mod cut;
mod guard;
mod paths;

use std::ops::Range;

use crate::device::CelDevice;
use crate::selector::{Environment, Selector, as_bool};
use crate::value::Value;

use cut::{Form, Part};
use paths::Path;

pub use accept::accepting;
pub use guard::guarded;

/// Longest value that is shown, in characters.
const LONGEST_VALUE: usize = 60;

/// A value of `device` that a part reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seen {
    /// As the expression writes it: `device.capacity["gpu.example.com"].memory`.
    pub path: String,
    /// Its last name: `memory`.
    pub name: String,
    /// What the device has; none where it has nothing.
    pub value: Option<String>,
}

/// A part that keeps the expression from being true.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason {
    /// Where it stands in the expression, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Its text, in one line.
    pub text: String,
    /// What it would have to be: false where the expression negates it.
    pub wanted: bool,
    /// Why it cannot be evaluated.
    pub error: Option<String>,
    /// What it saw.
    pub seen: Vec<Seen>,
}

/// Why an expression is not true of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Why {
    /// How many of the parts that must all be true are not.
    pub failing: usize,
    /// How many such parts there are.
    pub conjuncts: usize,
    /// The parts at fault, in order.
    pub reasons: Vec<Reason>,
}

/// An expression, cut into its parts.
#[derive(Debug)]
pub struct Dissection {
    text: String,
    root: Part,
    /// What parts are compiled to, by number; none for those that cannot stand alone.
    compiled: Vec<Option<Leaf>>,
}

#[derive(Debug)]
struct Leaf {
    selector: Selector,
    reads: Vec<(Path, Selector)>,
}

impl Dissection {
    /// Cuts an expression that compiles; parts of one that does not are never at fault.
    pub fn new(expression: &str) -> Self {
        let (root, leaves) = cut::cut(expression);
        let compiled = leaves.iter().map(|range| Leaf::new(expression, range)).collect();
        Self { text: expression.to_owned(), root, compiled }
    }

    /// The top-level parts that must all be true, as places in the text, in bytes.
    pub fn conjuncts(&self) -> Vec<Range<usize>> {
        self.root.conjuncts().iter().map(|part| part.range.clone()).collect()
    }

    /// Why the expression is not true of a device.
    pub fn why(&self, device: &CelDevice) -> Why {
        let conjuncts = self.root.conjuncts();
        let failing = conjuncts.iter().filter(|part| self.truth(part, device) != Some(true));
        let failing: Vec<_> = failing.collect();
        let mut reasons = Vec::new();
        for part in &failing {
            self.explain(part, true, device, &mut reasons);
        }
        Why { failing: failing.len(), conjuncts: conjuncts.len(), reasons }
    }

    /// The truth value of a part; none where it has none.
    fn truth(&self, part: &Part, device: &CelDevice) -> Option<bool> {
        match &part.form {
            Form::Leaf(number) => as_bool(&self.compiled[*number].as_ref()?.selector.evaluate(device).value.ok()?).ok(),
            Form::Not(inner) => self.truth(inner, device).map(|truth| !truth),
            Form::All(parts) => self.joined(parts, false, device),
            Form::Any(parts) => self.joined(parts, true, device),
            Form::Choice(choice) => {
                let [condition, then, otherwise] = &**choice;
                let taken = if self.truth(condition, device)? { then } else { otherwise };
                self.truth(taken, device)
            }
        }
    }

    /// One part with the value `decisive` decides, also beside parts without a value.
    fn joined(&self, parts: &[Part], decisive: bool, device: &CelDevice) -> Option<bool> {
        let mut joined = Some(!decisive);
        for part in parts {
            match self.truth(part, device) {
                Some(truth) if truth == decisive => return Some(decisive),
                Some(_) => {}
                None => joined = None,
            }
        }
        joined
    }

    /// Adds the parts because of which `part` is not `wanted`. Parts are cut to a limited depth, so the recursion is limited, too.
    fn explain(&self, part: &Part, wanted: bool, device: &CelDevice, reasons: &mut Vec<Reason>) {
        match &part.form {
            Form::Leaf(number) => reasons.extend(self.reason(part, *number, wanted, device)),
            Form::Not(inner) => self.explain(inner, !wanted, device, reasons),
            Form::All(parts) | Form::Any(parts) => {
                for part in parts.iter().filter(|part| self.truth(part, device) != Some(wanted)) {
                    self.explain(part, wanted, device, reasons);
                }
            }
            Form::Choice(choice) => {
                let [condition, then, otherwise] = &**choice;
                match self.truth(condition, device) {
                    Some(truth) => self.explain(if truth { then } else { otherwise }, wanted, device, reasons),
                    None => self.explain(condition, true, device, reasons),
                }
            }
        }
    }

    fn reason(&self, part: &Part, number: usize, wanted: bool, device: &CelDevice) -> Option<Reason> {
        let leaf = self.compiled[number].as_ref()?;
        let error = match leaf.selector.evaluate(device).value {
            Ok(value) => as_bool(&value).err(),
            Err(error) => Some(error),
        };
        let Range { start, end } = part.range;
        Some(Reason {
            start,
            end,
            text: one_line(&self.text[part.range.clone()]),
            wanted,
            error: error.map(|error| error.to_string()),
            seen: leaf.reads.iter().filter_map(|(path, selector)| path.seen(selector, device)).collect(),
        })
    }
}

impl Leaf {
    fn new(expression: &str, range: &Range<usize>) -> Option<Self> {
        let text = expression.get(range.clone())?;
        let selector = Selector::compile(text, Environment::Stored).ok()?;
        let reads = paths::paths(text).into_iter().filter_map(|path| {
            let selector = Selector::compile(&format!("dyn({})", path.text), Environment::Stored).ok()?;
            Some((path, selector))
        });
        let mut reads: Vec<(Path, Selector)> = reads.collect();
        let mut known = Vec::new();
        reads.retain(|(path, _)| {
            let is_new = !known.contains(&path.text);
            known.push(path.text.clone());
            is_new
        });
        Some(Self { selector, reads })
    }
}

impl Path {
    /// What a device has there; nothing to tell where that is a whole map.
    fn seen(&self, selector: &Selector, device: &CelDevice) -> Option<Seen> {
        let value = match selector.evaluate(device).value {
            Ok(Value::Map(_)) => return None,
            Ok(Value::Optional(None)) | Err(_) => None,
            Ok(Value::Optional(Some(value))) => Some(shown(&value)),
            Ok(value) => Some(shown(&value)),
        };
        Some(Seen { path: self.text.clone(), name: self.name.clone(), value })
    }
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => format!("\"{text}\""),
        other => other.to_string(),
    };
    if text.chars().count() <= LONGEST_VALUE { text } else { text.chars().take(LONGEST_VALUE).chain(['…']).collect() }
}

/// Text without line breaks and runs of blanks; comments stay in.
fn one_line(text: &str) -> String {
    if text.contains('\n') { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> CelDevice {
        let json = r#"{
            "name": "gpu-0",
            "attributes": {"model": {"string": "a100"}, "index": {"int": 3}, "healthy": {"bool": true}},
            "capacity": {"memory": {"value": "40Gi"}}
        }"#;
        CelDevice::new("d", &serde_json::from_str(json).unwrap())
    }

    /// Parts at fault, with what they saw.
    fn why(expression: &str) -> Vec<String> {
        let reasons = Dissection::new(expression).why(&device()).reasons;
        let told = |reason: Reason| {
            let seen = reason.seen.iter().map(|seen| format!("{}={}", seen.name, seen.value.as_deref().unwrap_or("-")));
            let seen: Vec<_> = seen.collect();
            let negated = if reason.wanted { "" } else { "not " };
            format!("{negated}{} [{}]", reason.text, seen.join(" "))
        };
        reasons.into_iter().map(told).collect()
    }

    #[test]
    fn failing_conjunct_is_told_with_the_value_that_it_saw() {
        let memory = r#"device.capacity["d"].memory.compareTo(quantity("80Gi")) >= 0"#;
        assert_eq!(
            why(&format!(r#"device.driver == "d" && {memory} && device.attributes["d"].model == "h100""#)),
            [format!("{memory} [memory=40Gi]"), r#"device.attributes["d"].model == "h100" [model="a100"]"#.to_owned()]
        );
    }

    #[test]
    fn every_way_of_an_alternative_is_told() {
        assert_eq!(
            why(r#"(device.attributes["d"].index < 2 || device.attributes["d"].index > 5) && device.driver == "d""#),
            [r#"device.attributes["d"].index < 2 [index=3]"#, r#"device.attributes["d"].index > 5 [index=3]"#]
        );
    }

    #[test]
    fn negation_and_choice_lead_to_what_decides() {
        assert_eq!(
            why(r#"!(device.attributes["d"].healthy)"#),
            [r#"not device.attributes["d"].healthy [healthy=true]"#]
        );
        assert_eq!(
            why(r#"device.driver == "d" ? device.attributes["d"].index == 1 : true"#),
            [r#"device.attributes["d"].index == 1 [index=3]"#]
        );
    }

    #[test]
    fn missing_values_are_told_as_such() {
        assert_eq!(
            why(r#"device.attributes["d"].?rack.orValue("") == "r""#),
            [r#"device.attributes["d"].?rack.orValue("") == "r" [rack=-]"#]
        );
        let failing = Dissection::new(r#"device.attributes["d"].rack == "r""#).why(&device());
        assert_eq!(failing.reasons[0].error.as_deref(), Some("no such key: rack"));
    }

    #[test]
    fn conjuncts_are_counted() {
        let dissection = Dissection::new(r#"(device.driver == "x") && (true && device.attributes["d"].index == 3)"#);
        let why = dissection.why(&device());
        assert_eq!((why.failing, why.conjuncts), (1, 3));
        assert_eq!(dissection.conjuncts(), [1..21, 27..31, 35..68]);
    }

    #[test]
    fn deep_and_broken_expressions_are_left_whole() {
        let deep = format!("{}true{}", "!(".repeat(200), ")".repeat(200));
        assert!(Dissection::new(&deep).why(&device()).reasons.is_empty());
        assert!(Dissection::new("&& ) ? : (").why(&device()).reasons.is_empty());
        assert_eq!(Dissection::new("").why(&device()).reasons, []);
    }
}
