//! Performance variables: the engine's counters of this task, in all and by route.

use crate::collective;
use parvum_api::ledger;
use parvum_collectives::table::Algorithm;
use std::ops::Range;

/// What a variable is, in MPI_T's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Of now; it is only read.
    Level,
    /// Events since the handle was made, or reset.
    Counter,
    /// Of something more than events, since then.
    Aggregate,
    /// Nanoseconds since then.
    Timer,
    /// One of several states, whose names are an enumeration.
    State,
}

impl Class {
    /// Whether it grows only, and may be reset.
    pub(crate) fn is_counted(self) -> bool {
        !matches!(self, Class::Level | Class::State)
    }
}

pub(crate) struct Variable {
    stem: &'static str,
    what: &'static str,
    pub(crate) class: Class,
    from: From,
}

/// Where it is read.
enum From {
    /// A count of the totals, by its place in `parvum.h`.
    Totals(usize),
    /// A time of the totals.
    Time(fn(&ledger::Totals) -> u64),
    /// A count of the pairs over a route.
    Route(i32, usize),
    /// The algorithm of the last collective call.
    Algorithm,
}

/// The states of the variable of class [`Class::State`], by their values.
pub(crate) static ALGORITHMS: [&str; Algorithm::ALL.len() + 1] = {
    let mut names = ["none yet"; Algorithm::ALL.len() + 1];
    let mut place = 0;
    while place < Algorithm::ALL.len() {
        names[Algorithm::ALL[place] as usize] = Algorithm::ALL[place].name();
        place += 1;
    }
    names
};

/// Routes by number, as `parvum.h` has them.
const ROUTES: [&str; 4] = ["self", "shm", "tcp", "routed"];

impl Variable {
    /// Its name: of what is counted by route the route stands at the end.
    pub(crate) fn name(&self) -> String {
        match self.from {
            From::Route(route, _) => format!("parvum_{}_{}", self.stem, ROUTES[route as usize]),
            _ => format!("parvum_{}", self.stem),
        }
    }

    pub(crate) fn what(&self) -> String {
        match self.from {
            From::Route(0, _) => format!("{} from this process to itself", self.what),
            From::Route(1, _) => format!("{} through shared memory", self.what),
            From::Route(2, _) => format!("{} over TCP", self.what),
            From::Route(..) => format!("{} through the daemons", self.what),
            _ => self.what.to_owned(),
        }
    }

    /// What the task has by now; 0 as long as there is none.
    pub(crate) fn read(&self) -> u64 {
        match self.from {
            From::Totals(place) => ledger::totals().map_or(0, |totals| totals.counts[place]),
            From::Time(time) => ledger::totals().map_or(0, |totals| time(&totals)),
            From::Route(route, place) => {
                let taken = ledger::pairs().into_iter().filter(|pair| pair.route == route);
                taken.map(|pair| pair.counts[place]).sum()
            }
            From::Algorithm => u64::from(collective::last()),
        }
    }
}

const fn total(stem: &'static str, class: Class, place: usize, what: &'static str) -> Variable {
    Variable { stem, what, class, from: From::Totals(place) }
}

const fn time(stem: &'static str, read: fn(&ledger::Totals) -> u64, what: &'static str) -> Variable {
    Variable { stem, what, class: Class::Timer, from: From::Time(read) }
}

const fn by_route(
    stem: &'static str,
    class: Class,
    route: i32,
    place: usize,
    what: &'static str,
) -> Variable {
    Variable { stem, what, class, from: From::Route(route, place) }
}

const SENT: &str = "messages sent";
const SENT_BYTES: &str = "bytes of messages sent";
const ARRIVED: &str = "messages that have come";
const ARRIVED_BYTES: &str = "bytes of messages that have come";

use Class::{Aggregate, Counter, Level, State};

