//! Message ids: msgwait(3), msgdone(3), msgignore(3), msgcancel(3), msgmerge(3).

super::faces! {
    /// Waits for what an id names, and frees it.
    msgwait _msgwait msgwait_ (n mid) none => work::msgwait(mid);
    /// Whether what an id names is over: 1, and the id is free; else 0.
    msgdone _msgdone msgdone_ (n mid) value => work::msgdone(mid);
    /// Gives an id up; it is free when what it names is over.
    msgignore _msgignore msgignore_ (n mid) none => work::msgignore(mid);
    /// Withdraws what an id names, and frees it.
    msgcancel _msgcancel msgcancel_ (n mid) none => work::msgcancel(mid);
    /// Makes one id of two.
    msgmerge _msgmerge msgmerge_ (n mid1, n mid2) value => work::msgmerge(mid1, mid2);
}

mod work {
    use crate::calls::with;
    use crate::errors::Nx;
    use crate::ids;

    pub(super) fn msgwait(mid: i64) -> Nx<()> {
        with(|task| ids::wait(task, mid).map(|_| ()))
    }

    pub(super) fn msgdone(mid: i64) -> Nx<i64> {
        with(|task| ids::done(task, mid).map(i64::from))
    }

    pub(super) fn msgignore(mid: i64) -> Nx<()> {
        with(|task| ids::ignore(task, mid))
    }

    pub(super) fn msgcancel(mid: i64) -> Nx<()> {
        with(|task| ids::cancel(task, mid))
    }

    pub(super) fn msgmerge(mid1: i64, mid2: i64) -> Nx<i64> {
        with(|_| ids::merge(mid1, mid2))
    }
}
