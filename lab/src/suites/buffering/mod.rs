//! The buffering suite: Saphir's study of 1994 (seed 003 of the project), on today's machines. Who buffers a message, where,
//! and what does it cost?

mod findings;
mod goals;
mod report;
mod table;

use super::{Pages, Suite};
use crate::report::headline::Question;
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::systems::system::{Encoding, Extent, Family, System};

const ENGINE: System = System::new(Family::Engine, "shm", Encoding::None);
const NX: System = System::new(Family::Nx, "shm", Encoding::None);
const CMMD: System = System::new(Family::Cmmd, "shm", Encoding::None);
/// Their messages are ordinary ones of the engine, which buffers by size: only their speed is of interest here.
const CONTAINERS: System = System::new(Family::Containers, "shm", Encoding::None);

/// All of them Parvum: the same engine with another choice of who buffers.
const SYSTEMS: [System; 7] = [
    ENGINE,
    NX,
    CMMD,
    System::new(Family::Parvum, "shm", Encoding::Raw),
    System::new(Family::Parvum, "shm", Encoding::Xdr),
    System::new(Family::Parvum, "shm", Encoding::InPlace),
    System::new(Family::Parvum, "shm", Encoding::Psend),
];

/// Message lengths of the token ring on two tasks.
const SIZES: [u64; 8] = [0, 8, 1024, 4096, 16384, 65536, 262_144, 1 << 20];
/// On more tasks, and of the exchange.
const FEW_SIZES: [u64; 3] = [1024, 65536, 1 << 20];
/// The length at which Saphir's bandwidths are taken here.
const LONG: u64 = 1 << 20;
/// Rings of more than two tasks.
const LARGER: [u32; 2] = [4, 8];

/// `parvum compare --suite buffering`.
pub static SUITE: Suite = Suite {
    name: "buffering",
    about: "who buffers a message, and what that costs",
    over_hosts: None,
    families: &[Family::Engine, Family::Nx, Family::Cmmd, Family::Containers, Family::Parvum],
    seconds: [150, 900],
    systems: || SYSTEMS.into_iter().chain([CONTAINERS]).collect(),
    jobs,
    goals: goals::check,
    table: table::render,
    pages: Pages {
        introduction: "Saphir asked in 1994 where message-passing systems buffer, and what that costs. Here are his experiments on one engine, through \
             interfaces that differ in who buffers: <em>NX</em> at the receiver, <em>CMMD</em> at the sender if at all, <em>PVM</em> where it packs. \
             A ledger that the engine keeps says of every point what was buffered, where, and how often it was copied.",
        cards: "",
        omitted: "routes other than shared memory, other machines' systems (they keep no ledger), cold caches",
        questions: &QUESTIONS,
        contents: &[
            ("table1", "Latency, bandwidth, copies"),
            ("where", "Where it was buffered"),
            ("exchange", "Exchange"),
            ("over", "Interface over engine"),
        ],
        sections: &[report::table_1, report::places, report::exchanges, report::over_engine],
        details: report::numbers,
    },
};

const QUESTIONS: [Question; 3] = [
    Question::small("8 bytes, receive posted first", "token", "hop, posted", 8),
    Question::small("1 MiB, receive posted first", "token", "hop, posted", LONG),
    Question::small("1 MiB, receive never posted first", "token", "hop, unposted", LONG),
];

fn jobs(extent: Extent) -> Vec<Job> {
    let token = |tasks: u32, sizes: &'static [u64]| Measure {
        tasks,
        cores: Cores::Two,
        sizes,
        options: "--time-ms 12 --least 4 --most 400",
        launches: if tasks == 2 { 8 } else { 3 },
        ..Measure::program(format!("token ring of {tasks}"), "token")
    };
    let exchange = Measure {
        sizes: &FEW_SIZES,
        options: "--time-ms 15 --least 5 --most 300",
        launches: 6,
        ..Measure::program("exchange", "exchange")
    };
    let ring = Measure {
        sizes: &[8],
        options: "--time-ms 40 --least 5 --most 500",
        launches: 12,
        ..Measure::program("ring", "ring")
    };
    let mut measures = vec![token(2, &SIZES), exchange];
    measures.extend(LARGER.map(|tasks| token(tasks, &FEW_SIZES)));
    let mut jobs: Vec<Job> =
        measures.iter().flat_map(|measure| of_each(measure, systems_in(extent))).collect();
    let calls = Measure {
        program: "rpc",
        how: crate::run::experiment::How::Program("rpc"),
        ..Measure { name: "calls".into(), ..ring.clone() }
    };
    jobs.extend(of_each(&ring, [ENGINE, NX, CMMD, CONTAINERS]));
    jobs.extend(of_each(&calls, [CONTAINERS]));
    jobs
}

/// The quick run leaves out what PVM packs portably: it says little about buffering.
fn systems_in(extent: Extent) -> Vec<System> {
    SYSTEMS.into_iter().filter(|system| extent == Extent::Full || system.encoding != Encoding::Xdr).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_cover_every_buffering_choice() {
        let jobs = jobs(Extent::Full);
        for system in SYSTEMS {
            let mine: Vec<&str> =
                jobs.iter().filter(|j| j.system == Some(system)).map(|j| j.measure.name.as_str()).collect();
            for name in ["token ring of 2", "token ring of 4", "token ring of 8", "exchange"] {
                assert!(mine.contains(&name), "{}: {name}", system.label());
            }
        }
    }
}
