//! MPI_T: what a tool may ask of the library, and change, before `MPI_Init` as well as after `MPI_Finalize`.
//!
//! Performance variables are the counters that the engine keeps of this task anyway, read where onlookers read them: nothing is counted
//! for a tool, and none slows a message down. Control variables are the options of docs/reference/options.md that a program itself reads. There are
//! no events. Codes are MPI_T's own; no error handler is ever called.

mod options;
mod variables;

pub(crate) use options::{Kind, OPTIONS, OptionOf, Value};
pub(crate) use variables::{ALGORITHMS, CATEGORIES, Category, Class, VARIABLES, Variable};

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a function of MPI_T gives: nothing, or one of the codes of [`fault`].
pub(crate) type ToolResult<T = ()> = Result<T, i32>;

/// MPI_T's codes, by its names.
pub(crate) mod fault {
    pub(crate) const NOT_INITIALIZED: i32 = 60;
    pub(crate) const INVALID_INDEX: i32 = 62;
    pub(crate) const INVALID_ITEM: i32 = 63;
    pub(crate) const INVALID_HANDLE: i32 = 64;
    pub(crate) const INVALID_SESSION: i32 = 67;
    pub(crate) const CVAR_SET_NOT_NOW: i32 = 68;
    pub(crate) const PVAR_NO_STARTSTOP: i32 = 70;
    pub(crate) const PVAR_NO_WRITE: i32 = 71;
    pub(crate) const INVALID_NAME: i32 = 73;
    pub(crate) const INVALID: i32 = 74;
    pub(crate) const NOT_ACCESSIBLE: i32 = 79;
}

/// Stands for all handles of a session: `MPI_T_PVAR_ALL_HANDLES`.
pub(crate) const ALL_HANDLES: usize = 1;
/// Handles are numbers that never come again: one that was freed names nothing.
const FIRST_HANDLE: usize = 16;

/// What tools hold.
struct State {
    /// How often the interface was begun and not ended.
    begun: u32,
    next: usize,
    /// Handles of control variables, and which they are for.
    options: BTreeMap<usize, usize>,
    /// Sessions, and in each the handles of performance variables.
    sessions: BTreeMap<usize, BTreeMap<usize, Reading>>,
}

/// A handle of a performance variable.
struct Reading {
    variable: usize,
    /// What the counter had when the handle's count began.
    base: u64,
}

impl Reading {
    fn variable(&self) -> &'static Variable {
        &VARIABLES[self.variable]
    }

    fn value(&self) -> u64 {
        self.variable().read().wrapping_sub(self.base)
    }

    /// From now on it reads as if it were `value`.
    fn set(&mut self, value: u64) -> ToolResult {
        if !self.variable().class.is_counted() {
            return Err(fault::PVAR_NO_WRITE);
        }
        self.base = self.variable().read().wrapping_sub(value);
        Ok(())
    }
}

static STATE: Mutex<State> =
    Mutex::new(State { begun: 0, next: FIRST_HANDLE, options: BTreeMap::new(), sessions: BTreeMap::new() });

fn any_state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What tools hold, once one has begun.
fn state() -> ToolResult<MutexGuard<'static, State>> {
    let state = any_state();
    if state.begun == 0 { Err(fault::NOT_INITIALIZED) } else { Ok(state) }
}

/// Refuses calls before the interface was begun.
pub(crate) fn ask() -> ToolResult {
    state().map(|_| ())
}

/// `MPI_T_init_thread`: begins the interface, once more.
pub(crate) fn begin() {
    any_state().begun += 1;
}

/// `MPI_T_finalize`: after as many as there were beginnings, all handles are gone.
pub(crate) fn end() -> ToolResult {
    let mut state = state()?;
    state.begun -= 1;
    if state.begun == 0 {
        state.options.clear();
        state.sessions.clear();
    }
    Ok(())
}

impl State {
    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn session(&mut self, session: usize) -> ToolResult<&mut BTreeMap<usize, Reading>> {
        self.sessions.get_mut(&session).ok_or(fault::INVALID_SESSION)
    }
}

/// The entry of a list that has this index.
pub(crate) fn at<T>(list: &'static [T], index: i32) -> ToolResult<&'static T> {
    usize::try_from(index).ok().and_then(|index| list.get(index)).ok_or(fault::INVALID_INDEX)
}

/// Makes a handle of a control variable.
pub(crate) fn open_option(index: i32) -> ToolResult<usize> {
    at(&OPTIONS, index)?;
    let mut state = state()?;
    let number = state.number();
    state.options.insert(number, index as usize);
    Ok(number)
}

pub(crate) fn close_option(handle: usize) -> ToolResult {
    state()?.options.remove(&handle).map(|_| ()).ok_or(fault::INVALID_HANDLE)
}

/// The control variable of a handle.
pub(crate) fn option_of(handle: usize) -> ToolResult<&'static OptionOf> {
    state()?.options.get(&handle).map(|&index| &OPTIONS[index]).ok_or(fault::INVALID_HANDLE)
}

