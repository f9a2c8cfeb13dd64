//! Steps that make lists and maps.

use crate::error::Fault;
use crate::evaluate::machine::Machine;
use crate::value::{Entries, Map, Value};

impl Machine<'_> {
    pub(super) fn list(&mut self, optional: &[bool]) -> Result<(), Fault> {
        let (values, mut fault) = self.take_operands(optional.len());
        let mut elements = Vec::with_capacity(optional.len());
        for (value, optional) in values.into_iter().zip(optional) {
            match (value, optional) {
                (value, false) => elements.push(value),
                (Value::Optional(value), true) => elements.extend(value.map(|value| value.as_ref().clone())),
                (value, true) => {
                    self.meter.work(value.extent().parts)?;
                    fault.get_or_insert_with(|| {
                        let text = "cannot initialize optional list element from non-optional value";
                        Fault::failed(format!("{text} {value}"))
                    });
                }
            }
        }
        self.push_made(fault.map_or_else(|| Ok(Value::list(elements)), Err))
    }

    pub(super) fn map(&mut self, optional: &[bool]) -> Result<(), Fault> {
        let (values, mut fault) = self.take_operands(optional.len() * 2);
        let mut values = values.into_iter();
        let mut entries = Entries::default();
        for optional in optional {
            let (Some(key), Some(value)) = (values.next(), values.next()) else { break };
            if fault.is_none() && (!optional || matches!(value, Value::Optional(_))) {
                key.check_hashable()?;
            }
            match (value, optional) {
                (value, false) => entries.insert(key, value),
                (Value::Optional(Some(value)), true) => entries.insert(key, value.as_ref().clone()),
                (Value::Optional(None), true) => entries.remove(&key),
                (value, true) => {
                    self.meter.work(key.extent().parts.saturating_add(value.extent().parts))?;
                    fault.get_or_insert_with(|| {
                        let text = format!("cannot initialize optional entry '{key}' from non-optional value {value}");
                        Fault::failed(text)
                    });
                }
            }
        }
        self.push_made(fault.map_or_else(|| Ok(Value::Map(Map::new(entries))), Err))
    }
}
