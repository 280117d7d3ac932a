//! The native module `parvum._parvum`: Python on Parvum's engine.
//!
//! It is thin: it turns objects into messages and back, waits without the interpreter's lock, and asks the daemon. `python/parvum` builds
//! the public API on it. Read the modules in this order: `task::process` (this process as a task), `objects::kinds`
//! (the layout of objects), `objects::encode`, `objects::decode`, `vm` (sends and receives), `requests`, `group`, `task::machine`.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod frozen;
#[allow(unsafe_code)]
mod group;
mod kept;
mod objects;
#[allow(unsafe_code)]
mod requests;
mod task;
#[allow(unsafe_code)]
mod vm;

use pyo3::prelude::*;

/// See the module.
#[pymodule]
fn _parvum(module: &Bound<'_, PyModule>) -> PyResult<()> {
    task::machine::add(module)?;
    module.add_class::<requests::Operation>()?;
    module.add_class::<task::bell::Bell>()?;
    module.add_class::<group::Group>()?;
    module.add_function(wrap_pyfunction!(requests::wait_any, module)?)?;
    module.add_function(wrap_pyfunction!(requests::finish_all, module)?)?;
    module.add_function(wrap_pyfunction!(frozen::freeze, module)?)?;
    module.add_function(wrap_pyfunction!(frozen::is_touched, module)?)?;
    module.add_function(wrap_pyfunction!(task::guard::end_with, module)?)?;
    module.add_function(wrap_pyfunction!(task::output::catch_output, module)?)?;
    module.add_function(wrap_pyfunction!(task::output::settle, module)?)?;
    module.add("RELEASE", env!("CARGO_PKG_VERSION"))
}
