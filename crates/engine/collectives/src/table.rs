//! Which algorithm runs: the whole choice as one table.
//!
//! [`choose`] takes the first rule of an operation that fits a [`Case`]. All members know the same case, so all take the same rule.
//! [`plans::choose`](crate::plans::choose) makes the plan of an algorithm by messages; [`segment`](crate::segment) and
//! [`exposed`](crate::exposed) are the algorithms in shared memory. `parvum algorithms` prints the table, MPI_T's variable
//! `collective_algorithm` says which algorithm ran last.
//!
//! Short data goes straight between one member and all others. A message takes a tenth of a microsecond, and a task
//! that waits for its core takes several. In a tree, a task waits until others get their core. Longer data goes by
//! trees. Long data is shared out, so that several members copy and combine at a time. The bounds were found with 2 to
//! 16 members on two cores; each rule names its figures.

mod rules;
#[cfg(test)]
mod tests;

pub use rules::{FEW_TRIED, LONGEST_IN_RING, LONGEST_IN_ROUNDS, LONGEST_IN_SEGMENT, SHORT};

use crate::plans::Order;
use crate::plans::hosts::Placement;
use crate::plans::ways::ShortAlgorithm;
use std::fmt;

/// An MPI communicator opens its segment in the blocking collective after this number. Opening costs its members some
/// questions to the daemon, and many communicators live for few calls.
pub const OPERATIONS_BEFORE_SEGMENT: u32 = 8;

/// The kinds of collectives; the number is a part of the tags of their messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Operation {
    /// Each member waits until all members have come.
    Barrier = 1,
    /// All get the root's data. Bytes: the data.
    Broadcast = 2,
    /// The root gets a part from each. Bytes: one part.
    Gather = 3,
    /// Each gets a part from the root. Bytes: one part.
    Scatter = 4,
    /// All get the data of each member. Bytes: all together.
    Allgather = 5,
    /// Each gets a part from each. Bytes: all parts that one member gives.
    Alltoall = 6,
    /// The root gets all contributions combined. Bytes: one contribution.
    Reduce = 7,
    /// All get all contributions combined. Bytes: one contribution.
    Allreduce = 8,
    /// Each gets a part of all contributions combined. Bytes: one contribution.
    ReduceScatter = 9,
    /// Each gets the contributions up to its own combined. Bytes: one contribution.
    Scan = 10,
    /// Each gets the contributions before its own combined. Bytes: one contribution.
    ExclusiveScan = 11,
}

impl Operation {
    /// All operations that have a choice, or could have one.
    pub const ALL: [Operation; 11] = [
        Operation::Barrier,
        Operation::Broadcast,
        Operation::Gather,
        Operation::Scatter,
        Operation::Allgather,
        Operation::Alltoall,
        Operation::Reduce,
        Operation::Allreduce,
        Operation::ReduceScatter,
        Operation::Scan,
        Operation::ExclusiveScan,
    ];

    /// Its name, as a person types it.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Barrier => "barrier",
            Operation::Broadcast => "broadcast",
            Operation::Gather => "gather",
            Operation::Scatter => "scatter",
            Operation::Allgather => "allgather",
            Operation::Alltoall => "alltoall",
            Operation::Reduce => "reduce",
            Operation::Allreduce => "allreduce",
            Operation::ReduceScatter => "reduce-scatter",
            Operation::Scan => "scan",
            Operation::ExclusiveScan => "exclusive-scan",
        }
    }

    /// The meaning of the number of bytes for this operation.
    pub const fn bytes_are(self) -> &'static str {
        match self {
            Operation::Barrier => "nothing",
            Operation::Broadcast => "the data",
            Operation::Gather | Operation::Scatter => "the part of one member",
            Operation::Allgather => "the data of all members together",
            Operation::Alltoall => "what one member gives to all",
            _ => "the contribution of one member",
        }
    }
}

/// How an operation is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Algorithm {
    /// The root writes the data into a ring in the group's segment and goes on; the others read it there.
    BroadcastRing = 1,
    /// Members write into their slots of the group's segment, meet at its barrier, and read what they need.
    SharedSegment = 2,
    /// Members show addresses, and each reads out of the memory of the others what it needs.
    OpenMemory = 3,
    /// Messages within each host, and few between the hosts.
    TwoLevels = 4,
    /// Rounds of messages, each to a member twice as far away.
    Dissemination = 5,
    /// One message between each two members that have data for each other.
    Straight = 6,
    /// A binomial tree of messages.
    Binomial = 7,
    /// The data is scattered in parts, then the parts are gathered by all.
    ScatterAllgather = 8,
    /// Parts go round a ring, each member passing on what it got.
    Ring = 9,
    /// Rounds in which members exchange all they have, with a partner twice as far away each time.
    Doubling = 10,
    /// Rounds in which members pass on parts for others (Bruck).
    Bruck = 11,
    /// An exchange with one partner after the other.
    Pairwise = 12,
    /// Halves are exchanged and combined, then gathered (Rabenseifner).
    Halving = 13,
    /// Each member combines one part of all contributions, then the parts are gathered.
    SharedOut = 14,
    /// The first member combines all contributions, one message of each; then a binomial tree spreads the result.
    StraightThenBroadcast = 15,
    /// A binomial tree combines the contributions; another one spreads the result.
    BinomialThenBroadcast = 16,
}

