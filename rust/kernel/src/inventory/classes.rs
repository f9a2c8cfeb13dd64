//! Device classes by name.

use std::sync::Arc;

use drayman_api::DeviceClass;
use rustc_hash::FxHashMap;

/// Device classes by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes(FxHashMap<String, Arc<DeviceClass>>);

impl Classes {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<DeviceClass>> {
        self.0.get(name).map(Arc::clone)
    }

    /// The names of all classes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds or replaces a class; whether it has changed.
    pub(crate) fn insert(&mut self, class: DeviceClass) -> bool {
        let name = class.metadata.name.clone();
        let changed = self.0.get(&name).is_none_or(|known| known.spec != class.spec);
        if changed {
            self.0.insert(name, Arc::new(class));
        }
        changed
    }

    /// Removes a class; whether it was there.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }
}
