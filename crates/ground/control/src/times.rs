//! Where a task's time went.

/// In [`COUNTER_NAMES`](crate::COUNTER_NAMES): asleep, looking, and in calls besides.
const ASLEEP: usize = 25;
const LOOKING: usize = 26;
const IN_CALLS: usize = 27;

/// Where a task's time went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Since it began.
    pub age: u64,
    /// Asleep, the present wait included, and looking for what it waited for.
    pub waiting: u64,
    /// In calls besides.
    pub communicating: u64,
}

impl Times {
    /// What a task's counters say, that is so old and has been in its present wait for so long. Some of them
    /// stand for samples, so the parts are kept within the whole.
    pub fn of(counters: &[u64], age: u64, in_wait: u64) -> Times {
        let at = |place: usize| counters.get(place).copied().unwrap_or(0);
        let waiting = (at(ASLEEP) + in_wait + at(LOOKING)).min(age);
        let communicating = at(IN_CALLS).min(age - waiting);
        Times { age, waiting, communicating }
    }

    /// The rest.
    pub fn computing(&self) -> u64 {
        self.age - self.waiting - self.communicating
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COUNTER_NAMES;

    #[test]
    fn time_parts_sum_within_the_whole() {
        let mut counters = vec![0; COUNTER_NAMES.len()];
        (counters[ASLEEP], counters[LOOKING], counters[IN_CALLS]) = (40, 5, 30);
        let times = Times::of(&counters, 100, 15);
        assert_eq!((times.waiting, times.communicating, times.computing()), (60, 30, 10));
        let times = Times::of(&counters, 70, 15);
        assert_eq!((times.waiting, times.communicating, times.computing()), (60, 10, 0));
        assert_eq!(Times::of(&[], 7, 9), Times { age: 7, waiting: 7, communicating: 0 });
    }

    #[test]
    fn times_use_counter_index_of_control_block() {
        assert_eq!(COUNTER_NAMES[ASLEEP], "nanoseconds asleep, waiting");
        assert_eq!(COUNTER_NAMES[LOOKING], "nanoseconds looking, waiting (of samples)");
        assert_eq!(COUNTER_NAMES[IN_CALLS], "nanoseconds in calls besides (of samples)");
    }
}
