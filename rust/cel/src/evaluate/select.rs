//! Steps that select fields and elements.

use std::sync::Arc;

use crate::error::Fault;
use crate::evaluate::Outcome;
use crate::evaluate::access::{self, Selected};
use crate::evaluate::machine::Machine;
use crate::program::Section;
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn attribute(&mut self, section: Section, domain: &str, name: &Arc<str>) -> Result<(), Fault> {
        let domains = match section {
            Section::Attributes => &self.device.attributes,
            Section::Capacity => &self.device.capacity,
        };
        let outcome = domains.names(domain).get(name).cloned().ok_or_else(|| Fault::no_such_key(name));
        self.push(outcome);
        // The map, the domain and the name.
        Ok(self.meter.charge(3)?)
    }

    /// Selects from `container`; an error or a missing optional stays as it is and costs nothing.
    pub(super) fn qualify(&mut self, container: Outcome, key: &Value, optional: bool) -> Result<(), Fault> {
        let container = match container {
            Err(_) | Ok(Value::Optional(None)) => {
                self.push(container);
                return Ok(());
            }
            Ok(container) => container,
        };
        let (container, optional) = match &container {
            Value::Optional(Some(inner)) => (inner.as_ref(), true),
            other => (other, optional),
        };
        let (outcome, cost) = if optional {
            match access::select_if_present(container, key) {
                Ok(Selected::Found(value)) => (Ok(Value::some(value)), 1),
                Ok(Selected::Missing) => (Ok(Value::Optional(None)), 0),
                Err(fault) => (Err(fault), 0),
            }
        } else {
            (access::select(container, key), 1)
        };
        self.push_made(outcome)?;
        Ok(self.meter.charge(cost)?)
    }

    pub(super) fn test(&mut self, key: &Value) -> Result<(), Fault> {
        let container = match self.pop() {
            Ok(Value::Optional(None)) => {
                self.push(Ok(Value::Bool(false)));
                return Ok(());
            }
            Ok(container) => container,
            Err(fault) => {
                self.push(Err(fault));
                return Ok(());
            }
        };
        let (outcome, cost) = match &container {
            Value::Optional(Some(inner)) => {
                let outcome = access::is_present(inner, key);
                let cost = u64::from(matches!(outcome, Ok(true)));
                (outcome, cost)
            }
            other => (access::is_present(other, key), 1),
        };
        self.push(outcome.map(Value::Bool));
        Ok(self.meter.charge(cost)?)
    }

    pub(super) fn qualify_by_top(&mut self, optional: bool) -> Result<(), Fault> {
        let key = self.pop().and_then(|key| access::check_key(&key).map(|()| key));
        let container = self.pop();
        match key {
            Ok(key) => self.qualify(container, &key, optional),
            Err(fault) => {
                let paid = !optional && !matches!(container, Ok(Value::Optional(_)));
                self.push(Err(fault));
                Ok(self.meter.charge(u64::from(paid))?)
            }
        }
    }
}
