//! Bounds by constraints: what the values of attributes leave of the devices that requests could take.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::attribute::AttributeValue;
use crate::constraint::Condition;
use crate::plan::Plan;
use crate::search::flow::{Demand, Source, Supply, can_all_be_served};
use crate::search::{Choice, Search};

/// A constraint of a claim, by position.
#[derive(Clone, Copy)]
struct Place {
    claim: usize,
    constraint: usize,
}

impl Search<'_> {
    /// Whether each constraint leaves enough for the demands that it is about. Devices that it cannot leave are taken out of them.
    pub(super) fn values_suffice(&mut self, demands: &mut [Demand]) -> bool {
        let plan = self.plan;
        for (claim, claim_plan) in plan.claims.iter().enumerate() {
            for (constraint, about) in claim_plan.constraints.iter().enumerate() {
                let place = Place { claim, constraint };
                let mut members: Vec<_> = demands.iter_mut().filter(|demand| is_about(plan, place, demand)).collect();
                let suffices = match about.condition {
                    Condition::Match => self.match_suffices(place, &mut members),
                    Condition::Distinct => self.distinct_suffices(place, &members),
                };
                if !suffices {
                    return false;
                }
            }
        }
        true
    }

    /// Leaves the devices whose value could be that of all demands.
    fn match_suffices(&mut self, place: Place, members: &mut [&mut Demand]) -> bool {
        let mut common: Option<FxHashSet<Rc<AttributeValue>>> = None;
        for demand in members.iter() {
            let mut counts: FxHashMap<Rc<AttributeValue>, usize> = FxHashMap::default();
            for supply in &demand.supplies {
                // Lists match when they overlap, and what is no value may match by itself.
                let Some(value) = self.value(place, demand, supply).filter(|value| is_single(value)) else {
                    return true;
                };
                *counts.entry(value).or_default() += supply.count;
            }
            let mut enough = counts.into_iter().filter(|(_, count)| *count >= demand.count).map(|(value, _)| value);
            common = Some(match common {
                Some(common) => enough.filter(|value| common.contains(value)).collect(),
                None => enough.by_ref().collect(),
            });
        }
        let Some(common) = common else { return true };
        for demand in members.iter_mut() {
            let kept = std::mem::take(&mut demand.supplies).into_iter();
            let is_common =
                |supply: &Supply| self.value(place, demand, supply).is_some_and(|value| common.contains(&value));
            let kept = kept.filter(is_common).collect();
            demand.supplies = kept;
        }
        !common.is_empty()
    }

    /// Whether there are as many values as devices are needed: each serves once.
    fn distinct_suffices(&mut self, place: Place, members: &[&mut Demand]) -> bool {
        let mut numbers: FxHashMap<Rc<AttributeValue>, usize> = FxHashMap::default();
        let mut by_value = Vec::with_capacity(members.len());
        for demand in members {
            let mut supplies: Vec<Supply> = Vec::new();
            for supply in &demand.supplies {
                let Some(value) = self.value(place, demand, supply) else { return true };
                let next = numbers.len();
                let source = Source::Value(*numbers.entry(value).or_insert(next));
                if supplies.iter().all(|known| known.source != source) {
                    supplies.push(Supply { source, count: 1, ..supply.clone() });
                }
            }
            by_value.push(Demand { count: demand.count, supplies, alternatives: demand.alternatives.clone() });
        }
        can_all_be_served(&by_value, |supply, _| supply.count)
    }

    /// The value of the devices of a supply.
    fn value(&mut self, place: Place, demand: &Demand, supply: &Supply) -> Option<Rc<AttributeValue>> {
        self.attribute(*demand.alternatives.first()?, place.constraint, supply.example).ok().flatten()
    }
}

fn is_single(value: &AttributeValue) -> bool {
    matches!(value, AttributeValue::One(_))
}

/// Whether a constraint is about all that a demand can be met by, and finds one value on a device for all of it.
fn is_about(plan: &Plan, Place { claim, constraint }: Place, demand: &Demand) -> bool {
    demand.alternatives.iter().all(|Choice { claim: of, request, alternative }| {
        let alternative = &plan.claims[*of].requests[*request].alternatives[*alternative];
        *of == claim
            && alternative.constrained_by.contains(&constraint)
            && !alternative.derived.contains_key(&plan.claims[claim].constraints[constraint].attribute)
    })
}
