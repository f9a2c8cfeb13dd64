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
                Ok(found) => {
                    let cost = u64::from(matches!(found, Selected::Found(_)));
                    (Ok(found.into_optional()), cost)
                }
                Err(fault) => (Err(fault), 0),
            }
        } else {
            (access::select(container, key), 1)
        };
        self.push_made(outcome)?;
        Ok(self.meter.charge(cost)?)
    }

    /// Replaces the top by whether it has `key`. With `bare` set, a test inside an optional gives an optional, as upstream for a test that is a branch
    /// or a key.
    pub(super) fn test(&mut self, key: &Value, bare: bool) -> Result<(), Fault> {
        let container = match self.pop() {
            Ok(none @ Value::Optional(None)) => {
                self.push(Ok(if bare { none } else { Value::Bool(false) }));
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
                let outcome = if bare {
                    access::select_if_present(inner, key).map(Selected::into_optional)
                } else {
                    access::is_present(inner, key).map(Value::Bool)
                };
                let cost = u64::from(matches!(outcome, Ok(Value::Bool(true) | Value::Optional(Some(_)))));
                (outcome, cost)
            }
            other => (access::is_present(other, key).map(Value::Bool), 1),
        };
        self.push(outcome);
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
