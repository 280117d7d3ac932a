//! The sockets suite: Fatoohi's experiments with bare sockets (seed 004 of the project, EXP_0 to EXP_5), on the loopback of this host.

mod report;

use super::{Pages, Suite};
use crate::report::markup::bytes;
use crate::report::{headline::Question, tables};
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::summary::{Row, Rows};
use crate::systems::system::{Encoding, Extent, Family, System};
use std::fmt::Write;

const SOCKETS: System = System::new(Family::Sockets, "", Encoding::None);

/// Lengths of messages (EXP_2), which the full run has by doubling.
const MESSAGES: [u64; 8] = [128, 512, 1024, 4096, 16384, 65536, 262_144, 1 << 20];
const ALL_MESSAGES: [u64; 14] =
    [128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131_072, 262_144, 524_288, 1 << 20];
/// Sizes of the sockets' buffers (EXP_1), likewise.
const BUFFERS: [u64; 6] = [1024, 4096, 16384, 65536, 262_144, 1 << 20];
const ALL_BUFFERS: [u64; 11] =
    [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131_072, 262_144, 524_288, 1 << 20];
/// The message that Fatoohi chose by EXP_0.
const CHOSEN: u64 = 32768;

/// `parvum compare --suite sockets`.
pub static SUITE: Suite = Suite {
    name: "sockets",
    about: "TCP and UDP without any messaging library",
    over_hosts: None,
    families: &[Family::Sockets],
    seconds: [60, 300],
    systems: || vec![SOCKETS],
    jobs,
    goals: |_| Vec::new(),
    table,
    pages: Pages {
        introduction: "Fatoohi measured five networks in 1995 with bare sockets before he let PVM at them. Here are his experiments over the loopback of this host: streams of TCP by the \
             size of the buffer (EXP_1) and of the message (EXP_2), both ways at once (EXP_3), two pairs at once (EXP_4), and the echo of 8 bytes over UDP (EXP_5). The networks of the \
             paper, emulated, measures <code>./x hosts --calibrate</code>.",
        cards: "",
        omitted: "half of the sizes; networks",
        questions: &QUESTIONS,
        contents: &[("streams", "Streams"), ("pairs", "At once")],
        sections: &[report::streams, report::at_once],
        details,
    },
};

const QUESTIONS: [Question; 2] = [
    Question::large("TCP, messages of 64 KiB", "sockets", "bandwidth", 65536),
    Question::small("UDP, 8 bytes, one way", "sockets, echo", "half round trip", 8),
];

fn details(html: &mut String, rows: &[Row]) {
    tables::numbers(html, rows, &[], &[]);
}

fn jobs(extent: Extent) -> Vec<Job> {
    let full = extent == Extent::Full;
    let stream = |program, name: &str, options, tasks, sizes| Measure {
        program,
        tasks,
        cores: Cores::Each,
        sizes,
        options,
        ..Measure::program(name, "sockets")
    };
    let (messages, buffers): (&[u64], &[u64]) =
        if full { (&ALL_MESSAGES, &ALL_BUFFERS) } else { (&MESSAGES, &BUFFERS) };
    let measures = [
        stream(
            "sockets, by buffer",
            "stream by buffer (EXP_1)",
            "--operations buffer --least 10",
            2,
            buffers,
        ),
        stream("sockets", "stream by message (EXP_2)", "--operations message --least 10", 2, messages),
        stream("sockets, both ways", "both ways (EXP_3)", "--operations both --least 20", 2, &[CHOSEN]),
        stream(
            "sockets, one way",
            "one way, for those at once",
            "--operations message --least 20",
            2,
            &[CHOSEN],
        ),
        stream("sockets, four machines", "two pairs (EXP_4)", "--operations pairs --least 20", 4, &[CHOSEN]),
        stream("sockets, echo", "echo (EXP_5)", "--operations echo --most 2000", 2, &[8]),
    ];
    measures.iter().flat_map(|measure| of_each(measure, [SOCKETS])).collect()
}

/// The row of an experiment.
fn of<'a>(rows: &Rows<'a>, program: &str, tasks: u32, metric: &str, size: u64) -> Option<&'a Row> {
    rows.find(program, &SOCKETS, metric, tasks, size)
}

fn table(rows: &Rows, _: &Manifest) -> String {
    let mut text = String::from("TCP over the loopback of this host, GB/s. Median of launches.\n");
    let mut series = |name: &str, program: &str, sizes: &[u64]| {
        let cells: Vec<String> = sizes
            .iter()
            .filter_map(|size| {
                let row = of(rows, program, 2, "bandwidth", *size)?;
                Some(format!("{} {}", bytes(*size as f64), digits(row.median)))
            })
            .collect();
        for (at, part) in cells.chunks(4).enumerate() {
            let _ = writeln!(text, "  {:<18}{}", if at == 0 { name } else { "" }, part.join(", "));
        }
    };
    series("by buffer", "sockets, by buffer", &ALL_BUFFERS);
    series("by message", "sockets", &ALL_MESSAGES);
    let mut one = |name: &str, row: Option<&Row>| {
        if let Some(row) = row {
            let _ = writeln!(text, "  {name:<18}{} {}", digits(row.median), row.unit);
        }
    };
    one("one way", of(rows, "sockets, one way", 2, "bandwidth", CHOSEN));
    one("both ways", of(rows, "sockets, both ways", 2, "bandwidth", CHOSEN));
    one("two pairs", of(rows, "sockets, four machines", 4, "bandwidth", CHOSEN));
    one("r_max", of(rows, "sockets", 2, "r_max", 0));
    one("n_1/2", of(rows, "sockets", 2, "n_1/2", 0));
    one("t_0 (UDP)", of(rows, "sockets, echo", 2, "half round trip", 8));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;

    /// A session of all experiments, in which every stream has a byte a nanosecond.
    pub fn example() -> Vec<Row> {
        let mut rows = Vec::new();
        for job in jobs(Extent::Quick) {
            let metric = if job.measure.program == "sockets, echo" { "half round trip" } else { "bandwidth" };
            for size in job.measure.sizes {
                let mut row = crate::stats::summary::tests::row(
                    &SOCKETS,
                    job.measure.program,
                    metric,
                    *size,
                    &[1.0; 6],
                );
                row.tasks = job.measure.tasks;
                rows.push(row);
            }
        }
        rows
    }

    #[test]
    fn sockets_experiments_are_planned_and_shown() {
        let rows = example();
        let text = table(&Rows(&rows), &manifest());
        for part in ["by buffer         1 KiB 1.00", "two pairs", "t_0 (UDP)         1.00 us"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        let page = page(&SUITE, &rows, &[], &manifest());
        // Two of today, and figure 2 with what the paper's r_max and n_1/2 say.
        assert_eq!(page.matches("<svg").count(), 3);
        assert!(page.contains("DaV/Ethernet"));
        assert!(
            page.contains("four machines") && page.contains("004 Fatoohi, figure 1") && !page.contains("NaN")
        );
    }

    #[test]
    fn full_run_contains_sizes_of_fatoohi() {
        assert!((7..=20).all(|power| ALL_MESSAGES.contains(&(1 << power))));
        assert!((10..=20).all(|power| ALL_BUFFERS.contains(&(1 << power))));
    }
}
