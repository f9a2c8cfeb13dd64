//! Errors of the crates below as exceptions of `drayman.errors`.

use pyo3::PyErr;

/// The exceptions, imported from Python.
pub(crate) mod exceptions {
    pyo3::import_exception!(drayman.errors, InputError);
}

/// An input that cannot be used, told by `message` alone.
pub(crate) fn input_error(message: impl ToString) -> PyErr {
    exceptions::InputError::new_err(message.to_string())
}
