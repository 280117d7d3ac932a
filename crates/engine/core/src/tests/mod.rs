//! The engine driven by a simulated pair, from a seed, without sockets or sleeps.

mod ask;
mod basics;
mod chaos;
mod circles;
mod claims;
mod copies;
mod direct;
mod extracted;
mod farewell;
mod gone;
mod inbox;
mod matching;
mod pieces;
mod scattered;
mod simulated;
mod together;
