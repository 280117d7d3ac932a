//! Sends and receives: MPI's modes, packed data, persistent operations, and the requests and statuses that programs wait for.

pub(in crate::calls) mod packing;
pub(in crate::calls) mod persistent;
pub(in crate::calls) mod point_to_point;
pub(in crate::calls) mod requests;
pub(in crate::calls) mod statuses;
pub(in crate::calls) mod transfers;
pub(in crate::calls) mod waits;

pub use packing::*;
pub use persistent::*;
pub use point_to_point::*;
pub use requests::*;
pub use statuses::*;
pub use transfers::*;
pub use waits::*;
