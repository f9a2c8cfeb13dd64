//! The Python module `drayman._native`: converts at the border, nothing else.
//!
//! Objects come in as bytes of JSON or as dicts, results go out as dicts. The interpreter is released while the kernel works. Errors are the
//! exceptions of `drayman.errors`, which are defined in Python.

use pyo3::prelude::*;

mod allocator;
mod convert;
mod error;
mod evaluation;
mod explanation;
mod inspection;
mod inventory;
mod quantity;
mod selector;
mod version;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::allocator::Allocator;
    #[pymodule_export]
    use crate::evaluation::Evaluation;
    #[pymodule_export]
    use crate::explanation::Explanation;
    #[pymodule_export]
    use crate::inspection::inspect;
    #[pymodule_export]
    use crate::inventory::{Change, Inventory};
    #[pymodule_export]
    use crate::quantity::Quantity;
    #[pymodule_export]
    use crate::selector::{Devices, Selector};
    #[pymodule_export]
    use crate::version::Version;

    /// How the module was built: a debug build is slow, and its figures mean nothing.
    #[pymodule_export]
    const BUILD_PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };
}
