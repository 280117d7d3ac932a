//! One message to several tasks: which of them share its data on the way.
//!
//! Tasks of one other host get it through the daemons, so that it crosses the link between the two hosts once. A
//! task that is alone there, or here, is sent its own. There is no tree over the hosts: the death of one
//! would keep the message from those behind it.

use crate::connecting::transports::by_daemons;
use crate::endpoint::Endpoint;
use crate::errors::ConnectError;
use crate::inside::{Inside, with};
use crate::sending::send::{buffering, keeper, refused, send_one, status_of, with_pieces};
use parvum_api as api;
use parvum_api::Status;
use parvum_engine::{Completion, Outgoing};
use parvum_wire::Tid;
use std::collections::HashMap;

/// Shorter data is sent to each: a frame's header and a look-up cost as much.
const WORTH_SHARING: usize = 512;

pub(crate) unsafe extern "C" fn multicast<E: Endpoint>(
    message: *const api::Outgoing,
    to: *const i32,
    tags: *const i32,
    count: usize,
    statuses: *mut i32,
    requests: *mut u64,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let message = unsafe { &*message };
    // SAFETY: as the table says, this is the one use of the owner.
    let keep = unsafe { keeper(message) };
    let Some(buffering) = buffering(message).filter(|_| message.completion == 0) else {
        return Status::BadArgument as i32;
    };
    if count == 0 {
        return Status::Done as i32;
    }
    // SAFETY: the lists have room for `count`, by the table's contract.
    let (to, statuses, requests) = unsafe {
        (
            std::slice::from_raw_parts(to, count),
            std::slice::from_raw_parts_mut(statuses, count),
            std::slice::from_raw_parts_mut(requests, count),
        )
    };
    // SAFETY: null, or as long as the other lists.
    let tags = (!tags.is_null()).then(|| unsafe { std::slice::from_raw_parts(tags, count) });
    let tag_at = |at: usize| tags.map_or(message.tag, |tags| tags[at]);
    let mut work = |runtime: &mut Inside, pieces: &[&[u8]]| {
        let &api::Outgoing { context, meta, .. } = message;
        let completion = Completion::Copied;
        let to_one = |to: Tid, tag: i32| {
            let keep = keep.clone();
            Outgoing { to, tag, context, meta, pieces, keep, buffering, completion }
        };
        let long = pieces.iter().map(|piece| piece.len()).sum::<usize>() >= WORTH_SHARING;
        let shares = if long { runtime.sharing(to) } else { vec![false; to.len()] };
        let (mut places, mut tids) = (Vec::new(), Vec::new());
        for (at, &tid) in to.iter().enumerate() {
            requests[at] = 0;
            if !shares[at] {
                // SAFETY: the pieces stay as long as the table says.
                statuses[at] = unsafe { send_one(runtime, to_one(Tid(tid), tag_at(at)), &mut requests[at]) };
            } else if let Err(why) = runtime.reach_by_daemon(Tid(tid)) {
                statuses[at] = refused(&why) as i32;
            } else {
                places.push(at);
                tids.push((Tid(tid), tag_at(at)));
            }
        }
        let Some(&(first, tag)) = tids.first() else { return };
        // SAFETY: as before.
        let sent = unsafe { runtime.engine.multicast(&tids, by_daemons(), &to_one(first, tag)) };
        for ((at, (tid, _)), sent) in places.into_iter().zip(tids).zip(sent) {
            statuses[at] = status_of(runtime, tid, sent, &mut requests[at]);
        }
    };
    with::<E, _>(Status::Unknown as i32, |runtime| {
        // SAFETY: `message` names `count` pieces, and they stay as long as the table says.
        unsafe { with_pieces(message, |pieces| work(runtime, pieces)) };
        Status::Done as i32
    })
}

impl Inside {
    /// Which of these tasks are to share a message's data on the way.
    fn sharing(&mut self, to: &[i32]) -> Vec<bool> {
        let here = self.engine.me().host();
        let mut on: HashMap<u32, usize> = HashMap::new();
        for &tid in to {
            *on.entry(Tid(tid).host()).or_default() += 1;
        }
        let shares = |&tid: &i32| {
            let tid = Tid(tid);
            let by_daemon = self.engine.route_to(tid) == Some(by_daemons());
            by_daemon || (tid.host() != here && on.get(&tid.host()).is_some_and(|&count| count > 1))
        };
        to.iter().map(shares).collect()
    }

    /// Makes sure that a message to `to` can go through the daemons, whichever way others take.
    fn reach_by_daemon(&mut self, to: Tid) -> Result<(), ConnectError> {
        self.reach(to)?;
        if self.engine.is_attached(to, by_daemons()) || self.engine.is_gone(to) {
            return Ok(());
        }
        self.connect_routed(to)
    }
}
