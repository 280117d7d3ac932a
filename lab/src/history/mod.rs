//! A history of figures: all finished runs below a folder as one series for each figure, and where a figure changed.

pub mod change;
pub mod commits;
pub mod figures;
pub mod store;
