//! How windows are made and freed, and the memory that a window has of its own: one place for all members, with their locks, where
//! they can share memory; or each its own.

use crate::collective::{Call, run};
use crate::comms::comm::Comm;
use crate::comms::create;
use crate::errors::{Error, Mpi, class};
use crate::objects::attributes::Attributes;
use crate::objects::hints;
use crate::objects::info::Info;
use crate::process::this::{Process, process};
use crate::windows::epochs::Epochs;
use crate::windows::memory::{self, Mapping, Segment};
use crate::windows::reach::Reach;
use crate::windows::room::room;
use crate::windows::seats::SharedLock;
use crate::windows::serving::Exposed;
use crate::windows::{Flavor, Rest, Shown, Target, UNIFIED, WINS, Win, near, service, win};
use parvum_service::Service;
use parvum_sync::BiasedLock;
use parvum_wire::Tid;
use std::sync::{Arc, Mutex};

/// What a member brings to a new window.
pub(crate) struct WindowRequest {
    pub(crate) flavor: Flavor,
    /// Memory of the program's.
    pub(crate) base: *mut u8,
    pub(crate) size: usize,
    pub(crate) unit: i32,
    pub(crate) hints: Option<Arc<Info>>,
}

/// Makes a window, with all other members.
pub(crate) fn create(parent: &Arc<Comm>, wish: WindowRequest) -> Mpi<i32> {
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

/// Memory for a window.
enum OwnMemory {
    /// It is the program's.
    None,
    /// Memory that only this process has.
    Alone(Arc<Mapping>),
    Shared(SharedMemory),
}

/// Memory of all members at one place.
struct SharedMemory {
    mapping: Arc<Mapping>,
    /// Where each has its part.
    starts: Vec<u64>,
    /// Where the locks begin, one for each, as bytes from the beginning.
    locks: u64,
}

impl OwnMemory {
    fn mapping(self) -> Option<Arc<Mapping>> {
        match self {
            OwnMemory::None => None,
            OwnMemory::Alone(mapping) | OwnMemory::Shared(SharedMemory { mapping, .. }) => Some(mapping),
        }
    }

    /// The lock of a member, if all see it.
    fn lock(&self, rank: usize) -> Option<SharedLock> {
        let OwnMemory::Shared(SharedMemory { mapping, locks, .. }) = self else { return None };
        Some(SharedLock::new(mapping, locks + rank as u64 * SharedLock::LENGTH))
    }
}

/// That of all members at one place, or else memory that only this one has.
fn own_memory(process: &Process, comm: &Comm, wish: &WindowRequest) -> Mpi<OwnMemory> {
    let is_shared = wish.flavor == Flavor::Shared;
    let host = Tid(process.me()).host();
    let is_near = comm.group().tasks().iter().all(|&task| Tid(task).host() == host);
    if is_near && let Some(shared) = shared_memory(comm, wish)? {
        return Ok(OwnMemory::Shared(shared));
    }
    if is_shared {
        let text = "the members cannot share memory: they live on several hosts, or the system refuses it; \
                    split the communicator with MPI_Comm_split_type first";
        return Err(Error::new(class::RMA_SHARED, text));
    }
    // All have their memory, or nobody makes the window.
    let own = match room() {
        Some(room) if wish.size as u64 > room => Err(no_room(wish.size as u64, room)),
        _ => Mapping::private(wish.size),
    };
    let failed = own.as_ref().err().map_or(0, |error| error.class() as u64);
    let elsewhere = tell_all(comm, &[failed])?.iter().map(|words| words[0]).find(|&class| class != 0);
    match (own?, elsewhere) {
        (mapping, None) => Ok(OwnMemory::Alone(Arc::new(mapping))),
        (_, Some(class)) => Err(Error::new(class as i32, "another rank has no memory for the window")),
    }
}

/// The system would give the memory, and end a process that uses it.
#[cold]
fn no_room(size: u64, room: u64) -> Error {
    let text = format!(
        "the window needs {size} bytes, and the control group of this process leaves {room} (memory.max)"
    );
    Error::new(class::NO_MEM, text)
}

/// Memory that all members see. `None`, for all alike: one of them could not have it.
fn shared_memory(comm: &Comm, wish: &WindowRequest) -> Mpi<Option<SharedMemory>> {
    let apart = wish.hints.as_ref().and_then(|hints| hints.get("alloc_shared_noncontig").ok().flatten());
    let apart = wish.flavor == Flavor::Allocate || apart.as_deref() == Some(b"true");
    let sizes = tell_all(comm, &[wish.size as u64, u64::from(apart), room().unwrap_or(u64::MAX)])?;
    // All must have wished it.
    let apart = sizes.iter().all(|words| words[1] == 1);
    let mut end = 0_u64;
    let mut places = Vec::with_capacity(sizes.len());
    for words in &sizes {
        places.push(end);
        let size = if apart { words[0].next_multiple_of(memory::PAGE) } else { words[0] };
        end = end.checked_add(size).ok_or_else(too_long)?;
    }
    let locks = end.checked_next_multiple_of(SharedLock::LENGTH);
    let end = locks.and_then(|locks| locks.checked_add(sizes.len() as u64 * SharedLock::LENGTH));
    let (Some(locks), Some(end)) = (locks, end) else { return Err(too_long()) };
    let room = sizes.iter().map(|words| words[2]).min().unwrap_or(u64::MAX);
    if end > room {
        return Err(no_room(end, room));
    }
    let made = if comm.rank() == 0 { with_locks(end, locks, sizes.len()) } else { None };
    let named = made.as_ref().map_or([0; 4], |(segment, _)| segment.name());
    let name = tell_all(comm, &named)?.swap_remove(0);
    let mapping = match &made {
        Some((_, mapping)) => Some(mapping.clone()),
        None => Segment::open(&name).and_then(|segment| segment.map()).map(Arc::new),
    };
    let all = tell_all(comm, &[u64::from(mapping.is_some())])?;
    let Some(mapping) = mapping.filter(|_| all.iter().all(|words| words[0] == 1)) else { return Ok(None) };
    let start = mapping.start().expose_provenance() as u64;
    let starts = places.into_iter().map(|place| start + place).collect();
    Ok(Some(SharedMemory { mapping, starts, locks }))
}

/// Memory for all, with the locks of so many members, which are ready before anybody hears of it.
fn with_locks(end: u64, locks: u64, members: usize) -> Option<(Segment, Arc<Mapping>)> {
    let segment = Segment::new(end as usize)?;
    let mapping = Arc::new(segment.map()?);
    let places = (0..members as u64).map(|rank| locks + rank * SharedLock::LENGTH);
    places.into_iter().try_for_each(|place| SharedLock::new(&mapping, place).prepare())?;
    Some((segment, mapping))
}

#[cold]
fn too_long() -> Error {
    Error::new(class::SIZE, "the window is too long")
}
