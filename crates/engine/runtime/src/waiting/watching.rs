//! For programs that do more than receive: waiting for any message, waiting for descriptors,
//! and starting a machine by hand.

use crate::endpoint::Endpoint;
use crate::errors::remember;
use crate::inside::with;
use crate::process::own_directory;
use crate::runtime::Runtime;
use parvum_api::{Notes, Status};
use parvum_engine::Pattern;
use parvum_task::{Options, Session, find_command};
use parvum_wire::Tid;
use parvum_wire::control::Role;
use rustix::event::epoll;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) unsafe extern "C" fn await_arrival<E: Endpoint>(seen: u64, notes: *const Notes) -> u64 {
    // SAFETY: valid for the call, by the table's contract.
    let notes = unsafe { &*notes };
    with::<E, _>(seen, |runtime| {
        let peer = Tid(notes.peer);
        if runtime.is_gone(peer) {
            return runtime.engine.arrivals();
        }
        let over = |runtime: &mut Runtime| {
            let changed = runtime.engine.arrivals() != seen || runtime.engine.is_gone(peer);
            changed.then_some(())
        };
        runtime.wait_until(notes, over);
        runtime.engine.arrivals()
    })
}

/// The program itself has looked at the messages that `seen` counts.
pub(crate) extern "C" fn looked<E: Endpoint>(seen: u64) {
    with::<E, _>((), |runtime| runtime.waits.noticed.nothing(&Pattern::ANY, seen));
}

/// One descriptor for everything that this task may wait for, also for later connections: programs ask only once, and
/// PVM's own console polls only the first descriptor.
pub(crate) unsafe extern "C" fn descriptors<E: Endpoint>(out: *mut i32, room: usize) -> usize {
    with::<E, _>(0, |runtime| {
        let Some(all) = runtime.descriptor_for_all().filter(|_| room > 0) else { return 0 };
        // SAFETY: there is room for one, by the table's contract and the filter above.
        unsafe { *out = all.as_raw_fd() };
        1
    })
}

impl Runtime {
    /// The program asked for such a message, and there is none.
    pub(crate) fn found_nothing(&mut self, pattern: &Pattern) {
        self.waits.noticed.nothing(pattern, self.engine.arrivals());
    }

    /// One descriptor for everything this task may wait for.
    pub(crate) fn descriptor_for_all(&mut self) -> Option<BorrowedFd<'_>> {
        if self.waits.all.is_none() {
            match epoll::create(epoll::CreateFlags::CLOEXEC) {
                Ok(all) => self.waits.all = Some(all),
                Err(why) => remember(&format!("E-SYSTEM: a descriptor for all others: {why}")),
            }
        }
        self.gather();
        self.waits.all.as_ref().map(AsFd::as_fd)
    }

    /// From now on peers ring the eventfd, as if this task slept there.
    pub(crate) fn listen(&mut self) {
        self.identity.control_block.fall_asleep_in_poll();
        self.engine.doze();
        while self.progress() {}
        self.gather();
    }

    /// Puts what is not there yet into the descriptor for all; what was closed has left it by itself.
    fn gather(&self) {
        let Some(all) = &self.waits.all else { return };
        let add = |source: BorrowedFd<'_>| {
            let _ = epoll::add(all, source, epoll::EventData::new_u64(0), epoll::EventFlags::IN);
        };
        add(self.identity.session.fd());
        add(self.identity.as_fd());
        self.connections.watched.iter().for_each(|one| add(one.socket.as_fd()));
        self.connections.silent.iter().for_each(|silent| add(silent.greeting.socket()));
        for (_, listener) in &self.connections.listeners {
            match self.connections.is_deaf() {
                false => add(listener.as_fd()),
                true => drop(epoll::delete(all, listener)),
            }
        }
    }
}

/// The program is about to wait for descriptors: peers must ring the eventfd, as if it slept here.
pub(crate) extern "C" fn watch<E: Endpoint>() {
    with::<E, _>((), |runtime| {
        let _ = rustix::io::read(&runtime.identity.event, &mut [0; 8]);
        runtime.listen();
        // Messages that this or an earlier call took in do not make the descriptor readable any more, so the task does
        // this itself.
        let arrivals = runtime.engine.arrivals();
        if !runtime.waits.noticed.knows_of(arrivals) && runtime.engine.find(|_, _| true).is_some() {
            let _ = rustix::io::write(&runtime.identity.event, &1u64.to_ne_bytes());
        }
    });
}

pub(crate) extern "C" fn manager<E: Endpoint>() -> i32 {
    with::<E, _>(0, |runtime| {
        runtime.progress();
        runtime.services.manager.map_or(0, |tid| tid.0)
    })
}

pub(crate) unsafe extern "C" fn tracer<E: Endpoint>(out: *mut u8, room: usize) -> usize {
    with::<E, _>(0, |runtime| {
        runtime.progress();
        let mail = runtime.services.tracer.as_deref().unwrap_or_default();
        let length = mail.len().min(room);
        // SAFETY: room for `room` bytes, by the table's contract.
        unsafe { std::ptr::copy_nonoverlapping(mail.as_ptr(), out, length) };
        length
    })
}

/// How long a machine may take to come up.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) unsafe extern "C" fn start_machine<E: Endpoint>(arguments: *const u8, length: usize) -> i32 {
    let bytes = match length {
        0 => &[],
        // SAFETY: valid for the call, by the table's contract.
        _ => unsafe { std::slice::from_raw_parts(arguments, length) },
    };
    if is_up() {
        return Status::Unknown as i32;
    }
    let started = start(bytes).and_then(|mut daemon| await_machine(&mut daemon));
    match started {
        Ok(()) => Status::Done as i32,
        Err(why) => {
            remember(&why);
            Status::NoMachine as i32
        }
    }
}

fn is_up() -> bool {
    let options = Options { start: false, ..Options::new(Role::Tool, "pvm_start_pvmd") };
    Session::open(&options).is_ok()
}

fn start(arguments: &[u8]) -> Result<Child, String> {
    let command = find_command(own_directory().as_deref()).map_err(|why| why.to_string())?;
    let arguments =
        arguments.split_inclusive(|byte| *byte == 0).map(|word| OsStr::from_bytes(&word[..word.len() - 1]));
    Command::new(&command)
        .arg0("pvmd")
        .args(arguments)
        .env_remove("PARVUM_TID")
        .env_remove("PARVUM_TICKET")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // The machine outlives this program and its terminal.
        .process_group(0)
        .spawn()
        .map_err(|why| format!("E-START: {}: {why}", command.display()))
}

fn await_machine(daemon: &mut Child) -> Result<(), String> {
    let began = Instant::now();
    while !is_up() {
        if let Ok(Some(status)) = daemon.try_wait()
            && !is_up()
        {
            return Err(format!("E-START: pvmd ended at once ({status})"));
        }
        if began.elapsed() > PATIENCE {
            let _ = daemon.kill();
            let _ = daemon.wait();
            return Err(format!("E-START: no machine after {PATIENCE:?}"));
        }
        // A pvmd prints only to its terminal, so only its socket shows that it serves.
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