pub(crate) fn open_session() -> ToolResult<usize> {
    let mut state = state()?;
    let number = state.number();
    state.sessions.insert(number, BTreeMap::new());
    Ok(number)
}

/// Ends a session, and its handles with it.
pub(crate) fn close_session(session: usize) -> ToolResult {
    state()?.sessions.remove(&session).map(|_| ()).ok_or(fault::INVALID_SESSION)
}

/// Makes a handle of a performance variable, whose count begins now.
pub(crate) fn open_reading(session: usize, index: i32) -> ToolResult<usize> {
    let variable = at(&VARIABLES, index)?;
    let mut state = state()?;
    let number = state.number();
    let base = if variable.class.is_counted() { variable.read() } else { 0 };
    state.session(session)?.insert(number, Reading { variable: index as usize, base });
    Ok(number)
}

pub(crate) fn close_reading(session: usize, handle: usize) -> ToolResult {
    state()?.session(session)?.remove(&handle).map(|_| ()).ok_or(fault::INVALID_HANDLE)
}

/// What a handle reads now.
pub(crate) fn read(session: usize, handle: usize) -> ToolResult<u64> {
    state()?.session(session)?.get(&handle).map(Reading::value).ok_or(fault::INVALID_HANDLE)
}

/// Whether a handle reads one of several states, which are integers to MPI.
pub(crate) fn is_state(session: usize, handle: usize) -> ToolResult<bool> {
    let mut state = state()?;
    let reading = state.session(session)?.get(&handle).ok_or(fault::INVALID_HANDLE)?;
    Ok(reading.variable().class == Class::State)
}

/// What a handle reads now, and its count begins anew: nothing is counted twice, nor lost.
pub(crate) fn read_and_reset(session: usize, handle: usize) -> ToolResult<u64> {
    let mut state = state()?;
    let reading = state.session(session)?.get_mut(&handle).ok_or(fault::INVALID_HANDLE)?;
    if !reading.variable().class.is_counted() {
        return Err(fault::PVAR_NO_WRITE);
    }
    let now = reading.variable().read();
    Ok(now.wrapping_sub(std::mem::replace(&mut reading.base, now)))
}

/// From now on a handle reads as if it had this value.
pub(crate) fn write(session: usize, handle: usize, value: u64) -> ToolResult {
    state()?.session(session)?.get_mut(&handle).ok_or(fault::INVALID_HANDLE)?.set(value)
}

/// Has the count of a handle, or of all of a session that count, begin anew.
pub(crate) fn reset(session: usize, handle: usize) -> ToolResult {
    if handle != ALL_HANDLES {
        return write(session, handle, 0);
    }
    let mut state = state()?;
    let counted = |reading: &&mut Reading| reading.variable().class.is_counted();
    state.session(session)?.values_mut().filter(counted).try_for_each(|reading| reading.set(0))
}

/// `MPI_T_pvar_start` and `_stop`: all variables count always, so only "all that can" makes sense, and they are none.
pub(crate) fn start_or_stop(session: usize, handle: usize) -> ToolResult {
    let mut state = state()?;
    let readings = state.session(session)?;
    match handle {
        ALL_HANDLES => Ok(()),
        handle if readings.contains_key(&handle) => Err(fault::PVAR_NO_STARTSTOP),
        _ => Err(fault::INVALID_HANDLE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_handle_lives_as_long_as_its_session() {
        begin();
        let session = open_session().expect("begun");
        let handle = open_reading(session, 0).expect("there is a first");
        assert_eq!(read(session, handle), Ok(0), "this process has no task");
        write(session, handle, 7).expect("it counts");
        assert_eq!((read(session, handle), read_and_reset(session, handle)), (Ok(7), Ok(7)));
        assert_eq!(read(session, handle), Ok(0));
        assert_eq!(start_or_stop(session, handle), Err(fault::PVAR_NO_STARTSTOP));
        assert_eq!((start_or_stop(session, ALL_HANDLES), reset(session, ALL_HANDLES)), (Ok(()), Ok(())));
        assert_eq!(open_reading(session, VARIABLES.len() as i32), Err(fault::INVALID_INDEX));
        close_session(session).expect("it is there");
        assert_eq!(read(session, handle), Err(fault::INVALID_SESSION));
        let option = open_option(0).expect("there is a first");
        assert_eq!((close_option(option), close_option(option)), (Ok(()), Err(fault::INVALID_HANDLE)));
        end().expect("begun");
    }

    #[test]
    fn tool_variables_have_unique_names_and_one_category() {
        let mut names: Vec<String> = VARIABLES.iter().map(Variable::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), VARIABLES.len());
        let mut listed: Vec<usize> = CATEGORIES.iter().flat_map(|category| category.variables()).collect();
        listed.sort_unstable();
        assert_eq!(listed, (0..VARIABLES.len()).collect::<Vec<_>>(), "each is in one category");
    }
}
