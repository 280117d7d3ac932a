//! What the compiler does to message passing: the paper's Table 5, for the engine built by other compilers and options. A
//! launch is of a ring or transform whose tasks load another `libparvum.so.0` and `libpvm3.so.3` (`./x variants`); the C
//! programs around it stay the same.

use super::{ENGINE, PVM};
use crate::papers::printed;
use crate::run::experiment::{Job, Measure, of_each};
use crate::stats::goals::digits;
use crate::stats::paired::compare_rows;
use crate::stats::statistics::{Verdict, quantile, sorted};
use crate::stats::summary::{Row, Rows};
use crate::systems::system::System;
use crate::table::columns;
use std::fmt::Write;

/// Bytes of the messages.
const SIZES: [u64; 3] = [8, 65536, 1 << 20];
/// Points of the transform.
const POINTS: u64 = 1024;

/// One build of the engine.
pub struct Build {
    /// Its folder, below `build/variants`.
    pub name: &'static str,
    /// The program of its rows.
    program: &'static str,
    /// The same, of its transforms.
    transform: &'static str,
    /// How it is made.
    pub made: &'static str,
}

macro_rules! build {
    ($name:literal, $made:literal) => {
        Build {
            name: $name,
            program: concat!("ring, ", $name),
            transform: concat!("fft, ", $name),
            made: $made,
        }
    };
}

/// All builds, the shipped one first.
pub const BUILDS: [Build; 9] = [
    build!("shipped", "rustc -O3, thin LTO, as ./x build makes it"),
    build!("o0", "rustc -O0, thin LTO"),
    build!("o1", "rustc -O1, thin LTO"),
    build!("o2", "rustc -O2, thin LTO"),
    build!("os", "rustc -Os, thin LTO"),
    build!("nolto", "rustc -O3, no LTO"),
    build!("fatlto", "rustc -O3, fat LTO, one unit"),
    build!("native", "rustc -O3, thin LTO, for this processor"),
    build!("debian", "Debian's rustc -O3, thin LTO"),
];

/// The ring, through PVM too, and the transform with each build.
pub fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for build in &BUILDS {
        let ring = Measure {
            program: build.program,
            sizes: &SIZES,
            options: "--time-ms 30 --least 5 --most 500",
            build: Some(build.name),
            launches: 16,
            ..Measure::program(format!("ring, engine by {}", build.made), "ring")
        };
        let transform = Measure {
            program: build.transform,
            sizes: &[POINTS],
            options: "--time-ms 30 --least 10 --most 1000",
            build: Some(build.name),
            launches: 16,
            ..Measure::program(format!("fft, engine by {}", build.made), "fft")
        };
        jobs.extend(of_each(&ring, [ENGINE, PVM]));
        jobs.extend(of_each(&transform, [ENGINE]));
    }
    jobs
}

/// What is measured of a build: half a round trip of each size, of 8 bytes through PVM, a transform.
const FIGURES: usize = SIZES.len() + 2;

/// What a build took, in microseconds: the lower quartile of its launches. A machine has slower states, such as cores that are far
/// apart, that come and go with the launch; they are not the compiler's.
fn quick(row: &Row) -> f64 {
    quantile(&sorted(&row.launches), 0.25).unwrap_or(f64::NAN)
}

/// Its figures, where they were measured.
fn figures<'a>(rows: &'a Rows, build: &Build) -> [Option<&'a Row>; FIGURES] {
    let ring = |system: &System, size| rows.find(build.program, system, "half round trip", 2, size);
    let [small, medium, large] = SIZES.map(|size| ring(&ENGINE, size));
    [small, ring(&PVM, SIZES[0]), medium, large, rows.find(build.transform, &ENGINE, "time", 2, POINTS)]
}

/// Over the lines.
pub const HEADINGS: [&str; FIGURES + 1] = ["engine by", "8 B", "8 B, PVM", "64 KiB", "1 MiB", "FFT 1024"];

