//! Objects that programs name by handles: datatypes, attributes, error handlers, hints.

#[allow(unsafe_code)]
pub mod attributes;
pub(crate) mod combine;
pub(crate) mod datatypes;
#[allow(unsafe_code)]
pub(crate) mod errhandlers;
#[allow(unsafe_code)]
pub(crate) mod external;
pub(crate) mod handles;
pub(crate) mod hints;
pub(crate) mod info;
#[allow(unsafe_code)]
pub(crate) mod long_double;
pub mod numbers;
#[allow(unsafe_code)]
pub(crate) mod ops;
#[allow(unsafe_code)]
pub(crate) mod user_ops;
