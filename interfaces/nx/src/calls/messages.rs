//! Sending and receiving: csend(3), crecv(3), isend(3), irecv(3), csendrecv(3), gsendx(3).

use super::Numbers;
use crate::errors::{Nx, NxError};
use crate::exchange::Lent;
use crate::ids::InfoPlace;

super::faces! {
    /// Sends; returns when the memory may be used again, whether or not a receive is posted.
    csend _csend csend_ (n kind, b buf, n count, n node, n ptype) none
        => work::csend(kind, Lent::new(buf, count), node, ptype);
    /// Receives the first message of such a type.
    crecv _crecv crecv_ (n typesel, b buf, n count) none => work::crecv(typesel, Lent::new(buf, count));
    /// The same from a certain node; `info` is filled instead of what `infocount` tells.
    crecvx _crecvx crecvx_ (n typesel, b buf, n count, n nodesel, n ptypesel, i info) none
        => work::crecvx(typesel, Lent::new(buf, count), nodesel, ptypesel, info);
    /// Starts a send; gives its id.
    isend _isend isend_ (n kind, b buf, n count, n node, n ptype) value
        => work::isend(kind, Lent::new(buf, count), node, ptype);
    /// Posts a receive; gives its id.
    irecv _irecv irecv_ (n typesel, b buf, n count) value
        => work::irecvx(typesel, Lent::new(buf, count), -1, -1, InfoPlace::None);
    /// The same from a certain node; `info` is filled when it is over.
    irecvx _irecvx irecvx_ (n typesel, b buf, n count, n nodesel, n ptypesel, i info) value
        => work::irecvx(typesel, Lent::new(buf, count), nodesel, ptypesel, info);
    /// Sends, then receives the answer; gives its bytes.
    csendrecv _csendrecv csendrecv_
        (n kind, b sbuf, n scount, n node, n ptype, n typesel, b rbuf, n rcount) value
        => work::csendrecv(kind, Lent::new(sbuf, scount), node, ptype, typesel, Lent::new(rbuf, rcount));
    /// Starts that; gives one id, which is done when the answer is in.
    isendrecv _isendrecv isendrecv_
        (n kind, b sbuf, n scount, n node, n ptype, n typesel, b rbuf, n rcount) value
        => work::isendrecv(kind, Lent::new(sbuf, scount), node, ptype, typesel, Lent::new(rbuf, rcount));
    /// Sends to a list of nodes.
    gsendx _gsendx gsendx_ (n kind, b buf, n count, l nodes, n nnodes) none
        => work::gsendx(kind, Lent::new(buf, count), listed(nodes, nnodes));
}

/// A list with this number of items.
///
/// # Safety
/// The list must be null, or have this number of items.
unsafe fn listed(list: Numbers, count: i64) -> Nx<Vec<i64>> {
    let count = usize::try_from(count).map_err(|_| NxError::Param)?;
    if list.is_null() && count > 0 {
        return Err(NxError::PBuf);
    }
    // SAFETY: not null, and as long as the caller says.
    Ok(unsafe { list.first(count) })
}

mod work {
    use crate::account::{self, Call};
    use crate::calls::with;
    use crate::errors::Nx;
    use crate::exchange::{self, Lent, Memory, finish_send, remember};
    use crate::ids::{self, InfoPlace, Operation};
    use crate::select::{outgoing, wanted};
    use crate::task::{Task, check_ptype, check_ptypesel};
    use crate::words;

    pub(super) fn csend(kind: i64, data: Lent, node: i64, ptype: i64) -> Nx<()> {
        with(|task| {
            check_ptype(ptype)?;
            if node == -1 {
                return send_to_all(task, kind, data, task.others());
            }
            let data = data.memory()?;
            exchange::send(task, kind, data, task.receiver(node)?)
        })
    }

    pub(super) fn send_to_all(
        task: &'static Task,
        kind: i64,
        data: Lent,
        to: impl Iterator<Item = i32>,
    ) -> Nx<()> {
        let data = data.memory()?;
        outgoing(kind)?;
        let mut under_way = Vec::new();
        let mut result = Ok(());
        for to in to {
            match exchange::start_send(task, kind, data, to) {
                Ok(sending) => under_way.extend(sending),
                Err(why) => result = Err(why),
            }
        }
        for sending in under_way {
            result = finish_send(task, sending, words::csend()).and(result);
        }
        result
    }

