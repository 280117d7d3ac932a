//! Goals: a demand, and its outcome. The suites have their own.

use crate::stats::summary::Row;
use crate::systems::system::System;

/// How a bar was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Reached.
    Reached,
    /// Missed.
    Missed,
    /// This session has no data for it.
    NoData,
}

/// One bar.
#[derive(Debug, Clone)]
pub struct Goal {
    /// What is asked.
    pub what: &'static str,
    /// How much.
    pub bar: &'static str,
    /// How it came out.
    pub outcome: Outcome,
    /// The measured values in words; by how much it was missed.
    pub found: String,
}

/// A bar for several systems: each one's measured value must be at most `most`, and all must be known.
pub fn at_most(
    what: &'static str,
    bar: &'static str,
    most: f64,
    measured: impl IntoIterator<Item = (System, Option<f64>)>,
) -> Goal {
    let measured: Vec<_> = measured.into_iter().collect();
    let found: Vec<String> = measured
        .iter()
        .map(|(system, value)| {
            let value = value.map_or_else(|| "not measured".to_owned(), digits);
            format!("{} {value}", system.family.name())
        })
        .collect();
    let outcome = match measured.into_iter().map(|(_, value)| value).collect::<Option<Vec<f64>>>() {
        Some(known) if known.iter().all(|value| *value <= most) => Outcome::Reached,
        Some(_) => Outcome::Missed,
        None => Outcome::NoData,
    };
    Goal { what, bar, outcome, found: found.join(", ") }
}

/// Three digits, as many as the data deserve.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        v if v >= 0.09995 => format!("{value:.3}"),
        0.0 => "0".into(),
        _ => format!("{value:.4}"),
    }
}

/// The median as people read it.
pub fn with_unit(row: &Row) -> String {
    format!("{} {}", digits(row.median), row.unit)
}
