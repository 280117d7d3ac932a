//! `pvm_setopt` and `pvm_getopt`.

use crate::errors::{Pvm, PvmError};
use parvum_wire::Tid;
use parvum_wire::control::{Output, OutputMessages};

/// PVM's option numbers.
pub(crate) const ROUTE: i32 = 1;
pub(crate) const AUTO_ERR: i32 = 3;
pub(crate) const DEBUG_MASK: i32 = 2;
pub(crate) const OUTPUT_TID: i32 = 4;
pub(crate) const OUTPUT_TAG: i32 = 5;
pub(crate) const TRACE_TID: i32 = 6;
pub(crate) const TRACE_TAG: i32 = 7;
pub(crate) const TRACE_BUFFER: i32 = 8;
pub(crate) const SELF_TRACE_TAG: i32 = 15;
pub(crate) const SELF_TRACE_BUFFER: i32 = 16;
pub(crate) const TRACE_CONTEXT: i32 = 22;
pub(crate) const SELF_TRACE_CONTEXT: i32 = 24;
pub(crate) const TRACE_OPTIONS: i32 = 9;
pub(crate) const SELF_TRACE_TID: i32 = 14;
pub(crate) const SELF_TRACE_OPTIONS: i32 = 17;
pub(crate) const FRAGMENT_SIZE: i32 = 10;
pub(crate) const RESERVED_TAGS: i32 = 11;
pub(crate) const SELF_OUTPUT_TID: i32 = 12;
pub(crate) const SELF_OUTPUT_TAG: i32 = 13;
pub(crate) const SHOW_TIDS: i32 = 18;
/// How PVM's shared-memory library waits: Parvum's tasks know by themselves.
pub(crate) const POLL_TYPE: i32 = 19;
pub(crate) const POLL_TIME: i32 = 20;
pub(crate) const OUTPUT_CONTEXT: i32 = 21;
pub(crate) const SELF_OUTPUT_CONTEXT: i32 = 23;
pub(crate) const NO_RESET: i32 = 25;

pub(crate) const DONT_ROUTE: i32 = 1;
pub(crate) const ALLOW_DIRECT: i32 = 2;
pub(crate) const ROUTE_DIRECT: i32 = 3;

/// All options of a task, by number.
pub(crate) struct Options {
    values: [i32; NO_RESET as usize + 1],
    /// Whether the values about output are the machine's, or the program's own.
    pub(crate) output_known: bool,
    /// Whether the program has set the destination of its children's output.
    output_set: bool,
}

impl Default for Options {
    fn default() -> Options {
        let mut values = [0; NO_RESET as usize + 1];
        values[ROUTE as usize] = ALLOW_DIRECT;
        values[AUTO_ERR as usize] = 1;
        // The fragment size is that of PVM; ours follows from the route.
        values[FRAGMENT_SIZE as usize] = 4080;
        values[SHOW_TIDS as usize] = 1;
        Options { values, output_known: false, output_set: false }
    }
}

impl Options {
    pub(crate) fn get(&self, what: i32) -> Pvm<i32> {
        // PVM for shared memory has them; in others they mean nothing.
        let absent = [POLL_TYPE, POLL_TIME].contains(&what);
        if absent || !(1..=NO_RESET).contains(&what) {
            return Err(PvmError::BadParam);
        }
        Ok(self.values[what as usize])
    }

    /// Sets an option; gives its old value.
    pub(crate) fn set(&mut self, what: i32, value: i32) -> Pvm<i32> {
        if [POLL_TYPE, POLL_TIME].contains(&what) {
            return Err(PvmError::NotImpl);
        }
        let old = self.get(what)?;
        let valid = match what {
            ROUTE => (DONT_ROUTE..=ROUTE_DIRECT).contains(&value),
            FRAGMENT_SIZE => (1..=1 << 20).contains(&value),
            TRACE_OPTIONS | SELF_TRACE_OPTIONS => (1..=3).contains(&value),
            OUTPUT_TID | TRACE_TID => value >= 0,
            _ => true,
        };
        if !valid {
            return Err(PvmError::BadParam);
        }
        self.values[what as usize] = value;
        self.output_set |= [OUTPUT_TID, OUTPUT_TAG, OUTPUT_CONTEXT].contains(&what);
        Ok(old)
    }

    /// Sets the destination of the output of this task, and of its children.
    pub(crate) fn learn_output(&mut self, to: i32, context: i32, tag: i32) {
        self.output_known = true;
        for (what, value) in [(SELF_OUTPUT_TID, to), (SELF_OUTPUT_CONTEXT, context), (SELF_OUTPUT_TAG, tag)] {
            self.values[what as usize] = value;
        }
        if !self.output_set {
            for (what, value) in [(OUTPUT_TID, to), (OUTPUT_CONTEXT, context), (OUTPUT_TAG, tag)] {
                self.values[what as usize] = value;
            }
        }
    }

    /// Sets where the output of children goes.
    pub(crate) fn set_output(&mut self, to: i32, context: i32, tag: i32) {
        self.output_set = true;
        for (what, value) in [(OUTPUT_TID, to), (OUTPUT_CONTEXT, context), (OUTPUT_TAG, tag)] {
            self.values[what as usize] = value;
        }
    }

    /// The destination of the output of children.
    pub(crate) fn output(&self) -> Output {
        let value = |what: i32| self.values[what as usize];
        match value(OUTPUT_TID) {
            _ if !self.output_set => Output::Inherit,
            0 => Output::Log,
            to => Output::Messages(OutputMessages {
                to: Tid(to),
                context: value(OUTPUT_CONTEXT) as u32,
                tag: value(OUTPUT_TAG),
            }),
        }
    }

    /// The destination of this task's own output.
    pub(crate) fn own_output(&self) -> Output {
        let value = |what: i32| self.values[what as usize];
        match value(SELF_OUTPUT_TID) {
            ..=0 => Output::Log,
            to => Output::Messages(OutputMessages {
                to: Tid(to),
                context: value(SELF_OUTPUT_CONTEXT) as u32,
                tag: value(SELF_OUTPUT_TAG),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_option_or_value_is_refused_without_change() {
        let mut options = Options::default();
        assert_eq!(options.set(ROUTE, ROUTE_DIRECT), Ok(ALLOW_DIRECT));
        assert_eq!(options.set(ROUTE, 4), Err(PvmError::BadParam));
        assert_eq!(options.get(ROUTE), Ok(ROUTE_DIRECT));
        assert_eq!(options.get(0), Err(PvmError::BadParam));
        assert_eq!(options.set(26, 1), Err(PvmError::BadParam));
    }
}
