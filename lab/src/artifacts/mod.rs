//! Results for other tools and other people: a table for spreadsheets, and a bundle that a reviewer can run again.

pub mod archive;
pub mod bundle;
pub mod csv;
mod repeat;

pub use repeat::of_run;
