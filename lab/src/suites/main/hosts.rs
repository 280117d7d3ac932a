//! `parvum compare --suite main --host LIST`: the ring alone, whose two tasks are on two of the hosts: what a network leaves of the difference
//! between systems (Fatoohi's Table 3 and figure 3).

use super::table;
use crate::report::{figures, tables};
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::stats::summary::Row;
use crate::suites::{Pages, Suite};
use crate::systems::system::{Extent, Family, OVER_HOSTS};

/// Message lengths in bytes: the paper's end at 1 MiB, which a network of 10 Mbit/s carries in a second.
const SIZES: [u64; 10] = [0, 8, 64, 512, 1024, 4096, 16384, 65536, 262_144, 1 << 20];

/// The suite when hosts are named.
pub static OVER: Suite = Suite {
    name: "main",
    about: "PVM programs beside PVM 3.4.6, Open MPI and MPICH: ring, FFT, starting, waiting",
    over_hosts: None,
    families: &[Family::Parvum, Family::Mpi, Family::Pvm, Family::OpenMpi, Family::Mpich],
    seconds: [100, 600],
    systems: || OVER_HOSTS.to_vec(),
    jobs,
    goals: |_| Vec::new(),
    table: table::over_hosts,
    pages: Pages {
        introduction: "A <em>ring</em> that passes one message between two tasks, each on a host of its own, over the network that joins these hosts.",
        cards: "",
        omitted: "the transform, and what concerns one host (without --host)",
        questions: &[],
        contents: &[("ring", "Ring"), ("link", "r_max, n_1/2, t_0")],
        sections: &[ring, links],
        details: tables::details,
    },
};

fn jobs(extent: Extent) -> Vec<Job> {
    let ring = Measure {
        sizes: &SIZES,
        options: if extent == Extent::Full {
            "--time-ms 200 --least 5 --most 500"
        } else {
            "--time-ms 20 --least 3 --most 500"
        },
        launches: 3,
        // With one core for all, too, for each host is to have its own.
        cores: Cores::Each,
        patience: 110,
        ..Measure::program("ring over hosts", "ring")
    };
    of_each(&ring, OVER_HOSTS).collect()
}

fn ring(html: &mut String, rows: &[Row]) {
    html.push_str(
        "<h2 id=\"ring\">The ring: one message between two hosts</h2><p>Half a round trip, by the length of the message.</p>",
    );
    figures::hops(html, rows, &OVER_HOSTS);
}

fn links(html: &mut String, rows: &[Row]) {
    tables::links_of(html, rows, &OVER_HOSTS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::tests::manifest;
    use crate::stats::summary::Rows;
    use crate::stats::summary::tests::row;

    fn example() -> Vec<Row> {
        let mut rows = Vec::new();
        for system in OVER_HOSTS {
            for size in SIZES {
                let us = 500.0 + size as f64;
                rows.push(row(&system, "ring", "half round trip", size, &[us; 3]));
                rows.push(row(&system, "ring", "bandwidth", size, &[size as f64 / us / 1000.0; 3]));
            }
            for (metric, value) in [("r_max", 0.001), ("n_1/2", 512.0), ("t_0", 500.0)] {
                rows.push(row(&system, "ring", metric, 0, &[value; 3]));
            }
        }
        rows
    }

    #[test]
    fn system_has_line_in_table_and_page() {
        let rows = example();
        let text = (OVER.table)(&Rows(&rows), &manifest());
        assert!(text.lines().all(|line| line.chars().count() <= crate::table::WIDTH), "{text}");
        let page = page(&OVER, &rows, &[], &manifest());
        for system in OVER_HOSTS {
            assert!(text.contains(&system.label()) && page.contains(&system.label()), "{}", system.label());
        }
        assert!(page.matches("<svg").count() >= 2 && !page.contains("NaN"), "{text}");
    }

    /// What goes through memory that tasks of one host share has no place here.
    #[test]
    fn hosts_jobs_cover_each_system_once_without_shm() {
        for extent in [Extent::Quick, Extent::Full] {
            let planned: Vec<_> = jobs(extent).iter().filter_map(|job| job.system).collect();
            assert_eq!(planned, OVER_HOSTS);
            assert!(planned.iter().all(|system| system.route != "shm"));
        }
    }
}
