//! Information: the rows of `parvum info`, and what the page of a task adds to its row.

use super::Shell;
use crate::daemon::processes::child;
use crate::daemon::tasks::client::OUTBOX_FULL;
use crate::daemon::tasks::port::PORT_LIMIT;
use parvum_control::{
    A_GROUP, ControlBlock, CounterBook, MEMORY_WAY, Operation, PairCounters, Unmatched, WaitingFor,
    monotonic_ns, totals,
};
use parvum_wire::control::{
    BarrierRow, Blob, MAX_FRAME, OperationRow, OptionRow, PROTOCOL, PairRow, Sight, TaskRow, UnmatchedRow,
    Waits,
};
use parvum_wire::{Tid, calls};
use rustix::process::getpid;
use std::time::Duration;

impl Shell {
    /// Adds what the task's page says to its row.
    pub fn look_at(&self, row: &mut TaskRow) {
        let tasks = self.tasks.borrow();
        let Some(task) = tasks.get(&row.tid) else { return };
        row.waits = task.page.waiting_for().map(|waits| waits_row(&task.page, &task.book, waits));
        let pairs = task.book.read();
        row.counters = totals(task.page.layout(), &pairs);
        if let Some(sight) = &mut row.sight {
            // Relaxed: written once, before the task could be asked for.
            let began = task.page.identity().started.load(std::sync::atomic::Ordering::Relaxed);
            let (memory, cpu) = used_by(row.pid);
            **sight = Sight {
                memory,
                cpu,
                cpus: processors_of(row.pid),
                pairs: pairs.into_iter().map(pair_row).collect(),
                routes: task.page.routes(),
                unmatched: task.page.unmatched().into_iter().map(unmatched_row).collect(),
                age: monotonic_ns().saturating_sub(began),
                ..memory_of(&row.counters, &task.book)
            };
        }
    }

    pub(super) fn info(&self) -> Vec<OptionRow> {
        let row = |name: &str, value: String, source: &str, help: &str| OptionRow {
            name: name.into(),
            value,
            source: source.into(),
            help: help.into(),
        };
        let mib = |bytes: usize| format!("{} KiB", bytes / 1024);
        let limits = self.limits;
        let up = Duration::from_nanos(monotonic_ns() - self.began).as_secs();
        let mut rows = vec![
            row("release", env!("CARGO_PKG_VERSION").into(), "built in", "version of the daemon"),
            row("protocol", PROTOCOL.to_string(), "built in", "version of the control protocol"),
            row(
                "directory",
                self.place.dir().display().to_string(),
                self.place.source(),
                "where the machine lives",
            ),
            row("daemon process", getpid().as_raw_nonzero().to_string(), "now", "pid of the daemon"),
            row("up", format!("{up} s"), "now", "time since the daemon began"),
            row("task limit", limits.tasks.to_string(), "built in", "tasks and processes on this host"),
            row("mailbox limit", mib(limits.mailbox_bytes), "built in", "bytes in the mailbox"),
            row("names limit", mib(limits.names_bytes), "built in", "bytes of names bound to containers"),
            row("control frame limit", mib(MAX_FRAME), "built in", "the largest request, entry or answer"),
            row(
                "output limit",
                mib(OUTBOX_FULL),
                "built in",
                "output waiting for one reader; then its writer waits",
            ),
            row(
                "route limit",
                mib(PORT_LIMIT),
                "built in",
                "routed bytes waiting for one task; then senders wait",
            ),
        ];
        let port = self.network().map(|network| network.mesh.port());
        rows.extend(self.options().rows(port, self.encrypts()));
        let settings = self.machine.borrow().settings().clone();
        let search: Vec<_> = settings.search.iter().map(Blob::lossy).collect();
        let (debugger, source) = child::debugger(settings.debugger);
        let none = || "none".to_owned();
        let debugger = debugger.map_or_else(none, |path| path.display().to_string());
        let cwd = settings.cwd.map_or_else(|| "HOME".into(), |cwd| cwd.lossy());
        let search = if search.is_empty() { none() } else { search.join(":") };
        rows.push(row("ep", search, "hostfile", "where spawned programs are looked for first"));
        rows.push(row("wd", cwd, "hostfile", "where spawned programs begin"));
        rows.push(row("bx", debugger, source, "what starts a task to be debugged"));
        for (name, count) in self.machine.borrow().counts() {
            rows.push(row(name, count.to_string(), "now", "in use"));
        }
        let clients = self.clients.borrow().len();
        rows.push(row("connections", clients.to_string(), "now", "control connections"));
        for (name, count) in self.log.counts() {
            rows.push(row(&name, count.to_string(), "counted", "since the daemon began"));
        }
        rows
    }
}