/// A line for each build that was measured: the shipped one in microseconds, the others as multiples of it. An asterisk marks
/// what the signed-rank test tells from it.
pub fn lines(rows: &Rows) -> Vec<Vec<String>> {
    let shipped = figures(rows, &BUILDS[0]);
    let mut lines = Vec::new();
    for build in &BUILDS {
        let found = figures(rows, build);
        if found.iter().all(Option::is_none) {
            continue;
        }
        let cells = found.iter().zip(&shipped).map(|(found, shipped)| match (found, shipped) {
            (Some(found), _) if build.name == BUILDS[0].name => format!("{} us", digits(quick(found))),
            (Some(found), Some(shipped)) => {
                let verdict = compare_rows(found, shipped);
                let differs = matches!(verdict, Verdict::Smaller | Verdict::Larger);
                format!("{:.2}{}", quick(found) / quick(shipped), if differs { "*" } else { "" })
            }
            _ => "-".to_owned(),
        });
        lines.push(std::iter::once(build.made.to_owned()).chain(cells).collect());
    }
    lines
}

/// The paper's own table in a sentence.
pub fn papers() -> String {
    let each: Vec<String> =
        printed::COMPILERS.iter().map(|[name, sparc, ipsc]| format!("{name} {sparc} and {ipsc}")).collect();
    format!("In the paper, times over cc's on SPARC 2 and iPSC/2: {}.", each.join("; "))
}

/// For a terminal.
pub fn render(text: &mut String, rows: &Rows) {
    let lines = lines(rows);
    if lines.is_empty() {
        return;
    }
    text.push_str(
        "\nThe engine by other compilers and options (Table 5): half round trips, and a transform on 2 tasks, as multiples\n\
         of the shipped build's; of the quicker quarter of the launches. * if the signed-rank test finds a difference.\n",
    );
    columns(text, &HEADINGS, &lines);
    let _ = writeln!(text, "{}", papers());
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stats::summary::tests::row;

    /// Every build twice as slow as the one before, each without spread.
    pub fn builds() -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, build) in BUILDS.iter().enumerate() {
            let us = 0.1 * f64::from(1u32 << at);
            for size in SIZES {
                rows.push(row(&ENGINE, build.program, "half round trip", size, &[us; 6]));
            }
            rows.push(row(&PVM, build.program, "half round trip", 8, &[us; 6]));
            rows.push(row(&ENGINE, build.transform, "time", POINTS, &[us; 6]));
        }
        rows
    }

    #[test]
    fn builds_are_shown_as_multiples_of_the_shipped_one() {
        let rows = builds();
        let lines = lines(&Rows(&rows));
        assert_eq!(lines.len(), BUILDS.len());
        assert_eq!(lines[0][1], "0.100 us");
        assert_eq!(lines[1][1..], ["2.00*"; FIGURES]);
        assert_eq!(lines[2][5], "4.00*");
    }

    #[test]
    fn build_without_significant_difference_is_not_marked() {
        let mut rows = builds();
        for row in rows.iter_mut() {
            // Twice as slow at best, and at times as slow as any other.
            let fast = row.median;
            row.launches = vec![fast, fast, fast, 90.0, 90.0, 90.0, 90.0, 90.0];
        }
        assert_eq!(lines(&Rows(&rows))[1][1], "2.00");
    }

    #[test]
    fn compilers_table_is_empty_without_builds() {
        let mut text = String::new();
        render(&mut text, &Rows(&[]));
        assert_eq!(text, "");
        render(&mut text, &Rows(&builds()));
        assert!(text.contains("1.03 to 1.12 and 1.5 to 2"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn variants_tool_builds_every_listed_name() {
        let tool = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/variants.sh");
        let text = std::fs::read_to_string(tool).expect("the tool is there");
        let made = text.lines().skip_while(|line| !line.contains("<<'LIST'")).skip(1);
        let made: Vec<&str> =
            made.take_while(|line| *line != "LIST").filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(made, BUILDS.map(|build| build.name));
    }
}
