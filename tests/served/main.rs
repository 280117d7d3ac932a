//! A task that serves and asks as it is told, line by line: `put TO WINDOW OFFSET LENGTH BYTE` and so on. What came of it is
//! one line: `ok ...`, or the trouble.

use parvum_api::SendTo;
use parvum_api::{ANY_CONTEXT, ANY_TASK, CoreApi, Notes, Pattern, Receiving, TagKind, call};
use parvum_api::{Buffering, Completion};
use parvum_collectives::operators::{Kind, Operator};
use parvum_service::{Change, Service, Trouble, Window};
use std::io::BufRead;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const LENGTH: usize = 8 << 20;
const LIMIT: Option<Duration> = Some(Duration::from_secs(60));

fn main() {
    let api = CoreApi::open().expect("the library");
    let me = api.enrol("served").unwrap_or_else(|why| panic!("{why:?}: {}", api.last_error()));
    // Answers backwards; makes no sense of nothing.
    let handler = |_, question: &[u8]| match question {
        [] => None,
        b"panic" => panic!("as asked"),
        text => Some(text.iter().rev().copied().collect()),
    };
    let service = Arc::new(Service::open(api, "served", 7, Some(Box::new(handler))).expect("a service"));
    let memory = Memory::new();
    // SAFETY: the memory is mapped until the process ends or is told to unmap it, and has no references.
    let window = unsafe { service.expose(memory.0, LENGTH) }.expect("the first");
    println!("{} {} {}", service.tid(), window.0, me.tid);
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("text");
        let words: Vec<&str> = line.split(' ').collect();
        match obey(&api, &service, &memory, window, &words) {
            Ok(said) => println!("ok {said}"),
            Err(why) => println!("{why}"),
        }
    }
}

fn obey(
    api: &CoreApi,
    service: &Arc<Service>,
    memory: &Memory,
    own: Window,
    words: &[&str],
) -> Result<String, Trouble> {
    let number = |at: usize| words[at].parse::<u64>().expect("a number");
    let target = || (number(1) as i32, Window(number(2) as u32), number(3));
    match words[0] {
        "put" => {
            let (to, window, offset) = target();
            let data: Vec<u8> = (0..number(4)).map(|at| (at % 251) as u8 ^ number(5) as u8).collect();
            service.put(to, window, offset, &data, LIMIT).map(|()| String::new())
        }
        "get" => {
            let (to, window, offset) = target();
            let mut data = vec![0; number(4) as usize];
            service.get(to, window, offset, &mut data, LIMIT)?;
            let wrong = data.iter().enumerate();
            let wrong = wrong.filter(|(at, byte)| **byte != (at % 251) as u8 ^ number(5) as u8).count();
            Ok(format!("{wrong} wrong"))
        }
        "add" => {
            let (to, window, offset) = target();
            let (change, mut old) = (Change::Combine(Operator::Sum), [0; 8]);
            for _ in 0..number(4) {
                let one = 1u64.to_le_bytes();
                service.atomic(to, window, offset, (change, Kind::U64), &one, &mut old, LIMIT)?;
            }
            Ok(u64::from_le_bytes(old).to_string())
        }
        "read" => {
            let (to, window, offset) = target();
            let mut old = [0; 8];
            service.atomic(to, window, offset, (Change::Nothing, Kind::U64), &[], &mut old, LIMIT)?;
            Ok(u64::from_le_bytes(old).to_string())
        }
        "request" => {
            let question = words.get(2).map_or(&[][..], |text| text.as_bytes());
            let answer = service.request(number(1) as i32, question, LIMIT)?;
            Ok(String::from_utf8_lossy(&answer).into_owned())
        }
        "time" => {
            let began = std::time::Instant::now();
            for _ in 0..number(2) {
                service.request(number(1) as i32, b"12345678", LIMIT)?;
            }
            Ok(format!("{} ns each", began.elapsed().as_nanos() as u64 / number(2)))
        }
        "protect" => {
            memory.protect(words[1] == "on");
            Ok(String::new())
        }
        "unmap" => {
            memory.unmap();
            Ok(String::new())
        }
        "withdraw" => Ok(service.withdraw(own).to_string()),
        "forget" => {
            service.forget(number(1) as i32, Window(number(2) as u32));
            Ok(String::new())
        }
        // The program waits in a call of its own, and its lock is given away; then a tag is asked for that nobody sends.
        "receive" => {
            let pattern =
                Pattern { from: ANY_TASK, tags: TagKind::Any, tag: 0, other: 0, context: ANY_CONTEXT };
            let limit = number(1) as i64 * 1_000_000;
            let notes = Notes { limit, call: call::RECEIVE, peer: ANY_TASK, tag: -1, context: -1 };
            let _ = api.receive(&pattern, Receiving::Block, &notes);
            Ok(String::new())
        }
        // A message of the program's own endpoint.
        "send" => {
            let (to, data) = (number(1) as i32, vec![7; number(2) as usize]);
            let how = SendTo {
                to,
                tag: 1,
                context: 0,
                meta: 0,
                buffering: Buffering::BySize,
                completion: Completion::Copied,
            };
            api.send_one(how, &data, &NOTES).expect("it is sent");
            Ok(String::new())
        }
        // Receives into memory that is protected: whoever touches it first asks that task what to do.
        "fault" => {
            FAULT.get_or_init(|| Fault {
                service: service.clone(),
                to: number(1) as i32,
                memory: Memory(memory.0),
            });
            catch_faults();
            memory.protect(true);
            // SAFETY: it is mapped, and nobody else's; what touches it while it is protected comes to `faulted`.
            let room = unsafe { std::slice::from_raw_parts_mut(memory.0, number(2) as usize) };
            let pattern =
                Pattern { from: ANY_TASK, tags: TagKind::Any, tag: 0, other: 0, context: ANY_CONTEXT };
            api.receive(&pattern, Receiving::Into(room), &NOTES).expect("it comes");
            let wrong = room.iter().filter(|byte| **byte != 7).count();
            Ok(format!("{wrong} wrong, {} faults", FAULTS.load(Ordering::Relaxed)))
        }
        // The same from four threads at once.
        "threads" => {
            let quarter = (number(4) / 4).to_string();
            let words = ["add", words[1], words[2], words[3], &quarter];
            std::thread::scope(|scope| {
                let add = || obey(api, service, memory, own, &words).map(drop);
                let all: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
                all.into_iter().try_for_each(|thread| thread.join().expect("it ends"))
            })?;
            Ok(String::new())
        }
        other => panic!("no such order: {other}"),
    }
}

