//! The Python module `drayman._native`: converts at the border, nothing else.
//!
//! Objects come in as bytes of JSON or as dicts, results go out as dicts. The interpreter is released while the kernel works. Errors are the
//! exceptions of `drayman.errors`, which are defined in Python.

use pyo3::prelude::*;

mod error;
mod quantity;
mod version;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::quantity::Quantity;
    #[pymodule_export]
    use crate::version::Version;
}
