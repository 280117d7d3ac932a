//! Tracing: pvm_settmask(3), pvm_gettmask(3), pvm_reg_tracer, and the variables PVM's tracing lives by.

use super::machine::info::c_text;
use crate::buffers::words::{Reading, Words};
use crate::errors::PvmError;
use crate::machine::attend::{DUTIES, TRACE};
use crate::options;
use crate::state::call;
use crate::trace::KINDS;
use parvum_api::pointers::Text;
use parvum_wire::control::{Blob, OutputMessages};
use parvum_wire::trace::DATA as DATA_NAMES;
use parvum_wire::{Tid, encoding};
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int};
use std::sync::atomic::Ordering;

/// Bytes of a mask of events, its end included: four kinds in each byte.
pub(crate) const MASK: usize = 36;
/// A byte of a mask in which nothing is set: letters, so that it can travel as text.
const NONE: u8 = b'@';

/// The tracer's class in the mailbox.
pub(crate) const CLASS: &str = "###_PVM_TRACER_###";

/// `struct Pvmtracer`: where traces and output go, and which events are traced.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Config {
    pub(crate) to: c_int,
    pub(crate) context: c_int,
    pub(crate) tag: c_int,
    output_to: c_int,
    output_context: c_int,
    output_tag: c_int,
    pub(crate) buffer: c_int,
    pub(crate) options: c_int,
    pub(crate) mask: [u8; MASK],
}

impl Config {
    const NOTHING: Config = Config {
        to: 0,
        context: 0,
        tag: 0,
        output_to: 0,
        output_context: 0,
        output_tag: 0,
        buffer: 0,
        options: 0,
        mask: {
            let mut mask = [NONE; MASK];
            mask[MASK - 1] = 0;
            mask
        },
    };

    /// A tracer's entry in the mailbox: the encoding, then the configuration.
    pub(crate) fn from_mail(mail: &[u8]) -> Option<Config> {
        let mut words = Reading::new(mail.get(4..)?);
        let mut number = || words.number().ok();
        let (to, context, tag) = (number()?, number()?, number()?);
        let (output_context, output_tag) = (number()?, number()?);
        let mask = mask_of(&words.text().ok()?);
        let (buffer, options) = (words.number().ok()?, words.number().ok()?);
        Some(Config { to, context, tag, output_to: to, output_context, output_tag, buffer, options, mask })
    }

    fn mask_text(&self) -> &[u8] {
        &self.mask[..MASK - 1]
    }
}

/// A mask out of a text, which may be shorter.
fn mask_of(text: &[u8]) -> [u8; MASK] {
    let mut mask = Config::NOTHING.mask;
    for (to, from) in mask[..MASK - 1].iter_mut().zip(text) {
        *to = NONE | from & 0xf;
    }
    mask
}

/// Memory that a program may read as it likes.
#[repr(transparent)]
pub struct Shown<T>(UnsafeCell<T>);

// SAFETY: all writes are under the lock of the calls. If another thread of the program reads at the same time, it reads
// the same as with PVM's library.
unsafe impl<T> Sync for Shown<T> {}

impl<T: Copy> Shown<T> {
    fn get(&self) -> T {
        // SAFETY: plain data; writers hold the lock that our callers hold.
        unsafe { *self.0.get() }
    }

    fn set(&self, value: T) {
        // SAFETY: as above.
        unsafe { *self.0.get() = value };
    }
}

/// The configuration for children.
#[unsafe(export_name = "pvmctrc")]
static CHILDREN: Shown<Config> = Shown(UnsafeCell::new(Config::NOTHING));

/// The configuration of this task: inherited, or set by itself.
#[unsafe(export_name = "pvmtrc")]
static OWN: Shown<Config> = Shown(UnsafeCell::new(Config::NOTHING));

pub(crate) fn own_trace() -> Config {
    OWN.get()
}

fn set_own(config: Config) {
    OWN.set(config);
    let traces = config.to > 0 && config.mask[..MASK - 1].iter().any(|byte| byte & 0xf != 0);
    match traces {
        true => DUTIES.fetch_or(TRACE, Ordering::Relaxed),
        false => DUTIES.fetch_and(!TRACE, Ordering::Relaxed),
    };
}

/// No tracer listens.
pub(crate) fn stop_own_trace() {
    set_own(Config { to: 0, ..OWN.get() });
}

/// Children hand on what they were given: whom to tell is in a variable of Parvum's own, for in
/// PVM the daemon says that.
const WHOM: &str = "PARVUM_TRACE";

