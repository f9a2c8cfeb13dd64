//! Explanations as JSON with a version of its own; `docs/explain.md` has the fields and codes.

use drayman_cel::{Reason, Seen};
use serde_json::{Map, Value, json};

use crate::error::SelectorSource;
use crate::explain::{
    CapacityAsked, ConstraintFact, Element, Explanation, Fact, FactKind, Fault, Group, Hint, Holder, RequestFacts,
};

/// The version of the form.
const VERSION: u32 = 1;

impl Explanation {
    /// The whole as JSON.
    pub fn json(&self) -> Value {
        json!({
            "version": VERSION,
            "compatibility": if self.compatibility.is_fixed() { "fixed" } else { "1.37" },
            "claims": self.claims,
            "groups": self.groups.iter().map(Group::json).collect::<Vec<_>>(),
        })
    }
}

impl Group {
    fn json(&self) -> Value {
        let mut group = Map::new();
        group.insert("nodes".to_owned(), json!(self.nodes));
        group.insert("devices".to_owned(), json!(self.devices));
        group.insert("devicesElsewhere".to_owned(), json!(self.elsewhere));
        if self.fits {
            group.insert("fits".to_owned(), json!(true));
        }
        if let Some(fault) = &self.fault {
            group.insert("error".to_owned(), fault.json());
        }
        group.insert("pools".to_owned(), self.pools.iter().map(Fact::json).collect());
        group.insert("requests".to_owned(), self.requests.iter().map(RequestFacts::json).collect());
        group.insert("constraints".to_owned(), self.constraints.iter().map(ConstraintFact::json).collect());
        group.insert("requestsCompete".to_owned(), json!(self.requests_compete()));
        if let Some(core) = &self.core {
            group.insert("core".to_owned(), core.elements.iter().map(Element::json).collect());
            group.insert("minimal".to_owned(), json!(core.minimal));
        }
        group.insert("hints".to_owned(), self.hints.iter().map(Hint::json).collect());
        Value::Object(group)
    }
}

impl RequestFacts {
    fn json(&self) -> Value {
        let fact = |fact: &Fact| {
            let mut json = fact.json();
            json["claim"] = json!(self.claim);
            json["request"] = json!(self.request);
            json["alternative"] = json!(self.alternative);
            json
        };
        json!({
            "claim": self.claim,
            "request": self.request,
            "alternative": self.alternative,
            "class": self.class,
            "wanted": self.wanted,
            "adminAccess": self.admin,
            "usable": self.usable,
            "devices": self.devices,
            "met": self.is_met(),
            "facts": self.facts.iter().map(fact).collect::<Vec<_>>(),
        })
    }
}

impl ConstraintFact {
    fn json(&self) -> Value {
        let values = self.values.iter().map(|tally| json!({"value": tally.value, "devices": tally.devices}));
        let mut json = json!({
            "claim": self.claim,
            "constraint": self.index,
            "met": self.met,
            (if self.distinct { "distinctAttribute" } else { "matchAttribute" }): self.attribute,
            "requests": self.requests,
            "needed": self.needed,
            "values": values.collect::<Vec<_>>(),
        });
        if !self.met {
            json["code"] = json!(self.code());
            json["message"] = json!(self.message());
        }
        if let Some(gate) = self.gate {
            json["gate"] = json!(gate);
        }
        json
    }
}

impl Fault {
    fn json(&self) -> Value {
        let mut json = json!({"code": self.code, "text": self.text});
        let texts = [
            ("claim", self.claim.as_deref()),
            ("request", self.request.as_deref()),
            ("device", self.device.as_deref()),
            ("gate", self.gate),
            ("class", self.class.as_deref()),
            ("guarded", self.guarded.as_deref()),
        ];
        for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text?))) {
            json[name] = json!(text);
        }
        if let Some((source, index)) = &self.selector {
            json["selector"] = selector_json(source, *index);
        }
        json
    }
}

