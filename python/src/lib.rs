//! The native module `parvum._parvum`: Python on Parvum's engine.
//!
//! Thin: it turns objects into messages and back, waits without the interpreter's lock, and asks the daemon. What Python's
//! programmers see is made of it in `python/parvum`. Read in this order: `process` (this process as a task), `kinds` (how objects are
//! laid out), `encode`, `decode`, `vm` (sending and receiving), `requests`, `group`, `machine`.

#![deny(unsafe_code)]

mod bell;
#[allow(unsafe_code)]
mod buffers;
#[allow(unsafe_code)]
mod decode;
#[allow(unsafe_code)]
mod encode;
mod errors;
#[allow(unsafe_code)]
mod group;
#[allow(unsafe_code)]
mod guard;
#[allow(unsafe_code)]
mod into;
mod kept;
mod kinds;
mod machine;
mod names;
#[allow(unsafe_code)]
mod numpy;
#[allow(unsafe_code)]
mod output;
mod patience;
mod pickles;
mod process;
#[allow(unsafe_code)]
mod requests;
#[allow(unsafe_code)]
mod vm;

use pyo3::prelude::*;

/// See the module.
#[pymodule]
fn _parvum(module: &Bound<'_, PyModule>) -> PyResult<()> {
    machine::add(module)?;
    module.add_class::<requests::Operation>()?;
    module.add_class::<bell::Bell>()?;
    module.add_class::<group::Group>()?;
    module.add_function(wrap_pyfunction!(requests::wait_any, module)?)?;
    module.add_function(wrap_pyfunction!(requests::finish_all, module)?)?;
    module.add_function(wrap_pyfunction!(guard::end_with, module)?)?;
    module.add_function(wrap_pyfunction!(output::catch_output, module)?)?;
    module.add_function(wrap_pyfunction!(output::settle, module)?)?;
    module.add("RELEASE", env!("CARGO_PKG_VERSION"))
}
