//! Processes that come: children that are spawned, and other programs that meet at a port.

use crate::comms::comm::Comm;
use crate::comms::contexts::OwnContext;
use crate::comms::create::{from_told, numbers, share, words};
use crate::comms::handles::keep;
use crate::errors::{Error, Mpi, class};
use crate::objects::numbers::COMM_NULL;
use crate::process::inherited::inherited;
use crate::process::machine::{PARENT_CONTEXT, notes};
use crate::process::this::{Process, process};
use parvum_api::{ANY_TASK, Pattern, SendTo, TagKind, call};
use parvum_api::{Buffering, Completion};
use parvum_wire::Tid;
use parvum_wire::control::{Blob, Each, Program, Reply, Request, SpawnRequest, SpawnWhere};
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// In the environment of children: their parents have something to tell them.
const PARENT: &str = "PARVUM_MPI_PARENT";
/// Of processes that were started with others: which of the programs theirs is.
const APPNUM: &str = "PARVUM_MPI_APPNUM";

/// What a process finds of itself in its environment, and its children must not.
const OWN: [&str; 6] = [PARENT, APPNUM, "PARVUM_TID", "PARVUM_TICKET", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"];

/// One of the programs to spawn.
pub(crate) struct Child {
    pub(crate) program: Vec<u8>,
    pub(crate) arguments: Vec<Vec<u8>>,
    pub(crate) count: u32,
    pub(crate) directory: Option<Vec<u8>>,
    pub(crate) host: Option<String>,
    /// Directories to search before PATH.
    pub(crate) path: Option<Vec<u8>>,
}

/// Spawns programs, as the root of a communicator's members; all get the inter-communicator, and for each child an error code.
/// `children` is what the root wants; the others give `None`.
pub(crate) fn spawn(
    comm: &Arc<Comm>,
    root: usize,
    children: Option<Mpi<Vec<Child>>>,
) -> Mpi<(Comm, Vec<i32>)> {
    let process = process()?;
    let (mut said, mut own, mut failure) = (Vec::new(), None, None);
    if let Some(children) = children {
        said = match children.and_then(|children| start(process, children)) {
            Ok((made, tasks, codes)) => {
                let context = made.number();
                own = Some(made);
                let mut said = numbers([context, tasks.len() as u32]);
                said.extend(numbers(tasks.iter().map(|&task| task as u32)));
                said.extend(numbers(codes.iter().map(|&code| code as u32)));
                said
            }
            // The others are told that there is nothing.
            Err(error) => {
                let said = numbers([0, error.class() as u32]);
                failure = Some(error);
                said
            }
        };
    }
    let told = words(&share(comm, root, &said)?);
    let [context, count, ref rest @ ..] = told[..] else {
        return Err(Error::new(class::INTERN, "too short an answer"));
    };
    if context == 0 {
        let elsewhere = || Error::new(count as i32, "the root could not start the programs");
        return Err(failure.unwrap_or_else(elsewhere));
    }
    let (tasks, codes) = rest.split_at(count as usize);
    let tasks: Vec<i32> = tasks.iter().map(|&task| task as i32).collect();
    let codes = codes.iter().map(|&code| code as i32).collect();
    if comm.rank() == root {
        let mut greeting = numbers([context]);
        greeting.extend(numbers(comm.group().tasks().iter().map(|&task| task as u32)));
        for &task in &tasks {
            tell(process, task, PARENT_CONTEXT, 0, &greeting)?;
        }
    }
    Ok((from_told(comm, (context, own), true, tasks)?, codes))
}

/// Starts the programs: the context of the new communicator, the tasks, and a code for each.
fn start(process: &Process, children: Vec<Child>) -> Mpi<(OwnContext, Vec<i32>, Vec<i32>)> {
    let context = OwnContext::new()?;
    let total: u32 = children.iter().map(|child| child.count).sum();
    let mut request = SpawnRequest { count: total, all_or_none: true, ..SpawnRequest::default() };
    let own = |name: &std::ffi::OsStr| {
        OWN.iter().any(|own| name == *own) || crate::process::launcher::is_variable(name.as_bytes())
    };
    let environment = std::env::vars_os()
        .filter(|(name, _)| !own(name))
        .map(|(name, value)| Blob([name.as_bytes(), b"=", value.as_bytes()].concat()));
    request.env = Some(environment.collect());
    request.details.inherited = Some(inherited(Tid(process.me()).daemon()));
    let mut rank = 0;
    for (number, child) in children.iter().enumerate() {
        let blob = |text: &[u8]| Blob(text.to_vec());
        let directory = child
            .directory
            .clone()
            .or_else(|| std::env::current_dir().ok().map(|directory| directory.into_os_string().into_vec()));
        let program = Program {
            program: blob(&child.program),
            args: child.arguments.iter().map(|argument| blob(argument)).collect(),
            cwd: directory.as_deref().map(blob),
            env_add: vec![
                blob(format!("{PARENT}=1").as_bytes()),
                blob(format!("{APPNUM}={number}").as_bytes()),
            ],
        };
        if number == 0 {
            request.search =
                child.path.iter().flat_map(|path| path.split(|&byte| byte == b':')).map(blob).collect();
            if let Some(host) = &child.host {
                request.place = SpawnWhere::Host(host.clone());
            }
            Program {
                program: request.program,
                args: request.args,
                cwd: request.cwd,
                env_add: request.env_add,
            } = program;
        } else {
            request.details.programs.push(program);
        }
        for _ in 0..child.count {
            if children.len() > 1 {
                request.details.each.push(Each { rank, program: number as u32, host: None, input: false });
            }
            rank += 1;
        }
    }
    let refused = |why: String| Error::new(class::SPAWN, why);
    let answer = process.ask(&Request::Spawn(request));
    let results = match answer.map_err(|status| process.failed(status, None))? {
        Ok(Reply::Spawned(results)) => results,
        Ok(other) => return Err(refused(format!("{other:?}"))),
        Err(failure) => return Err(refused(failure.to_string())),
    };
    let mut tasks = Vec::new();
    for result in results {
        match result {
            Ok(spawned) => tasks.push(spawned.tid.0),
            Err(failure) => return Err(refused(failure.to_string())),
        }
    }
    let codes = vec![class::SUCCESS; tasks.len()];
    Ok((context, tasks, codes))
}

fn tell(process: &Process, task: i32, context: u32, tag: i32, bytes: &[u8]) -> Mpi {
    let how = SendTo {
        to: task,
        tag,
        context,
        meta: 0,
        buffering: Buffering::AtSender,
        completion: Completion::Copied,
    };
    let told = notes(call::SEND, task, tag, context);
    process.api.send_one(how, bytes, &told).map_err(|status| process.failed(status, None))
}

fn hear(process: &Process, from: i32, context: u32, tag: i32) -> Mpi<(i32, Vec<u8>)> {
    let (tags, other) = (TagKind::Exactly, 0);
    let pattern = Pattern { from, tags, tag, other, context: i64::from(context) };
    let told = notes(call::RECEIVE, from, tag, context);
    let failed = |status| process.failed(status, None);
    let found = process.api.extract(&pattern, &told).map_err(failed)?;
    let mut bytes = vec![0; found.length as usize];
    process.api.take(&found, parvum_api::Receiving::Into(&mut bytes), &told).map_err(failed)?;
    Ok((found.from, bytes))
}

/// The communicator with the parents, once it is known.
static WITH_PARENTS: AtomicI32 = AtomicI32::new(COMM_NULL);

/// A child hears of its parents. The first thing that its processes do together.
pub(crate) fn meet_parents(process: &'static Process) -> Mpi {
    if std::env::var_os(PARENT).is_none() {
        return Ok(());
    }
    let Some(parent) = process.partition().host() else { return Ok(()) };
    let (_, told) = hear(process, parent, PARENT_CONTEXT, 0)?;
    let told = words(&told);
    let [context, ref tasks @ ..] = told[..] else {
        return Err(Error::new(class::INTERN, "too short a greeting"));
    };
    let tasks = tasks.iter().map(|&task| task as i32).collect();
    let made = from_told(&process.world, (context, None), false, tasks)?;
    made.set_name(b"MPI_COMM_PARENT");
    // Relaxed, here and below: the number of a handle. The table of handles has a lock, behind which the communicator is.
    WITH_PARENTS.store(keep(made)?, Ordering::Relaxed);
    Ok(())
}

/// The communicator with the parents, or the null one.
pub(crate) fn parent() -> i32 {
    WITH_PARENTS.load(Ordering::Relaxed)
}

/// It was freed.
pub(crate) fn forget_parent(handle: i32) {
    let _ = WITH_PARENTS.compare_exchange(handle, COMM_NULL, Ordering::Relaxed, Ordering::Relaxed);
}

/// Which of the programs that were started together this process's is.
pub(crate) fn appnum() -> Option<i32> {
    std::env::var(APPNUM).ok()?.parse().ok()
}

/// Of what programs say to each other at ports.
const PORT_CONTEXT: u32 = 0x7d69_000a;

/// A place where other programs may connect: its task and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) task: i32,
    pub(crate) number: i32,
}

