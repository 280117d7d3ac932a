//! The six lessons.

use super::plot::Bar;
use super::{Lesson, suite};
use crate::report::markup::bytes;
use crate::run::experiment::{Cores, Job, Measure, of_each};
use crate::run::record::Manifest;
use crate::stats::goals::digits;
use crate::stats::summary::Rows;
use crate::suites::overhead::spread;
use crate::systems::system::{Encoding, Extent, Family, System};

pub(super) const ALL: [&Lesson; 6] = [&RENDEZVOUS, &BUFFERS, &DEADLOCK, &DAEMON, &SHARING, &GANGS];

const NX: System = System::new(Family::Nx, "shm", Encoding::None);
const CMMD: System = System::new(Family::Cmmd, "shm", Encoding::None);
const MPI: System = System::new(Family::Mpi, "shm", Encoding::None);
const OPEN_MPI: System = System::new(Family::OpenMpi, "", Encoding::None);
const MPICH: System = System::new(Family::Mpich, "", Encoding::None);
const SHM: System = System::new(Family::Parvum, "shm", Encoding::Raw);
const TCP: System = System::new(Family::Parvum, "tcp", Encoding::Raw);
const ROUTED: System = System::new(Family::Parvum, "routed", Encoding::Raw);
const DIRECT: System = System::new(Family::Pvm, "direct", Encoding::Raw);
const BY_DAEMON: System = System::new(Family::Pvm, "daemon", Encoding::Raw);
const LAZY: System = System::new(Family::TmkLazy, "shm", Encoding::None);
const HOME: System = System::new(Family::TmkHome, "shm", Encoding::None);
const CLASSIC: System = System::new(Family::TmkClassic, "shm", Encoding::None);

const NO_ANSWER: &str = "This run has no answer: the measurements that it needs are missing.";
const LENGTHS: [u64; 4] = [8, 1024, 65536, 1 << 20];
/// Weights of the neural network.
const WEIGHTS: u64 = 8800;

/// One bar for each system and size.
fn each(
    rows: &Rows,
    systems: &[System],
    program: &str,
    metric: &str,
    sizes: &[u64],
    name: impl Fn(&System) -> String,
) -> Vec<Bar> {
    let mut bars = Vec::new();
    for size in sizes {
        for system in systems {
            if let Some(row) = rows.find(program, system, metric, 2, *size) {
                let unit = if row.unit == "us" { "\u{b5}s" } else { "" };
                bars.push(Bar {
                    group: bytes(*size as f64),
                    name: name(system),
                    value: Some(row.median),
                    unit,
                });
            }
        }
    }
    bars
}

fn median(rows: &Rows, program: &str, system: &System, metric: &str, size: u64) -> Option<f64> {
    Some(rows.find(program, system, metric, 2, size)?.median)
}

fn token(_: Extent) -> Vec<Job> {
    let measure = Measure {
        sizes: &LENGTHS,
        options: "--time-ms 12 --least 4 --most 400",
        ..Measure::program("token ring of 2", "token")
    };
    of_each(&measure, [NX, CMMD]).collect()
}

