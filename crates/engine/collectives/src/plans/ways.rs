//! The two ways of short data of all members to all between hosts, and which of them is the quicker.
//!
//! Straight, each member has a message for every other, all at once: the network's time comes once, the processors' for
//! each message. In rounds a member has log2 n messages, one behind the other. The cost of the network and the sharing
//! of processors are not known before. The members therefore try both algorithms in normal operations, and agree by the
//! total time of all members. The beginning may differ from later operations (the kernel has not spread the tasks over
//! the processors yet), so they try again, with growing intervals.

/// How short data of all goes between hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortAlgorithm {
    /// From each to each.
    Straight,
    /// In log2 n messages of each, one behind the other.
    Rounds,
}

/// Each algorithm is tried in this number of rows of operations, in turns with the other.
const ROWS: usize = 2;
/// The number of operations in a row: only the total time of a row counts. A single operation is fast for the last
/// member, because its messages have already arrived.
const ROW: usize = 8;
/// The first ones of a row make connections, or wait for tasks that still go the other way, and are not counted.
const UNCOUNTED: usize = 2;
/// The number of operations before the next trial, and the factor by which it grows each time.
const PAUSE: usize = 3 * 2 * ROWS * ROW;
const LONGER: usize = 4;
/// The number of bytes of a member's report about its rows.
pub const WORDS: usize = 2 * ROWS * 8;

/// The kind of the next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The operation uses the algorithm of the trial; without a trial the number of members decides.
    Known(Option<ShortAlgorithm>),
    /// The operation is a trial of this algorithm, and [`Trials::took`] gets its time.
    Tried(ShortAlgorithm),
}

/// The trials of one group's members. All see the same operations, so all have come as far.
#[derive(Debug)]
pub struct Trials {
    /// The number of operations before this trial begins, and before the next trial.
    ahead: usize,
    pause: usize,
    /// How many bytes all together the first of this trial had; only others with as many can be compared.
    whole: Option<usize>,
    done: usize,
    /// How long each row took this member, in nanoseconds: straight, in rounds, and again.
    rows: [u64; 2 * ROWS],
    found: Option<ShortAlgorithm>,
}

impl Default for Trials {
    fn default() -> Trials {
        Trials { ahead: 0, pause: PAUSE, whole: None, done: 0, rows: [0; 2 * ROWS], found: None }
    }
}

impl Trials {
    /// The way of the next operation, in which all members have `whole` bytes together.
    pub fn next(&mut self, whole: usize) -> Turn {
        if self.ahead > 0 {
            self.ahead -= 1;
            return Turn::Known(self.found);
        }
        match self.row() {
            Some(row) if *self.whole.get_or_insert(whole) == whole => Turn::Tried(if row.is_multiple_of(2) {
                ShortAlgorithm::Straight
            } else {
                ShortAlgorithm::Rounds
            }),
            _ => Turn::Known(self.found),
        }
    }

    /// The row that is being tried; none between the last operation of a trial and [`Trials::agree`].
    fn row(&self) -> Option<usize> {
        Some(self.done / ROW).filter(|row| *row < self.rows.len())
    }

    /// The trial took this member this time. After the last one: the words that all members' are to be added to, by
    /// [`add`], and given to [`Trials::agree`].
    pub fn took(&mut self, nanoseconds: u64) -> Option<[u8; WORDS]> {
        let row = self.row()?;
        if self.done % ROW >= UNCOUNTED {
            self.rows[row] += nanoseconds;
        }
        self.done += 1;
        let mut words = [0; WORDS];
        for (word, row) in words.chunks_exact_mut(8).zip(self.rows) {
            word.copy_from_slice(&row.to_le_bytes());
        }
        self.row().is_none().then_some(words)
    }

    /// All members' words, added up: the same on all, so all take the same way from now on, until the next trial.
    pub fn agree(&mut self, sums: &[u8; WORDS]) {
        let rows: Vec<u64> = sums.chunks_exact(8).map(number).collect();
        let quickest = |way: usize| rows.iter().skip(way).step_by(2).min();
        let found =
            if quickest(0) <= quickest(1) { ShortAlgorithm::Straight } else { ShortAlgorithm::Rounds };
        let pause = self.pause.saturating_mul(LONGER);
        *self = Trials { ahead: self.pause, pause, found: Some(found), ..Trials::default() };
    }
}