/// Bytes of memory, and nanoseconds of processor time, of a process; zeros when it is gone.
fn used_by(pid: u32) -> (u64, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may hold anything; behind its bracket stand numbers, the third of all first.
    let Some((_, rest)) = stat.rsplit_once(')') else { return (0, 0) };
    let field =
        |number: usize| rest.split_whitespace().nth(number - 3).and_then(|word| word.parse::<u64>().ok());
    let (user, system, pages) = (field(14).unwrap_or(0), field(15).unwrap_or(0), field(24).unwrap_or(0));
    let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    (pages * rustix::param::page_size() as u64, (user + system) * tick)
}

/// The processors that a process may run on, as the system lists them.
fn processors_of(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.map(|list| list.trim().to_owned()).unwrap_or_default()
}

/// What a task waits for. The names are those that the task has written down itself.
fn waits_row(page: &ControlBlock, book: &CounterBook, w: WaitingFor) -> Waits {
    let ((kind, number), interface) = (calls::apart(w.call), page.interface());
    let words = book.words();
    let barrier = (calls::kind(kind) == "barrier" || w.peer == A_GROUP).then(|| {
        let (group, count) = page.barrier();
        BarrierRow { group, count }
    });
    // What was shown before is of another call, unless function and context are this one's.
    let is_of_this = |it: &Operation| number != 0 && (it.function, it.context as i32) == (number, w.context);
    Waits {
        kind,
        word: calls::find(&words, number),
        closed: calls::is_closed(&words, &interface),
        interface,
        peer: w.peer,
        tag: w.tag,
        context: w.context,
        for_ms: monotonic_ns().saturating_sub(w.since) / 1_000_000,
        since: w.since,
        ends: w.until != 0,
        barrier,
        threads: w.call & calls::THREADS != 0,
        operation: Some(page.operation()).filter(is_of_this).map(operation_row),
    }
}

/// How a task shares memory, if it does, in its own words.
fn memory_of(counters: &[u64], book: &CounterBook) -> Sight {
    let way = counters.get(MEMORY_WAY).map_or(0, |way| usize::from(*way as u8));
    let Some(place) = way.checked_sub(1) else { return Sight::default() };
    let words = book.words();
    Sight {
        memory_way: calls::names(&words, "way").nth(place).unwrap_or_default().to_owned(),
        memory_counts: calls::names(&words, "count").map(str::to_owned).collect(),
        ..Sight::default()
    }
}

fn pair_row(pair: PairCounters) -> PairRow {
    let PairCounters { peer, route, counters, reasons, waited } = pair;
    PairRow { peer: Tid(peer), route, counters, reasons, waited }
}

fn operation_row(does: Operation) -> OperationRow {
    let Operation { rank, size, root, turn, bytes, .. } = does;
    OperationRow { name: does.name(), rank, size, root, turn, bytes }
}

fn unmatched_row(message: Unmatched) -> UnmatchedRow {
    let Unmatched { from, tag, context, length, order } = message;
    UnmatchedRow { from: Tid(from), tag, context, length, order }
}