static RENDEZVOUS: Lesson = Lesson {
    name: "rendezvous",
    question: "When does a message cost more because its receiver was not ready?",
    experiment: "Two processes pass a message to and fro. In one run each process posts its receive before the message is sent, in the other run \
                 the message always comes first. NX buffers a message that comes first; CMMD lets the sender wait until the receiver is ready.",
    suite: suite("lesson-rendezvous", &[Family::Nx, Family::Cmmd], || vec![NX, CMMD], token),
    bars: |rows, _| {
        LENGTHS
            .iter()
            .flat_map(|size| {
                [("hop, posted", "receive first"), ("hop, unposted", "message first")].map(
                    |(metric, when)| {
                        each(rows, &[NX, CMMD], "token", metric, &[*size], |system| {
                            format!("{}, {when}", short(system))
                        })
                    },
                )
            })
            .flatten()
            .collect()
    },
    answer: |rows, _| {
        let ratio = |system, size| {
            Some(
                median(rows, "token", system, "hop, unposted", size)?
                    / median(rows, "token", system, "hop, posted", size)?,
            )
        };
        match (ratio(&NX, 8), ratio(&NX, 1 << 20), ratio(&CMMD, 8), ratio(&CMMD, 1 << 20)) {
            (Some(nx), Some(nx_long), Some(cmmd), Some(cmmd_long)) => format!(
                "A message that comes first takes {}x as long with NX at 8 B and {}x at 1 MiB, with CMMD {}x and {}x. Short messages pay for \
                 the buffer's bookkeeping, long messages for the second copy or for the wait.",
                digits(nx),
                digits(nx_long),
                digits(cmmd),
                digits(cmmd_long)
            ),
            _ => NO_ANSWER.into(),
        }
    },
    paper: "Saphir, RNS-94-004 (1994): a message that finds no posted receive is buffered, and copied once more. On the Paragon this copy ran at 4.8 MB/s, \
            and the network at 35 MB/s.",
    next: "parvum lesson buffers",
};

static BUFFERS: Lesson = Lesson {
    name: "buffers",
    question: "Who buffers a message, and how often is it copied?",
    experiment: "The same two processes. The engine's ledger counts the copies of each message. A copy from memory to memory counts once, a message \
                 that is fetched straight from the sender's memory counts once too.",
    suite: suite("lesson-buffers", &[Family::Nx, Family::Cmmd], || vec![NX, CMMD], token),
    bars: |rows, _| {
        LENGTHS
            .iter()
            .flat_map(|size| {
                [("copies, posted", "receive first"), ("copies, unposted", "message first")].map(
                    |(metric, when)| {
                        each(rows, &[NX, CMMD], "token", metric, &[*size], |system| {
                            format!("{}, {when}", short(system))
                        })
                    },
                )
            })
            .flatten()
            .map(|bar| Bar { unit: "copies", ..bar })
            .collect()
    },
    answer: |rows, _| {
        let copies = |system, form: &str| median(rows, "token", system, &format!("copies, {form}"), 1 << 20);
        match (copies(&NX, "posted"), copies(&NX, "unposted"), copies(&CMMD, "unposted")) {
            (Some(posted), Some(unposted), Some(cmmd)) => format!(
                "A message of 1 MiB is copied {} times with NX if its receive is posted, and {} times if not. With CMMD it is copied {} times: \
                 the sender waits, so nobody buffers.",
                digits(posted),
                digits(unposted),
                digits(cmmd)
            ),
            _ => NO_ANSWER.into(),
        }
    },
    paper: "Saphir, RNS-94-004 (1994): NX buffers at the receiver, CMMD lets programs avoid buffers, and PVM buffers each message twice. Copies take time that no \
            overlap can hide, because the processor makes them.",
    next: "parvum compare --suite buffering",
};

const HEAD: [u64; 5] = [8, 1024, 16384, 131_072, 1 << 20];

