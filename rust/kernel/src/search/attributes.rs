//! Attributes as constraints see them: derived ones first, then published ones.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::attribute::{AttributeValue, published};
use crate::derived::Derived;
use crate::error::AllocationError;
use crate::search::{Choice, Search, Spot};

/// What distinguishes one look-up: claim, constraint, the expression of a derived attribute, and the device.
type Key = (usize, usize, Option<*const Derived>, Spot);

/// Values that were looked up.
#[derive(Debug, Default)]
pub(super) struct Attributes(FxHashMap<Key, Option<Rc<AttributeValue>>>);

impl Attributes {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Search<'_> {
    /// The value that a constraint finds on a device for an alternative; none where the device has no such attribute.
    pub(crate) fn attribute(
        &mut self,
        choice: Choice,
        constraint: usize,
        spot: Spot,
    ) -> Result<Option<Rc<AttributeValue>>, AllocationError> {
        let alternative = self.alternative(choice);
        let name = &self.plan.claims[choice.claim].constraints[constraint].attribute;
        let derived = alternative.derived.get(name);
        let key = (choice.claim, constraint, derived.map(Arc::as_ptr), spot);
        if let Some(value) = self.attributes.0.get(&key) {
            return Ok(value.clone());
        }
        let layout = &self.view(spot).layout;
        let (driver, device) = (layout.slice(spot.device).driver(), layout.device(spot.device));
        let compatibility = self.plan.compatibility;
        let value = match derived {
            None => published(&device.attributes, name, driver).map(|value| AttributeValue::new(value, compatibility)),
            Some(derived) => {
                if let Some(error) = derived.compile_error() {
                    let (attribute, error) = (name.clone(), Arc::clone(error));
                    return Err(AllocationError::DerivedCompile { attribute, error });
                }
                let value = derived.value(driver, device).map_err(|error| AllocationError::DerivedRuntime {
                    attribute: name.clone(),
                    device: Box::new(layout.device_id(spot.device)),
                    error,
                })?;
                Some(AttributeValue::new(&value, compatibility))
            }
        };
        let value = value.map(Rc::new);
        self.attributes.0.insert(key, value.clone());
        Ok(value)
    }
}
