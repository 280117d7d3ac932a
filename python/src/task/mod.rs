//! This process as a task: virtual machine, errors, output, and how a thread waits.

pub(crate) mod bell;
pub(crate) mod errors;
#[allow(unsafe_code)]
pub(crate) mod guard;
pub(crate) mod machine;
pub(crate) mod names;
#[allow(unsafe_code)]
pub(crate) mod output;
pub(crate) mod patience;
pub(crate) mod process;