static DEADLOCK: Lesson = Lesson {
    name: "deadlock",
    question: "Both processes send first and receive then. When does the program hang?",
    experiment: "Two MPI processes call MPI_Send and then MPI_Recv, with messages of five lengths. A run that takes 3 s is ended: it would wait for ever.",
    suite: suite(
        "lesson-deadlock",
        &[Family::Mpi, Family::OpenMpi, Family::Mpich],
        || vec![MPI, OPEN_MPI, MPICH],
        |_| {
            let of_size = |at: usize| Measure {
                sizes: std::slice::from_ref(&HEAD[at]),
                patience: 3,
                launches: 2,
                ..Measure::program(format!("both send {} bytes", HEAD[at]), "both-send")
            };
            let measures: Vec<Measure> = (0..HEAD.len()).map(of_size).collect();
            measures.iter().flat_map(|measure| of_each(measure, [MPI, OPEN_MPI, MPICH])).collect()
        },
    ),
    bars: |rows, manifest| {
        let mut bars = Vec::new();
        for size in HEAD {
            for system in [MPI, OPEN_MPI, MPICH] {
                let tried = tried(manifest, &system, size);
                let value = median(rows, "both-send", &system, "half round trip", size);
                if tried || value.is_some() {
                    bars.push(Bar {
                        group: bytes(size as f64),
                        name: short(&system),
                        value,
                        unit: "\u{b5}s",
                    });
                }
            }
        }
        bars
    },
    answer: |rows, manifest| {
        let first = |system: System| {
            let hangs = HEAD.into_iter().find(|size| {
                median(rows, "both-send", &system, "half round trip", *size).is_none()
                    && tried(manifest, &system, *size)
            });
            let is_known = HEAD
                .into_iter()
                .any(|size| median(rows, "both-send", &system, "half round trip", size).is_some());
            (is_known || hangs.is_some()).then(|| match hangs {
                Some(size) => format!("{} hangs from {} on", short(&system), bytes(size as f64)),
                None => format!("{} finishes at all lengths", short(&system)),
            })
        };
        let known: Vec<String> = [MPI, OPEN_MPI, MPICH].into_iter().filter_map(first).collect();
        match known.is_empty() {
            true => NO_ANSWER.into(),
            false => format!(
                "{}. The program is wrong at every length: MPI may buffer a message, but need not. Use MPI_Sendrecv, or a nonblocking call.",
                known.join("; ")
            ),
        }
    },
    paper: "Saphir, RNS-94-004 (1994): CMMD_send_block never buffers and returns only after the receive is posted, so this program hangs with CMMD at any length. NX must \
            buffer, so there it works.",
    next: "parvum why explains a program that hangs: parvum docs why-it-hangs",
};

/// Whether a launch of this size was tried.
fn tried(manifest: &Manifest, system: &System, size: u64) -> bool {
    let name = format!("both send {size} bytes");
    manifest
        .launches
        .iter()
        .any(|launch| launch.system == system.id() && launch.job.starts_with(&format!("{name}:")))
}

const ROUTES: [System; 5] = [SHM, TCP, ROUTED, DIRECT, BY_DAEMON];

static DAEMON: Lesson = Lesson {
    name: "daemon",
    question: "Why is a message through a daemon slow?",
    experiment: "Two PVM tasks pass a message to and fro: through shared memory, through a socket between them, and through the daemons. The same \
                 program runs under Parvum and under PVM 3.4.6.",
    suite: suite(
        "lesson-daemon",
        &[Family::Parvum, Family::Pvm],
        || ROUTES.to_vec(),
        |_| {
            let ring = Measure {
                sizes: &LENGTHS,
                options: "--time-ms 8 --least 4 --most 400",
                ..Measure::program("ring", "ring")
            };
            of_each(&ring, ROUTES).collect()
        },
    ),
    bars: |rows, _| each(rows, &ROUTES, "ring", "half round trip", &LENGTHS, System::label),
    answer: |rows, _| {
        let us = |system| median(rows, "ring", system, "half round trip", 8);
        match (us(&SHM), us(&TCP), us(&ROUTED)) {
            (Some(shm), Some(tcp), Some(routed)) => format!(
                "8 B take {} \u{b5}s through shared memory, {} \u{b5}s through a socket and {} \u{b5}s through the daemon. A daemon adds two more \
                 processes to the way: each must be woken, reads the message, and writes it again.{}",
                digits(shm),
                digits(tcp),
                digits(routed),
                us(&BY_DAEMON)
                    .map_or_else(String::new, |old| format!(" PVM's daemons take {} \u{b5}s.", digits(old)))
            ),
            _ => NO_ANSWER.into(),
        }
    },
    paper: "Lewis and Cline: four pairs of tasks moved almost four times as much as one pair by direct TCP, and 25 % to 40 % more through the daemons. Fatoohi \
            (1995) names the reason: a normal route has three connections, from task to daemon, to daemon, to task.",
    next: "parvum compare --suite pvmtime",
};

const SHARED: [System; 5] = [LAZY, HOME, CLASSIC, SHM, MPI];

