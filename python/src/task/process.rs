//! This process as a task of the virtual machine.

use crate::task::errors;
use crate::task::patience::{Looks, is_main_thread, until_signal};
use parvum_api::{CoreApi, Enrolled, Notes, Status, call};
use parvum_sync::fork;
use parvum_wire::control::{Reply, Request};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

static API: OnceLock<CoreApi> = OnceLock::new();
// Relaxed everywhere: they are set before any object that reads them exists.
static OWN: AtomicI32 = AtomicI32::new(0);
static PARENT: AtomicI32 = AtomicI32::new(0);

/// Joins the virtual machine, and starts it if none is up; a second call does nothing. A forked child becomes a separate task.
pub(crate) fn enrol(py: Python<'_>) -> PyResult<()> {
    static JOINING: Mutex<()> = Mutex::new(());
    let joined = outside(py, || {
        let _alone = JOINING.lock().unwrap_or_else(PoisonError::into_inner);
        let api = match API.get() {
            Some(api) => *api,
            None => {
                let api = CoreApi::open().map_err(|why| why.to_string())?;
                fork::watch();
                *API.get_or_init(|| api)
            }
        };
        let own = OWN.load(Ordering::Relaxed) != 0 && !fork::is_child();
        if own && api.progress().lost {
            // This virtual machine is gone. The process joins or starts another one, as another task.
            OWN.store(0, Ordering::Relaxed);
            let _ = api.depart();
        }
        if OWN.load(Ordering::Relaxed) == 0 || fork::is_child() {
            let Enrolled { tid, parent } = api.enrol("python").map_err(|_| api.last_error())?;
            fork::now_itself();
            MET.iter().for_each(|place| place.store(0, Ordering::Relaxed));
            PARENT.store(parent, Ordering::Relaxed);
            OWN.store(tid, Ordering::Relaxed);
            // A daemon without this request loses nothing.
            let _ = api.ask(&Request::LivesOn, &Notes { limit: -1, ..notes(call::MACHINE, -1, -1, 0) });
        }
        Ok(())
    });
    joined.map_err(|why: String| errors::new(py, "MachineGone", why))
}

/// Delivers all sent messages, and leaves the virtual machine.
pub(crate) fn leave(py: Python<'_>) -> PyResult<()> {
    if OWN.swap(0, Ordering::Relaxed) == 0 || fork::is_child() {
        return Ok(());
    }
    let Some(api) = API.get() else { return Ok(()) };
    // If the virtual machine is gone, the messages to it are lost too.
    let _ = outside(py, || api.depart());
    Ok(())
}

/// The engine, if this process is a task.
#[inline]
pub(crate) fn api(py: Python<'_>) -> PyResult<CoreApi> {
    match API.get() {
        Some(api) if OWN.load(Ordering::Relaxed) != 0 && !fork::is_child() => Ok(*api),
        _ => Err(no_task(py)),
    }
}

/// The engine, even if this process is not a task.
pub(crate) fn any_waist() -> Option<CoreApi> {
    API.get().copied()
}

#[cold]
fn no_task(py: Python<'_>) -> PyErr {
    match fork::is_child() {
        true => errors::new(py, "Forked", "this process was forked from a task, and is none itself"),
        false => errors::new(py, "NotEnrolled", "this process is no task of a machine"),
    }
}

/// This task's id, and its parent's id or 0.
pub(crate) fn identity(py: Python<'_>) -> PyResult<(i32, i32)> {
    api(py)?;
    Ok((OWN.load(Ordering::Relaxed), PARENT.load(Ordering::Relaxed)))
}

/// The name of a waiting call for `parvum ps` and `why`.
#[inline]
pub(crate) fn notes(call: u32, peer: i32, tag: i32, context: u32) -> Notes {
    Notes { limit: 0, call, peer, tag, context: context as i32 }
}

/// Tasks to which this one has sent, each at an index made of its number. Relaxed: an old value only costs time.
static MET: [AtomicI32; 64] = [const { AtomicI32::new(0) }; 64];

/// True if a message was sent to this task before.
#[inline]
pub(crate) fn knows(task: i32) -> bool {
    MET[task as usize % MET.len()].load(Ordering::Relaxed) == task
}

/// True if a message was sent to this task before; records that one is sent now.
#[inline]
pub(crate) fn has_met(task: i32) -> bool {
    let place = &MET[task as usize % MET.len()];
    place.load(Ordering::Relaxed) == task || {
        place.store(task, Ordering::Relaxed);
        false
    }
}

/// The interpreter is ending. Relaxed: the interpreter itself ends a thread that sees this late.
static ENDS: AtomicBool = AtomicBool::new(false);

/// From now on only this thread returns to the interpreter, which would end other threads in the middle of this module's code.
pub(crate) fn ends() {
    ENDS.store(true, Ordering::Relaxed);
}

/// Works or waits without the interpreter's lock.
#[inline]
pub(crate) fn outside<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let result = work();
        while ENDS.load(Ordering::Relaxed) && !is_main_thread() {
            std::thread::park();
        }
        result
    })
}

