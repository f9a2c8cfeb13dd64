//! Quantities for Python.

use drayman_api::quantity::{Format, QuantityError};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::convert::Text;
use crate::error::input_error;

/// An exact decimal number in Kubernetes' notation.
#[pyclass(frozen, eq, ord, hash, str, module = "drayman.quantity")]
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Quantity(drayman_api::Quantity);

#[pymethods]
impl Quantity {
    #[new]
    fn new(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(quantity) = value.cast::<Self>() {
            return Ok(quantity.get().clone());
        }
        if let Ok(value) = value.extract::<i64>() {
            return Ok(Self(drayman_api::Quantity::from_i64(value, Format::DecimalSi)));
        }
        if value.is_instance_of::<PyInt>() {
            // Python itself refuses to write out numbers of thousands of digits.
            return value.str().map_err(input_error)?.extract::<Text>()?.parse().map(Self).map_err(input_error);
        }
        value.extract::<Text>()?.parse().map(Self).map_err(input_error)
    }

    /// The number rounded up to a whole one.
    fn value(&self) -> i64 {
        self.0.value()
    }

    /// A thousand times the number, rounded up to a whole one.
    fn milli_value(&self) -> i64 {
        self.0.milli_value()
    }

    /// The canonical text.
    fn canonical(&self) -> String {
        self.0.canonical()
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.0.format().name()
    }

    fn __add__(&self, other: &Self) -> PyResult<Self> {
        self.combine(other, drayman_api::Quantity::checked_add)
    }

    fn __sub__(&self, other: &Self) -> PyResult<Self> {
        self.combine(other, drayman_api::Quantity::checked_sub)
    }

    fn __bool__(&self) -> bool {
        !self.0.is_zero()
    }

    fn __float__(&self) -> f64 {
        self.0.approximate_f64()
    }

    fn __repr__(&self) -> String {
        format!("Quantity('{}')", self.0)
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.0.to_string(),)
    }
}

impl Quantity {
    fn combine(
        &self,
        other: &Self,
        operation: impl Fn(&drayman_api::Quantity, &drayman_api::Quantity) -> Result<drayman_api::Quantity, QuantityError>,
    ) -> PyResult<Self> {
        operation(&self.0, &other.0).map(Self).map_err(input_error)
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

impl From<drayman_api::Quantity> for Quantity {
    fn from(value: drayman_api::Quantity) -> Self {
        Self(value)
    }
}
