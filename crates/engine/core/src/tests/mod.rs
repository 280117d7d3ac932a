//! The engine driven by a simulated pair, from a seed, without sockets or sleeps.

mod ask;
mod basics;
mod chaos;
mod claims;
mod copies;
mod direct;
mod ending;
mod extracted;
mod inbox;
mod learned;
mod matching;
mod pieces;
mod scattered;
mod simulated;
mod standing;
mod together;
