//! From raw lines to numbers: samples, medians, intervals, lines through points, and bars.

pub mod costs;
pub mod fit;
pub mod goals;
pub mod growth;
pub mod histogram;
pub mod paired;
pub mod samples;
pub mod statistics;
pub mod summary;
