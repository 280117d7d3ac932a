//! How a task waits: it spins while that is likely to help, then sleeps.
//!
//! Spinning helps if the awaited message comes soon *and* its sender has its own core. A task learns both. After a wait
//! that ended while spinning, the next wait spins longer. After a wait with a long sleep, the next wait spins shorter.
//! If a task on the same core woke a sleeper, the sleeper knows that its peer had waited for this core, so it does not
//! spin. Waits as long as a long message takes are spun through while they come again and again. Tasks do not spin
//! while more communicating tasks are awake than there are cores. They let each other run in turn, and sleep if this
//! brings no message for a while. A task that has computed between its waits also takes turns, for as long as it has
//! computed, before it sleeps.

use parvum_control::ControlBlock;
use parvum_wire::Tid;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time to spin; about what it costs to fall asleep on one core and
/// be woken from another, both idle states included.
const LONGEST: Duration = Duration::from_micros(50);
/// The longest time to spin if each wait is this long, for example for a peer that copies a megabyte.
const LONGEST_AGAIN: Duration = Duration::from_micros(250);
/// A sleeper looks after the daemon's connection at least this often.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// After this time of sleep without activity, a task does not check the daemon any more: it sleeps in poll(2), in which
/// the end of the daemon wakes it.
pub(crate) const IDLE: Duration = Duration::from_millis(1600);
/// The longest sleep then: nothing is known that would need it.
const LONGEST_IDLE: Duration = Duration::from_secs(60);

/// The measurements of one task about waiting.
pub(crate) struct Patience {
    budget: Duration,
    /// The number of waits in a row that ended while it looked.
    awake: u32,
    /// The number of waits for which it takes no turns.
    no_turns: u32,
    /// The number for the next time.
    next_no_turns: u32,
    /// The number of turns in a row that were not late.
    good_turns: u32,
    /// The number of waits for which it does not spin.
    no_spins: u32,
    /// After a yield that let no task run: the time for which the task looks without yielding again, and its end.
    alone: Duration,
    alone_until: Instant,
    /// The number of yields in a row that let no task run.
    in_vain: u32,
}

/// A yield that took less time has let no task run.
pub(crate) const TO_NOBODY: Duration = Duration::from_micros(1);
/// If more yields in a row let no task run, there is no other task. Fewer such yields may be the kernel's fairness: a
/// task that has yielded less often than the other runs again at once, although the other could run.
const IN_VAIN: u32 = 16;
/// The maximum time that a lone task looks before it yields again. On some kernels (Linux 6.18) a yield costs its task
/// a slice of its scheduling group's virtual time, even if no other task runs. Yields in vain make this time run
/// thousands of times too fast. They were seen to block whole cores for all other programs for seconds.
const LONGEST_ALONE: Duration = Duration::from_micros(500);

/// A task that was awake for this number of waits makes the fences of its wakers. This costs one fence on their
/// processors, some microseconds, when the task finally sleeps.
const LONG_AWAKE: u32 = 256;

/// The number of waits without turns after a late turn, because another program computes; doubled each time, up to the
/// maximum.
const NO_TURNS: u32 = 4;
const MOST_NO_TURNS: u32 = 4096;
/// After this number of turns that were not late, the number is halved the next time. Tasks that compute in turn keep
/// their core busy, and a task that falls asleep leaves it idle. One late turn among many is the smaller loss. Another
/// program makes about every tenth turn late.
const GOOD_TURNS: u32 = 16;
/// The number of waits for which a task does not spin after its core was taken away.
const NO_SPINS: u32 = 64;

impl Patience {
    pub(crate) fn new() -> Patience {
        Patience {
            budget: LONGEST,
            awake: 0,
            no_turns: 0,
            next_no_turns: NO_TURNS,
            good_turns: 0,
            no_spins: 0,
            alone: Duration::ZERO,
            alone_until: Instant::now(),
            in_vain: 0,
        }
    }

