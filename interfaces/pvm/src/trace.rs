//! Tracing: a task tells another what PVM calls it makes, as `pvm_settmask(3)` has it.
//!
//! Events are messages that describe themselves. The first of each kind names the event and, for
//! each value, what it is and of which type; later ones are values alone:
//!
//! ```text
//! description  -5, kind, name, (what, type, value)..., -6
//! record       -7, kind, value..., -8
//! ```
//!
//! `kind` has a bit for the entry into a call and one for the return. With a buffer, several events
//! go in one message, between -1 and -2. Instead of events a task may count its calls, or time them,
//! and tell the sums when it leaves.

use crate::buffers::words::Words;
use crate::calls::{Config, MASK};
use crate::state::State;
use parvum_api::{Buffering, Completion};
use parvum_api::{CoreApi, Notes, SendTo, call as waits};
use parvum_wire::encoding;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const ENTRY: i32 = 0x4000;
const RETURN: i32 = 0x8000;
const TIMING: usize = 106;
const PROFILING: usize = 107;

/// Names of the kinds, by number.
pub(crate) const KINDS: [&str; 109] = [
    "addhosts",
    "barrier",
    "bcast",
    "bufinfo",
    "config",
    "delete",
    "delhosts",
    "exit",
    "freebuf",
    "getfds",
    "getinst",
    "getopt",
    "getrbuf",
    "getsbuf",
    "gettid",
    "gsize",
    "halt",
    "initsend",
    "insert",
    "joingroup",
    "kill",
    "lookup",
    "lvgroup",
    "mcast",
    "mkbuf",
    "mstat",
    "mytid",
    "notify",
    "nrecv",
    "parent",
    "perror",
    "pkbyte",
    "pkcplx",
    "pkdcplx",
    "pkdouble",
    "pkfloat",
    "pkint",
    "pkuint",
    "pklong",
    "pkulong",
    "pkshort",
    "pkushort",
    "pkstr",
    "probe",
    "pstat",
    "recv",
    "recvf",
    "send",
    "sendsig",
    "setopt",
    "setrbuf",
    "setsbuf",
    "spawn",
    "start_pvmd",
    "tasks",
    "tickle",
    "tidtohost",
    "trecv",
    "upkbyte",
    "upkcplx",
    "upkdcplx",
    "upkdouble",
    "upkfloat",
    "upkint",
    "upkuint",
    "upklong",
    "upkulong",
    "upkshort",
    "upkushort",
    "upkstr",
    "version",
    "reg_hoster",
    "reg_rm",
    "reg_tasker",
    "reg_tracer",
    "newtask",
    "endtask",
    "spntask",
    "archcode",
    "catchout",
    "getmwid",
    "gettmask",
    "hostsync",
    "packf",
    "precv",
    "psend",
    "reduce",
    "setmwid",
    "settmask",
    "unpackf",
    "gather",
    "scatter",
    "putinfo",
    "getinfo",
    "delinfo",
    "getmboxinfo",
    "newcontext",
    "freecontext",
    "setcontext",
    "getcontext",
    "siblings",
    "getminfo",
    "setminfo",
    "addmhf",
    "delmhf",
    "mhf_invoke",
    "timing",
    "profiling",
    "user_defined",
];

/// The kind of a value: numbers of `pvmtev.h`.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum Did {
    Code = 4,
    Group = 25,
    Instance = 26,
    GroupTask = 27,
    GroupSize = 28,
    BarrierCount = 29,
    ContextNow = 17,
    NewContext = 19,
    SetContext = 20,
    Tag = 45,
    Context = 46,
    Buffer = 47,
    Bytes = 48,
    Source = 49,
    Destination = 50,
    ReceiveBuffer = 55,
    SendBuffer = 56,
    Encoding = 57,
    Option = 68,
    OptionValue = 69,
    PackType = 72,
    PackCount = 73,
    PackStride = 74,
    Profile = 77,
    WantedSource = 78,
    WantedTag = 79,
    WantedContext = 80,
    SpawnFile = 82,
    SpawnFlags = 83,
    SpawnWhere = 84,
    SpawnCount = 85,
    Task = 88,
    Parent = 89,
    Mine = 90,
    Seconds = 106,
    Microseconds = 107,
    TimingSeconds = 108,
    TimingMicroseconds = 109,
    EventCount = 120,
    EventNames = 121,
}

/// A value of an event.
#[derive(Clone)]
pub(crate) enum Value {
    Number(i32),
    Text(Vec<u8>),
}

const INT: i32 = 6;
const STRING: i32 = 12;
const ARRAY: i32 = 0x80;

/// How a task traces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Events,
    Times,
    Counts,
}

