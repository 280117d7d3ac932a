//! Runs of all papers, with programs that measure nothing.

mod browser;
mod place;
mod resume;
