//! The Python module `drayman._native`: converts at the border, nothing else.

use pyo3::prelude::*;

#[pymodule]
mod _native {}