static SHARING: Lesson = Lesson {
    name: "sharing",
    question: "How much unneeded data does the shared memory system send?",
    experiment: "A neural network is trained by two processes, in shared memory by three protocols, and by messages. Pages hold data of both \
                 processes: a page travels although the other process changed another part of it (false sharing).",
    suite: suite(
        "lesson-sharing",
        &[Family::TmkLazy, Family::TmkHome, Family::TmkClassic, Family::Parvum, Family::Mpi],
        || SHARED.to_vec(),
        |_| {
            let network = Measure {
                cores: Cores::Each,
                sizes: std::slice::from_ref(&WEIGHTS),
                options: "--in-a-row 5 --items 2000",
                launches: 3,
                patience: 30,
                ..Measure::program("neural network", "network")
            };
            of_each(&network, SHARED).collect()
        },
    ),
    bars: |rows, _| {
        let of = |metric: &str, group: &str, unit| {
            let bar = |system: &System| {
                let value = Some(median(rows, "network", system, metric, WEIGHTS)?);
                Some(Bar { group: group.to_owned(), name: system.label(), value, unit })
            };
            SHARED.iter().filter_map(bar).collect::<Vec<_>>()
        };
        let parts =
            [of("messages", "Messages", ""), of("traffic", "Data sent", "MB"), of("run", "Time", "ms")];
        parts.concat()
    },
    answer: |rows, _| {
        let of = |system, metric| median(rows, "network", system, metric, WEIGHTS);
        match (of(&CLASSIC, "messages"), of(&SHM, "messages"), of(&LAZY, "messages")) {
            (Some(classic), Some(pvm), Some(lazy)) if pvm > 0.0 => format!(
                "The protocol of 1994 sends {}x as many messages as the program with messages, the lazy protocol {}x.",
                digits(classic / pvm),
                digits(lazy / pvm)
            ),
            _ => NO_ANSWER.into(),
        }
    },
    paper: "Werstein, Pethick and Huang: TreadMarks sends a message for each page. The matrix of weights has 72 KB, which is eighteen pages of 4 KB: \
            eighteen messages instead of one.",
    next: "parvum compare --suite shared",
};

const POINTS: u64 = spread::POINTS;

static GANGS: Lesson = Lesson {
    name: "gangs",
    question: "Two jobs share the cores. What does it help to let each job run as a gang?",
    experiment: "A parallel transform runs alone, beside a second job, and beside a second job with both as gangs: the processes of one job then run at \
                 the same time.",
    suite: suite(
        "lesson-gangs",
        &[Family::Nx],
        || vec![NX],
        |_| {
            let measures = spread::measures().map(|measure| Measure { launches: 4, ..measure });
            measures.iter().flat_map(|measure| of_each(measure, [NX])).collect()
        },
    ),
    bars: |rows, _| {
        let bars = [
            (spread::ALONE, "alone"),
            (spread::RIVAL, "beside a rival"),
            (spread::GANG, "beside a rival, gangs"),
        ];
        let bar = |(program, name): (&str, &str)| {
            let value = Some(median(rows, program, &NX, "job", POINTS)?);
            Some(Bar { group: "Time of the job".into(), name: name.into(), value, unit: "ms" })
        };
        bars.into_iter().filter_map(bar).collect()
    },
    answer: |rows, _| {
        let ms = |program| median(rows, program, &NX, "job", POINTS);
        match (ms(spread::ALONE), ms(spread::RIVAL), ms(spread::GANG)) {
            (Some(alone), Some(rival), Some(gang)) => format!(
                "Beside a rival the job takes {}x as long as alone, as a gang {}x. Half of the cores' time would be 2x.",
                digits(rival / alone),
                digits(gang / alone)
            ),
            _ => NO_ANSWER.into(),
        }
    },
    paper: "Islam, McGrath and Campbell: without gang scheduling, run times of a PVM program varied by a factor of up to 3.",
    next: "parvum compare --suite overhead",
};

/// A name for a narrow plot.
fn short(system: &System) -> String {
    match system.family {
        Family::Nx => "NX".into(),
        Family::Cmmd => "CMMD".into(),
        Family::Mpi => "Parvum".into(),
        family => family.name().into(),
    }
}
