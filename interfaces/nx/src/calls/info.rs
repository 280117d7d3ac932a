//! Probing, and what is known of messages: cprobe(3), infocount(3), nx_buffering(3).

use crate::account::{self, Buffering};
use libc::c_int;
use parvum_api::pointers::Out;

super::faces! {
    /// Waits for a message of such a type; it stays where it is.
    cprobe _cprobe cprobe_ (n typesel) none => work::cprobe(typesel);
    /// Whether there is one: 1 or 0.
    iprobe _iprobe iprobe_ (n typesel) value => work::iprobe(typesel);
    /// As `cprobe`, from a certain node; `info` is filled.
    cprobex _cprobex cprobex_ (n typesel, n nodesel, n ptypesel, i info) none => work::cprobex(typesel, nodesel, ptypesel, info);
    /// As `iprobe`, from a certain node; `info` is filled if there is one.
    iprobex _iprobex iprobex_ (n typesel, n nodesel, n ptypesel, i info) value => work::iprobex(typesel, nodesel, ptypesel, info);
    /// Bytes of the last message.
    infocount _infocount infocount_ () value => work::infocount();
    /// Who sent it.
    infonode _infonode infonode_ () value => work::infonode();
    /// Its type.
    infotype _infotype infotype_ () value => work::infotype();
    /// Its sender's ptype.
    infoptype _infoptype infoptype_ () value => work::infoptype();
    /// The same, as the iPSC calls it.
    infopid _infopid infopid_ () value => work::infopid();
}

mod work {
    use crate::calls::with;
    use crate::errors::Nx;
    use crate::exchange::{last, probe, remember};
    use crate::ids::InfoPlace;
    use crate::select::wanted;
    use crate::task::check_ptypesel;

    pub(super) fn cprobe(typesel: i64) -> Nx<()> {
        with(|task| {
            let found = probe(task, &wanted(typesel, None)?, true)?;
            found.iter().for_each(remember);
            Ok(())
        })
    }

    pub(super) fn iprobe(typesel: i64) -> Nx<i64> {
        with(|task| {
            let found = probe(task, &wanted(typesel, None)?, false)?;
            found.iter().for_each(remember);
            Ok(i64::from(found.is_some()))
        })
    }

    pub(super) fn cprobex(typesel: i64, nodesel: i64, ptypesel: i64, place: InfoPlace) -> Nx<()> {
        find(typesel, nodesel, ptypesel, place, true).map(|_| ())
    }

    pub(super) fn iprobex(typesel: i64, nodesel: i64, ptypesel: i64, place: InfoPlace) -> Nx<i64> {
        find(typesel, nodesel, ptypesel, place, false)
    }

    fn find(typesel: i64, nodesel: i64, ptypesel: i64, place: InfoPlace, wait: bool) -> Nx<i64> {
        with(|task| {
            check_ptypesel(ptypesel)?;
            let found = probe(task, &wanted(typesel, task.sender(nodesel)?)?, wait)?;
            found.iter().for_each(|info| place.write(task, info));
            Ok(i64::from(found.is_some()))
        })
    }

    pub(super) fn infocount() -> Nx<i64> {
        Ok(last().count)
    }

    pub(super) fn infonode() -> Nx<i64> {
        with(|task| Ok(last().numbers(task)[2]))
    }

    pub(super) fn infotype() -> Nx<i64> {
        Ok(last().kind)
    }

    pub(super) fn infoptype() -> Nx<i64> {
        Ok(last().ptype)
    }

    pub(super) fn infopid() -> Nx<i64> {
        Ok(last().ptype)
    }
}

/// Tells where the bytes of this node's messages lay, and in which calls they were copied. 0, or -1 and `errno`.
///
/// `out` is null or writable.
#[unsafe(no_mangle)]
pub extern "C" fn nx_buffering(out: Out<'_, Buffering>) -> c_int {
    let told = super::with(|task| {
        if out.is_null() {
            return Err(crate::errors::NxError::PBuf);
        }
        out.put(account::buffering(task));
        Ok(())
    });
    super::or_errno(told) as c_int
}
