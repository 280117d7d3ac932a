//! The identity of this process: its engine, its partition, its ptype.

use crate::errors::{Nx, NxError, print};
use parvum_api::{CoreApi, Status};
use parvum_partition::Partition;
use parvum_sync::fork;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// `myptype()` when none was set.
pub(crate) const INVALID_PTYPE: i64 = -1;
/// A ptype travels with each message, in this number of bits.
const LARGEST_PTYPE: i64 = (1 << 23) - 1;
/// The context of the messages of collectives: it begins with "nx", so that no other interface uses it.
pub(crate) const GROUP_CONTEXT: u32 = 0x6e78_0001;

/// What a node has.
pub(crate) struct Task {
    pub(crate) api: CoreApi,
    pub(crate) partition: Partition,
    /// The engine's counters of this task.
    pub(crate) cells: &'static [AtomicU64; 32],
    /// Whether a message that has come is copied by the irecv that asks for it, as on the iPSC/860 and under SUNMOS.
    pub(crate) copies_in_irecv: bool,
}

static TASK: OnceLock<Task> = OnceLock::new();

/// How this process came to its ptype.
static PTYPE_STATE: AtomicU8 = AtomicU8::new(STARTED);
static PTYPE: AtomicI64 = AtomicI64::new(0);
/// It began with 0, and has sent and received nothing.
const STARTED: u8 = 0;
/// It has messages, or has chosen.
const FIXED: u8 = 1;
/// It began as a service process and has chosen none.
const NONE: u8 = 2;

/// This process as a node; the first call makes it one.
#[inline]
pub(crate) fn task() -> Nx<&'static Task> {
    match TASK.get() {
        Some(task) if !fork::is_child() => Ok(task),
        _ => join(),
    }
}

#[cold]
fn join() -> Nx<&'static Task> {
    static JOINING: Mutex<()> = Mutex::new(());
    let _alone = JOINING.lock().unwrap_or_else(PoisonError::into_inner);
    if fork::is_child() {
        return Err(NxError::Child);
    }
    if let Some(task) = TASK.get() {
        return Ok(task);
    }
    let copies_in_irecv = match std::env::var("PARVUM_NX_BUFFERING").as_deref() {
        Err(_) | Ok("" | "paragon") => false,
        Ok("ipsc") => true,
        Ok(other) => {
            print(&format!("E-OPTION: PARVUM_NX_BUFFERING={other} is not valid; help: use paragon or ipsc"));
            return Err(NxError::Param);
        }
    };
    let api = CoreApi::open().map_err(|why| {
        print(&why.to_string());
        NxError::Machine
    })?;
    fork::watch();
    crate::words::publish(api);
    let partition = Partition::join(api, "nx", GROUP_CONTEXT).map_err(|why: Status| {
        print(&api.last_error());
        NxError::from(why)
    })?;
    let cells = api.cells().ok_or(NxError::Machine)?;
    Ok(TASK.get_or_init(|| Task { api, partition, cells, copies_in_irecv }))
}

/// Whether this process is a node already, and which.
pub(crate) fn own_node() -> Option<usize> {
    TASK.get().map(|task| task.partition.own())
}

/// This process's ptype, to be sent along or to receive with.
///
/// Relaxed, here and below: a program sets its ptype in its first thread, before it does anything else.
#[inline]
pub(crate) fn ptype_in_use() -> Nx<u32> {
    match PTYPE_STATE.load(Ordering::Relaxed) {
        FIXED => {}
        NONE => return Err(NxError::NoSet),
        _ => PTYPE_STATE.store(FIXED, Ordering::Relaxed),
    }
    Ok(PTYPE.load(Ordering::Relaxed) as u32)
}

/// This process's ptype, or that it has none.
pub(crate) fn ptype() -> i64 {
    match PTYPE_STATE.load(Ordering::Relaxed) {
        NONE => INVALID_PTYPE,
        _ => PTYPE.load(Ordering::Relaxed),
    }
}

/// Sets the ptype: once, before any message.
pub(crate) fn set_ptype(ptype: i64) -> Nx<()> {
    if !(0..=LARGEST_PTYPE).contains(&ptype) {
        return Err(NxError::Pid);
    }
    if PTYPE_STATE.load(Ordering::Relaxed) == FIXED {
        return Err(NxError::Set);
    }
    PTYPE.store(ptype, Ordering::Relaxed);
    PTYPE_STATE.store(FIXED, Ordering::Relaxed);
    Ok(())
}

/// This is a service process: it has no ptype before it chooses one.
pub(crate) fn start_as_service() {
    let _ = PTYPE_STATE.compare_exchange(STARTED, NONE, Ordering::Relaxed, Ordering::Relaxed);
}

/// Checks the ptype of a receiver. A node has one process, so a number that can be is enough.
#[inline]
pub(crate) fn check_ptype(ptype: i64) -> Nx<()> {
    if (0..=LARGEST_PTYPE).contains(&ptype) { Ok(()) } else { Err(NxError::Pid) }
}

/// Checks a selector of ptypes.
#[inline]
pub(crate) fn check_ptypesel(ptypesel: i64) -> Nx<()> {
    if ptypesel == -1 { Ok(()) } else { check_ptype(ptypesel) }
}

impl Task {
    /// The task behind a node number to send to.
    #[inline]
    pub(crate) fn receiver(&self, node: i64) -> Nx<i32> {
        self.partition.task(node).ok_or(NxError::Node)
    }

    /// The task that a node selector names; `None` for all.
    #[inline]
    pub(crate) fn sender(&self, nodesel: i64) -> Nx<Option<i32>> {
        if nodesel == -1 { Ok(None) } else { self.receiver(nodesel).map(Some) }
    }

    /// All nodes but this one.
    pub(crate) fn others(&self) -> impl Iterator<Item = i32> + '_ {
        let own = self.partition.own();
        (0..self.partition.size())
            .filter(move |node| *node != own)
            .filter_map(|node| self.partition.task(node as i64))
    }
}
