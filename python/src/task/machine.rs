//! The virtual machine: tasks, hosts, notices and the mailbox, as the daemon knows them.

use crate::task::process::{ask, await_mail, is_mail_on_its_way, notes};
use crate::vm::Vm;
use crate::{objects::decode, objects::encode, task::errors};
use parvum_api::{Notes, call};
use parvum_wire::Tid;
use parvum_wire::control::{
    Blob, ExitStatus, MailFlags, Notice, Output, OutputMessages, Reply, Request, SpawnRequest, SpawnWhere,
    TaskState,
};
use pyo3::prelude::*;

/// The error for an answer of another kind.
fn strange(py: Python<'_>) -> PyErr {
    errors::new(py, "Refused", "the daemon gave another answer than to the question")
}

/// Starts tasks, all or none; returns their ids.
#[pyfunction]
#[pyo3(signature = (program, args, count, host, env, cwd, output, orphan))]
#[expect(clippy::too_many_arguments, reason = "they are named where a person calls it, in Python")]
pub(crate) fn spawn(
    py: Python<'_>,
    program: Vec<u8>,
    args: Vec<Vec<u8>>,
    count: u32,
    host: Option<String>,
    env: Vec<Vec<u8>>,
    cwd: Option<Vec<u8>>,
    output: Option<(u32, i32)>,
    orphan: bool,
) -> PyResult<Vec<i32>> {
    let (me, _) = crate::task::process::identity(py)?;
    let output = match output {
        None => Output::Inherit,
        Some((context, tag)) => Output::Messages(OutputMessages { to: Tid(me), context, tag }),
    };
    let request = SpawnRequest {
        program: Blob(program),
        args: args.into_iter().map(Blob).collect(),
        count,
        cwd: cwd.map(Blob),
        env_add: env.into_iter().map(Blob).collect(),
        output,
        place: host.map_or(SpawnWhere::Anywhere, SpawnWhere::Host),
        all_or_none: true,
        orphan,
        ..SpawnRequest::default()
    };
    let Reply::Spawned(results) = ask(py, &Request::Spawn(request))? else { return Err(strange(py)) };
    results
        .into_iter()
        .map(|result| result.map(|spawned| spawned.tid.0).map_err(|why| errors::refused(py, &why)))
        .collect()
}

/// Waits in the barrier of a group, like PVM's call, until `count` members have come; -1: all.
#[pyfunction]
pub(crate) fn meet(py: Python<'_>, group: String, count: i32) -> PyResult<()> {
    ask(py, &Request::Barrier { group, count }).map(|_| ())
}

/// Sends a signal to a task's process.
#[pyfunction]
pub(crate) fn kill(py: Python<'_>, task: i32, signal: i32) -> PyResult<()> {
    ask(py, &Request::Signal { tid: Tid(task), signal }).map(|_| ())
}

