//! Messages on their way to the program: receives that are posted, messages that are looked for, and data taken in meanwhile.

#[allow(unsafe_code)]
pub(crate) mod completing;
pub(crate) mod direct;
#[allow(unsafe_code)]
pub(crate) mod finding;
#[allow(unsafe_code)]
pub(crate) mod receive;
pub(crate) mod serving;
