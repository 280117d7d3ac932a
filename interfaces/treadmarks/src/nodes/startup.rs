//! Joining: who the processes are, whether they fit together, and where their memory lies.

use crate::errors::Trouble;
use crate::faults::userfault::Userfault;
use crate::host::rooms::{self, Rooms};
use crate::host::{self, Host};
use crate::limits::{LOCKS, NODES};
use crate::memory::allocator::Allocator;
use crate::memory::heap::{Heap, Places, Segment, View};
use crate::memory::pages::Pages;
use crate::nodes::far::Far;
use crate::nodes::groups::Groups;
use crate::nodes::near::{CONTROL, Near, lost};
use crate::nodes::peers::Peers;
use crate::options::{Options, wanted_nodes, wants_statistics};
use crate::races::findings::Races;
use crate::run::{Leaving, Run, Sharing, begin, run};
use crate::shown::Shown;
use crate::words;
use crate::{faults::fault, memory::image, nodes::desk, races::stepping};
use parvum_api::CoreApi;
use parvum_consistency::{Access, Keys, Node, Tasks};
use parvum_partition::Partition;
use parvum_service::Post;
use parvum_sync::fork;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Contexts of the interface's own messages: of operations of all nodes, and of letters (two).
const TOGETHER: u32 = 0x546d_6b00;
const LETTERS: u32 = 0x546d_6b02;

/// The number of words that each process sends to all others.
const WORDS: usize = 12;

/// `Tmk_startup`. From then on, other code can get the run too.
pub(crate) fn start(arguments: &[String]) -> Result<&'static Run, Trouble> {
    if run().is_some() {
        return Err(Trouble::Twice);
    }
    let options = Options::read()?;
    let tells = wants_statistics()?;
    if std::env::var_os("PARVUM_TID").is_none()
        && let Some(count @ 2..) = wanted_nodes(arguments)?
    {
        return Err(become_many(count, arguments));
    }
    let api = CoreApi::open().map_err(|why| Trouble::Machine(why.to_string()))?;
    fork::watch();
    words::publish(api);
    let joined = Partition::join(api, "treadmarks", TOGETHER);
    let partition = joined.map_err(|_| Trouble::Machine(api.last_error()))?;
    partition.calls_it(words::startup());
    let nodes = partition.size();
    if nodes > NODES {
        return Err(Trouble::TooManyNodes(nodes));
    }
    let post = Post::open(api, "treadmarks", LETTERS).map_err(|_| Trouble::Machine(api.last_error()))?;
    let hosts: Vec<u32> = partition.hosts().collect();
    let groups = Groups::new(&hosts, options.group.unwrap_or(usize::MAX));
    let here = Here::look(&options, (post.tid(), groups))?;
    let all = here.tell(&partition)?;
    let heap = here.agree(&all, &options)?;
    let shown = Shown::new(api);
    let allocator = Arc::new(Mutex::new(Allocator::new(options.heap, options.page)));
    let (way, heap) = here.map(&partition, &all, heap, (&options, shown), &allocator)?;
    shown.says(way.number(options.protocol), partition.task(0).unwrap_or(0));
    let services = all.iter().map(|words| words[0] as i32).collect();
    let races = options.races.clone().map(|told| Races::new(told, heap));
    let run = begin(Run {
        peers: Peers::new(partition, post, services),
        heap,
        way,
        allocator,
        leaving: Leaving::default(),
        shown,
        tells,
        races,
        replicas: options.replicas,
        reduces: Default::default(),
    });
    attend(run)?;
    Ok(run)
}

/// From now on this process serves others, and handles faults.
fn attend(run: &'static Run) -> Result<(), Trouble> {
    let no_thread = |why| Trouble::Machine(format!("no thread can be started: {why}"));
    if !matches!(run.way, Sharing::Near(_)) {
        fault::attend(matches!(&run.way, Sharing::Far(far) if far.has_userfault()));
    }
    if let Sharing::Host(host) = &run.way {
        host.attend().map_err(no_thread)?;
    }
    if run.races.is_some() {
        stepping::attend();
    }
    if run.peers.services.len() == 1 {
        return Ok(());
    }
    run.peers.post.attend("Tmk serve", desk::came).map_err(no_thread)?;
    for node in (0..run.peers.services.len()).filter(|&node| node != run.peers.own) {
        // Not the task, which may leave the machine by another interface's call, and still shares memory.
        run.peers
            .post
            .watch(run.peers.services[node])
            .map_err(|_| Trouble::Machine("the machine does not tell of ends".into()))?;
    }
    Ok(())
}

/// The settings on which processes must agree.
struct Here {
    places: Places,
    segment: Segment,
    words: [u64; WORDS],
    groups: Groups,
}