impl Algorithm {
    /// All algorithms, in the order of their numbers.
    pub const ALL: [Algorithm; 16] = [
        Algorithm::BroadcastRing,
        Algorithm::SharedSegment,
        Algorithm::OpenMemory,
        Algorithm::TwoLevels,
        Algorithm::Dissemination,
        Algorithm::Straight,
        Algorithm::Binomial,
        Algorithm::ScatterAllgather,
        Algorithm::Ring,
        Algorithm::Doubling,
        Algorithm::Bruck,
        Algorithm::Pairwise,
        Algorithm::Halving,
        Algorithm::SharedOut,
        Algorithm::StraightThenBroadcast,
        Algorithm::BinomialThenBroadcast,
    ];

    /// Its name, as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::BroadcastRing => "broadcast ring",
            Algorithm::SharedSegment => "shared segment",
            Algorithm::OpenMemory => "memory of the others",
            Algorithm::TwoLevels => "two levels",
            Algorithm::Dissemination => "dissemination",
            Algorithm::Straight => "straight messages",
            Algorithm::Binomial => "binomial tree",
            Algorithm::ScatterAllgather => "scatter and allgather",
            Algorithm::Ring => "ring of messages",
            Algorithm::Doubling => "recursive doubling",
            Algorithm::Bruck => "Bruck's rounds",
            Algorithm::Pairwise => "pairwise exchange",
            Algorithm::Halving => "recursive halving",
            Algorithm::SharedOut => "shared out",
            Algorithm::StraightThenBroadcast => "straight messages, then a binomial tree",
            Algorithm::BinomialThenBroadcast => "binomial tree, then another one",
        }
    }
}

/// Where the members live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hosts {
    /// All on one host.
    #[default]
    One,
    /// On several hosts, each member on its own.
    Apart,
    /// On several hosts, of which some have several members.
    Shared {
        /// Whether the members of each host follow one another.
        in_rows: bool,
    },
}

/// The properties of an operation that all members know before it begins.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// How many members there are.
    pub members: usize,
    /// The number of bytes; [`Operation::bytes_are`] has their meaning.
    pub bytes: usize,
    /// The bytes of one element.
    pub unit: usize,
    /// Whether the members have a shared segment and use it: one host, a blocking call, not one of the first calls.
    pub has_segment: bool,
    /// Whether members with a segment can read each other's memory.
    pub has_open_memory: bool,
    /// Where they live.
    pub hosts: Hosts,
    /// In which order contributions may be combined.
    pub order: Order,
    /// Whether every member sends every other member the same number of bytes: `false` for MPI_Alltoallv and related
    /// calls.
    pub is_regular: bool,
    /// Whether short data between hosts goes in rounds, if the members have tried ([`ways`](crate::plans::ways)).
    pub rounds: Option<bool>,
}

impl Case {
    /// Members on one host that use messages; the data are bytes.
    pub fn new(members: usize, bytes: usize) -> Case {
        Case {
            members,
            bytes,
            unit: 1,
            has_segment: false,
            has_open_memory: false,
            hosts: Hosts::One,
            order: Order::Members,
            is_regular: true,
            rounds: None,
        }
    }

    /// The same members with a shared segment, on one host.
    #[inline]
    pub fn in_segment(members: usize, bytes: usize) -> Case {
        Case { has_segment: members > 1, has_open_memory: members > 1, ..Case::new(members, bytes) }
    }

    /// Members that live there and use messages.
    pub fn of(placement: Placement<'_>, bytes: usize) -> Case {
        let hosts = match placement.hosts {
            None => Hosts::One,
            Some(hosts) if hosts.are_shared() => Hosts::Shared { in_rows: hosts.are_rows() },
            Some(_) => Hosts::Apart,
        };
        let rounds = placement.way.map(|way| way == ShortAlgorithm::Rounds);
        Case { hosts, rounds, ..Case::new(placement.group.size, bytes) }
    }

    /// The same with elements of `unit` bytes.
    #[inline]
    pub fn elements(self, unit: usize) -> Case {
        Case { unit, ..self }
    }

    /// The same if contributions may be combined in that order.
    pub fn ordered(self, order: Order) -> Case {
        Case { order, ..self }
    }
}

/// A condition of a rule beyond the numbers of members and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// The members have a shared segment.
    Segment,
    /// The members have a shared segment, and can read each other's memory.
    OpenMemory,
    /// Several hosts, of which some have several members.
    SharedHosts,
    /// The same, and the members of each host are consecutive.
    HostsInRows,
    /// Several hosts, and short data goes between them in rounds: the members tried, or are more than four.
    Rounds,
    /// Each member gives each other one as much.
    Regular,
    /// The part of a member for one other has at most this number of bytes.
    PartsUpTo(usize),
    /// The parts of all members together have at most this number of bytes.
    AllPartsUpTo(usize),
    /// There is an element for each member.
    AnElementEach,
    /// An element has at most [`SHORT`] bytes.
    ShortElements,
    /// Two levels combine as one level does: any order is the same, or hosts are in rows and have at most [`FEW`](rules::FEW) members.
    SameOrder,
}

