//! MPI's datatypes, as pure logic: what a type is, how long, where its data lies, and how that is copied.
//!
//! - [`Basic`] is a predefined type, [`Class`] what kind of value it holds.
//! - [`Type`] is any type. Constructors refuse arguments that make no sense with a [`Wrong`], which says why.
//! - [`pack()`] and [`unpack()`] copy the data of items, from any byte of it on, in portions of any length;
//!   [`copy_items`] does both.
//! - [`pack_external`] and [`unpack_external`] do so in external32, which other machines read.
//! - [`Type::pieces`] lists the runs of bytes of items, for who sends them in place.
//! - [`Type::count_in`] and [`Type::elements_in`] tell what some bytes are, [`Type::signature`] whether two sides agree.
//! - [`Type::envelope`] and [`Type::contents`] give back what a type was made from.
//!
//! Counts, sizes and displacements have 64 bits. No handle and no number of a binary interface is known here: an interface keeps a
//! table from its handles to types, and says with [`Words`] which numbers it has for orders and distributions.
//!
//! A type built on types thousands deep is worked out by functions that call themselves as often.

#![deny(unsafe_code)]

mod arrays;
mod basic;
mod construct;
mod elements;
mod facts;
mod fortran;
mod recipe;
mod types;
mod wrong;

pub use basic::{Basic, Class};
pub use data::pack::{copy_items, pack, unpack};
pub use elements::Signature;
pub use external::pack::{pack_external, size_external, unpack_external};
pub use recipe::{Combiner, Contents, Distribution, Envelope, Order, Words};
pub use types::Type;
pub use wrong::{About, Wrong};

mod data;
mod external;
#[cfg(test)]
mod tests;
