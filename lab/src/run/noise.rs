//! An experiment on simulated machines: what verdicts are worth when a machine changes its speed, its frequency or its company.
//!
//! Three systems run the same work. Two are equal, the third takes a tenth more. The machine is disturbed in one of several ways. Blocks with
//! ratios are judged beside what was done before: launches in random order, judged by ranks.

use super::{blocks, disturbed};
use crate::host::state::State;
use crate::run::record::LaunchRecord;
use crate::stats::paired::compare_rows;
use crate::stats::samples::Line;
use crate::stats::statistics::{Verdict, compare};
use crate::stats::summary::{Recorded, Row, summarise};
use parvum_seed::Random;

/// What disturbs the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disturbance {
    Nothing,
    /// Cache lines, and with them messages, take twice as long, for minutes.
    SlowState,
    /// All cores run at 70 %, for minutes.
    Frequency,
    /// Cache lines take twice as long in every other launch, by chance.
    Flicker,
    /// Another program takes a core. Spinning systems lose more by it than sleeping ones.
    Load,
}

const ALL: [Disturbance; 5] = [
    Disturbance::Nothing,
    Disturbance::SlowState,
    Disturbance::Frequency,
    Disturbance::Flicker,
    Disturbance::Load,
];
/// Launches of each system.
const ROUNDS: usize = 16;
const SYSTEMS: usize = 3;
/// The time of each system on a quiet machine.
const TRUTH: [f64; SYSTEMS] = [1.0, 1.0, 1.1];
/// How many times as long each takes beside another program: the first one sleeps while it waits.
const LOADED: [f64; SYSTEMS] = [1.2, 3.0, 1.1];

/// A machine: its disturbance begins and ends by chance.
struct Host {
    random: Random,
    disturbance: Disturbance,
    is_on: bool,
}

impl Host {
    fn share(&mut self) -> f64 {
        self.random.below(1_000_000) as f64 / 1e6
    }

    /// A disturbance of twelve launches, on average every twenty-fourth.
    fn step(&mut self) {
        let chance = match self.disturbance {
            Disturbance::Flicker => 2,
            _ if self.is_on => 12,
            _ => 24,
        };
        if self.random.below(chance) == 0 {
            self.is_on = !self.is_on && self.disturbance != Disturbance::Nothing;
        }
    }

    fn look(&mut self) -> State {
        let on = |disturbance| self.is_on && self.disturbance == disturbance;
        let (slow, low, load) = (
            on(Disturbance::SlowState) || on(Disturbance::Flicker),
            on(Disturbance::Frequency),
            on(Disturbance::Load),
        );
        let mut noise = || 1.0 + 0.05 * self.share();
        State {
            line_ns: Some(60.0 * noise() * if slow { 2.0 } else { 1.0 }),
            step_ns: Some(noise() * if low { 1.0 / 0.7 } else { 1.0 }),
            copy_gb_s: Some(8.0 / noise()),
            others: Some(u32::from(load)),
        }
    }

    /// The time of a launch, with a few per cent of noise and sometimes much more.
    fn time(&mut self, system: usize) -> f64 {
        let factor = match self.disturbance {
            _ if !self.is_on => 1.0,
            Disturbance::Nothing => 1.0,
            Disturbance::SlowState | Disturbance::Flicker => 2.0,
            Disturbance::Frequency => 1.0 / 0.7,
            Disturbance::Load => LOADED[system],
        };
        let spike = if self.random.below(20) == 0 { 1.0 + self.share() } else { 1.0 };
        TRUTH[system] * factor * spike * (1.0 + 0.04 * self.share())
    }

    /// A launch between two looks. The machine may change in the middle.
    fn launch(&mut self, number: usize, block: usize, system: usize) -> (LaunchRecord, Recorded) {
        let before = self.look();
        self.step();
        let time = self.time(system);
        let after = self.look();
        let launch = LaunchRecord {
            launch: number,
            job: "ring".into(),
            system: system.to_string(),
            block,
            before,
            after,
            ..LaunchRecord::default()
        };
        let line = Line { samples_ns: vec![(time * 1e6) as u64], size: 8, tasks: 2, ..Line::default() };
        let recorded = Recorded { system: system.to_string(), ..Recorded::new(number, "ring", None, line) };
        (launch, recorded)
    }
}

