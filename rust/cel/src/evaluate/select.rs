//! Steps that select fields and elements.

use crate::error::Fault;
use crate::evaluate::Outcome;
use crate::evaluate::access::{self, Selected};
use crate::evaluate::machine::Machine;
use crate::program::Attribute;
use crate::value::Value;

/// What the map, the domain and the name of an attribute cost.
const LINKS: u64 = 3;

impl Machine<'_> {
    pub(super) fn attribute(&mut self, attribute: &Attribute) -> Result<(), Fault> {
        match attribute.of(self.device) {
            Some(value) => self.push(Ok(value.clone())),
            None => self.push(Err(Fault::no_such_key(&attribute.name.text))),
        }
        Ok(self.meter.charge(LINKS)?)
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
