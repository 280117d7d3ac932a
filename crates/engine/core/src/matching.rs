//! Matching: which message goes to which receive. It knows messages and receives by their names, and nothing of peers,
//! links or credit.

mod bins;
mod claims;
mod queues;

pub(crate) use bins::Order;
pub(crate) use claims::Claim;
pub(crate) use queues::{Body, Message, Queues};
