//! Constraints over the devices of a claim: `matchAttribute` and `distinctAttribute`.
//!
//! A constraint that refuses a device refuses it also after more devices were added; the search relies on that.

use std::rc::Rc;

use drayman_api::ConstraintKind;

use crate::attribute::{AttributeValue, Scalar, intersection};
use crate::features::{Feature, Features};
use crate::plan::ClaimPlan;

/// The condition of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// All devices have the same value.
    Match,
    /// All devices have different values.
    Distinct,
}

/// A constraint of a claim.
#[derive(Clone, Debug)]
pub(crate) struct ConstraintPlan {
    pub(crate) condition: Condition,
    /// Fully qualified name of the attribute.
    pub(crate) attribute: String,
    requests: Vec<String>,
}

impl ConstraintPlan {
    /// None when the constraint is of an unknown kind.
    pub(crate) fn new(constraint: &drayman_api::DeviceConstraint) -> Option<Self> {
        let (condition, attribute) = match &constraint.kind {
            ConstraintKind::MatchAttribute(attribute) => (Condition::Match, attribute),
            ConstraintKind::DistinctAttribute(attribute) => (Condition::Distinct, attribute),
            ConstraintKind::Unknown => return None,
        };
        Some(Self { condition, attribute: attribute.clone(), requests: constraint.requests.clone() })
    }

    /// Whether the constraint is about a request, given by its name and, for a subrequest, as `request/subrequest`.
    pub(crate) fn applies_to(&self, request: &str, reference: &str) -> bool {
        self.requests.is_empty() || self.requests.iter().any(|name| name == request || name == reference)
    }
}

/// A constraint during a search: what the devices taken so far have in it.
#[derive(Clone, Debug)]
pub(crate) struct ConstraintState {
    condition: Condition,
    /// Lists are compared as sets; else only single values of one type can be equal.
    lists: bool,
    added: Vec<Rc<AttributeValue>>,
    /// With lists, what all devices up to each one have in common.
    common: Vec<Vec<Scalar>>,
}

impl ConstraintState {
    /// The constraints of a claim while nothing is taken.
    pub(crate) fn of_claim(claim: &ClaimPlan, features: Features) -> Vec<Self> {
        let lists = features.has(Feature::ListTypeAttributes);
        claim.constraints.iter().map(|constraint| Self::new(constraint.condition, lists)).collect()
    }

    fn new(condition: Condition, lists: bool) -> Self {
        Self { condition, lists, added: Vec::new(), common: Vec::new() }
    }

    /// Whether a device with this value may be added.
    pub(crate) fn admits(&self, value: &AttributeValue) -> bool {
        match (self.condition, self.lists) {
            (Condition::Match, false) => self.added.first().is_none_or(|first| same(first, value)),
            (Condition::Match, true) => match self.common.last() {
                None => !value.scalars().is_empty(),
                Some(common) => !intersection(common, value.scalars()).is_empty(),
            },
            // A value of an unknown type is only refused beside another one.
            (Condition::Distinct, false) => {
                self.added.iter().all(|other| matches!(value, AttributeValue::One(_)) && !same(other, value))
            }
            (Condition::Distinct, true) => {
                let disjoint = |other: &Rc<AttributeValue>| intersection(other.scalars(), value.scalars()).is_empty();
                !value.scalars().is_empty() && self.added.iter().all(disjoint)
            }
        }
    }

    /// Adds a device that is admitted.
    pub(crate) fn add(&mut self, value: Rc<AttributeValue>) {
        if self.lists && self.condition == Condition::Match {
            let common = match self.common.last() {
                None => value.scalars().to_vec(),
                Some(common) => intersection(common, value.scalars()),
            };
            self.common.push(common);
        }
        self.added.push(value);
    }

    /// Removes the device that was added last.
    pub(crate) fn remove(&mut self) {
        self.added.pop();
        self.common.pop();
    }

    /// What later devices are compared with: two states with the same key admit the same devices.
    pub(crate) fn key(&self) -> Vec<AttributeValue> {
        let mut key: Vec<_> = match (self.condition, self.lists) {
            (Condition::Match, false) => self.added.first().map(|first| (**first).clone()).into_iter().collect(),
            (Condition::Match, true) => {
                self.common.last().map(|common| AttributeValue::Many(common.clone())).into_iter().collect()
            }
            (Condition::Distinct, _) => self.added.iter().map(|value| (**value).clone()).collect(),
        };
        key.sort_unstable();
        key
    }
}

/// Whether two single values are equal.
fn same(one: &AttributeValue, other: &AttributeValue) -> bool {
    matches!((one, other), (AttributeValue::One(one), AttributeValue::One(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Condition, ConstraintState};
    use crate::attribute::{AttributeValue, Scalar};

    fn ints(values: &[i64]) -> AttributeValue {
        AttributeValue::Many(values.iter().copied().map(Scalar::Int).collect())
    }

    #[test]
    fn removed_device_gives_back_what_it_narrowed() {
        let mut state = ConstraintState::new(Condition::Match, true);
        state.add(Rc::new(ints(&[1, 2])));
        state.add(Rc::new(ints(&[2, 3])));
        assert!(!state.admits(&ints(&[1])));
        state.remove();
        assert!(state.admits(&ints(&[1])));
    }

    #[test]
    fn first_device_with_unknown_value_passes_only_without_lists() {
        assert!(ConstraintState::new(Condition::Match, false).admits(&AttributeValue::Unknown));
        assert!(ConstraintState::new(Condition::Distinct, false).admits(&AttributeValue::Unknown));
        assert!(!ConstraintState::new(Condition::Match, true).admits(&AttributeValue::Unknown));
        assert!(!ConstraintState::new(Condition::Distinct, true).admits(&AttributeValue::Unknown));
    }

    #[test]
    fn values_of_different_types_are_distinct() {
        let mut state = ConstraintState::new(Condition::Distinct, false);
        state.add(Rc::new(AttributeValue::One(Scalar::Int(1))));
        assert!(state.admits(&AttributeValue::One(Scalar::String("1".to_owned()))));
        assert!(!state.admits(&AttributeValue::One(Scalar::Int(1))));
    }
}