    /// How long to spin now, whatever the task does else.
    pub(crate) fn budget(&self) -> Duration {
        if self.no_spins == 0 { self.budget } else { Duration::ZERO }
    }

    /// It has spun for nothing. The kernel may have taken the core away since the last spin, also by yields that let
    /// others run. Then another task wants the core, and the message may depend on it, so this task does not spin for a
    /// while.
    pub(crate) fn spun_in_vain(&mut self, was_taken_away: bool) {
        if was_taken_away {
            self.no_spins = NO_SPINS;
        }
    }

    /// Whether unknown tasks want its core.
    pub(crate) fn knows_of_others(&self) -> bool {
        self.no_spins > 0
    }

    /// Its wait has ended while it let those others run: one wait less without spinning.
    pub(crate) fn turned_with_others(&mut self) {
        self.no_spins = self.no_spins.saturating_sub(1);
    }

    /// The wait that began then ended while spinning.
    #[inline]
    pub(crate) fn spun(&mut self, since: Instant) {
        self.awake = self.awake.saturating_add(1);
        if self.budget <= LONGEST {
            self.budget = (self.budget * 2).max(LONGEST / 16).min(LONGEST);
        } else if since.elapsed() < LONGEST {
            // Waits are short again.
            self.budget = (self.budget * 7 / 8).max(LONGEST);
        }
    }

    /// Whether the task has been awake for so long that it will probably stay awake for as many more waits.
    #[inline]
    pub(crate) fn is_long_awake(&self) -> bool {
        self.awake == LONG_AWAKE
    }

    /// Whether this task should let other tasks run now, in turn.
    pub(crate) fn takes_turns(&mut self) -> bool {
        let takes = self.no_turns == 0;
        self.no_turns = self.no_turns.saturating_sub(1);
        takes
    }

    /// Yields this core to others, unless recently there were none and the yield is not required. When it runs again.
    #[inline]
    pub(crate) fn let_run(&mut self, now: Instant, must: bool) -> Instant {
        let yields = must || self.yields(now);
        if yields {
            rustix::thread::sched_yield();
        } else {
            std::hint::spin_loop();
        }
        let after = Instant::now();
        if yields {
            self.yielded(after - now, after);
        }
        after
    }

    /// Whether to yield now, rather than look again.
    #[inline]
    fn yields(&self, now: Instant) -> bool {
        now >= self.alone_until
    }

    /// The task has yielded, and runs again after this time.
    #[inline]
    fn yielded(&mut self, took: Duration, now: Instant) {
        self.in_vain = if took < TO_NOBODY { self.in_vain.saturating_add(1) } else { 0 };
        self.alone = match self.in_vain > IN_VAIN {
            true => (2 * self.alone).clamp(2 * TO_NOBODY, LONGEST_ALONE),
            false => Duration::ZERO,
        };
        self.alone_until = now + self.alone;
    }

    /// Its turn came late.
    pub(crate) fn waited_for_turn(&mut self) {
        self.good_turns = 0;
        self.no_turns = self.next_no_turns;
        self.next_no_turns = (2 * self.next_no_turns).min(MOST_NO_TURNS);
    }

    /// Its wait ended while it took turns, none of them late.
    pub(crate) fn turned(&mut self) {
        self.good_turns += 1;
        if self.good_turns == GOOD_TURNS {
            self.good_turns = 0;
            self.next_no_turns = (self.next_no_turns / 2).max(NO_TURNS);
        }
    }

    /// The wait needed sleep.
    pub(crate) fn slept(&mut self, how_long: Duration, woken_from_own_core: bool) {
        self.no_spins = self.no_spins.saturating_sub(1);
        self.awake = 0;
        self.budget = if woken_from_own_core {
            Duration::ZERO
        } else if how_long < LONGEST_AGAIN {
            // With this longer spin, it would not have slept.
            (self.budget.max(LONGEST) + how_long).min(LONGEST_AGAIN)
        } else {
            self.budget / 2
        };
    }
}