/// Verdicts about equal systems and about different ones.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    false_verdicts: usize,
    inverted: usize,
    right: usize,
}

impl Tally {
    fn add(&mut self, equal: Verdict, different: Verdict) {
        self.false_verdicts += usize::from(matches!(equal, Verdict::Smaller | Verdict::Larger));
        self.inverted += usize::from(different == Verdict::Larger);
        self.right += usize::from(different == Verdict::Smaller);
    }
}

fn rows_of(lines: &[Recorded]) -> Vec<Row> {
    let mut rows = summarise(lines);
    rows.retain(|row| row.metric == "half round trip");
    assert_eq!(rows.len(), SYSTEMS);
    rows
}

/// As before: all launches of a round in random order, slow ones and all, judged by ranks.
fn by_ranks(host: &mut Host) -> (Verdict, Verdict) {
    let mut lines = Vec::new();
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..SYSTEMS).collect();
        host.random.shuffle(&mut order);
        for system in order {
            // Launches of other measurements come between.
            (0..6).for_each(|_| host.step());
            lines.push(host.launch(round, 0, system).1);
        }
    }
    let rows = rows_of(&lines);
    (compare(&rows[0].launches, &rows[1].launches), compare(&rows[0].launches, &rows[2].launches))
}

/// Blocks. Disturbed blocks are run once more. A session that stays disturbed ranks nothing.
fn by_blocks(host: &mut Host) -> Option<(Verdict, Verdict)> {
    let (mut launches, mut lines) = (Vec::new(), Vec::new());
    let mut run_block = |host: &mut Host, launches: &mut Vec<LaunchRecord>, block: usize| {
        (0..6 * SYSTEMS).for_each(|_| host.step());
        for system in blocks::first_round(SYSTEMS, &mut host.random) {
            let (launch, line) = host.launch(launches.len(), block, system);
            launches.push(launch);
            lines.push(line);
        }
    };
    (0..ROUNDS).for_each(|block| run_block(host, &mut launches, block));
    for (at, block) in disturbed::disturbed(&launches).into_iter().enumerate() {
        let by = ROUNDS + at;
        run_block(host, &mut launches, by);
        if !disturbed::disturbed(&launches).contains(&by) {
            let replaced = launches.iter_mut().filter(|launch| launch.block == block);
            replaced.for_each(|launch| launch.failure = Some(disturbed::repeated_in(by)));
        }
    }
    lines.retain(|line| launches[line.launch].failure.is_none());
    disturbed::settle(&mut lines, &launches);
    let rows = rows_of(&lines);
    let may_rank = disturbed::Comparable::count(&launches).doubt().is_none();
    may_rank.then(|| (compare_rows(&rows[0], &rows[1]), compare_rows(&rows[0], &rows[2])))
}

#[test]
fn disturbed_machines_bend_ranks_but_no_verdict_of_blocks() {
    const SESSIONS: usize = 8000;
    let mut random = Random::new(46);
    for disturbance in ALL {
        let (mut before, mut now, mut ranked) = (Tally::default(), Tally::default(), 0);
        for _ in 0..SESSIONS {
            let mut host =
                Host { random: Random::new(random.below(1 << 30) as u64), disturbance, is_on: false };
            let (equal, different) = by_ranks(&mut host);
            before.add(equal, different);
            host.is_on = false;
            if let Some((equal, different)) = by_blocks(&mut host) {
                now.add(equal, different);
                ranked += 1;
            }
        }
        println!("{disturbance:?}: ranks {before:?}; blocks {now:?}, {ranked} of {SESSIONS} sessions ranked");
        assert!(100 * now.false_verdicts <= SESSIONS, "{disturbance:?}: {now:?}");
        // Noise of a factor of two hides a difference of a tenth.
        let hides = disturbance == Disturbance::Flicker;
        let most = if hides { SESSIONS / 1000 } else { 0 };
        assert!(now.inverted <= most, "{disturbance:?}: {now:?}");
        assert!(
            hides || 10 * now.right >= 6 * ranked,
            "{disturbance:?}: blocks see what is there: {now:?} of {ranked}"
        );
        if disturbance == Disturbance::Load {
            assert!(100 * before.false_verdicts > SESSIONS, "ranks were bent: {before:?}");
        }
    }
}