impl Only {
    fn holds(self, case: &Case) -> bool {
        match self {
            Only::Segment => case.has_segment,
            Only::OpenMemory => case.has_segment && case.has_open_memory,
            Only::SharedHosts => matches!(case.hosts, Hosts::Shared { .. }),
            Only::HostsInRows => case.hosts == Hosts::Shared { in_rows: true },
            Only::Rounds => {
                case.hosts != Hosts::One && case.rounds.unwrap_or(case.members > rules::FEW_APART)
            }
            Only::Regular => case.is_regular,
            Only::PartsUpTo(most) => case.bytes <= most * case.members,
            Only::AllPartsUpTo(most) => case.bytes.saturating_mul(case.members) <= most,
            Only::AnElementEach => case.bytes / case.unit.max(1) >= case.members,
            Only::ShortElements => case.unit <= SHORT,
            Only::SameOrder => {
                let in_rows = case.hosts == Hosts::Shared { in_rows: true };
                case.order == Order::Exact || in_rows && case.members <= rules::FEW
            }
        }
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The fewest and the most members for which it is.
    pub members: (usize, usize),
    /// The fewest and the most bytes.
    pub bytes: (usize, usize),
    /// What else must hold.
    pub only: &'static [Only],
    /// What runs then.
    pub algorithm: Algorithm,
    /// Why, and the figures behind the bounds.
    pub why: &'static str,
}

impl Rule {
    #[inline]
    fn fits(&self, case: &Case) -> bool {
        (self.members.0..=self.members.1).contains(&case.members)
            && (self.bytes.0..=self.bytes.1).contains(&case.bytes)
            && self.only.iter().all(|only| only.holds(case))
    }
}

/// The rules of an operation, in the order in which they are tried.
pub fn rules(operation: Operation) -> &'static [Rule] {
    rules::of(operation)
}

/// The rule by which an operation is done.
#[inline]
pub fn rule(operation: Operation, case: &Case) -> &'static Rule {
    rules::of(operation).iter().find(|rule| rule.fits(case)).expect("the last rule of an operation fits all")
}

/// The algorithm by which an operation is done.
#[inline]
pub fn choose(operation: Operation, case: &Case) -> Algorithm {
    rule(operation, case).algorithm
}

impl fmt::Display for Rule {
    /// The conditions, as a person reads them: `3 members or more, over 4 KiB, shared segment at hand`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = Vec::new();
        said.extend(members(self.members));
        said.extend(bytes(self.bytes));
        said.extend(self.only.iter().map(|only| match only {
            Only::Segment => "one host, blocking call".to_owned(),
            Only::OpenMemory => "one host, blocking call, ptrace allowed".to_owned(),
            Only::SharedHosts => "several hosts with several members".to_owned(),
            Only::HostsInRows => "several hosts, ranks in rows".to_owned(),
            Only::Rounds => "several hosts, rounds are quicker".to_owned(),
            Only::Regular => "equal parts".to_owned(),
            Only::PartsUpTo(most) => format!("parts up to {}", size(*most)),
            Only::AllPartsUpTo(most) => format!("all parts up to {}", size(*most)),
            Only::AnElementEach => "an element for each member".to_owned(),
            Only::ShortElements => format!("elements up to {}", size(SHORT)),
            Only::SameOrder => "same order of operands".to_owned(),
        }));
        f.write_str(if said.is_empty() { "else".to_owned() } else { said.join(", ") }.as_str())
    }
}

fn members((least, most): (usize, usize)) -> Option<String> {
    Some(match (least, most) {
        (0, usize::MAX) => return None,
        (_, 1) => "1 member".to_owned(),
        (0, most) => format!("up to {most} members"),
        (least, usize::MAX) => format!("{least} members or more"),
        (least, most) if least == most => format!("{least} members"),
        (least, most) => format!("{least} to {most} members"),
    })
}

fn bytes((least, most): (usize, usize)) -> Option<String> {
    // A bound that begins one byte behind another one's end.
    let from = match least % 2 {
        1 if least > 1 => format!("over {}", size(least - 1)),
        _ => format!("{} or more", size(least)),
    };
    Some(match (least, most) {
        (0, usize::MAX) => return None,
        (_, usize::MAX) => from,
        (0 | 1, most) if most % 2 == 1 => format!("below {}", size(most + 1)),
        (0 | 1, most) => format!("up to {}", size(most)),
        (_, most) => format!("{from}, up to {}", size(most)),
    })
}

fn size(bytes: usize) -> String {
    match bytes {
        0 => "0 B".to_owned(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}
