//! Functions of the program that the library calls: where errors go, and operations of the program's.

#[allow(unsafe_code)]
pub mod answers;
#[allow(unsafe_code)]
pub mod calling;
