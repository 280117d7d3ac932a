//! The bars: what an interface may add to an application's time.

use super::{CMMD, ENGINE, NX, PVM};
use crate::goals::{Goal, Outcome, digits};
use crate::summary::{Row, Rows};

/// Checks them all.
pub fn check(rows: &[Row]) -> Vec<Goal> {
    vec![transform(&Rows(rows))]
}

/// The transform through each interface, as a multiple of the engine's own.
fn transform(rows: &Rows) -> Goal {
    const MOST: f64 = 1.15;
    let time = |system| rows.find("fft", system, "time", 2, 1024).map(|row| row.median);
    let ratios: Vec<(&str, Option<f64>)> = [NX, CMMD, PVM]
        .iter()
        .map(|system| {
            (system.family.name(), time(system).zip(time(&ENGINE)).map(|(ours, engine)| ours / engine))
        })
        .collect();
    let found: Vec<String> = ratios
        .iter()
        .map(|(name, ratio)| format!("{name} {}", ratio.map_or_else(|| "not measured".into(), digits)))
        .collect();
    let known: Option<Vec<f64>> = ratios.iter().map(|(_, ratio)| *ratio).collect();
    let outcome = match known {
        None => Outcome::NoData,
        Some(known) if known.iter().all(|ratio| *ratio <= MOST) => Outcome::Reached,
        Some(_) => Outcome::Missed,
    };
    Goal {
        what: "FFT of 1024 points on 2 tasks over the engine's",
        bar: "1.15",
        outcome,
        found: found.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::row;

    #[test]
    fn a_bar_without_data_is_not_reached() {
        assert!(check(&[]).iter().all(|goal| goal.outcome == Outcome::NoData));
    }

    #[test]
    fn a_transform_is_held_against_the_engines() {
        let rows = |nx: f64| {
            [(ENGINE, 10.0), (NX, nx), (CMMD, 10.0), (PVM, 11.0)]
                .map(|(system, us)| row(&system, "fft", "time", 1024, &[us; 6]))
        };
        assert_eq!(check(&rows(11.4))[0].outcome, Outcome::Reached);
        assert_eq!(check(&rows(11.6))[0].outcome, Outcome::Missed);
        assert_eq!(check(&rows(11.4)[..3])[0].outcome, Outcome::NoData);
    }
}
