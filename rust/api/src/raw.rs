//! JSON that is passed on as it was written.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// JSON of a driver's own, never looked into: it is copied from a class or claim into the allocation byte for byte. Clones share it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}
