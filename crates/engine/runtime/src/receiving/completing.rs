//! The table's requests, in C's types: receives are posted; any thread waits for them, and for sends.

use crate::abi::rooms::{destination, pattern_of};
use crate::endpoint::Endpoint;
use crate::inside::{Inside, try_with, with};
use crate::receiving::receive::{conclude, finish, late};
use crate::runtime::Runtime;
use crate::waiting::waiters::Until;
use parvum_api as api;
use parvum_api::{Message, Notes, Status};
use parvum_engine::RequestId;

pub(crate) unsafe extern "C" fn post<E: Endpoint>(
    pattern: *const api::Pattern,
    room: *const api::Room,
    flags: u32,
) -> u64 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, room) = unsafe { (&*pattern, &*room) };
    if room.kind == api::RoomKind::Fitting {
        return 0;
    }
    // SAFETY: the memory stays until the request is over, by the contract.
    let (Some(pattern), Some(into)) = (pattern_of(pattern), unsafe { destination(room) }) else { return 0 };
    let (urgent, announced, claims) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    with::<E, _>(0, |runtime| {
        let id = match claims {
            true => runtime.engine.claim(pattern, into, announced),
            false => {
                runtime.note_source(&pattern);
                runtime.engine.post(pattern, into, urgent, announced)
            }
        };
        id.number()
    })
}

pub(crate) unsafe extern "C" fn wait<E: Endpoint>(
    request: u64,
    notes: *const Notes,
    out: *mut Message,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (notes, out) = unsafe { (&*notes, &mut *out) };
    let id = RequestId::from_number(request);
    with::<E, _>(Status::Unknown as i32, |runtime| {
        if !runtime.engine.is_known(id) {
            return Status::Unknown as i32;
        }
        runtime.engine.fetch_claim(id);
        if !runtime.wait_for(id, notes) {
            return late(runtime) as i32;
        }
        finish(runtime, id, None, out) as i32
    })
}

pub(crate) extern "C" fn fetch_claims<E: Endpoint>(request: u64) -> usize {
    with::<E, _>(0, |runtime| {
        let before = runtime.engine.claims();
        match request {
            0 => runtime.engine.fetch_claims(),
            request => runtime.engine.fetch_claim(RequestId::from_number(request)),
        }
        before - runtime.engine.claims()
    })
}

pub(crate) extern "C" fn is_free<E: Endpoint>() -> i32 {
    i32::from(try_with::<E, _>(|_| ()).is_some())
}

/// The requests that a call names.
///
/// # Safety
/// They must be readable for the call.
unsafe fn requests_of<'a>(requests: *const u64, count: usize) -> &'a [u64] {
    match count {
        0 => &[],
        // SAFETY: the caller's promise.
        count => unsafe { std::slice::from_raw_parts(requests, count) },
    }
}

fn any_over(requests: &[u64]) -> Until {
    Until::AnyOver(requests.iter().map(|number| RequestId::from_number(*number)).collect())
}

/// Checks requests again only if one has ended in between, because there may be many.
struct Watched<'a> {
    requests: &'a [u64],
    /// How many operations had ended at the last look.
    finished: Option<u64>,
}

