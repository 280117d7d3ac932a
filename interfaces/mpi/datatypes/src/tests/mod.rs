//! Types against byte maps made by hand, and against an expansion element by element.

mod arrays;
mod counting;
mod model;
mod packing;