type Task = (i32, i32, i32, u32, String, &'static str);

/// The tasks: id, parent or 0, the host's daemon, process, name, state.
#[pyfunction]
pub(crate) fn tasks(py: Python<'_>) -> PyResult<Vec<Task>> {
    let Reply::Tasks(rows) = ask(py, &Request::Tasks { of: None, deep: false })? else {
        return Err(strange(py));
    };
    let state = |state| match state {
        TaskState::Started => "started",
        TaskState::Enrolled => "enrolled",
        TaskState::Departed => "departed",
    };
    let rows = rows.into_iter().map(|row| {
        let parent = row.parent.map_or(0, |parent| parent.0);
        (row.tid.0, parent, row.host.0, row.pid, row.name, state(row.state))
    });
    Ok(rows.collect())
}

type Host = (i32, String, String, i32, u32);

/// The hosts: the daemon's id, name, architecture, relative speed, processors.
#[pyfunction]
pub(crate) fn hosts(py: Python<'_>) -> PyResult<Vec<Host>> {
    let Reply::Hosts(rows) = ask(py, &Request::Hosts)? else { return Err(strange(py)) };
    Ok(rows.into_iter().map(|row| (row.tid.0, row.name, row.arch, row.speed, row.cpus)).collect())
}

/// The load of each host: its daemon, and the number of tasks that want a processor.
#[pyfunction]
pub(crate) fn loads(py: Python<'_>) -> PyResult<Vec<(i32, f64)>> {
    let Reply::Loads(rows) = ask(py, &Request::Loads)? else { return Err(strange(py)) };
    Ok(rows.into_iter().map(|(host, load)| (host.0, f64::from(load) / 100.0)).collect())
}

fn change_hosts(py: Python<'_>, request: &Request) -> PyResult<Vec<i32>> {
    let Reply::HostResults(results) = ask(py, request)? else { return Err(strange(py)) };
    results
        .into_iter()
        .map(|result| result.map(|host| host.0).map_err(|why| errors::refused(py, &why)))
        .collect()
}

/// Adds hosts; returns the ids of their daemons.
#[pyfunction]
pub(crate) fn add_hosts(py: Python<'_>, hosts: Vec<String>) -> PyResult<Vec<i32>> {
    change_hosts(py, &Request::AddHosts { hosts })
}

/// Removes hosts.
#[pyfunction]
pub(crate) fn remove_hosts(py: Python<'_>, hosts: Vec<String>) -> PyResult<Vec<i32>> {
    change_hosts(py, &Request::RemoveHosts { hosts })
}

/// Stops the virtual machine.
#[pyfunction]
pub(crate) fn halt(py: Python<'_>) -> PyResult<()> {
    ask(py, &Request::Halt).map(|_| ())
}

/// How the process of a task of this host ended: its exit code, or the negative number of its signal. `None`: not known.
#[pyfunction]
pub(crate) fn how_ended(py: Python<'_>, task: i32) -> PyResult<Option<i32>> {
    match ask(py, &Request::HowEnded { tid: Tid(task) }) {
        Ok(Reply::Ended(ExitStatus::Code(code))) => Ok(Some(code)),
        Ok(Reply::Ended(ExitStatus::Signal(signal))) => Ok(Some(-signal)),
        Ok(_) => Err(strange(py)),
        Err(why) if why.is_instance_of::<pyo3::exceptions::PyException>(py) => Ok(None),
        Err(why) => Err(why),
    }
}

/// The tasks that one request has started, in order, including this one.
#[pyfunction]
pub(crate) fn siblings(py: Python<'_>) -> PyResult<Vec<i32>> {
    let Reply::Siblings(tasks) = ask(py, &Request::Siblings)? else { return Err(strange(py)) };
    Ok(tasks.into_iter().map(|task| task.0).collect())
}

/// Asks for notices: "exit" of tasks, "lost" hosts, or hosts "added".
#[pyfunction]
pub(crate) fn notify(
    py: Python<'_>,
    about: &str,
    targets: Vec<i32>,
    context: u32,
    tag: i32,
    cancel: bool,
) -> PyResult<()> {
    let about = match about {
        "exit" => Notice::TaskExit,
        "lost" => Notice::HostDelete,
        "added" => Notice::HostAdd,
        other => return Err(errors::bad_argument(py, format!("nobody tells about {other:?}"))),
    };
    let mut targets: Vec<Tid> = targets.into_iter().map(Tid).collect();
    match about {
        Notice::TaskExit => {
            if let Some(no) = targets.iter().find(|task| !task.is_task()) {
                return Err(errors::bad_argument(py, format!("{} is no task's id", no.0)));
            }
        }
        // A task can stand for its host.
        _ => targets.iter_mut().for_each(|host| *host = host.daemon()),
    }
    let cookie = u64::from(context) << 32 | u64::from(tag as u32);
    let request = match (cancel, about) {
        (true, Notice::HostAdd) => Request::Notify { about, targets, count: 0, cookie },
        (true, _) => Request::CancelNotify { about, targets, cookie },
        (false, _) => Request::Notify { about, targets, count: -1, cookie },
    };
    ask(py, &request).map(|_| ())
}

/// Asks about the mailbox, after all undelivered entries are back.
fn ask_mail(py: Python<'_>, request: &Request) -> PyResult<Reply> {
    if is_mail_on_its_way() {
        await_mail(py)?;
    }
    ask(py, request)
}

/// Puts an object into the mailbox; returns its index under the name. `flags` are PVM's.
#[pyfunction]
pub(crate) fn mail_put(py: Python<'_>, name: String, object: &Bound<'_, PyAny>, flags: u32) -> PyResult<u32> {
    let encoded = encode::Encoded::of(object)?;
    let mut data = encoded.word.to_le_bytes().to_vec();
    encoded.pieces().iter().for_each(|piece| data.extend_from_slice(piece));
    let request = Request::MailPut { name, index: None, flags: MailFlags(flags), data: Blob(data) };
    match ask_mail(py, &request)? {
        Reply::Number(index) => Ok(index),
        _ => Err(strange(py)),
    }
}

/// Reads an object of the mailbox: the object, its index, and its owner or 0.
#[pyfunction]
pub(crate) fn mail_get<'py>(
    py: Python<'py>,
    name: String,
    index: Option<u32>,
    take: bool,
    wait: bool,
) -> PyResult<(Bound<'py, PyAny>, u32, i32)> {
    let request = Request::MailGet { name, index: index.unwrap_or(0), first: index.is_none(), take, wait };
    let reply = ask_mail(py, &request)?;
    let Reply::Mail { index, owner, data, .. } = &reply else { return Err(strange(py)) };
    let Some((meta, bytes)) = data.0.split_first_chunk() else { return Err(strange(py)) };
    let object = decode::of(py, u32::from_le_bytes(*meta), decode::Data::Lent(bytes));
    // If a signal handler raises now, or has raised in an object's own code, the entry was not delivered.
    let object = object.and_then(|object| py.check_signals().map(|()| object));
    let (index, owner) = (*index, owner.map_or(0, |owner| owner.0));
    match object {
        Ok(object) => Ok((object, index, owner)),
        Err(why) => {
            if let (Request::MailGet { name, take: true, .. }, api) =
                (request, crate::task::process::api(py)?)
            {
                let notes = Notes { limit: -1, ..notes(call::MACHINE, -1, -1, 0) };
                crate::task::process::undo(true, move || {
                    let put = crate::task::process::put_back(name, reply);
                    put.iter().for_each(|put| drop(api.ask(put, &notes)));
                });
            }
            Err(why)
        }
    }
}

