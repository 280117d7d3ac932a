//! Whole machines in simulated time: links that delay, break and heal, hosts that come and die, all from a seed.

mod chaos;
mod directed;
mod net;
mod world;