/// How long a thread may look before it sleeps because it has computed: not longer than that. A thread that only waits
/// therefore sleeps, and a thread that computes between short waits keeps its core awake. In a virtualised computer, a
/// processor that was idle for a millisecond is up to a third slower for some time, which costs more than the looking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Earned {
    time: Duration,
    /// Reckoned up to when the thread had used so much of its processor.
    used: Duration,
}

impl Earned {
    pub(crate) const NOTHING: Earned = Earned { time: Duration::ZERO, used: Duration::ZERO };
    /// The maximum time of looking.
    const MOST: Duration = Duration::from_millis(10);

    /// When the thread has used so much: what it used since, it has computed.
    pub(crate) fn at(self, used: Duration) -> Earned {
        let time = self.time + self.since(used);
        Earned { time: time.min(Earned::MOST), used }
    }

    /// The same, without this time of spinning.
    pub(crate) fn without(self, spun: Duration) -> Earned {
        Earned { used: self.used + spun, ..self }
    }

    /// The thread has looked for the time that it used since.
    pub(crate) fn spent(self, used: Duration) -> Earned {
        Earned { time: self.time.saturating_sub(self.since(used)), used }
    }

    /// The time that the thread has used since.
    pub(crate) fn since(self, used: Duration) -> Duration {
        used.saturating_sub(self.used)
    }

    pub(crate) fn time(self) -> Duration {
        self.time
    }
}

/// The number of peers that are checked for a peer that wants this core.
const MANY: usize = 16;

/// The tasks of this host that one task talks to.
pub(crate) struct Crowd {
    cores: usize,
    control_blocks: Vec<(Tid, Arc<ControlBlock>)>,
}

impl Crowd {
    pub(crate) fn new() -> Crowd {
        // All online cores, not only the cores that this task may use, because its peers may use others.
        Crowd { cores: online_cores(), control_blocks: Vec::new() }
    }

    /// The cores that are online.
    pub(crate) fn cores(&self) -> usize {
        self.cores
    }

    pub(crate) fn add(&mut self, tid: Tid, control_block: Arc<ControlBlock>) {
        self.remove(tid);
        self.control_blocks.push((tid, control_block));
    }

    pub(crate) fn remove(&mut self, tid: Tid) {
        self.control_blocks.retain(|(peer, _)| *peer != tid);
    }

    /// Whether this task blocks another from a core by spinning: more tasks are awake than there are cores, or a peer
    /// was last seen on the core of `own`.
    pub(crate) fn wants_this_core(&self, own: &ControlBlock) -> bool {
        let here = rustix::thread::sched_getcpu() as u32;
        own.door().set_own_cpu(here);
        let is_here = |(_, control_block): &(Tid, Arc<ControlBlock>)| {
            let door = control_block.door();
            door.is_awake() && door.own_cpu() == here
        };
        self.exceeds_cores() || self.control_blocks.iter().take(MANY).any(is_here)
    }

    /// Whether the kernel lets this task take turns with all of them that are awake.
    pub(crate) fn takes_turns_with(&self, own: &ControlBlock) -> bool {
        let group = own.door().scheduled_in();
        self.control_blocks.iter().take(MANY).all(|(_, control_block)| {
            let door = control_block.door();
            door.scheduled_in() == group || !door.is_awake()
        })
    }

    /// Whether more tasks, this one included, are awake than there are cores.
    pub(crate) fn exceeds_cores(&self) -> bool {
        if self.control_blocks.len() < self.cores {
            return false;
        }
        // A hint; a wrong answer costs some time and no more.
        let is_awake = |(_, control_block): &&(Tid, Arc<ControlBlock>)| control_block.door().is_awake();
        self.control_blocks.iter().filter(is_awake).take(self.cores).count() >= self.cores
    }
}

/// The cores that are online.
fn online_cores() -> usize {
    // "0-3,6": ranges and single numbers.
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    };
    let counted: usize = list.trim().split(',').filter_map(count).sum();
    if counted > 0 { counted } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