    pub(super) fn gsendx(kind: i64, data: Lent, nodes: Nx<Vec<i64>>) -> Nx<()> {
        with(|task| {
            let to: Nx<Vec<i32>> = nodes?.into_iter().map(|node| task.receiver(node)).collect();
            send_to_all(task, kind, data, to?.into_iter())
        })
    }

    pub(super) fn crecv(typesel: i64, room: Lent) -> Nx<()> {
        with(|task| {
            let room = room.memory()?;
            let info = exchange::receive(task, &wanted(typesel, None)?, room, Call::Crecv)?;
            remember(&info);
            Ok(())
        })
    }

    pub(super) fn crecvx(typesel: i64, room: Lent, nodesel: i64, ptypesel: i64, place: InfoPlace) -> Nx<()> {
        with(|task| {
            check_ptypesel(ptypesel)?;
            let pattern = wanted(typesel, task.sender(nodesel)?)?;
            let room = room.memory()?;
            let info = exchange::receive(task, &pattern, room, Call::Crecv)?;
            place.write(task, &info);
            Ok(())
        })
    }

    pub(super) fn isend(kind: i64, data: Lent, node: i64, ptype: i64) -> Nx<i64> {
        with(|task| {
            check_ptype(ptype)?;
            let data = data.memory()?;
            outgoing(kind)?;
            if node != -1 {
                task.receiver(node)?;
            }
            ids::begin(task, |operations| start(task, kind, data, node, operations))
        })
    }

    /// Starts a send to a node, or to all others.
    fn start(
        task: &'static Task,
        kind: i64,
        data: Memory,
        node: i64,
        operations: &mut Vec<Operation>,
    ) -> Nx<()> {
        let mut start = |to| {
            let sending = exchange::start_send(task, kind, data, to)?;
            if let Some(sending) = sending {
                // The sender does not wait for it soon: let the receiver take it now.
                task.api.summon(to);
                operations.push(Operation::Send(sending));
            }
            Ok(())
        };
        if node == -1 { task.others().try_for_each(start) } else { start(task.receiver(node)?) }
    }

    pub(super) fn irecvx(typesel: i64, room: Lent, nodesel: i64, ptypesel: i64, place: InfoPlace) -> Nx<i64> {
        with(|task| {
            check_ptypesel(ptypesel)?;
            let pattern = wanted(typesel, task.sender(nodesel)?)?;
            let room = room.memory()?;
            let id = ids::begin(task, |operations| {
                operations.push(ids::post(task, &pattern, room, place)?);
                Ok(())
            });
            account::copied_in(task, Call::Irecv);
            id
        })
    }

    pub(super) fn isendrecv(
        kind: i64,
        data: Lent,
        node: i64,
        ptype: i64,
        typesel: i64,
        room: Lent,
    ) -> Nx<i64> {
        with(|task| {
            check_ptype(ptype)?;
            let (data, room) = (data.memory()?, room.memory()?);
            outgoing(kind)?;
            if node != -1 {
                task.receiver(node)?;
            }
            let pattern = wanted(typesel, None)?;
            let id = ids::begin(task, |operations| {
                // The receive is posted first, so that the answer finds it.
                operations.push(ids::post(task, &pattern, room, InfoPlace::None)?);
                start(task, kind, data, node, operations)
            });
            account::copied_in(task, Call::Irecv);
            id
        })
    }

    pub(super) fn csendrecv(
        kind: i64,
        data: Lent,
        node: i64,
        ptype: i64,
        typesel: i64,
        room: Lent,
    ) -> Nx<i64> {
        with(|task| {
            check_ptype(ptype)?;
            let (lent, data, room) = (data, data.memory()?, room.memory()?);
            let pattern = wanted(typesel, None)?;
            match node {
                -1 => send_to_all(task, kind, lent, task.others())?,
                node => exchange::send(task, kind, data, task.receiver(node)?)?,
            }
            let info = exchange::receive(task, &pattern, room, Call::Crecv)?;
            remember(&info);
            Ok(info.count)
        })
    }
}
