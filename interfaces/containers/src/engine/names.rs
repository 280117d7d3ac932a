//! The name server: the machine's daemons keep the names. See `Request::NamesBind` of `parvum-wire`.

use super::container::Container;
use super::representative::Representative;
use super::{station, words};
use crate::errors::Error;
use parvum_api::{ANY_TASK, CoreApi, Notes, Pattern, Receiving, Status, TagKind};
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request, Spot};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of names in one request: even with the longest names it is far below the limit of a control message.
const AT_ONCE: usize = 2048;
/// The longest pause between two lookups of an unbound name.
const LONGEST_PAUSE: Duration = Duration::from_millis(16);

static EXCHANGES: AtomicU64 = AtomicU64::new(0);

/// How many questions this process has asked the name server.
pub(crate) fn exchanges() -> u64 {
    // Relaxed: a count.
    EXCHANGES.load(Ordering::Relaxed)
}

fn ask(request: &Request) -> Result<Reply, Error> {
    let api = station::with(|station| Ok(station.api))?;
    EXCHANGES.fetch_add(1, Ordering::Relaxed);
    let notes = Notes { limit: -1, call: words::names(), peer: ANY_TASK, tag: -1, context: -1 };
    Ok(api.ask(request, &notes).map_err(|why| Error::of(why, || api.last_error()))??)
}

fn spot_of(container: &Container) -> Spot {
    let Container { number, context, bounds, .. } = container;
    Spot { number: *number, context: *context, messages: bounds.messages, bytes: bounds.bytes }
}

/// Binds names to containers of this task. A list longer than one question is bound in parts: when a part is refused,
/// the parts before it are taken back.
pub(crate) fn bind(names: &[(&str, &Container)]) -> Result<(), Error> {
    for (at, part) in names.chunks(AT_ONCE).enumerate() {
        let list = part.iter().map(|(name, container)| (name.to_string(), spot_of(container))).collect();
        if let Err(why) = ask(&Request::NamesBind { names: list, group: false }) {
            let before: Vec<&str> = names[..at * AT_ONCE].iter().map(|(name, _)| *name).collect();
            unbind(&before)?;
            return Err(why);
        }
    }
    Ok(())
}

/// Puts a container into a group.
pub(crate) fn bind_group(name: &str, container: &Container) -> Result<(), Error> {
    let names = vec![(name.to_owned(), spot_of(container))];
    ask(&Request::NamesBind { names, group: true }).map(drop)
}

/// Takes a container out of a group; whether it was in it.
pub(crate) fn leave_group(name: &str, container: &Container) -> Result<bool, Error> {
    let request = Request::NamesUnbind { names: vec![name.to_owned()], number: Some(container.number) };
    Ok(ask(&request)? == Reply::Number(1))
}

/// Takes names back; how many this task had bound.
pub(crate) fn unbind(names: &[&str]) -> Result<usize, Error> {
    let mut count = 0;
    for part in names.chunks(AT_ONCE) {
        let names = part.iter().map(|name| name.to_string()).collect();
        if let Reply::Number(some) = ask(&Request::NamesUnbind { names, number: None })? {
            count += some as usize;
        }
    }
    Ok(count)
}

fn find(names: &[&str]) -> Result<Vec<Vec<(Tid, Spot)>>, Error> {
    let mut found = Vec::with_capacity(names.len());
    for part in names.chunks(AT_ONCE) {
        let names = part.iter().map(|name| name.to_string()).collect();
        match ask(&Request::NamesFind { names })? {
            Reply::Names(places) => found.extend(places),
            _ => return Err(Error::Refused("E-PROTOCOL: no answer to this question".into())),
        }
    }
    Ok(found)
}

/// Where names lead. `None` for a name that no task has bound in time.
pub(crate) fn lookup(names: &[&str], limit: Option<Duration>) -> Result<Vec<Option<Representative>>, Error> {
    let mut missing: Vec<usize> = (0..names.len()).collect();
    let mut found: Vec<Option<Representative>> = names.iter().map(|_| None).collect();
    let mut patience = Patience::new(limit);
    loop {
        let asked: Vec<&str> = missing.iter().map(|at| names[*at]).collect();
        let places = find(&asked)?;
        for (at, places) in missing.iter().zip(places) {
            if let [(task, spot)] = places[..] {
                found[*at] = Some(Representative::of(task.0, spot)?);
            } else if places.len() > 1 {
                return Err(Error::Unable("it is the name of a group; look the group up"));
            }
        }
        missing.retain(|at| found[*at].is_none());
        if missing.is_empty() || !patience.pause()? {
            return Ok(found);
        }
    }
}

/// The members of a group, in the order in which they joined: at least `least` members, or the members that have joined
/// in time.
pub(crate) fn lookup_group(
    name: &str,
    least: usize,
    limit: Option<Duration>,
) -> Result<Vec<Representative>, Error> {
    let mut patience = Patience::new(limit);
    loop {
        let members = find(&[name])?.pop().unwrap_or_default();
        if members.len() >= least.max(1) || !patience.pause()? {
            return members.into_iter().map(|(task, spot)| Representative::of(task.0, spot)).collect();
        }
    }
}

/// Pauses that grow, up to a limit.
struct Patience {
    until: Option<Instant>,
    pause: Duration,
}

impl Patience {
    fn new(limit: Option<Duration>) -> Patience {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        Patience { until, pause: Duration::from_micros(500) }
    }

    /// False: the time is over.
    fn pause(&mut self) -> Result<bool, Error> {
        let left = self.until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(false);
        }
        sleep(station::with(|station| Ok(station.api))?, self.pause.min(left))?;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(true)
    }
}

/// Lets time pass, while the engine goes on.
fn sleep(api: CoreApi, time: Duration) -> Result<(), Error> {
    // No task sends in this context with this tag.
    let pattern = Pattern {
        from: ANY_TASK,
        tags: TagKind::Exactly,
        tag: i32::MIN,
        other: 0,
        context: super::CONTROL.into(),
    };
    let limit = time.as_nanos().min(i64::MAX as u128) as i64;
    let notes = Notes { limit, call: words::names(), peer: ANY_TASK, tag: -1, context: -1 };
    match api.receive(&pattern, Receiving::Block, &notes) {
        Ok(_) | Err(Status::Pending) => Ok(()),
        Err(why) => Err(Error::of(why, || api.last_error())),
    }
}