/// How long to sleep at most, given when the wait must end.
pub(crate) fn sleep_limit(deadline: Option<Instant>, is_idle: bool) -> Duration {
    let longest = if is_idle { LONGEST_IDLE } else { LONGEST_SLEEP };
    deadline.map_or(longest, |end| end.saturating_duration_since(Instant::now()).min(longest))
}

/// Whether the last waker of `control_block` ran on the core that this task runs on now.
pub(crate) fn woken_from_own_core(control_block: &ControlBlock) -> bool {
    control_block.door().waker_cpu() == rustix::thread::sched_getcpu() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_with_success_and_ends_on_shared_core() {
        let mut patience = Patience::new();
        patience.slept(Duration::from_micros(3), true);
        assert_eq!(patience.budget(), Duration::ZERO);
        patience.slept(Duration::from_micros(3), false);
        assert!(patience.budget() > LONGEST, "soon, and from another core: spinning would have helped");
        for _ in 0..40 {
            patience.slept(Duration::from_secs(1), false);
        }
        assert_eq!(patience.budget(), Duration::ZERO);
        patience.spun(Instant::now());
        assert!(patience.budget() > Duration::ZERO);
    }

    /// Waits until it takes turns again.
    fn until_turns(patience: &mut Patience) -> u32 {
        (0..).find(|_| patience.takes_turns()).expect("some day")
    }

    #[test]
    fn patience_takes_fewer_turns_after_each_loss() {
        let mut patience = Patience::new();
        assert_eq!(until_turns(&mut patience), 0);
        let mut after_each = Vec::new();
        for _ in 0..12 {
            patience.waited_for_turn();
            after_each.push(until_turns(&mut patience));
        }
        assert_eq!(after_each, [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 4096]);
        for _ in 0..10 * GOOD_TURNS {
            patience.turned();
        }
        patience.waited_for_turn();
        assert_eq!(until_turns(&mut patience), NO_TURNS);
    }

    #[test]
    fn patience_spins_through_long_message_until_waits_are_short() {
        let mut patience = Patience::new();
        patience.slept(Duration::from_micros(150), false);
        let long = patience.budget();
        assert!(long >= Duration::from_micros(150));
        patience.spun(Instant::now() - Duration::from_micros(150));
        assert_eq!(patience.budget(), long);
        for _ in 0..40 {
            patience.spun(Instant::now());
        }
        assert_eq!(patience.budget(), LONGEST);
        patience.slept(Duration::from_micros(150), false);
        patience.slept(Duration::from_millis(5), false);
        assert!(patience.budget() < LONGEST_AGAIN, "that was not the wait that comes again");
    }

    #[test]
    fn patience_reports_long_awake_once_until_sleep() {
        let mut patience = Patience::new();
        let mut says = |waits: u32| {
            (0..waits).filter(|_| (patience.spun(Instant::now()), patience.is_long_awake()).1).count()
        };
        assert_eq!((says(LONG_AWAKE - 1), says(1), says(10 * LONG_AWAKE)), (0, 1, 0));
        patience.slept(Duration::from_micros(20), false);
        assert!(!patience.is_long_awake());
        for _ in 0..LONG_AWAKE {
            patience.spun(Instant::now());
        }
        assert!(patience.is_long_awake());
    }

    #[test]
    fn patience_stops_spinning_after_lost_core() {
        let mut patience = Patience::new();
        patience.spun_in_vain(false);
        assert!(!patience.budget().is_zero());
        patience.spun_in_vain(true);
        for _ in 0..NO_SPINS {
            assert!(patience.budget().is_zero() && patience.knows_of_others());
            patience.slept(Duration::from_micros(20), false);
        }
        patience.spun_in_vain(false);
        assert!(!patience.budget().is_zero(), "nobody has taken it since");
        patience.spun_in_vain(true);
        for _ in 0..NO_SPINS {
            assert!(patience.budget().is_zero());
            patience.turned_with_others();
        }
        assert!(!patience.budget().is_zero(), "it tries again");
    }

    #[test]
    fn spin_time_never_exceeds_computed_time() {
        let ms = Duration::from_millis;
        let mut earned = Earned::NOTHING.at(ms(3));
        assert_eq!(earned.time(), ms(3));
        earned = earned.spent(ms(5));
        assert_eq!(earned.at(ms(5)).time(), ms(1), "it has not computed since");
        earned = earned.without(ms(4)).at(ms(9));
        assert_eq!(earned.time(), ms(1), "nor by spinning");
        earned = earned.spent(ms(12));
        assert_eq!(earned.at(ms(12)).time(), Duration::ZERO, "who only waits sleeps");
        assert_eq!(earned.at(ms(1000)).time(), Earned::MOST);
    }

    #[test]
    fn patience_spins_longer_after_useless_yield() {
        let mut patience = Patience::new();
        let mut now = Instant::now();
        let mut yields = 0;
        let end = now + Duration::from_millis(1);
        while now < end {
            if patience.yields(now) {
                yields += 1;
                now += Duration::from_nanos(300);
                patience.yielded(Duration::from_nanos(300), now);
            }
            now += Duration::from_nanos(100);
        }
        let until_alone = IN_VAIN as usize;
        assert!((until_alone + 8..until_alone + 13).contains(&yields), "{yields} in a millisecond");
        patience.yielded(Duration::from_micros(3), now);
        assert!(patience.yields(now), "somebody ran");
    }

    #[test]
    fn patience_skips_turns_after_long_wait() {
        let mut patience = Patience::new();
        assert!(patience.takes_turns());
        patience.waited_for_turn();
        assert_eq!((0..200).filter(|_| patience.takes_turns()).count(), 200 - NO_TURNS as usize);
    }

    #[test]
    fn crowd_is_too_large_if_awake_tasks_exceed_cores() {
        let mut crowd = Crowd { cores: 2, control_blocks: Vec::new() };
        let control_blocks: Vec<_> =
            (0..3).map(|_| Arc::new(ControlBlock::create().expect("a page").0)).collect();
        for (at, control_block) in control_blocks.iter().enumerate() {
            assert!(!crowd.exceeds_cores() || at >= 2);
            crowd.add(Tid(at as i32 + 1), control_block.clone());
        }
        assert!(crowd.exceeds_cores(), "this one and three more on two cores");
        control_blocks[0].fall_asleep();
        assert!(crowd.exceeds_cores());
        control_blocks[1].fall_asleep();
        assert!(!crowd.exceeds_cores());
        control_blocks[1].stay_awake();
        crowd.remove(Tid(3));
        assert!(!crowd.exceeds_cores());
    }

    #[test]
    fn crowd_counts_only_tasks_of_same_scheduling_group() {
        let control_blocks: Vec<_> =
            (0..3).map(|_| Arc::new(ControlBlock::create().expect("a page").0)).collect();
        let mut crowd = Crowd { cores: 2, control_blocks: Vec::new() };
        control_blocks
            .iter()
            .zip([7, 7, 9])
            .for_each(|(control_block, group)| control_block.door().set_scheduled_in(group));
        crowd.add(Tid(1), control_blocks[1].clone());
        assert!(crowd.takes_turns_with(&control_blocks[0]));
        crowd.add(Tid(2), control_blocks[2].clone());
        assert!(!crowd.takes_turns_with(&control_blocks[0]), "one of them is of another");
        control_blocks[2].fall_asleep();
        assert!(crowd.takes_turns_with(&control_blocks[0]), "but it sleeps");
    }

    #[test]
    fn online_cores_returns_at_least_one() {
        assert!(online_cores() >= 1);
    }

    #[test]
    fn sleep_never_outlasts_deadline() {
        assert_eq!((sleep_limit(None, false), sleep_limit(None, true)), (LONGEST_SLEEP, LONGEST_IDLE));
        assert_eq!(sleep_limit(Some(Instant::now()), true), Duration::ZERO);
    }
}
