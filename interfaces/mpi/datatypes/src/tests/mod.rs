//! Types against byte maps made by hand, and against an expansion element by element.

mod arrays;
mod contents;
mod counting;
mod external;
mod layouts;
mod maps;
mod model;
mod packing;