impl<'a> Watched<'a> {
    fn new(requests: &'a [u64]) -> Watched<'a> {
        Watched { requests, finished: None }
    }

    /// The places of requests that are complete or invalid.
    fn over<'w>(&'w mut self, runtime: &'w mut Runtime) -> impl Iterator<Item = usize> + 'w {
        let finished = runtime.engine.finished();
        let looks = self.finished.replace(finished) != Some(finished);
        let requests = if looks { self.requests } else { &[] };
        let mut is_over = |request: &u64| {
            let id = RequestId::from_number(*request);
            runtime.engine.is_over(id) || !runtime.engine.is_known(id)
        };
        requests.iter().enumerate().filter_map(move |(at, request)| is_over(request).then_some(at))
    }
}

pub(crate) unsafe extern "C" fn wait_any<E: Endpoint>(
    requests: *const u64,
    count: usize,
    seen: u64,
    notes: *const Notes,
) -> i64 {
    const LATE: i64 = -1;
    const ARRIVED: i64 = -2;
    // SAFETY: valid for the call, by the table's contract.
    let (requests, notes) = unsafe { (requests_of(requests, count), &*notes) };
    with::<E, _>(LATE, |runtime| {
        let mut watched = Watched::new(requests);
        let over = |runtime: &mut Runtime| {
            let first = watched.over(runtime).next();
            match first {
                Some(at) => Some(at as i64),
                None => (seen != u64::MAX && runtime.engine.arrivals() != seen).then_some(ARRIVED),
            }
        };
        // An arrival is none of the requests.
        let until = || if seen == u64::MAX { any_over(requests) } else { Until::Changed };
        let found = match requests {
            [only] => runtime.wait_wanting(RequestId::from_number(*only), notes, until, over),
            _ => runtime.wait(notes, until, over),
        };
        found.unwrap_or(LATE)
    })
}

pub(crate) unsafe extern "C" fn wait_some<E: Endpoint>(
    requests: *const u64,
    count: usize,
    notes: *const Notes,
    over: *mut usize,
) -> usize {
    if count == 0 {
        return 0;
    }
    // SAFETY: valid for the call, by the table's contract.
    let (requests, notes) = unsafe { (requests_of(requests, count), &*notes) };
    // SAFETY: the table asks for room for as many.
    let over = unsafe { std::slice::from_raw_parts_mut(over, count) };
    with::<E, _>(0, |runtime| {
        let mut watched = Watched::new(requests);
        let some = |runtime: &mut Runtime| {
            let mut found = 0;
            for (at, place) in watched.over(runtime).zip(over.iter_mut()) {
                *place = at;
                found += 1;
            }
            (found > 0).then_some(found)
        };
        runtime.wait(notes, || any_over(requests), some).unwrap_or(0)
    })
}

pub(crate) unsafe extern "C" fn wait_standing<E: Endpoint>(
    requests: *const u64,
    count: usize,
    notes: *const Notes,
    out: *mut Message,
    status: *mut i32,
) -> i64 {
    const NONE: i64 = -1;
    // SAFETY: valid for the call, by the table's contract.
    let (requests, notes) = unsafe { (requests_of(requests, count), &*notes) };
    // SAFETY: the same.
    let (out, status) = unsafe { (&mut *out, &mut *status) };
    *status = Status::Unknown as i32;
    with::<E, _>(NONE, |runtime| {
        let mut watched = Watched::new(requests);
        let over = |runtime: &mut Runtime| watched.over(runtime).next();
        let Some(at) = runtime.wait(notes, || any_over(requests), over) else {
            *status = late(runtime) as i32;
            return NONE;
        };
        // Taken before this thread leaves: no other thread is woken for it.
        let taken = runtime.engine.take_and_rest(RequestId::from_number(requests[at]));
        *status = conclude(runtime, taken, None, out) as i32;
        at as i64
    })
}

pub(crate) unsafe extern "C" fn post_again<E: Endpoint>(
    request: u64,
    pattern: *const api::Pattern,
    room: *const api::Room,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (pattern, room) = unsafe { (&*pattern, &*room) };
    if room.kind == api::RoomKind::Fitting {
        return Status::BadArgument as i32;
    }
    // SAFETY: the memory stays until the request is over, by the contract.
    let (Some(pattern), Some(into)) = (pattern_of(pattern), unsafe { destination(room) }) else {
        return Status::BadArgument as i32;
    };
    let again = |runtime: &mut Inside| {
        runtime.note_source(&pattern);
        runtime.engine.resume(RequestId::from_number(request), pattern, into)
    };
    if with::<E, _>(false, again) { Status::Done as i32 } else { Status::Unknown as i32 }
}

pub(crate) extern "C" fn cancel<E: Endpoint>(request: u64) -> i32 {
    let done = |runtime: &mut Inside| runtime.engine.cancel(RequestId::from_number(request));
    if with::<E, _>(false, done) { Status::Done as i32 } else { Status::Unknown as i32 }
}