static NEXT_PORT: AtomicI32 = AtomicI32::new(1);

impl Port {
    pub(crate) fn open(process: &Process) -> Port {
        // Relaxed: each number is given out once, whatever the order.
        Port { task: process.me(), number: NEXT_PORT.fetch_add(1, Ordering::Relaxed) }
    }

    pub(crate) fn text(&self) -> String {
        format!("parvum:t{:x}:{}", self.task, self.number)
    }

    pub(crate) fn read(text: &str) -> Mpi<Port> {
        let wrong =
            || Error::new(class::PORT, format!("\"{text}\" is no port: MPI_Open_port gives their names"));
        let (task, number) =
            text.strip_prefix("parvum:t").and_then(|rest| rest.split_once(':')).ok_or_else(wrong)?;
        let task = i32::from_str_radix(task, 16).map_err(|_| wrong())?;
        let number = number.parse().map_err(|_| wrong())?;
        if Tid(task).is_task() { Ok(Port { task, number }) } else { Err(wrong()) }
    }
}

/// Waits at a port, as the root of a communicator, for another program.
pub(crate) fn accept(comm: &Arc<Comm>, root: usize, port: Option<Mpi<Port>>) -> Mpi<Comm> {
    let process = process()?;
    let (mut said, mut own, mut failure) = (Vec::new(), None, None);
    if let Some(port) = port {
        said = match port.and_then(|port| meet_caller(process, comm, port)) {
            Ok((context, theirs)) => {
                let mut said = numbers([context.number()]);
                said.extend(theirs);
                own = Some(context);
                said
            }
            // The others are told that there is nobody.
            Err(error) => {
                failure = Some(error);
                numbers([0])
            }
        };
    }
    let told = words(&share(comm, root, &said)?);
    failure.map_or_else(|| joined(comm, &told, own, true), Err)
}

