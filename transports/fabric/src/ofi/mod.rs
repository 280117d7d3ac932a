//! libfabric, loaded at run time: the library, and the objects that it makes.

mod buffers;
mod endpoint;
mod layout;
mod library;
mod objects;
mod signals;

pub use buffers::{BUFFER, LONG_BUFFER};
pub use endpoint::{Completion, Endpoint, LONG_TOGETHER, Posted, TOGETHER, is_long};
pub use library::FabricError;
