//! All plans of all members at once, from a seed, without sockets, threads or clocks, against a plain computation.

mod algorithms;
mod deaths;
mod driven;
mod exposures;
mod segments;
mod simulated;
mod two_levels;