/// The events of a task that are pending or sent.
pub(crate) struct Tracing {
    /// The running call, its start times, and whether its entry was sent.
    now: Option<(usize, SystemTime, Instant, bool)>,
    /// Whether a kind's entry and return have been described.
    described: [[bool; 2]; KINDS.len()],
    counts: [u32; KINDS.len()],
    times: [Duration; KINDS.len()],
    /// Events that have not been sent.
    waiting: Vec<u8>,
}

impl Tracing {
    pub(crate) const NEW: Tracing = Tracing {
        now: None,
        described: [[false; 2]; KINDS.len()],
        counts: [0; KINDS.len()],
        times: [Duration::ZERO; KINDS.len()],
        waiting: Vec::new(),
    };
}

impl Tracing {
    /// Whether the call that goes on is traced.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.now.is_some()
    }
}

/// Numbers that a call is about.
pub(crate) fn numbers<const COUNT: usize>(numbers: [(Did, i32); COUNT]) -> Vec<(Did, Value)> {
    numbers.into_iter().map(|(did, number)| (did, Value::Number(number))).collect()
}

/// Whether the mask has the kind.
fn is_set(mask: &[u8; MASK], kind: usize) -> bool {
    mask[kind / 4] & (1 << (kind % 4)) != 0
}

impl State {
    /// The kind of that call, if it is to be traced.
    fn traced(&self, name: &str) -> Option<usize> {
        let config = crate::calls::own_trace();
        let me = self.my_tid()?;
        if config.to <= 0 || config.to == me {
            return None;
        }
        // PVM calls it otherwise.
        let name = match name.strip_prefix("pvm_")? {
            "recvinfo" => "getinfo",
            name => name,
        };
        KINDS.iter().position(|kind| *kind == name).filter(|kind| is_set(&config.mask, *kind))
    }

    /// A call begins.
    #[cold]
    pub(crate) fn trace_entry(&mut self, name: &str) {
        self.tracing.now = self.traced(name).map(|kind| (kind, SystemTime::now(), Instant::now(), false));
    }

    /// Adds particulars of the running call.
    #[inline]
    pub(crate) fn about(&mut self, values: impl FnOnce() -> Vec<(Did, Value)>) {
        if self.tracing.now.is_some() {
            self.publish_entry(values());
        }
    }

    #[cold]
    fn publish_entry(&mut self, values: Vec<(Did, Value)>) {
        if let Some((kind, when, _, told @ false)) = &mut self.tracing.now {
            *told = true;
            let (kind, when) = (*kind, *when);
            self.send_event(kind, ENTRY, when, values);
        }
    }

    /// The call ends.
    #[cold]
    pub(crate) fn trace_return(&mut self, result: i32) {
        // A call without particulars has none.
        self.publish_entry(Vec::new());
        let Some((kind, _, since, _)) = self.tracing.now.take() else { return };
        self.tracing.counts[kind] += 1;
        self.tracing.times[kind] += since.elapsed();
        let values = self.outcome(kind, result);
        self.send_event(kind, RETURN, SystemTime::now(), values);
    }

    /// What a call gave.
    fn outcome(&mut self, kind: usize, result: i32) -> Vec<(Did, Value)> {
        let one = |did: Did| vec![(did, Value::Number(result))];
        match KINDS[kind] {
            "mytid" => one(Did::Mine),
            "parent" => one(Did::Parent),
            "initsend" | "mkbuf" | "setsbuf" | "getsbuf" => one(Did::SendBuffer),
            "setrbuf" | "getrbuf" => one(Did::ReceiveBuffer),
            "setopt" | "getopt" => one(Did::OptionValue),
            "joingroup" | "getinst" => one(Did::Instance),
            "gsize" => one(Did::GroupSize),
            "gettid" => one(Did::GroupTask),
            "newcontext" => one(Did::NewContext),
            "getcontext" => one(Did::ContextNow),
            "recv" | "nrecv" | "trecv" | "probe" => {
                let (tag, from, context) = self
                    .envelope(result)
                    .map_or((-1, -1, 0), |(tag, from, context)| (tag, from, context as i32));
                let bytes = self.length(result).map_or(-1, |length| length as i32);
                let numbers = [result, bytes, tag, context, from];
                let dids = [Did::Buffer, Did::Bytes, Did::Tag, Did::Context, Did::Source];
                dids.into_iter().zip(numbers.map(Value::Number)).collect()
            }
            _ => one(Did::Code),
        }
    }

    fn send_event(&mut self, kind: usize, side: i32, when: SystemTime, values: Vec<(Did, Value)>) {
        if manner() != Manner::Events {
            return;
        }
        let me = self.my_tid().unwrap_or(0);
        let all = stamp(when, me).into_iter().chain(values);
        let described = &mut self.tracing.described[kind][usize::from(side == RETURN)];
        let number = kind as i32 | side;
        let words = if std::mem::replace(described, true) {
            all.fold(Words::default().number(-7).number(number), |words, (_, value)| with(words, &value))
                .number(-8)
        } else {
            let begun = Words::default().number(-5).number(number).text(KINDS[kind].as_bytes());
            all.fold(begun, |words, (did, value)| described_value(words, did, &value)).number(-6)
        };
        self.send_trace(words);
    }