/// Adds the second words to the first.
pub fn add(sums: &mut [u8], more: &[u8]) {
    for (sum, more) in sums.chunks_exact_mut(8).zip(more.chunks_exact(8)) {
        let added = number(sum).saturating_add(number(more));
        sum.copy_from_slice(&added.to_le_bytes());
    }
}

fn number(word: &[u8]) -> u64 {
    u64::from_le_bytes(word.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of members whose operations take these times, by algorithm and position in the row.
    fn found(members: &[&dyn Fn(ShortAlgorithm, usize) -> u64]) -> Option<ShortAlgorithm> {
        let mut all: Vec<Trials> = members.iter().map(|_| Trials::default()).collect();
        let (mut sums, mut tried) = ([0; WORDS], 0);
        while let Turn::Tried(way) = all[0].next(64) {
            for (trials, takes) in all.iter_mut().zip(members) {
                assert_eq!(trials.next(64), Turn::Tried(way), "all the same");
                assert_eq!(trials.next(65), Turn::Known(None), "another length is not compared");
                let told = trials.took(takes(way, tried));
                assert_eq!(told.is_some(), tried + 1 == 2 * ROWS * ROW);
                add(&mut sums, &told.unwrap_or([0; WORDS]));
            }
            tried += 1;
        }
        all.iter_mut().for_each(|trials| trials.agree(&sums));
        let agreed: Vec<Turn> = all.iter_mut().map(|trials| trials.next(999)).collect();
        assert!(agreed.windows(2).all(|two| two[0] == two[1]), "all agree");
        match agreed[0] {
            Turn::Known(found) => found,
            Turn::Tried(_) => None,
        }
    }

    #[test]
    fn trials_correct_first_choice_and_repeat_rarely() {
        let mut trials = Trials::default();
        let (mut tried, mut last) = (0, None);
        for operation in 0..10_000 {
            match trials.next(64) {
                Turn::Known(found) => last = found,
                Turn::Tried(way) => {
                    tried += 1;
                    let beginning = operation < 100;
                    let took = if beginning { by(way, 2000, 1500) } else { by(way, 700, 1300) };
                    if let Some(words) = trials.took(took) {
                        trials.agree(&words);
                    }
                }
            }
            match operation {
                50..100 => assert_eq!(last, Some(ShortAlgorithm::Rounds)),
                200.. => assert_eq!(last, Some(ShortAlgorithm::Straight)),
                _ => {}
            }
        }
        assert_eq!(tried, 5 * 2 * ROWS * ROW);
    }

    fn by(way: ShortAlgorithm, straight: u64, rounds: u64) -> u64 {
        if way == ShortAlgorithm::Straight { straight } else { rounds }
    }

    #[test]
    fn members_choose_algorithm_that_is_fastest_for_group() {
        let far: &dyn Fn(ShortAlgorithm, usize) -> u64 = &|way, _| by(way, 600, 1400);
        let crowded: &dyn Fn(ShortAlgorithm, usize) -> u64 = &|way, _| by(way, 190, 130);
        assert_eq!(found(&[far; 3]), Some(ShortAlgorithm::Straight));
        assert_eq!(found(&[crowded; 3]), Some(ShortAlgorithm::Rounds));
        assert_eq!(
            found(&[crowded, crowded, far]),
            Some(ShortAlgorithm::Straight),
            "one loses more than two gain"
        );
    }

    #[test]
    fn trials_ignore_first_runs_and_single_interruption() {
        let seen: &dyn Fn(ShortAlgorithm, usize) -> u64 = &|way, tried| match tried {
            _ if tried % ROW < UNCOUNTED => by(way, 90_000, 1),
            5 => 70_000,
            _ => by(way, 10, 20),
        };
        assert_eq!(found(&[seen; 2]), Some(ShortAlgorithm::Straight));
    }
}