pub(crate) fn learn_trace_from_environment() {
    let variable = |name: &str| std::env::var(name).ok();
    let numbers = |name: &str| {
        let text = variable(name)?;
        let numbers: Option<Vec<c_int>> = text.split(':').map(|number| number.parse().ok()).collect();
        numbers
    };
    let Some(&[to, context, tag]) = numbers(WHOM).as_deref() else { return };
    let mask = mask_of(variable("PVMTMASK").unwrap_or_default().as_bytes());
    let one = |name: &str| numbers(name).and_then(|numbers| numbers.first().copied()).unwrap_or(0);
    let (buffer, options) = (one("PVMTRCBUF"), one("PVMTRCOPT"));
    let config = Config { to, context, tag, buffer, options, mask, ..Config::NOTHING };
    set_own(config);
    CHILDREN.set(config);
}

/// A tracer gets the events of every task without its own tracer.
pub(crate) fn follow_tracer(config: Config) {
    if OWN.get().to <= 0 {
        set_own(config);
    }
    if CHILDREN.get().to <= 0 {
        CHILDREN.set(config);
    }
}

/// The tracer that the daemon notifies of tasks that this task starts.
pub(super) fn children_tracer() -> Option<OutputMessages> {
    let Config { to, context, tag, .. } = CHILDREN.get();
    (to > 0).then_some(OutputMessages { to: Tid(to), context: context as u32, tag })
}

/// The variables that make a child trace.
pub(super) fn children_variables() -> Vec<Blob> {
    let config = CHILDREN.get();
    if config.to <= 0 {
        return Vec::new();
    }
    let variable = |name: &str, value: &[u8]| Blob([name.as_bytes(), b"=", value].concat());
    let Config { to, context, tag, buffer, options, .. } = config;
    vec![
        variable(WHOM, format!("{to}:{context}:{tag}").as_bytes()),
        variable("PVMTMASK", config.mask_text()),
        variable("PVMTRCBUF", buffer.to_string().as_bytes()),
        variable("PVMTRCOPT", options.to_string().as_bytes()),
    ]
}

/// Keeps the configurations true to an option.
pub(super) fn follow_option(what: c_int, value: c_int) {
    let (mut own, mut children) = (OWN.get(), CHILDREN.get());
    let place = match what {
        options::TRACE_TID => &mut children.to,
        options::TRACE_TAG => &mut children.tag,
        options::TRACE_CONTEXT => &mut children.context,
        options::TRACE_BUFFER => &mut children.buffer,
        options::TRACE_OPTIONS => &mut children.options,
        options::SELF_TRACE_TID => &mut own.to,
        options::SELF_TRACE_TAG => &mut own.tag,
        options::SELF_TRACE_CONTEXT => &mut own.context,
        options::SELF_TRACE_BUFFER => &mut own.buffer,
        options::SELF_TRACE_OPTIONS => &mut own.options,
        options::OUTPUT_TID => &mut children.output_to,
        options::OUTPUT_TAG => &mut children.output_tag,
        options::OUTPUT_CONTEXT => &mut children.output_context,
        _ => return,
    };
    *place = value;
    CHILDREN.set(children);
    set_own(own);
}

/// The value of an option about traces, which may come from a parent or a tracer.
pub(super) fn option(what: c_int) -> Option<c_int> {
    let (own, children) = (OWN.get(), CHILDREN.get());
    Some(match what {
        options::TRACE_TID => children.to,
        options::TRACE_TAG => children.tag,
        options::TRACE_CONTEXT => children.context,
        options::TRACE_BUFFER => children.buffer,
        options::TRACE_OPTIONS => children.options,
        options::SELF_TRACE_TID => own.to,
        options::SELF_TRACE_TAG => own.tag,
        options::SELF_TRACE_CONTEXT => own.context,
        options::SELF_TRACE_BUFFER => own.buffer,
        options::SELF_TRACE_OPTIONS => own.options,
        _ => return None,
    })
}

const SELF: c_int = 0;
const CHILD: c_int = 1;

/// Which events this task (0) or its children to come (1) trace.
///
/// # Safety
/// `mask` must be null or writable for 36 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_gettmask(who: c_int, mask: *mut u8) -> c_int {
    call("pvm_gettmask", |state| {
        state.machine()?;
        let config = match who {
            SELF => OWN.get(),
            CHILD => CHILDREN.get(),
            _ => return Err(PvmError::BadParam),
        };
        if mask.is_null() {
            return Err(PvmError::BadParam);
        }
        // SAFETY: room for a mask, as the caller says.
        unsafe { std::ptr::copy_nonoverlapping(config.mask.as_ptr(), mask, MASK) };
        Ok(0)
    })
}

