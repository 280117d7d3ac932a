//! Which curves belong to a table or figure: today's rows, and what the paper printed.

use super::{Cell, Kind, Paper, Printed};
use serde::Deserialize;

/// The curves of an exhibit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// Which of today's values.
    pub metric: String,
    /// What they are drawn by.
    pub against: Against,
    /// Whether sizes are bytes.
    #[serde(default = "yes", rename = "bytes")]
    pub is_bytes: bool,
    /// What stands at the axis behind the unit; all of it for speed-up.
    pub y: String,
    /// Only these sizes; all when empty.
    #[serde(default)]
    pub sizes: Vec<u64>,
    /// How many times as fast as one task, in place of the value itself.
    #[serde(default, rename = "speedup")]
    pub is_speed_up: bool,
    /// The paper's own curves, where it printed values.
    #[serde(default)]
    pub then: Option<Law>,
}

fn yes() -> bool {
    true
}

/// What values are drawn by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// Their size.
    Size,
    /// The number of tasks.
    Tasks,
}

/// How the numbers of a table of the same paper are its curves, a line for each row.
#[derive(Debug, Deserialize)]
#[serde(tag = "law", rename_all = "lowercase", deny_unknown_fields)]
pub enum Law {
    /// The columns behind the first are values.
    Columns {
        /// The table.
        table: u32,
        /// Where each column lies.
        at: Vec<f64>,
        /// From the paper's unit to the rows'.
        times: f64,
    },
    /// r(n) = r_max / (1 + n_1/2 / n), from two columns.
    Bandwidth {
        /// The table.
        table: u32,
        /// The column of r_max.
        r_max: usize,
        /// The column of n_1/2.
        n_half: usize,
        /// The shortest length.
        from: f64,
        /// The longest.
        to: f64,
        /// From the paper's unit to the rows'.
        times: f64,
    },
}

impl Paper {
    /// The numbers of its table.
    pub fn printed(&self, table: u32) -> Option<&Printed> {
        let mut exhibits = self.exhibits.iter();
        exhibits.find(|one| (one.kind, one.number) == (Kind::Table, table))?.printed.as_ref()
    }
}

impl Cell {
    /// Its number, if it is one.
    pub fn number(&self) -> Option<f64> {
        if let Cell::Number(number) = self { Some(*number) } else { None }
    }

    /// Its word, if it is one.
    pub fn word(&self) -> Option<&str> {
        if let Cell::Word(word) = self { Some(word) } else { None }
    }
}
