//! The costs of a route, from what the program `loggp` measured of it.

use crate::error::LabError;
use crate::stats::samples::{self, Line, Operation};
use crate::stats::statistics::median;
use replay::Route;
use replay::fit::{self, Measured};
use std::path::Path;

/// From the lines that one launch wrote.
pub fn read(file: &Path) -> Result<Route, LabError> {
    let lines = samples::read(file)?;
    route(&lines).ok_or_else(|| LabError::NoCosts(file.to_owned()))
}

/// From lines of two lengths at least; others than `loggp`'s are passed over.
pub fn route(lines: &[Line]) -> Option<Route> {
    let mut sizes: Vec<u64> =
        lines.iter().filter(|line| line.program == "loggp").map(|line| line.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |size: u64, operation: Operation| {
        let line = lines.iter().find(|line| line.size == size && line.operation == Some(operation))?;
        median(&line.each().collect::<Vec<_>>())
    };
    let measured = sizes.into_iter().map(|size| {
        Some(Measured {
            bytes: size as f64,
            half: at(size, Operation::Half)?,
            send: at(size, Operation::Send)?,
            receive: at(size, Operation::Receive)?,
            gap: at(size, Operation::Gap)?,
        })
    });
    fit::route(&measured.collect::<Option<Vec<_>>>()?)
}
