//! Constraints, with the values that there are: those that no choice of devices can meet are told.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::attribute::{AttributeValue, Scalar};
use crate::constraint::Condition;
use crate::explain::gather::RequestFindings;
use crate::features::Feature;
use crate::plan::{Mode, Plan};
use crate::search::{Search, Spot};

/// A value of an attribute, and how many devices have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The value, as it is written; texts in quotes where values of several types occur.
    pub value: String,
    /// Devices that could be used and have the value.
    pub devices: usize,
}

/// A constraint, and what its requests find for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintFact {
    /// `namespace/name` of the claim.
    pub claim: String,
    /// Position of the constraint in the claim.
    pub index: usize,
    /// Whether all values must differ, instead of being equal.
    pub distinct: bool,
    /// Fully qualified name of the attribute.
    pub attribute: String,
    /// Requests that it is about.
    pub requests: Vec<String>,
    /// Devices that they need together at least.
    pub needed: usize,
    /// The values that there are.
    pub values: Vec<Tally>,
    /// Whether the values are of more than one type: such are never equal.
    pub mixed_types: bool,
    /// Whether the devices that its requests could use suffice, as far as nothing else is asked.
    pub met: bool,
    /// Values are lists, which are compared only with this gate.
    pub gate: Option<&'static str>,
}

impl ConstraintFact {
    /// The stable name of what the fact says.
    pub fn code(&self) -> &'static str {
        if self.gate.is_some() {
            "attribute-list"
        } else if self.mixed_types {
            "attribute-types-differ"
        } else {
            "constraint-unmet"
        }
    }

    /// What the fact says.
    pub fn message(&self) -> String {
        let kind = if self.distinct { "distinctAttribute" } else { "matchAttribute" };
        let why = match self.gate {
            Some(gate) => format!("; lists are compared only with the gate `{gate}`"),
            None if self.mixed_types => "; values of different types are never equal".to_owned(),
            None => String::new(),
        };
        let cannot = if self.met { "" } else { " cannot be met" };
        format!("{kind} `{}`{cannot}: {}{why}", self.attribute, self.tally())
    }

    /// The values that there are, and how many devices are needed: `numaNode: 0 → 1 free, 1 → 1 free, 2 needed`.
    pub fn tally(&self) -> String {
        /// Values that are listed.
        const LISTED: usize = 6;
        let name = self.attribute.rsplit('/').next().unwrap_or(&self.attribute);
        let values = self.values.iter().map(|tally| format!("{} → {} free", tally.value, tally.devices));
        let mut values: Vec<_> = values.take(LISTED).collect();
        if self.values.len() > LISTED {
            values.push(format!("… ({} values)", self.values.len()));
        }
        let values = match (values.is_empty(), self.gate) {
            (true, Some(_)) => "lists".to_owned(),
            (true, None) => "no device has it".to_owned(),
            (false, _) => values.join(", "),
        };
        format!("{name}: {values}, {}{} needed", self.needed, if self.distinct { " different values" } else { "" })
    }
}

/// All constraints that concern more than one device.
pub(super) fn constraints(plan: &Plan, search: &mut Search<'_>, requests: &[RequestFindings]) -> Vec<ConstraintFact> {
    let mut facts = Vec::new();
    for (claim, claim_plan) in plan.claims.iter().enumerate() {
        for index in 0..claim_plan.constraints.len() {
            let about: Vec<_> = requests
                .iter()
                .filter(|found| found.choice.claim == claim)
                .filter(|found| search.alternative(found.choice).constrained_by.contains(&index))
                .collect();
            facts.extend(check(plan, search, (claim, index), &about));
        }
    }
    facts
}

fn check(
    plan: &Plan,
    search: &mut Search<'_>,
    (claim, index): (usize, usize),
    about: &[&RequestFindings],
) -> Option<ConstraintFact> {
    let claim_plan = &plan.claims[claim];
    let constraint = &claim_plan.constraints[index];
    let mut needed: BTreeMap<usize, usize> = BTreeMap::new();
    let mut free: BTreeMap<Spot, Rc<AttributeValue>> = BTreeMap::new();
    for found in about {
        let alternatives = &claim_plan.requests[found.choice.request].alternatives;
        let all_concerned = alternatives.iter().all(|alternative| alternative.constrained_by.contains(&index));
        let wanted = match search.alternative(found.choice).mode {
            Mode::Exactly(count) => usize::try_from(count).unwrap_or_default(),
            Mode::All => found.usable.len(),
        };
        let least = needed.entry(found.choice.request).or_insert(if all_concerned { wanted } else { 0 });
        *least = (*least).min(wanted);
        for spot in &found.usable {
            if let Ok(Some(value)) = search.attribute(found.choice, index, *spot) {
                free.insert(*spot, value);
            }
        }
    }
    let needed: usize = needed.values().sum();
    let lists = plan.features.has(Feature::ListTypeAttributes);
    let has_lists = free.values().any(|value| matches!(**value, AttributeValue::Many(_)));
    let mut tallies: BTreeMap<Scalar, usize> = BTreeMap::new();
    let counted = free.values().filter(|value| lists || !matches!(***value, AttributeValue::Many(_)));
    for scalar in counted.flat_map(|value| value.scalars()) {
        *tallies.entry(scalar.clone()).or_default() += 1;
    }
    let most = match constraint.condition {
        Condition::Match => tallies.values().copied().max().unwrap_or_default(),
        Condition::Distinct => tallies.len(),
    };
    // One device alone has nothing to be compared with; that there are too few devices is said elsewhere.
    if needed < 2 {
        return None;
    }
    let by_lists = !lists && has_lists && constraint.condition == Condition::Distinct;
    let met = free.len() < needed || most >= needed || by_lists;
    let types = tallies.keys().map(std::mem::discriminant).collect::<std::collections::HashSet<_>>().len();
    let text = |scalar: &Scalar| match scalar {
        Scalar::String(text) if types > 1 => format!("\"{text}\""),
        Scalar::String(text) | Scalar::Version(text) => text.clone(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Bool(value) => value.to_string(),
    };
    let mut names: Vec<_> = about.iter().map(|found| search.alternative(found.choice).reference.clone()).collect();
    names.dedup();
    Some(ConstraintFact {
        claim: claim_plan.key.to_string(),
        index,
        distinct: constraint.condition == Condition::Distinct,
        attribute: constraint.attribute.clone(),
        requests: names,
        needed,
        values: tallies.iter().map(|(scalar, devices)| Tally { value: text(scalar), devices: *devices }).collect(),
        met,
        mixed_types: types > 1 && constraint.condition == Condition::Match,
        gate: (has_lists && !lists).then_some("DRAListTypeAttributes"),
    })
}
