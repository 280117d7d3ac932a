//! The plan: which launches, how often, in which order.
//!
//! Every launch is one whole start of one program under one system. The first round runs each once and learns what it
//! costs; the rest of the time is then dealt out in rounds, each in a fresh random order, so that rivals interleave and
//! a disturbance of the machine falls on all of them. The order depends on the seed alone.

use crate::random::Random;
use crate::systems::{self, Extent, System};
use std::time::Duration;

/// What one launch measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The machine itself, without a messaging library.
    Floors,
    /// Half round trip and bandwidth at every size, a core for each task.
    Ring,
    /// Half round trip with both tasks on one core.
    OneCore,
    /// The transform on so many tasks, at the paper's sizes or at large ones.
    Fft {
        /// Tasks.
        tasks: u32,
        /// Above the paper's sizes.
        large: bool,
    },
    /// A task blocked in a receive.
    Blocked,
    /// Start and end of an empty job of two tasks.
    Start,
}

/// One line of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// What.
    pub kind: Kind,
    /// Of which system; the floors have none.
    pub system: Option<System>,
}

/// Message lengths of the ring, in bytes.
pub const RING_SIZES: [u64; 11] = [0, 8, 64, 512, 1024, 4096, 16384, 65536, 262_144, 1_048_576, 4_194_304];
/// Transforms of the paper's tables, in points.
pub const PAPER_POINTS: [u64; 4] = [128, 256, 512, 1024];
/// Larger transforms.
pub const LARGE_POINTS: [u64; 5] = [4096, 16384, 65536, 262_144, 1_048_576];
/// Numbers of tasks that transform.
pub const FFT_TASKS: [u32; 3] = [1, 2, 4];

impl Job {
    /// For progress lines and error messages.
    pub fn name(&self) -> String {
        let what = match self.kind {
            Kind::Floors => return "floors".into(),
            Kind::Ring => "ring".to_owned(),
            Kind::OneCore => "ring on one core".to_owned(),
            Kind::Fft { tasks, large } => {
                format!("fft on {tasks}{}", if large { ", large" } else { "" })
            }
            Kind::Blocked => "blocked task".to_owned(),
            Kind::Start => "start and end".to_owned(),
        };
        match self.system {
            Some(system) => format!("{what}: {}", system.label()),
            None => what,
        }
    }

    /// How many launches are wanted, when time allows.
    pub fn wanted(&self, extent: Extent) -> usize {
        let quick = match self.kind {
            Kind::Ring | Kind::Start | Kind::Floors => 10,
            Kind::Fft { large: false, .. } => 10,
            Kind::OneCore => 6,
            Kind::Fft { large: true, .. } => 2,
            // Three seconds each, and all but the same every time.
            Kind::Blocked => 1,
        };
        match extent {
            Extent::Quick => quick,
            Extent::Full => (quick * 3).max(6),
        }
    }
}

/// Every job that the chosen systems give rise to.
pub fn jobs(extent: Extent, chosen: &dyn Fn(&System) -> bool) -> Vec<Job> {
    let mut jobs = vec![Job { kind: Kind::Floors, system: None }];
    let mut add = |kind, systems: Vec<System>| {
        jobs.extend(systems.into_iter().filter(|s| chosen(s)).map(|s| Job { kind, system: Some(s) }));
    };
    add(Kind::Ring, systems::ring_systems(extent));
    add(Kind::OneCore, systems::route_systems());
    for tasks in FFT_TASKS {
        for large in [false, true] {
            add(Kind::Fft { tasks, large }, systems::fft_systems(extent));
        }
    }
    add(Kind::Blocked, systems::fft_systems(extent));
    add(Kind::Start, systems::fft_systems(Extent::Quick));
    jobs
}

/// The first round: each job once.
pub fn first_round(jobs: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs).collect();
    random.shuffle(&mut order);
    order
}

/// Deals out `left` over further rounds. `costs[j]` is what job `j` took (`None`: it failed, and is not repeated),
/// `wanted[j]` its number of launches including the first.
pub fn more_rounds(
    costs: &[Option<Duration>],
    wanted: &[usize],
    mut left: Duration,
    random: &mut Random,
) -> Vec<usize> {
    let mut order = Vec::new();
    let most = wanted.iter().copied().max().unwrap_or(0);
    for round in 2..=most {
        let mut launches = Vec::new();
        for (job, cost) in costs.iter().enumerate() {
            if let Some(cost) = cost
                && wanted[job] >= round
                && *cost <= left
            {
                left -= *cost;
                launches.push(job);
            }
        }
        if launches.is_empty() {
            break;
        }
        random.shuffle(&mut launches);
        order.append(&mut launches);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::Family;
    use proptest::prelude::*;

    #[test]
    fn the_same_seed_gives_the_same_plan() {
        let costs = vec![Some(Duration::from_millis(300)); 20];
        let plan = |seed| {
            let mut random = Random::new(seed);
            let mut order = first_round(20, &mut random);
            order.extend(more_rounds(&costs, &[10; 20], Duration::from_secs(30), &mut random));
            order
        };
        assert_eq!(plan(5), plan(5));
        assert_ne!(plan(5), plan(6));
    }

    #[test]
    fn rivals_interleave() {
        let costs = vec![Some(Duration::from_millis(1)); 4];
        let order = more_rounds(&costs, &[5; 4], Duration::from_secs(1), &mut Random::new(1));
        assert_eq!(order.len(), 16);
        for round in order.chunks(4) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn a_failed_job_is_not_repeated() {
        let costs = [None, Some(Duration::from_millis(1))];
        assert_eq!(more_rounds(&costs, &[3, 3], Duration::from_secs(1), &mut Random::new(1)), [1, 1]);
    }

    #[test]
    fn only_chosen_systems_are_planned() {
        let jobs = jobs(Extent::Quick, &|s| s.family == Family::Mpich);
        assert!(jobs.iter().all(|j| j.system.is_none_or(|s| s.family == Family::Mpich)));
        assert!(jobs.iter().any(|j| j.kind == Kind::Fft { tasks: 4, large: true }));
    }

    proptest! {
        #[test]
        fn the_budget_is_kept(costs in prop::collection::vec(1u64..5000, 1..30), left in 0u64..60_000, seed: u64) {
            let costs: Vec<Option<Duration>> = costs.into_iter().map(|ms| Some(Duration::from_millis(ms))).collect();
            let left = Duration::from_millis(left);
            let order = more_rounds(&costs, &vec![10; costs.len()], left, &mut Random::new(seed));
            let spent: Duration = order.iter().filter_map(|&job| costs[job]).sum();
            prop_assert!(spent <= left);
            for job in 0..costs.len() {
                prop_assert!(order.iter().filter(|&&j| j == job).count() <= 9);
            }
        }
    }
}