#[rustfmt::skip]
pub(crate) static VARIABLES: [Variable; 42] = [
    total("messages_sent", Counter, 1, "messages sent; those of collective operations, windows and agreements count as well"),
    total("bytes_sent", Aggregate, 2, SENT_BYTES),
    total("messages_received", Counter, 3, "messages that the program has received"),
    total("bytes_received", Aggregate, 4, "bytes of messages that the program has received"),
    total("messages_arrived", Counter, 5, "messages that have come, received yet or not"),
    total("bytes_arrived", Aggregate, 6, ARRIVED_BYTES),
    total("messages_expected", Counter, 7, "messages that came when a receive waited for them"),
    total("messages_unexpected", Counter, 8, "messages that came when no receive waited for them"),
    total("bytes_copied_in", Aggregate, 9, "bytes that this process copied into a transport"),
    total("bytes_copied_out", Aggregate, 10, "bytes that this process copied out of a transport"),
    total("messages_fetched", Counter, 11, "messages fetched from where they lay at the sender"),
    total("bytes_fetched", Aggregate, 12, "bytes of messages fetched from where they lay at the sender"),
    total("bytes_buffered_here", Aggregate, 13, "bytes kept here until they were received"),
    total("bytes_buffered_at_sender", Aggregate, 14, "bytes of own messages kept here until they could leave"),
    total("credit_waits", Counter, 15, "sends that waited for credit of their receiver"),
    total("messages_lost", Counter, 17, "messages whose sender ended before the data had come"),
    total("sleeps", Counter, 0, "waits that did not end before the process slept"),
    total("waiting_messages", Level, 19, "messages that are here now, and taken by no receive"),
    total("waiting_bytes", Level, 20, "bytes of those, as far as they are here"),
    total("waiting_sends", Level, 21, "sends of which not all has left"),
    by_route("messages_sent", Counter, 0, 0, SENT),
    by_route("messages_sent", Counter, 1, 0, SENT),
    by_route("messages_sent", Counter, 2, 0, SENT),
    by_route("messages_sent", Counter, 3, 0, SENT),
    by_route("bytes_sent", Aggregate, 0, 1, SENT_BYTES),
    by_route("bytes_sent", Aggregate, 1, 1, SENT_BYTES),
    by_route("bytes_sent", Aggregate, 2, 1, SENT_BYTES),
    by_route("bytes_sent", Aggregate, 3, 1, SENT_BYTES),
    by_route("messages_arrived", Counter, 0, 2, ARRIVED),
    by_route("messages_arrived", Counter, 1, 2, ARRIVED),
    by_route("messages_arrived", Counter, 2, 2, ARRIVED),
    by_route("messages_arrived", Counter, 3, 2, ARRIVED),
    by_route("bytes_arrived", Aggregate, 0, 3, ARRIVED_BYTES),
    by_route("bytes_arrived", Aggregate, 1, 3, ARRIVED_BYTES),
    by_route("bytes_arrived", Aggregate, 2, 3, ARRIVED_BYTES),
    by_route("bytes_arrived", Aggregate, 3, 3, ARRIVED_BYTES),
    by_route("messages_unexpected", Counter, 1, 5, "messages that came when no receive waited for them,"),
    time("time_enrolled", |totals| totals.age, "nanoseconds since the process became a task"),
    time("time_waiting", |totals| totals.waiting, "nanoseconds in waits for messages and for the machine"),
    time("time_communicating", |totals| totals.communicating, "nanoseconds in calls, waits left out"),
    time("time_computing", |totals| totals.computing, "nanoseconds outside of calls"),
    Variable { stem: "collective_algorithm", what: "how the last collective call was done (see parvum algorithms)", class: State, from: From::Algorithm },
];

/// What belongs together.
pub(crate) struct Category {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    variables: Range<usize>,
    pub(crate) options: Range<usize>,
    pub(crate) categories: Range<usize>,
}

impl Category {
    pub(crate) fn variables(&self) -> Range<usize> {
        self.variables.clone()
    }
}

pub(crate) static CATEGORIES: [Category; 6] = [
    Category {
        name: "parvum",
        what: "all that Parvum shows of this process",
        variables: 0..0,
        options: 0..0,
        categories: 1..6,
    },
    Category {
        name: "parvum_messages",
        what: "messages in all, by every interface of this process",
        variables: 0..20,
        options: 0..0,
        categories: 0..0,
    },
    Category {
        name: "parvum_routes",
        what: "messages by the route that they took; peers beyond the first few hundred are in no route",
        variables: 20..37,
        options: 0..0,
        categories: 0..0,
    },
    Category {
        name: "parvum_times",
        what: "where the time of this process went",
        variables: 37..41,
        options: 0..0,
        categories: 0..0,
    },
    Category {
        name: "parvum_collectives",
        what: "how collective calls are done",
        variables: 41..42,
        options: 0..0,
        categories: 0..0,
    },
    Category {
        name: "parvum_options",
        what: "options that this process reads when it joins the machine",
        variables: 0..0,
        options: 0..super::OPTIONS.len(),
        categories: 0..0,
    },
];
