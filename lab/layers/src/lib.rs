//! Costs of Parvum's layers: an empty message is timed layer by layer, and a long message by each protocol. Two pinned threads
//! exchange the messages.

#![deny(unsafe_code)]

mod duel;
#[allow(unsafe_code)]
mod engines;
#[allow(unsafe_code)]
pub mod protocols;
mod relay;
mod shared;
mod sockets;

pub use duel::{Bout, Layer};

/// All layers, the lowest of each route first.
pub fn all() -> Result<Vec<Layer>, String> {
    let mut layers = shared::layers()?;
    layers.extend(sockets::layers()?);
    layers.extend(relay::layers()?);
    Ok(layers)
}
