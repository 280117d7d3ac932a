//! Windows: memory of each member that the others read and change without its help.
//!
//! What reaches the target needs not its program: between processes that share the memory it is load and store, between others of
//! one host the kernel copies, and the rest is asked of the target's service, a thread of its own. [`memory`] has the memory,
//! how it is [allocated](allocating), [`serving`] what the target does when its [`service`] is asked [`questions`], [`elements`] how,
//! [`access`] who asks, [`epochs`] when that is permitted. Most calls are short: [`near`] has the way of those, [`reach`] what it
//! must know of a target, [`words`] the elements that the processor changes in one piece, [`seats`] the locks that all members see.
//!
//! A put, get or accumulate is over at the target when the call returns: flushing waits for nothing.
//! Memory that members share outlives a member: who locks that of one that has died, and puts there, hears of the death at the next call
//! that needs the process.

pub(crate) mod access;
mod allocating;
pub(crate) mod elements;
pub(crate) mod epochs;
#[allow(unsafe_code)]
pub(crate) mod memory;
#[allow(unsafe_code)]
pub(crate) mod near;
pub(crate) mod questions;
mod reach;
mod room;
mod runs;
#[allow(unsafe_code)]
pub(crate) mod seats;
pub(crate) mod service;
pub(crate) mod serving;
#[allow(unsafe_code)]
mod words;

use crate::collective::{Call, run};
use crate::comms::comm::Comm;
use crate::comms::create;
use crate::errors::{Error, Mpi, class};
use crate::objects::attributes::Attributes;
use crate::objects::errhandlers::Handler;
use crate::objects::handles::Objects;
use crate::objects::hints;
use crate::objects::info::Info;
use crate::objects::numbers::{Kind, PROC_NULL, WIN_NULL};
use crate::process::this::process;
use allocating::{OwnMemory, own_memory};
use epochs::Epochs;
use memory::Mapping;
use parvum_service::Service;
use parvum_sync::{BiasedGuard, BiasedLock};
use reach::Reach;
use seats::SharedLock;
use serving::Exposed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a window was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Flavor {
    /// Of memory of the program's.
    Create = 1,
    /// Of memory of its own.
    Allocate = 2,
    /// The program attaches and detaches memory.
    Dynamic = 3,
    /// All members see the memory of all.
    Shared = 4,
}

/// Loads and stores of the target see what others have put: there is one copy only.
pub(crate) const UNIFIED: i32 = 2;

/// A window.
pub(crate) struct Win {
    /// The members, in a context of the window's own.
    pub(crate) comm: Arc<Comm>,
    pub(crate) flavor: Flavor,
    /// What attributes show, where C finds it by a pointer.
    pub(crate) shown: Shown,
    pub(crate) targets: Vec<Target>,
    pub(crate) exposed: Arc<Exposed>,
    pub(crate) service: Arc<Service>,
    /// Mostly one thread opens and closes them.
    epochs: BiasedLock<Epochs>,
    /// What the short way knows.
    reach: Reach,
    pub(crate) attributes: Attributes,
    /// Memory of its own.
    _memory: Option<Arc<Mapping>>,
    rest: Mutex<Rest>,
}

/// Base, size, unit, flavor and model.
pub(crate) struct Shown {
    pub(crate) base: usize,
    pub(crate) size: i64,
    pub(crate) unit: i32,
    pub(crate) flavor: i32,
    pub(crate) model: i32,
}

/// What the program may change.
struct Rest {
    name: Vec<u8>,
    /// Nothing: the program has not set one.
    errhandler: Option<Handler>,
    info: Info,
}

/// The memory of one member.
#[derive(Clone)]
pub(crate) struct Target {
    /// Whom to ask.
    pub(crate) service: i32,
    /// Its number for the window, as part of all windows of that process.
    pub(crate) id: u32,
    /// The memory by the name that its service has for it.
    pub(crate) window: Option<parvum_service::Window>,
    /// Where it lies there.
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) unit: i64,
    /// Where this process has the same memory.
    pub(crate) here: Option<u64>,
    /// Its locks, where this process sees them.
    pub(crate) lock: Option<SharedLock>,
}

pub(crate) static WINS: Objects<Win> = Objects::new(Kind::Win);

/// The window of a handle.
#[inline]
pub(crate) fn win(handle: i32) -> Mpi<Arc<Win>> {
    process()?;
    WINS.get(handle).ok_or_else(|| {
        let text = match handle {
            WIN_NULL => "the window is MPI_WIN_NULL",
            _ => "the handle names no window; it may have been freed",
        };
        Error::new(class::WIN, text)
    })
}

/// What a member brings to a new window.
pub(crate) struct Wish {
    pub(crate) flavor: Flavor,
    /// Memory of the program's.
    pub(crate) base: *mut u8,
    pub(crate) size: usize,
    pub(crate) unit: i32,
    pub(crate) hints: Option<Arc<Info>>,
}

