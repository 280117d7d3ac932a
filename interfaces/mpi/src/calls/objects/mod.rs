//! Objects that programs name by handles: datatypes, hints, error handlers.

pub(in crate::calls) mod errors;
pub(in crate::calls) mod infos;
pub(in crate::calls) mod type_facts;
pub(in crate::calls) mod types;

pub use errors::*;
pub use infos::*;
pub use type_facts::*;
pub use types::*;