impl Here {
    fn look(options: &Options, (service, groups): (i32, Groups)) -> Result<Here, Trouble> {
        let places = Places::keep(options.heap as usize);
        let most = (0..groups.count()).map(|node| groups.members(node).len()).max().unwrap_or(1);
        let behind = CONTROL.max(rooms::length((options.heap / options.page) as usize, most));
        let segment = Segment::new(options.heap + behind as u64)
            .map_err(|why| Trouble::Machine(format!("there is no memory for a heap: {why}")))?;
        let [process, descriptor, inode, length] = segment.name();
        let [protocol, heap, page, records] = options.words();
        let words = [
            service as u32 as u64,
            image::of_program(),
            protocol,
            heap,
            page,
            records,
            places.bits(),
            process,
            descriptor,
            inode,
            length,
            0,
        ];
        Ok(Here { places, segment, words, groups })
    }

    /// The words of all processes, in the order of nodes.
    fn tell(&self, partition: &Partition) -> Result<Vec<[u64; WORDS]>, Trouble> {
        let mine: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let all = concat(partition, &mine)?;
        let words = |bytes: &[u8]| {
            let mut words = [0; WORDS];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into().expect("eight"));
            }
            words
        };
        Ok(all.chunks_exact(8 * WORDS).map(words).collect())
    }

    /// Whether all fit together: each comes to the same result. The bits of the places that are free everywhere.
    fn agree(&self, all: &[[u64; WORDS]], options: &Options) -> Result<u64, Trouble> {
        let differs = |words: std::ops::Range<usize>| {
            all.iter().position(|one| one[words.clone()] != all[0][words.clone()])
        };
        if let Some(node) = differs(1..2) {
            return Err(Trouble::OtherBinary(node));
        }
        if let Some(node) = differs(2..6) {
            return Err(Trouble::OtherOptions(node));
        }
        let mut free = u64::MAX;
        for (node, words) in all.iter().enumerate() {
            free &= words[6];
            if free == 0 {
                return Err(Trouble::NoRoom { node, bytes: options.heap });
            }
        }
        Ok(free)
    }

    /// Maps the heap. All processes on one host share the same memory, if they may. Otherwise the processes of each
    /// host share one, or each process has its own memory.
    fn map(
        self,
        partition: &Partition,
        all: &[[u64; WORDS]],
        free: u64,
        (options, shown): (&Options, Shown),
        allocator: &Arc<Mutex<Allocator>>,
    ) -> Result<(Sharing, Heap), Trouble> {
        let own = partition.own();
        let Here { places, segment, groups, .. } = self;
        let (place, is_one) = (groups.place(own), groups.count() == 1 && options.group.is_none());
        let may_share = is_one || groups.any_shares();
        let first = match place {
            _ if !may_share => None,
            (_, 0) => Some(segment),
            (node, _) => {
                let words = &all[groups.first(node)];
                Segment::open([words[7], words[8], words[9], words[10]])
            }
        };
        // The first keeps the segment until all have opened it: until this is over.
        let shared = concat(partition, &[u8::from(first.is_some())])?.iter().all(|&can| can == 1);
        let (start, length) = (places.choose(free).expect("there is one"), options.heap as usize);
        let heap = Heap { start, length, page: options.page as usize };
        let way = match first.filter(|_| shared) {
            Some(segment) if is_one => {
                let control = mapped(&segment, heap, Access::Write, CONTROL, own)?;
                if options.huge {
                    heap.wish_for_huge_pages();
                }
                Sharing::Near(Near::new(control, own, partition.size(), shown))
            }
            Some(segment) => of_host(&segment, heap, (groups, own), all, (options, shown))?,
            None => alone(heap, partition, (options, shown), allocator)?,
        };
        Ok((way, heap))
    }
}

/// Maps the heap of a segment, and what is behind it: where that lies.
fn mapped(
    segment: &Segment,
    heap: Heap,
    access: Access,
    behind: usize,
    own: usize,
) -> Result<usize, Trouble> {
    let no_room = |_| Trouble::NoRoom { node: own, bytes: heap.length as u64 };
    segment.map(Some(heap.start), (0, heap.length), Segment::protection(access)).map_err(no_room)?;
    let write = Segment::protection(Access::Write);
    segment.map(None, (heap.length as u64, behind), write).map_err(no_room)
}

