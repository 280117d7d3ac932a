//! How much run times vary under outside load, with gang scheduling and without: section 9 of the paper.

use super::NX;
use crate::run::experiment::{Measure, Rival};
use crate::stats::goals::digits;
use crate::stats::statistics::{quantile, sorted};
use crate::stats::summary::Rows;
use crate::table::columns;
use parvum_seed::Random;

/// Points of the transforms. A job is many of them in a row: much longer than a turn of gangs, 50 ms, so that none fits into
/// one, and that the turns it gets are many.
pub const POINTS: u64 = 1 << 16;
/// With nothing in the way.
pub const ALONE: &str = "fft-alone";
/// Beside another job.
pub const RIVAL: &str = "fft-rival";
/// Beside another job, both gangs.
pub const GANG: &str = "fft-rival-gang";

/// The programs of the rows, and what tables call them.
const JOBS: [(&str, &str); 3] = [(ALONE, "alone"), (RIVAL, "with a rival"), (GANG, "with a rival, as gangs")];

/// Over the lines.
pub const HEADINGS: [&str; 7] =
    ["", "launches", "fastest ms", "quartile", "median", "quartile", "slowest / fastest"];

/// One job in each launch: alone, beside a rival, and beside a rival with both as gangs.
pub fn measures() -> [Measure; 3] {
    let rival = Rival { sizes: &[POINTS], options: "--in-a-row 1000000" };
    JOBS.map(|(program, name)| Measure {
        program,
        sizes: &[POINTS],
        options: "--in-a-row 150",
        launches: if program == ALONE { 6 } else { 12 },
        starter: if program == GANG { &["--gang"] } else { &[] },
        rival: (program != ALONE).then_some(rival),
        ..Measure::program(format!("fft {name}"), "fft")
    })
}

/// Times of many launches, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// In order.
    times: Vec<f64>,
}

impl Spread {
    fn at(&self, share: f64) -> f64 {
        quantile(&self.times, share).unwrap_or(f64::NAN)
    }

    /// How many times longer the slowest took than the fastest.
    pub fn ratio(&self) -> f64 {
        self.at(1.0) / self.at(0.0)
    }
}

/// Of one of the programs; at least two launches make a spread.
pub fn of(rows: &Rows, program: &str) -> Option<Spread> {
    let row = rows.find(program, &NX, "job", 2, POINTS)?;
    let times = sorted(&row.launches);
    (times.len() >= 2).then_some(Spread { times })
}

/// How many times less a job varies beside a rival when both are gangs.
#[derive(Debug, Clone, PartialEq)]
pub struct Steadier {
    /// Standard deviations over means of its launches: without, with.
    pub variations: [f64; 2],
    /// Their ratio, and where 95 of 100 resamplings of the launches have it.
    pub times: f64,
    /// The interval.
    pub interval: [f64; 2],
    /// Medians, in milliseconds.
    pub medians: [f64; 2],
    /// Launches.
    pub launches: [usize; 2],
}

/// Resamplings of the launches.
const ROUNDS: usize = 2000;

/// From the launches beside a rival, without gangs and with; none where one of them has fewer than two.
pub fn steadier(rows: &Rows) -> Option<Steadier> {
    let [without, with] = [of(rows, RIVAL)?.times, of(rows, GANG)?.times];
    let mut random = Random::new(1994);
    let mut resampled = |times: &[f64]| {
        let some: Vec<f64> = (0..times.len()).map(|_| times[random.below(times.len())]).collect();
        variation(&some)
    };
    // A resampling of one launch again and again has no variation: then nothing can be said of its ratio.
    let ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| resampled(&without) / resampled(&with))
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .collect();
    let ratios = sorted(&ratios);
    let variations = [variation(&without), variation(&with)];
    Some(Steadier {
        variations,
        times: variations[0] / variations[1],
        interval: [quantile(&ratios, 0.025)?, quantile(&ratios, 0.975)?],
        medians: [quantile(&without, 0.5)?, quantile(&with, 0.5)?],
        launches: [without.len(), with.len()],
    })
}

/// The standard deviation over the mean.
fn variation(times: &[f64]) -> f64 {
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    (squares / (count - 1.0).max(1.0)).sqrt() / mean
}

/// A line for each that was measured.
pub fn lines(rows: &Rows) -> Vec<Vec<String>> {
    JOBS.iter()
        .filter_map(|(program, name)| {
            let spread = of(rows, program)?;
            let mut line = vec![(*name).to_owned(), spread.times.len().to_string()];
            line.extend([0.0, 0.25, 0.5, 0.75].map(|share| digits(spread.at(share))));
            line.push(digits(spread.ratio()));
            Some(line)
        })
        .collect()
}

/// For a terminal.
pub fn render(text: &mut String, rows: &Rows) {
    let lines = lines(rows);
    if !lines.is_empty() {
        text.push_str("\nFFTs of 2^16 points on 2 tasks, 150 in a row, under outside load; the paper: varied by 2 to 3 without gangs.\n");
        columns(text, &HEADINGS, &lines);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stats::summary::Row;
    use crate::stats::summary::tests::row;

    /// One row for each job.
    pub fn jobs() -> Vec<Row> {
        [(ALONE, [20.0, 21.0, 22.0]), (RIVAL, [20.0, 40.0, 60.0]), (GANG, [21.0, 22.0, 42.0])]
            .map(|(program, times)| row(&NX, program, "job", POINTS, &times))
            .to_vec()
    }

    #[test]
    fn spread_is_computed_over_launches() {
        let rows = jobs();
        let found = lines(&Rows(&rows));
        assert_eq!(found[1], ["with a rival", "3", "20.0", "30.0", "40.0", "50.0", "3.00"]);
        assert_eq!(found[2][6], "2.00");
        let mut text = String::new();
        render(&mut text, &Rows(&rows));
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    }

    #[test]
    fn gang_spread_ratio_has_interval() {
        let times =
            |spread: f64| -> Vec<f64> { (0..12).map(|at| 100.0 + spread * f64::from(at % 4)).collect() };
        let rows = |with: f64| {
            [row(&NX, RIVAL, "job", POINTS, &times(20.0)), row(&NX, GANG, "job", POINTS, &times(with))]
        };
        let found = steadier(&Rows(&rows(4.0))).expect("launches of both");
        assert!((3.5..5.5).contains(&found.times), "{found:?}");
        let [low, high] = found.interval;
        assert!(low < found.times && found.times < high && low > 1.0, "{found:?}");
        let [low, high] = steadier(&Rows(&rows(20.0))).expect("launches of both").interval;
        assert!(low < 1.0 && 1.0 < high);
    }

    #[test]
    fn spread_of_single_launch_is_none() {
        let rows = [row(&NX, RIVAL, "job", POINTS, &[20.0])];
        assert_eq!(of(&Rows(&rows), RIVAL), None);
    }

    #[test]
    fn spread_measures_gang_rival_and_single_job() {
        let [alone, rival, gang] = measures();
        assert!(alone.rival.is_none() && rival.rival.is_some() && gang.rival.is_some());
        assert_eq!([alone.starter, rival.starter, gang.starter], [&[][..], &[], &["--gang"]]);
    }
}
