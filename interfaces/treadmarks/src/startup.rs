//! Joining: who the processes are, whether they fit together, and where their memory lies.

use crate::allocator::Allocator;
use crate::errors::Trouble;
use crate::far::Far;
use crate::heap::{Heap, Pages, Places, Segment};
use crate::keys::Keys;
use crate::near::{CONTROL, Near, lost};
use crate::options::{Options, Protocol, wanted_nodes, wants_statistics};
use crate::races::Races;
use crate::run::{Leaving, NODES, Run, Way, begin, run};
use crate::shown::Shown;
use crate::{desk, fault, image, stepping};
use parvum_consistency::{Access, Node};
use parvum_partition::Partition;
use parvum_service::Post;
use parvum_waist::{Turn, Waist, call, fork};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Contexts of the interface's own messages: of operations of all nodes, and of letters (two).
const TOGETHER: u32 = 0x546d_6b00;
const LETTERS: u32 = 0x546d_6b02;

/// What each tells all others: so many words.
const WORDS: usize = 12;

/// `Tmk_startup`. Also gives the run to who asks from then on.
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
    let waist = Waist::open().map_err(|why| Trouble::Machine(why.to_string()))?;
    fork::watch();
    let joined = Partition::join(waist, "treadmarks", TOGETHER);
    let partition = joined.map_err(|_| Trouble::Machine(waist.last_error()))?;
    partition.calls_it(call::SHARED_STARTUP);
    let nodes = partition.size();
    if nodes > NODES {
        return Err(Trouble::TooManyNodes(nodes));
    }
    let post = Post::open(waist, "treadmarks", LETTERS).map_err(|_| Trouble::Machine(waist.last_error()))?;
    let here = Here::look(&options, post.tid())?;
    let all = here.tell(&partition)?;
    let heap = here.agree(&all, &options)?;
    let shown = Shown::new(waist);
    let allocator = Arc::new(Mutex::new(Allocator::new(options.heap, options.page)));
    let (way, heap) = here.map(&partition, &all, heap, (&options, shown), &allocator)?;
    shown.says(matches!(way, Way::Far(_)).then_some(options.protocol), partition.task(0).unwrap_or(0));
    let services = all.iter().map(|words| words[0] as i32).collect();
    let own = partition.own();
    let (post, calls, leaving) = (Arc::new(post), Turn::new(()), Leaving::default());
    let dead = (0..nodes).map(|_| AtomicBool::new(false)).collect();
    let races = options.races.clone().map(Races::new);
    let run = begin(Run {
        own,
        partition,
        post,
        services,
        heap,
        way,
        calls,
        allocator,
        leaving,
        shown,
        tells,
        races,
        replicas: options.replicas,
        reduces: Default::default(),
        dead,
    });
    attend(run)?;
    Ok(run)
}

/// From now on others are served, and faults attended to.
fn attend(run: &'static Run) -> Result<(), Trouble> {
    if matches!(run.way, Way::Far(_)) {
        fault::attend();
    }
    if run.races.is_some() {
        stepping::attend();
    }
    if run.services.len() == 1 {
        return Ok(());
    }
    run.post
        .attend("Tmk serve", desk::came)
        .map_err(|why| Trouble::Machine(format!("no thread can be started: {why}")))?;
    for node in (0..run.services.len()).filter(|&node| node != run.own) {
        // Not the task, which may leave the machine by another interface's call, and still shares memory.
        run.post
            .watch(run.services[node])
            .map_err(|_| Trouble::Machine("the machine does not tell of ends".into()))?;
    }
    Ok(())
}

/// What a process has to agree with others on.
struct Here {
    places: Places,
    segment: Segment,
    words: [u64; WORDS],
}

impl Here {
    fn look(options: &Options, service: i32) -> Result<Here, Trouble> {
        let places = Places::keep(options.heap as usize);
        let segment = Segment::new(options.heap + CONTROL as u64)
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
        Ok(Here { places, segment, words })
    }

    /// What all say, in the order of nodes.
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

    /// Maps the heap: the same memory for all if they are on one host and may, else one for each.
    fn map(
        self,
        partition: &Partition,
        all: &[[u64; WORDS]],
        free: u64,
        (options, shown): (&Options, Shown),
        allocator: &Arc<Mutex<Allocator>>,
    ) -> Result<(Way, Heap), Trouble> {
        let (own, nodes) = (partition.own(), partition.size());
        let may_share =
            options.protocol == Protocol::Auto && options.races.is_none() && partition.is_on_one_host();
        let first = match own {
            _ if !may_share => None,
            0 => Some(self.segment),
            _ => Segment::open([all[0][7], all[0][8], all[0][9], all[0][10]]),
        };
        // Process 0 keeps the segment until all have opened it: until this is over.
        let shared = concat(partition, &[u8::from(first.is_some())])?.iter().all(|&can| can == 1);
        let (start, length) = (self.places.choose(free).expect("there is one"), options.heap as usize);
        let heap = Heap { start, length, page: options.page as usize };
        let no_room = |_| Trouble::NoRoom { node: own, bytes: options.heap };
        if let (true, Some(segment)) = (shared, &first) {
            segment.map(Some(start), (0, length), Segment::protection(Access::Write)).map_err(no_room)?;
            let protection = Segment::protection(Access::Write);
            let control = segment.map(None, (options.heap, CONTROL), protection).map_err(no_room)?;
            return Ok((Way::Near(Near::new(control, own, nodes, shown)), heap));
        }
        // Memory that nobody else has.
        let segment = Segment::new(options.heap).map_err(no_room)?;
        let node = Node::new(options.setup(nodes), own);
        // Where races are looked for every access is to be seen.
        let untouched = if options.races.is_some() { Access::None } else { node.untouched() };
        segment.map(Some(start), (0, length), Segment::protection(untouched)).map_err(no_room)?;
        let view = segment.map(None, (0, length), Segment::protection(Access::Write)).map_err(no_room)?;
        let lent = options.races.is_some().then(Default::default);
        Ok((
            Way::Far(Box::new(Far::new(
                node,
                Pages {
                    keys: Arc::new(Keys::new(crate::run::LOCKS)),
                    heap,
                    view,
                    lent,
                    blocks: options.replicas.then(|| allocator.clone()),
                },
                shown,
            ))),
            heap,
        ))
    }
}

/// What all nodes give, as many bytes each.
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
    Trouble::Machine(format!("{said} cannot be run ({why}); put parvum into PATH, or name it by PARVUM_BIN"))
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
