//! How much run times vary under outside load, with gang scheduling and without: section 9 of the paper.

use super::NX;
use crate::experiment::{Measure, Rival};
use crate::goals::digits;
use crate::statistics::{quantile, sorted};
use crate::summary::Rows;
use crate::table::columns;

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
    use crate::summary::Row;
    use crate::summary::tests::row;

    /// One row for each job.
    pub fn jobs() -> Vec<Row> {
        [(ALONE, [20.0, 21.0, 22.0]), (RIVAL, [20.0, 40.0, 60.0]), (GANG, [21.0, 22.0, 42.0])]
            .map(|(program, times)| row(&NX, program, "job", POINTS, &times))
            .to_vec()
    }

    #[test]
    fn the_spread_is_over_launches() {
        let rows = jobs();
        let found = lines(&Rows(&rows));
        assert_eq!(found[1], ["with a rival", "3", "20.0", "30.0", "40.0", "50.0", "3.00"]);
        assert_eq!(found[2][6], "2.00");
        let mut text = String::new();
        render(&mut text, &Rows(&rows));
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    }

    #[test]
    fn one_launch_is_no_spread() {
        let rows = [row(&NX, RIVAL, "job", POINTS, &[20.0])];
        assert_eq!(of(&Rows(&rows), RIVAL), None);
    }

    #[test]
    fn only_gangs_take_turns_and_only_one_job_is_alone() {
        let [alone, rival, gang] = measures();
        assert!(alone.rival.is_none() && rival.rival.is_some() && gang.rival.is_some());
        assert_eq!([alone.starter, rival.starter, gang.starter], [&[][..], &[], &["--gang"]]);
    }
}