    /// Sends an event, or keeps it until the buffer is full.
    fn send_trace(&mut self, Words(event): Words) {
        let room = usize::try_from(crate::calls::own_trace().buffer).unwrap_or(0);
        if room == 0 {
            return self.send_to_tracer(&event);
        }
        self.tracing.waiting.extend_from_slice(&event);
        if self.tracing.waiting.len() >= room {
            self.flush_trace();
        }
    }

    /// Sends the events that wait.
    fn flush_trace(&mut self) {
        if !self.tracing.waiting.is_empty() {
            let events = std::mem::take(&mut self.tracing.waiting);
            let Words(begun) = Words::default().number(-1);
            let Words(end) = Words::default().number(-2);
            self.send_to_tracer(&[begun, events, end].concat());
        }
    }

    fn send_to_tracer(&mut self, data: &[u8]) {
        let config = crate::calls::own_trace();
        let Some(api) = self.here() else { return };
        let (to, tag, context) = (config.to, config.tag, config.context as u32);
        let how = SendTo {
            to,
            tag,
            context,
            meta: encoding::XDR,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        let notes = Notes { limit: -1, call: waits::SEND, peer: to, tag, context: context as i32 };
        if api.send(how, &[data], &notes).is_err() {
            // No tracer listens any more.
            crate::calls::stop_own_trace();
        }
    }

    /// Sends pending events, before the task leaves.
    pub(crate) fn end_trace(&mut self) {
        self.trace_return(0);
        let sums = match manner() {
            Manner::Events => return self.flush_trace(),
            Manner::Times => TIMING,
            Manner::Counts => PROFILING,
        };
        let called: Vec<usize> = (0..KINDS.len()).filter(|kind| self.tracing.counts[*kind] > 0).collect();
        if called.is_empty() || self.my_tid().is_none_or(|me| crate::calls::own_trace().to == me) {
            return;
        }
        let count = called.len() as i32;
        let begun = Words::default().number(-5).number(sums as i32).text(KINDS[sums].as_bytes());
        let me = self.my_tid().unwrap_or(0);
        let stamped = stamp(SystemTime::now(), me)
            .into_iter()
            .fold(begun, |words, (did, value)| described_value(words, did, &value));
        let mut words = described_value(stamped, Did::EventCount, &Value::Number(count)).numbers(&[
            Did::EventNames as i32,
            STRING | ARRAY,
            count,
        ]);
        words = called.iter().fold(words, |words, kind| words.text(KINDS[*kind].as_bytes()));
        let column = |words: Words, did: Did, of: &dyn Fn(usize) -> i32| {
            let begun = words.numbers(&[did as i32, INT | ARRAY, count]);
            called.iter().fold(begun, |words, kind| words.number(of(*kind)))
        };
        if sums == TIMING {
            words = column(words, Did::TimingSeconds, &|kind| self.tracing.times[kind].as_secs() as i32);
            words = column(words, Did::TimingMicroseconds, &|kind| {
                self.tracing.times[kind].subsec_micros() as i32
            });
        }
        let Words(data) = column(words, Did::Profile, &|kind| self.tracing.counts[kind] as i32).number(-6);
        self.send_to_tracer(&data);
    }

    /// The tracer itself is not traced. It traces all tasks without their own tracer.
    pub(crate) fn learn_tracer(&mut self, api: CoreApi) {
        crate::calls::learn_trace_from_environment();
        if let Some(mail) = api.tracer()
            && let Some(config) = Config::from_mail(&mail)
        {
            crate::calls::follow_tracer(config);
        }
    }
}

fn manner() -> Manner {
    match crate::calls::own_trace().options {
        2 => Manner::Times,
        3 => Manner::Counts,
        _ => Manner::Events,
    }
}

/// When, and who.
fn stamp(when: SystemTime, me: i32) -> [(Did, Value); 3] {
    let since = when.duration_since(UNIX_EPOCH).unwrap_or_default();
    [
        (Did::Seconds, Value::Number(since.as_secs() as i32)),
        (Did::Microseconds, Value::Number(since.subsec_micros() as i32)),
        (Did::Task, Value::Number(me)),
    ]
}

fn with(words: Words, value: &Value) -> Words {
    match value {
        Value::Number(number) => words.number(*number),
        Value::Text(text) => words.text(text),
    }
}

fn described_value(words: Words, did: Did, value: &Value) -> Words {
    let kind = match value {
        Value::Number(_) => INT,
        Value::Text(_) => STRING,
    };
    with(words.number(did as i32).number(kind), value)
}