/// Makes a window, with all other members.
pub(crate) fn create(parent: &Arc<Comm>, wish: Wish) -> Mpi<i32> {
    if parent.remote().is_some() {
        return Err(Error::new(
            class::COMM,
            "a window is of an intra-communicator, not of an inter-communicator",
        ));
    }
    let process = process()?;
    let comm = Arc::new(create::duplicate(parent, false)?);
    let own = match wish.flavor {
        Flavor::Create | Flavor::Dynamic => OwnMemory::None,
        Flavor::Allocate | Flavor::Shared => own_memory(process, &comm, &wish)?,
    };
    let base = match &own {
        OwnMemory::None => wish.base,
        OwnMemory::Alone(mapping) => mapping.start(),
        OwnMemory::Shared(shared) => shared.starts[comm.rank()] as *mut u8,
    };
    let service = service::service(process)?;
    let lock = own.lock(comm.rank());
    let exposed = Exposed::new(&comm, (base, wish.size), wish.flavor == Flavor::Dynamic, lock, &service)?;
    let targets = meet(&comm, &service, &exposed, wish.unit, &own)?;
    let (unit, flavor) = (wish.unit, wish.flavor as i32);
    // See `win_shared_query`.
    let shown_base = if wish.flavor == Flavor::Shared && wish.size == 0 { 0 } else { base.addr() };
    let win = Win {
        shown: Shown { base: shown_base, size: wish.size as i64, unit, flavor, model: UNIFIED },
        flavor: wish.flavor,
        reach: Reach::new(wish.flavor, &targets),
        targets,
        exposed,
        service,
        epochs: BiasedLock::new(Epochs::default()),
        attributes: Attributes::default(),
        _memory: own.mapping(),
        rest: Mutex::new(Rest {
            name: Vec::new(),
            errhandler: None,
            info: match &wish.hints {
                Some(given) => hints::WIN.merged(&Info::default(), given)?,
                None => Info::default(),
            },
        }),
        comm,
    };
    let win = Arc::new(win);
    let none = || Error::new(class::OTHER, "there are too many windows");
    let handle = WINS.insert(win.clone()).ok_or_else(none)?;
    near::keep(handle, &win);
    Ok(handle)
}

/// Tells all members where this one's memory is, and hears it of them.
fn meet(comm: &Comm, service: &Service, exposed: &Exposed, unit: i32, own: &OwnMemory) -> Mpi<Vec<Target>> {
    let mine = [
        service.tid() as u64,
        u64::from(exposed.id()),
        exposed.window().map_or(0, |window| u64::from(window.0) + 1),
        exposed.base(),
        exposed.size(),
        unit as u64,
    ];
    let all = tell_all(comm, &mine)?;
    let target = |(rank, words): (usize, Vec<u64>)| Target {
        service: words[0] as i32,
        id: words[1] as u32,
        window: words[2].checked_sub(1).map(|number| parvum_service::Window(number as u32)),
        base: words[3],
        size: words[4],
        unit: words[5] as i64,
        here: match own {
            OwnMemory::Shared(shared) => Some(shared.starts[rank]),
            _ => (rank == comm.rank()).then_some(words[3]),
        },
        lock: own.lock(rank),
    };
    Ok(all.into_iter().enumerate().map(target).collect())
}

/// What each member says.
fn tell_all(comm: &Comm, mine: &[u64]) -> Mpi<Vec<Vec<u64>>> {
    let bytes: Vec<u8> = mine.iter().flat_map(|word| word.to_le_bytes()).collect();
    let words = |bytes: Vec<u8>| {
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight"))).collect()
    };
    Ok(create::tell_all(comm, &bytes)?.into_iter().map(words).collect())
}

/// Frees a window, with all other members.
pub(crate) fn free(handle: i32) -> Mpi {
    let win = win(handle)?;
    win.epochs().refuse_open()?;
    win.attributes.delete_all(handle)?;
    run(&win.comm, Call::Barrier)?;
    // From now on nobody asks for it.
    win.exposed.close(&win.service);
    for target in &win.targets {
        if let Some(window) = target.window {
            win.service.forget(target.service, window);
        }
    }
    near::forget(handle);
    WINS.remove(handle);
    Ok(())
}

impl Win {
    pub(crate) fn epochs(&self) -> BiasedGuard<'_, Epochs> {
        self.epochs.take()
    }

    /// The member of a rank; `None` for `MPI_PROC_NULL`.
    #[inline]
    pub(crate) fn target(&self, rank: i32) -> Mpi<Option<(usize, &Target)>> {
        match self.targets.get(rank as usize) {
            Some(target) => Ok(Some((rank as usize, target))),
            None if rank == PROC_NULL => Ok(None),
            None => self.comm.peer(rank).map(|_| None),
        }
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn name(&self) -> Vec<u8> {
        self.rest().name.clone()
    }

    pub(crate) fn set_name(&self, name: &[u8]) {
        name.clone_into(&mut self.rest().name);
    }

    pub(crate) fn errhandler(&self) -> Handler {
        self.chosen_errhandler().unwrap_or(Handler::FATAL)
    }

    /// The error handler, if the program has set it.
    pub(crate) fn chosen_errhandler(&self) -> Option<Handler> {
        self.rest().errhandler.clone()
    }

    pub(crate) fn set_errhandler(&self, errhandler: Handler) {
        self.rest().errhandler = Some(errhandler);
    }

    /// The hints, with the defaults of those that nobody gave.
    pub(crate) fn info(&self) -> Mpi<Info> {
        hints::WIN.shown(&self.rest().info)
    }

    pub(crate) fn set_info(&self, given: &Info) -> Mpi {
        let mut rest = self.rest();
        rest.info = hints::WIN.merged(&rest.info, given)?;
        Ok(())
    }
}