const NOTES: Notes = Notes { limit: -1, call: call::RECEIVE, peer: ANY_TASK, tag: -1, context: -1 };

/// What a fault handler has at hand.
struct Fault {
    service: Arc<Service>,
    to: i32,
    memory: Memory,
}

static FAULT: OnceLock<Fault> = OnceLock::new();
static FAULTS: AtomicU32 = AtomicU32::new(0);

/// From now on a touch of protected memory calls `faulted`.
fn catch_faults() {
    // SAFETY: all of it is written before the call; the handler stays.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = faulted as *const () as usize;
        libc::sigemptyset(&mut action.sa_mask);
        assert_eq!(libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut()), 0);
    }
}

/// Interrupts a copy of the engine, which has the lock of the program's endpoint, and asks another task all the same.
extern "C" fn faulted(_: libc::c_int) {
    let fault = FAULT.get().expect("it is set before");
    assert_eq!(fault.service.request(fault.to, b"egap", LIMIT), Ok(b"page".to_vec()));
    FAULTS.fetch_add(1, Ordering::Relaxed);
    fault.memory.protect(false);
}

/// Memory of its own, whole pages.
struct Memory(*mut u8);

// SAFETY: it is an address; nobody has a reference to what lies there.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

impl Memory {
    fn new() -> Memory {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: fresh memory at an address that nobody else has.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), LENGTH, access, flags) };
        Memory(start.expect("memory").cast())
    }

    fn protect(&self, on: bool) {
        use rustix::mm::{MprotectFlags, mprotect};
        let access = if on { MprotectFlags::empty() } else { MprotectFlags::READ | MprotectFlags::WRITE };
        // SAFETY: the memory is ours, and nobody has a reference to it.
        unsafe { mprotect(self.0.cast(), LENGTH, access) }.expect("protected");
    }

    fn unmap(&self) {
        // SAFETY: as above.
        unsafe { rustix::mm::munmap(self.0.cast(), LENGTH) }.expect("unmapped");
    }
}