/// Waits for a caller, and tells it who is here: the context for both, and the caller's tasks.
fn meet_caller(process: &Process, comm: &Comm, port: Port) -> Mpi<(OwnContext, Vec<u8>)> {
    if port.task != process.me() {
        return Err(Error::new(class::PORT, "the port was opened by another process"));
    }
    let (from, theirs) = hear(process, ANY_TASK, PORT_CONTEXT, port.number)?;
    let context = OwnContext::new()?;
    let mut answer = numbers([context.number()]);
    answer.extend(numbers(comm.group().tasks().iter().map(|&task| task as u32)));
    tell(process, from, PORT_CONTEXT, -port.number, &answer)?;
    Ok((context, theirs))
}

/// Connects with a program that waits at a port.
pub(crate) fn connect(comm: &Arc<Comm>, root: usize, port: Option<Mpi<Port>>) -> Mpi<Comm> {
    let process = process()?;
    let mut said = Vec::new();
    if let Some(port) = port {
        said = match port.and_then(|port| call_at(process, comm, port)) {
            Ok(answer) => answer,
            Err(_) => numbers([0]),
        };
    }
    let told = words(&share(comm, root, &said)?);
    joined(comm, &told, None, false)
}

fn call_at(process: &Process, comm: &Comm, port: Port) -> Mpi<Vec<u8>> {
    let tasks = numbers(comm.group().tasks().iter().map(|&task| task as u32));
    tell(process, port.task, PORT_CONTEXT, port.number, &tasks)?;
    hear(process, port.task, PORT_CONTEXT, -port.number).map(|(_, answer)| answer)
}

/// Joins with the process at the other end of a socket, which must be a task of the same machine.
pub(crate) fn join_over(socket: &mut (impl Read + Write)) -> Mpi<Comm> {
    let process = process()?;
    let failed = |error: std::io::Error| Error::new(class::OTHER, format!("the socket failed: {error}"));
    // Each gives a context; that of the smaller task is taken.
    let mine = OwnContext::new()?;
    socket.write_all(&numbers([process.me() as u32, mine.number()])).map_err(failed)?;
    let mut answer = [0; 8];
    socket.read_exact(&mut answer).map_err(failed)?;
    let [theirs, their_context] = words(&answer)[..] else {
        return Err(Error::new(class::INTERN, "a short answer"));
    };
    let is_first = process.me() < theirs as i32;
    let context = if is_first { (mine.number(), Some(mine)) } else { (their_context, None) };
    from_told(&process.own, context, is_first, vec![theirs as i32])
}

fn joined(comm: &Arc<Comm>, told: &[u32], own: Option<OwnContext>, is_first: bool) -> Mpi<Comm> {
    match told {
        [context, tasks @ ..] if *context != 0 => {
            from_told(comm, (*context, own), is_first, tasks.iter().map(|&task| task as i32).collect())
        }
        _ => Err(Error::new(class::PORT, "nobody waits at the port")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_names_round_trip_and_invalid_ones_are_refused() {
        let port = Port { task: 0x40001, number: 7 };
        assert_eq!(Port::read(&port.text()), Ok(port));
        for wrong in ["", "parvum:t40001", "parvum:tx:1", "tcp://host", "parvum:t0:1"] {
            assert_eq!(Port::read(wrong).expect_err("none").code, class::PORT, "{wrong}");
        }
    }
}