/// Deletes an entry of the mailbox.
#[pyfunction]
pub(crate) fn mail_remove(py: Python<'_>, name: String, index: u32) -> PyResult<()> {
    ask_mail(py, &Request::MailRemove { name, index }).map(|_| ())
}

type Entry = (String, u32, i32, u32);

/// The entries of the mailbox: name, index, owner or 0, flags.
#[pyfunction]
pub(crate) fn mail_list(py: Python<'_>) -> PyResult<Vec<Entry>> {
    let Reply::MailList(classes) = ask_mail(py, &Request::MailList)? else { return Err(strange(py)) };
    let entries = classes.into_iter().flat_map(|class| {
        class.entries.into_iter().map(move |entry| {
            (class.name.clone(), entry.index, entry.owner.map_or(0, |owner| owner.0), entry.flags.0)
        })
    });
    Ok(entries.collect())
}

/// Leaves the virtual machine.
#[pyfunction]
pub(crate) fn leave(py: Python<'_>) -> PyResult<()> {
    crate::task::process::leave(py)
}

/// Joins the virtual machine.
#[pyfunction]
pub(crate) fn enrol(py: Python<'_>) -> PyResult<()> {
    crate::task::process::enrol(py)
}

/// Adds all functions of this file to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Vm>()?;
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add!(enrol leave spawn meet kill how_ended tasks hosts loads add_hosts remove_hosts halt siblings notify);
    add!(mail_put mail_get mail_remove mail_list);
    Ok(())
}