impl Fact {
    fn json(&self) -> Value {
        let mut json = json!({
            "code": self.kind.code(),
            "message": self.kind.message(),
            "devices": {"count": self.count, "examples": self.examples},
        });
        for (name, value) in self.kind.details() {
            json[name] = value;
        }
        if let Some(pool) = &self.pool {
            json["pool"] = json!(pool);
        }
        if !self.holders.is_empty() {
            json["holders"] = self.holders.iter().map(Holder::json).collect();
        }
        if !self.sightings.is_empty() {
            let sighting = |seen: &[Seen], devices| {
                let values = seen.iter().map(|seen| json!({"path": seen.path, "name": seen.name, "value": seen.value}));
                json!({"values": values.collect::<Vec<_>>(), "devices": devices})
            };
            json["seen"] = self.sightings.iter().map(|one| sighting(&one.seen, one.devices)).collect();
        }
        if !self.counters.is_empty() {
            let counters = self.counters.iter();
            json["counterSets"] = counters
                .map(|counter| json!({"set": counter.set, "counter": counter.counter, "left": counter.left, "total": counter.total}))
                .collect();
        }
        json
    }
}

impl Holder {
    fn json(&self) -> Value {
        json!({"claim": self.claim, "pods": self.pods, "devices": self.devices})
    }
}

impl FactKind {
    /// What is known beside the message.
    fn details(&self) -> Vec<(&'static str, Value)> {
        let asked = |asked: &CapacityAsked| {
            vec![
                ("capacity", json!(asked.capacity)),
                ("requested", json!(asked.requested)),
                ("amount", json!(asked.amount)),
            ]
        };
        let with = |mut details: Vec<(&'static str, Value)>, name, value: &str| {
            details.push((name, json!(value)));
            details
        };
        match self {
            Self::PoolIncomplete { generation, present, expected, .. } => {
                vec![("generation", json!(generation)), ("slices", json!({"present": present, "expected": expected}))]
            }
            Self::PoolOutdated { generation, newest } => {
                vec![("generation", json!(generation)), ("newest", json!(newest))]
            }
            Self::PoolInvalid { reason } => vec![("reason", json!(reason))],
            Self::SelectorFalse { source, index, failing, conjuncts, reasons } => vec![
                ("selector", selector_json(source, *index)),
                ("failing", json!(failing)),
                ("conjuncts", json!(conjuncts)),
                ("reasons", reasons.iter().map(reason_json).collect()),
            ],
            Self::SelectorFailed { source, index, error, guarded } => {
                vec![("selector", selector_json(source, *index)), ("error", json!(error)), ("guarded", json!(guarded))]
            }
            Self::SelectorInvalid { source, index, error } => {
                vec![("selector", selector_json(source, *index)), ("error", json!(error))]
            }
            Self::DerivedAttributeFailed { error }
            | Self::NodeSelectorUnusable { error }
            | Self::CapacityFailed { error } => vec![("error", json!(error))],
            Self::CapacityMissing { capacity } => vec![("capacity", json!(capacity))],
            Self::CapacityTooSmall { asked: amounts, total } => with(asked(amounts), "total", total),
            Self::CapacityRefused { asked: amounts, policy } => with(asked(amounts), "policy", policy),
            Self::CapacityTaken { asked: amounts, left, total } => {
                with(with(asked(amounts), "left", left), "total", total)
            }
            Self::CounterShort { counter, needed } => vec![("counter", json!(counter)), ("needed", json!(needed))],
            Self::PoolOvercommitted { counter } => vec![("counter", json!(counter))],
            Self::Tainted { key, value, effect } => {
                vec![("taint", json!({"key": key, "value": value, "effect": effect}))]
            }
            Self::AttributeMissing { attribute, similar } => {
                vec![("attribute", json!(attribute)), ("similar", json!(similar))]
            }
            Self::AttributeNotComparable { attribute } => vec![("attribute", json!(attribute))],
            Self::FeatureOff { gate } | Self::NodeLacksFeature { gate } => vec![("gate", json!(gate))],
            Self::TooManyDevices { devices, limit } => vec![("matching", json!(devices)), ("limit", json!(limit))],
            Self::DeviceHeld { taint } => taint.iter().map(|taint| ("taint", json!(taint))).collect(),
            Self::NoPool | Self::DeviceNotOnNode | Self::GroupsIncompatible => Vec::new(),
        }
    }
}

fn selector_json(source: &SelectorSource, index: usize) -> Value {
    match source {
        SelectorSource::Class(name) => json!({"class": name, "index": index}),
        SelectorSource::Claim(claim) => json!({"claim": claim, "index": index}),
    }
}

fn reason_json(reason: &Reason) -> Value {
    let Reason { start, end, text, wanted, error, .. } = reason;
    json!({"expression": text, "start": start, "end": end, "wanted": wanted, "error": error})
}
