//! `pvm_setopt` and `pvm_getopt`.

use crate::errors::{Pvm, PvmError};

/// PVM's option numbers.
pub(crate) const ROUTE: i32 = 1;
pub(crate) const AUTO_ERR: i32 = 3;
pub(crate) const NO_RESET: i32 = 25;

pub(crate) const DONT_ROUTE: i32 = 1;
pub(crate) const ALLOW_DIRECT: i32 = 2;
pub(crate) const ROUTE_DIRECT: i32 = 3;

/// All options of a task, by number.
pub(crate) struct Options([i32; NO_RESET as usize + 1]);

impl Default for Options {
    fn default() -> Options {
        let mut values = [0; NO_RESET as usize + 1];
        values[ROUTE as usize] = ALLOW_DIRECT;
        values[AUTO_ERR as usize] = 1;
        // The fragment size is that of PVM; ours follows from the route.
        values[10] = 4080;
        values[19] = 1;
        Options(values)
    }
}

impl Options {
    pub(crate) fn get(&self, what: i32) -> Pvm<i32> {
        if !(1..=NO_RESET).contains(&what) {
            return Err(PvmError::BadParam);
        }
        Ok(self.0[what as usize])
    }

    /// Sets an option; gives its old value.
    pub(crate) fn set(&mut self, what: i32, value: i32) -> Pvm<i32> {
        let old = self.get(what)?;
        let valid = match what {
            ROUTE => (DONT_ROUTE..=ROUTE_DIRECT).contains(&value),
            AUTO_ERR => (0..=3).contains(&value),
            10 => (1 << 8..1 << 20).contains(&value),
            9 | 17 => (1..=3).contains(&value),
            19 => (1..=2).contains(&value),
            _ => true,
        };
        if !valid {
            return Err(PvmError::BadParam);
        }
        self.0[what as usize] = value;
        Ok(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_out_of_range_or_with_a_wrong_value_is_refused_and_nothing_changes() {
        let mut options = Options::default();
        assert_eq!(options.set(ROUTE, ROUTE_DIRECT), Ok(ALLOW_DIRECT));
        assert_eq!(options.set(ROUTE, 4), Err(PvmError::BadParam));
        assert_eq!(options.get(ROUTE), Ok(ROUTE_DIRECT));
        assert_eq!(options.get(0), Err(PvmError::BadParam));
        assert_eq!(options.set(26, 1), Err(PvmError::BadParam));
    }
}
