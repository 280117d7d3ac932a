//! Fetches the recordings from the hosts, and finds out how their clocks differ.

use parvum_task::{Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{HostRow, Recorded, RecordedTask, Reply, Request};
use std::time::{SystemTime, UNIX_EPOCH};

/// A host's clock is asked for so many times; the quickest answer counts.
const QUESTIONS: usize = 16;

/// What one host has recorded.
pub struct HostPart {
    pub name: String,
    pub daemon: Tid,
    /// How far its clock is before ours, in nanoseconds.
    pub ahead: i64,
    /// How long the question after it took: the error is at most half of that.
    pub round_trip: u64,
    /// Its time when it was asked for the recordings: ticks, CLOCK_MONOTONIC, since 1970.
    pub now: (u64, u64, u64),
    pub thrown_away: u64,
    pub tasks: Vec<TaskPart>,
    /// The words of interfaces: `RecordedTask::words` is a place here.
    pub words: Vec<String>,
}

/// What one task has recorded.
pub struct TaskPart {
    pub row: RecordedTask,
    /// How many records were dropped before and between these.
    pub dropped: u64,
    pub records: Vec<[u64; 4]>,
}

/// All of a job.
pub struct Parts {
    pub hosts: Vec<HostPart>,
    /// What could not be had, in words.
    pub missing: Vec<String>,
}

/// Fetches what was recorded of the job of this session.
pub fn gather(session: &mut Session) -> Result<Parts, SessionError> {
    let Reply::Hosts(hosts) = session.request(Request::Hosts)? else { return Err(odd()) };
    let own = session.me.tid.daemon();
    let mut parts = Parts { hosts: Vec::new(), missing: Vec::new() };
    for host in hosts {
        match fetch(session, &host, host.tid == own) {
            Ok(part) if part.thrown_away > 0 => {
                let HostPart { name, thrown_away, .. } = &part;
                parts.missing.push(format!(
                    "{thrown_away} recordings on {name} were thrown away to keep within its memory, the oldest"
                ));
                parts.hosts.push(part);
            }
            Ok(part) => parts.hosts.push(part),
            Err(SessionError::Refused(why)) => {
                parts.missing.push(format!("nothing could be had of the tasks on {}: {why}", host.name));
            }
            Err(other) => return Err(other),
        }
    }
    // Hosts that took no part say nothing.
    parts.hosts.retain(|host| !host.tasks.is_empty());
    Ok(parts)
}

fn fetch(session: &mut Session, host: &HostRow, is_own: bool) -> Result<HostPart, SessionError> {
    let request = Request::Recorded { job: session.me.tid, host: host.tid };
    let Reply::Recorded(recorded) = session.request(request)? else { return Err(odd()) };
    let Recorded { tasks: rows, words, thrown_away, now, .. } = recorded;
    let mut tasks = Vec::new();
    for row in rows {
        tasks.push(fetch_task(session, row)?);
    }
    let (ahead, round_trip) = if is_own || tasks.is_empty() { (0, 0) } else { clock(session, host.tid)? };
    let (name, daemon) = (host.name.clone(), host.tid);
    Ok(HostPart { name, daemon, ahead, round_trip, now, thrown_away, tasks, words })
}

/// All records up to those of now: a task may still be there, and write more.
fn fetch_task(session: &mut Session, row: RecordedTask) -> Result<TaskPart, SessionError> {
    let (mut records, mut dropped, mut next) = (Vec::new(), 0, 0);
    while next < row.written {
        let request = Request::Records { tid: row.tid, from: next };
        let Reply::Records { first, data, .. } = session.request(request)? else { return Err(odd()) };
        let words: Vec<u64> =
            data.0.as_chunks().0.iter().map(|bytes: &[u8; 8]| u64::from_le_bytes(*bytes)).collect();
        let piece = words.as_chunks::<4>().0;
        if piece.is_empty() || first < next {
            break;
        }
        dropped += first - next;
        next = first + piece.len() as u64;
        records.extend_from_slice(piece);
    }
    Ok(TaskPart { row, dropped, records })
}

/// How far a host's clock is before ours, and how long the answer took.
fn clock(session: &mut Session, host: Tid) -> Result<(i64, u64), SessionError> {
    let mut best = (0, u64::MAX);
    for _ in 0..QUESTIONS {
        let before = since_1970();
        let Reply::Clock { seconds, nanoseconds } = session.request(Request::Clock { host })? else {
            return Err(odd());
        };
        let round_trip = since_1970().saturating_sub(before);
        if round_trip < best.1 {
            let theirs = seconds * 1_000_000_000 + i64::from(nanoseconds);
            best = (theirs - (before + round_trip / 2) as i64, round_trip);
        }
    }
    Ok(best)
}

fn since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

fn odd() -> SessionError {
    SessionError::Protocol("another answer than asked for".into())
}
