//! The overhead suite in a terminal.

use super::{compilers, layers, spread, transform};
use crate::run::record::Manifest;
use crate::stats::summary::Rows;

/// All tables, in the paper's order.
pub fn render(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::new();
    transform::render(&mut text, rows);
    layers::render(&mut text, rows);
    compilers::render(&mut text, rows);
    spread::render(&mut text, rows);
    text
}
