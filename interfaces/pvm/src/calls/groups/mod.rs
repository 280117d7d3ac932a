//! Groups, and what their members do together.

pub(in crate::calls) mod collective;
pub(in crate::calls) mod members;