/// Asks the daemon. If a signal handler raises, the wait for the answer ends: see [`give_up`].
pub(crate) fn ask(py: Python<'_>, request: &Request) -> PyResult<Reply> {
    let api = api(py)?;
    let call = if matches!(request, Request::Barrier { .. }) { call::BARRIER } else { call::MACHINE };
    let notes = Notes { limit: -1, ..notes(call, -1, -1, 0) };
    let handles_signals = is_main_thread();
    let mut looks = Looks::new();
    loop {
        let notes = match handles_signals {
            true => Notes { limit: looks.next().as_nanos() as i64, ..until_signal(notes) },
            false => notes,
        };
        match outside(py, || api.ask(request, &notes)) {
            Ok(Ok(reply)) => return Ok(reply),
            Ok(Err(failure)) => return Err(errors::refused(py, &failure)),
            // A repeat of the same request does not reach the daemon twice.
            Err(Status::Pending) if handles_signals => {
                if let Err(why) = py.check_signals() {
                    give_up(api, request);
                    return Err(why);
                }
            }
            Err(status) => return Err(errors::of(py, status, 0, || api.last_error())),
        }
    }
}

/// The request that puts an undelivered entry back into the mailbox.
pub(crate) fn put_back(name: String, mail: Reply) -> Option<Request> {
    match mail {
        Reply::Mail { index, owner, flags, data } => {
            Some(Request::MailPutBack { name, index, owner, flags, data })
        }
        _ => None,
    }
}

/// The number of threads that undo what the daemon did for interrupted calls, and how many of them put entries back.
static UNDOING: (Mutex<(usize, usize)>, Condvar) = (Mutex::new((0, 0)), Condvar::new());

/// Undoes something in a separate thread, which a second signal does not interrupt.
pub(crate) fn undo(is_mail: bool, work: impl FnOnce() + Send + 'static) {
    let count = move |by: isize| {
        let mut counts = UNDOING.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.0 = counts.0.saturating_add_signed(by);
        counts.1 = counts.1.saturating_add_signed(if is_mail { by } else { 0 });
    };
    count(1);
    std::thread::spawn(move || {
        work();
        count(-1);
        UNDOING.1.notify_all();
    });
}

/// Waits until all undelivered entries are back. Signals are handled during the wait.
pub(crate) fn await_mail(py: Python<'_>) -> PyResult<()> {
    const SLICE: Duration = Duration::from_millis(20);
    loop {
        let is_over = outside(py, || {
            let counts = UNDOING.0.lock().unwrap_or_else(PoisonError::into_inner);
            counts.1 == 0 || UNDOING.1.wait_timeout(counts, SLICE).is_ok_and(|(counts, _)| counts.1 == 0)
        });
        if is_over {
            return Ok(());
        }
        py.check_signals()?;
    }
}

/// True if entries are being put back.
pub(crate) fn is_mail_on_its_way() -> bool {
    UNDOING.0.lock().unwrap_or_else(PoisonError::into_inner).1 > 0
}

/// Waits at the end of the process until all is undone; a daemon that does not answer ends the wait.
pub(crate) fn finish_undoing() {
    const PATIENCE: Duration = Duration::from_secs(2);
    let counts = UNDOING.0.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = UNDOING.1.wait_timeout_while(counts, PATIENCE, |counts| counts.0 > 0);
}

/// Gives up an answer. If the daemon has done the request anyway, this undoes it, because no code would know of it. A barrier that the
/// task has entered stays as it is until the task asks for the same barrier again.
fn give_up(api: CoreApi, request: &Request) {
    let notes = notes(call::MACHINE, -1, -1, 0);
    match request {
        Request::Barrier { .. } | Request::RemoveHosts { .. } => {}
        Request::Spawn(_) | Request::AddHosts { .. } | Request::MailGet { take: true, .. } => {
            let request = request.clone();
            let is_mail = matches!(request, Request::MailGet { .. });
            undo(is_mail, move || {
                let notes = Notes { limit: -1, ..notes };
                let undone = match (api.ask(&request, &notes), request) {
                    (Ok(Ok(mail @ Reply::Mail { .. })), Request::MailGet { name, .. }) => {
                        put_back(name, mail).into_iter().collect()
                    }
                    (Ok(Ok(Reply::Spawned(results))), _) => {
                        let begun = results.into_iter().flatten();
                        begun.map(|task| Request::Signal { tid: task.tid, signal: libc::SIGKILL }).collect()
                    }
                    (Ok(Ok(Reply::HostResults(results))), Request::AddHosts { hosts }) => {
                        let added = hosts.into_iter().zip(results).filter(|(_, result)| result.is_ok());
                        vec![Request::RemoveHosts { hosts: added.map(|(host, _)| host).collect() }]
                    }
                    _ => Vec::new(),
                };
                // If the object or the virtual machine is gone by then, nothing has to be undone.
                undone.iter().for_each(|request| drop(api.ask(request, &notes)));
            });
        }
        _ => drop(api.ask(request, &notes)),
    }
}
