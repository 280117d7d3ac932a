//! Functions of the program that the library calls, and where the errors of calls go.

pub mod answers;
#[allow(unsafe_code)]
pub mod calling;
