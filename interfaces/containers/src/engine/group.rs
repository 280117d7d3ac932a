//! One message to the containers of a group.

use super::representative::{Representative, WhenFull};
use crate::Bounds;
use crate::errors::Error;
use parvum_api::Buffering;
use parvum_api::{Data, Notes, Status};
use std::collections::HashSet;

/// Shorter data goes to each member by itself: sharing it saves nothing.
const WORTH_SHARING: usize = 512;

/// Sends to each member once, and returns the number of members. Members that are gone are skipped. Members on one
/// other host share the data on its way there, unless they have bounds of their own: their sender keeps count of each.
pub(crate) fn send<'a>(
    members: impl ExactSizeIterator<Item = &'a Representative>,
    data: &[u8],
) -> Result<usize, Error> {
    let (mut together, mut count) = (Vec::new(), 0);
    let shares = members.len() > 1 && data.len() >= WORTH_SHARING;
    for member in members {
        if shares && member.bounds() == Bounds::default() && !member.is_local() {
            match member.ready_for_group() {
                Ok(()) => together.push(member),
                Err(Error::Gone) => {}
                Err(why) => return Err(why),
            }
            continue;
        }
        match member.send(data, WhenFull::Wait) {
            Ok(_) => count += 1,
            Err(Error::Gone) => {}
            Err(why) => return Err(why),
        }
    }
    // One container of each task at a time: two messages to one task have the same way, one behind the other.
    while !together.is_empty() {
        let mut tasks = HashSet::new();
        let (now, later): (Vec<_>, Vec<_>) =
            together.into_iter().partition(|member: &&Representative| tasks.insert(member.task()));
        count += send_together(&now, data)?;
        together = later;
    }
    Ok(count)
}

fn send_together(members: &[&Representative], data: &[u8]) -> Result<usize, Error> {
    let Some(first) = members.first() else { return Ok(0) };
    let (to, tags): (Vec<i32>, Vec<i32>) = members.iter().map(|member| (member.task(), member.tag())).unzip();
    let (how, notes) = first.how();
    let (how, notes) =
        (parvum_api::SendTo { buffering: Buffering::AtSender, ..how }, Notes { peer: -1, ..notes });
    let api = first.api();
    let sent = api
        .multicast_each(how, &to, Some(&tags), Data::Pieces(&[data]), &notes)
        .map_err(|why| first.failed(why))?;
    let (mut count, mut failed) = (0, None);
    for (member, sent) in members.iter().zip(sent) {
        match sent {
            Ok(()) => {
                member.has_sent();
                count += 1;
            }
            Err(Status::Gone | Status::Unknown) => {}
            Err(why) => failed = Some(member.failed(why)),
        }
    }
    failed.map_or(Ok(count), Err)
}
