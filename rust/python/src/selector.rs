//! CEL selectors for Python.

use drayman_api::Device;
use drayman_cel::{CelDevice, Environment, Gates, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use crate::convert::{Json, Text};
use crate::error::{cel_compile_error, cel_runtime_error, input_error};
use crate::quantity::Quantity;
use crate::version::Version;

/// A compiled expression.
#[pyclass(frozen, module = "drayman._native")]
pub(crate) struct Selector(drayman_cel::Selector);

#[pymethods]
impl Selector {
    /// Compiles a selector, or the expression of a derived attribute. `gates` are those that are on when an expression is new.
    #[new]
    #[pyo3(signature = (expression, environment, *, gates = None, derived = false))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn new(
        py: Python<'_>,
        expression: Text,
        environment: Text,
        gates: Option<Vec<Text>>,
        derived: bool,
    ) -> PyResult<Self> {
        let environment = match (&*environment, gates) {
            ("stored", _) => Environment::Stored,
            ("new", None) => Environment::New,
            ("new", Some(gates)) => Environment::Gated(Gates::of(gates.iter().map(|gate| &**gate))),
            (other, _) => {
                return Err(input_error(format!("environment `{other}` is not known; known are `stored`, `new`")));
            }
        };
        let compile = if derived { drayman_cel::Selector::compile_derived } else { drayman_cel::Selector::compile };
        let compiled = py.detach(|| compile(&expression, environment));
        compiled.map(Self).map_err(|error| cel_compile_error(py, &error))
    }

    /// The most that an evaluation can cost.
    #[getter]
    fn max_cost(&self) -> u64 {
        self.0.max_cost()
    }

    /// The static type of the result.
    #[getter]
    fn result_type(&self) -> String {
        self.0.result_type().to_string()
    }

    #[pyo3(signature = (device, driver = None))]
    fn matches(&self, py: Python<'_>, device: Json, driver: Option<Text>) -> PyResult<bool> {
        let device = given(device, driver)?;
        py.detach(|| self.0.matches(&device)).map_err(|error| cel_runtime_error(py, &error))
    }

    #[pyo3(signature = (device, driver = None))]
    fn evaluate(
        &self,
        py: Python<'_>,
        device: Json,
        driver: Option<Text>,
    ) -> PyResult<(Option<Py<PyAny>>, Option<PyErr>, u64)> {
        let device = given(device, driver)?;
        let found = py.detach(|| self.0.evaluate(&device));
        match found.value {
            Ok(value) => Ok((Some(to_python(py, &value)?), None, found.cost)),
            Err(error) => Ok((None, Some(cel_runtime_error(py, &error)), found.cost)),
        }
    }

    /// Whether each of the devices at `places` is selected, or why that cannot be told.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn answers(&self, py: Python<'_>, devices: &Devices, places: Vec<usize>) -> PyResult<Vec<Py<PyAny>>> {
        let chosen = places.iter().map(|place| devices.0.get(*place).and_then(Option::as_ref));
        let found: Vec<_> = py.detach(|| chosen.map(|one| one.map_or(Ok(false), |one| self.0.matches(one))).collect());
        found
            .into_iter()
            .map(|answer| match answer {
                Ok(answer) => answer.into_py_any(py),
                Err(error) => cel_runtime_error(py, &error).into_py_any(py),
            })
            .collect()
    }
}

/// Devices that are read once, for selectors that are evaluated on all of them.
#[pyclass(frozen, module = "drayman._native")]
pub(crate) struct Devices(Vec<Option<CelDevice>>);

#[pymethods]
impl Devices {
    /// Takes drivers and devices; one that cannot be read is none, and no selector selects it.
    #[new]
    fn new(devices: Vec<(Text, Json)>) -> Self {
        Self(devices.into_iter().map(|(driver, json)| given(json, Some(driver)).ok()).collect())
    }
}

/// The driver that a dict may name beside what a device of a slice has.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    driver: String,
}

#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
fn given(json: Json, driver: Option<Text>) -> PyResult<CelDevice> {
    let device: Device = json.value()?;
    Ok(match driver {
        Some(driver) => CelDevice::new(&driver, &device),
        None => CelDevice::new(&json.value::<Named>()?.driver, &device),
    })
}

/// What Python has no equal of comes as its text.
fn to_python(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    match value {
        Value::Null | Value::Optional(None) => Ok(py.None()),
        Value::Bool(value) => value.into_py_any(py),
        Value::Int(value) => value.into_py_any(py),
        Value::Uint(value) => value.into_py_any(py),
        Value::Double(value) => value.into_py_any(py),
        Value::String(text) => text.into_py_any(py),
        Value::Bytes(bytes) => bytes.into_py_any(py),
        Value::Optional(Some(value)) => to_python(py, value),
        Value::List(values) => {
            values.iter().map(|value| to_python(py, value)).collect::<PyResult<Vec<_>>>()?.into_py_any(py)
        }
        Value::Quantity(value) => Quantity::from(value.quantity().clone()).into_py_any(py),
        Value::Version(version) => Version::from(version.as_ref().clone()).into_py_any(py),
        Value::Map(map) => {
            let dict = PyDict::new(py);
            for (key, value) in map.iter() {
                dict.set_item(to_python(py, &key)?, to_python(py, &value)?)?;
            }
            dict.into_py_any(py)
        }
        other => other.to_string().into_py_any(py),
    }
}