/// Memory that the tasks of a host have.
fn of_host(
    segment: &Segment,
    heap: Heap,
    (groups, own): (Groups, usize),
    all: &[[u64; WORDS]],
    (options, shown): (&Options, Shown),
) -> Result<Sharing, Trouble> {
    let (node, place) = groups.place(own);
    let members = groups.members(node);
    let tasks = Tasks::new(options.setup(groups.count()), node, members.len());
    let untouched = tasks.untouched();
    let at = mapped(segment, heap, untouched, rooms::length(heap.pages(), members.len()), own)?;
    let rooms = Arc::new(Rooms::new(at, heap, untouched, (place, members.len())));
    let keys = Keys::shared(rooms.locks(), place);
    let node = match place {
        0 => {
            let write = Segment::protection(Access::Write);
            let no_room = |_| Trouble::NoRoom { node: own, bytes: options.heap };
            let view = View::new(heap, segment.map(None, (0, heap.length), write).map_err(no_room)?);
            let processes: Vec<u64> = members.iter().map(|&member| all[member][7]).collect();
            Some((
                tasks,
                host::Pages::new((rooms.clone(), view, keys.clone()), members, &processes, has_ended),
            ))
        }
        _ => None,
    };
    Ok(Sharing::Host(Box::new(Host::new((groups, own), keys, rooms, shown, node))))
}

/// A task of this host has ended while the node waited for it.
fn has_ended(member: usize) {
    run().into_iter().for_each(|run| run.peers.has_ended(member));
}

/// Memory of this process alone.
fn alone(
    heap: Heap,
    partition: &Partition,
    (options, shown): (&Options, Shown),
    allocator: &Arc<Mutex<Allocator>>,
) -> Result<Sharing, Trouble> {
    let (own, nodes) = (partition.own(), partition.size());
    let no_room = |_| Trouble::NoRoom { node: own, bytes: options.heap };
    let segment = Segment::new(options.heap).map_err(no_room)?;
    let node = Node::new(options.setup(nodes), own);
    // With the race detector every access must fault.
    let untouched = if options.races.is_some() { Access::None } else { node.untouched() };
    let by_userfault = options.races.is_none() && options.userfault != Some(false);
    let program = if by_userfault { Access::Write } else { untouched };
    segment.map(Some(heap.start), (0, heap.length), Segment::protection(program)).map_err(no_room)?;
    let userfault = match by_userfault.then(|| Userfault::of(heap)) {
        Some(Err(why)) if options.userfault == Some(true) => {
            return Err(Trouble::NoUserfault(why.to_string()));
        }
        Some(Err(_)) => {
            heap.protect(0, heap.pages() as u32, untouched);
            None
        }
        has => has.transpose().unwrap_or_default(),
    };
    let view = segment.map(None, (0, heap.length), Segment::protection(Access::Write)).map_err(no_room)?;
    let pages = Pages {
        keys: Keys::new(LOCKS),
        heap,
        view: View::new(heap, view),
        userfault,
        lent: options.races.is_some().then(Default::default),
        blocks: options.replicas.then(|| allocator.clone()),
    };
    Ok(Sharing::Far(Box::new(Far::new(node, pages, shown))))
}

/// The data of all nodes, with the same number of bytes from each.
fn concat(partition: &Partition, mine: &[u8]) -> Result<Vec<u8>, Trouble> {
    let lengths = vec![mine.len(); partition.size()];
    let mut all = vec![0; mine.len() * partition.size()];
    partition.concat(mine, &lengths, &mut all).map_err(|failure| lost(failure, partition))?;
    Ok(all)
}

/// A program that was started by itself becomes the command that starts it as many.
fn become_many(count: usize, arguments: &[String]) -> Trouble {
    let Ok(program) = std::env::current_exe() else {
        return Trouble::Machine("the program does not know its own file".into());
    };
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let command = command();
    let mut run = Command::new(&command);
    run.args(["run", "-n", &count.to_string(), "--"]).arg(program);
    run.args(arguments.get(1..end).unwrap_or_default()).env_remove("TMK_NODES");
    let why = run.exec();
    let said = command.to_string_lossy().into_owned();
    Trouble::Machine(format!(
        "{said} cannot be run ({why}); help: put parvum into PATH, or name it by PARVUM_BIN"
    ))
}

/// The command: as the environment names it, else as it was installed with this library, else by PATH.
fn command() -> PathBuf {
    if let Some(named) = std::env::var_os("PARVUM_BIN") {
        return named.into();
    }
    let installed = own_file().and_then(|file| Some(file.parent()?.parent()?.join("bin/parvum")));
    installed.filter(|path| path.exists()).unwrap_or_else(|| Path::new("parvum").into())
}

/// The file of this library.
fn own_file() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    // SAFETY: plain output structure, all-zero is valid.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is one of ours; `info` is written by the call.
    let found = unsafe { libc::dladdr(own_file as *const libc::c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: on success the loader gives a terminated string that lives as long as the object.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    Path::new(&OsString::from_vec(name.to_bytes().to_vec())).canonicalize().ok()
}