/// Sets which events this task (0) or its children to come (1) trace.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_settmask(who: c_int, mask: Text<'_>) -> c_int {
    call("pvm_settmask", |state| {
        state.machine()?;
        if who != SELF && who != CHILD {
            return Err(PvmError::BadParam);
        }
        let mask = mask_of(super::text(mask)?.to_bytes());
        match who {
            SELF => set_own(Config { mask, ..OWN.get() }),
            _ => CHILDREN.set(Config { mask, ..CHILDREN.get() }),
        }
        Ok(0)
    })
}

/// Makes this task the tracer of every task that starts from now on without its own tracer: events of `mask`, as
/// messages with `tag` in `context`; `buffer` and `options` as for `PvmTraceBuffer` and `PvmTraceOptions`. Their output
/// comes with the other context and tag. A tag below 1 ends it. `PvmAlready` when another task does so.
#[unsafe(no_mangle)]
pub extern "C" fn pvm_reg_tracer(
    context: c_int,
    tag: c_int,
    output_context: c_int,
    output_tag: c_int,
    mask: Text<'_>,
    buffer: c_int,
    options: c_int,
) -> c_int {
    call("pvm_reg_tracer", |state| {
        let me = state.me()?.tid;
        let classes = state.mail_classes()?;
        let entry = classes.iter().find(|class| class.name == CLASS).and_then(|class| class.entries.first());
        if entry.and_then(|entry| entry.owner).is_some_and(|owner| owner.0 != me) {
            return Err(PvmError::Already);
        }
        if tag <= 0 {
            return if entry.is_some() { state.remove_mail(CLASS) } else { Ok(0) };
        }
        if !(1..=3).contains(&options) && options != 0 {
            return Err(PvmError::BadParam);
        }
        let mask = mask_of(super::text(mask)?.to_bytes());
        let words = Words::default()
            .numbers(&[me, context, tag, output_context, output_tag])
            .text(&mask[..MASK - 1])
            .numbers(&[buffer, options]);
        let mail = Blob([&encoding::XDR.to_le_bytes()[..], &words.0].concat());
        state.put_mail(CLASS.to_owned(), None, 0, mail)?;
        let output_to = me;
        let config =
            Config { to: me, context, tag, output_to, output_context, output_tag, buffer, options, mask };
        CHILDREN.set(config);
        state.options().set_output(me, output_context, output_tag);
        Ok(0)
    })
}

/// `struct Pvmtevinfo`.
#[repr(C)]
pub struct EventInfo {
    name: *const c_char,
    described: c_int,
    mark: libc::timeval,
    total: libc::timeval,
    count: c_int,
}

/// `struct Pvmtevdid`.
#[repr(C)]
pub struct DataInfo {
    id: *const c_char,
    description: *const c_char,
}

/// Tables that programs read, made of constants when the library is loaded.
#[repr(transparent)]
pub struct Table<T, const ROWS: usize>(UnsafeCell<[T; ROWS]>);

// SAFETY: written once, by the loader's thread before the program begins.
unsafe impl<T, const ROWS: usize> Sync for Table<T, ROWS> {}

const NO_TIME: libc::timeval = libc::timeval { tv_sec: 0, tv_usec: 0 };

/// The kinds of events, by number.
#[unsafe(export_name = "pvmtevinfo")]
static EVENTS: Table<EventInfo, { KINDS.len() }> = Table(UnsafeCell::new(
    [const { EventInfo { name: std::ptr::null(), described: 0, mark: NO_TIME, total: NO_TIME, count: 0 } };
        KINDS.len()],
));

/// The kinds of data in events, by number.
#[unsafe(export_name = "pvmtevdidlist")]
static DATA: Table<DataInfo, { DATA_NAMES.len() }> = Table(UnsafeCell::new(
    [const { DataInfo { id: std::ptr::null(), description: std::ptr::null() } }; DATA_NAMES.len()],
));

/// Fills the tables when the library is loaded: a program may read them before it calls anything.
#[used]
#[unsafe(link_section = ".init_array")]
static FILL: extern "C" fn() = {
    extern "C" fn fill() {
        // The names must outlive the program's last look: they are never freed.
        let text = |text: &str| c_text(text).into_raw().cast_const();
        // SAFETY: the loader runs this once, before any other code of the program.
        let (events, data) = unsafe { (&mut *EVENTS.0.get(), &mut *DATA.0.get()) };
        for (event, name) in events.iter_mut().zip(KINDS) {
            event.name = text(name);
        }
        for (row, (id, description)) in data.iter_mut().zip(DATA_NAMES) {
            *row = DataInfo { id: text(id), description: text(description) };
        }
    }
    fill
};
