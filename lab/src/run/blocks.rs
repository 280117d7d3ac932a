//! Blocks: the launches of all systems of one measurement, one right after the other, in a random order.
//!
//! A machine that changes its speed hits all systems of a block alike, so ratios within a block are compared. The first round runs each
//! block once and learns what the block costs; the rest of the time is dealt out in rounds. The order depends on the seed alone.

use crate::run::experiment::{Cores, Job};
use parvum_seed::Random;
use std::time::Duration;

/// The blocks, as places in `jobs`. The jobs of a block measure the same thing of different systems or builds.
pub fn of(jobs: &[Job]) -> Vec<Vec<usize>> {
    let mut blocks: Vec<(Key, Vec<usize>)> = Vec::new();
    for (at, job) in jobs.iter().enumerate() {
        let measure = &job.measure;
        let key = (measure.program, measure.tasks, measure.cores, measure.sizes.first());
        match blocks.iter_mut().find(|block| block.0 == key) {
            Some(block) => block.1.push(at),
            None => blocks.push((key, vec![at])),
        }
    }
    blocks.into_iter().map(|block| block.1).collect()
}

/// The program, its tasks, where they run, and the first size: launches of one size each are blocks of their own.
type Key = (&'static str, u32, Cores, Option<&'static u64>);

/// The first round: each block once.
pub fn first_round(blocks: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks).collect();
    random.shuffle(&mut order);
    order
}

/// A twentieth of the time is a large share.
const DEAR: u32 = 20;
/// All jobs are repeated if there are so few: each of them has others to be compared with.
const FEW: usize = 24;

/// Whether a single launch of a job takes a large share of the time. Such a job is not repeated, because all others would get fewer
/// launches.
pub fn is_dear(cost: Duration, left: Duration, jobs: usize) -> bool {
    jobs > FEW && cost > left / DEAR
}

/// Deals out `left` over further rounds. `costs[b]` is what block `b` takes (`None`: it is not repeated), `wanted[b]` its number of
/// rounds, including the `done[b]` that it has had.
pub fn more_rounds(
    costs: &[Option<Duration>],
    wanted: &[usize],
    done: &[usize],
    mut left: Duration,
    random: &mut Random,
) -> Vec<usize> {
    let mut order = Vec::new();
    let most = wanted.iter().copied().max().unwrap_or(0);
    for round in 2..=most {
        let mut launches = Vec::new();
        for (block, cost) in costs.iter().enumerate() {
            if let Some(cost) = cost
                && wanted[block] >= round
                && done[block] < round
                && *cost <= left
            {
                left -= *cost;
                launches.push(block);
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
    use crate::run::experiment::{Measure, of_each};
    use crate::systems::system::{Encoding, Family, System};
    use proptest::prelude::*;

    #[test]
    fn block_has_all_systems_of_a_measurement() {
        let system = |family| System { family, route: "", encoding: Encoding::None };
        let both = [Family::Mpi, Family::Mpich].map(system);
        let ring = Measure::program("ring", "ring");
        let other_options = Measure { options: "--time-ms 8", ..ring.clone() };
        let many = Measure { tasks: 16, ..ring.clone() };
        let jobs: Vec<Job> = [ring, many, other_options].iter().flat_map(|one| of_each(one, both)).collect();
        assert_eq!(of(&jobs), [vec![0, 1, 4, 5], vec![2, 3]]);
    }

    #[test]
    fn plan_is_the_same_for_same_seed() {
        let costs = vec![Some(Duration::from_millis(300)); 20];
        let plan = |seed| {
            let mut random = Random::new(seed);
            let mut order = first_round(20, &mut random);
            order.extend(more_rounds(&costs, &[10; 20], &[1; 20], Duration::from_secs(30), &mut random));
            order
        };
        assert_eq!(plan(5), plan(5));
        assert_ne!(plan(5), plan(6));
    }

    #[test]
    fn every_round_has_each_block_once() {
        let costs = vec![Some(Duration::from_millis(1)); 4];
        let order = more_rounds(&costs, &[5; 4], &[1; 4], Duration::from_secs(1), &mut Random::new(1));
        assert_eq!(order.len(), 16);
        for round in order.chunks(4) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn failed_block_is_not_repeated() {
        let costs = [None, Some(Duration::from_millis(1))];
        assert_eq!(
            more_rounds(&costs, &[3, 3], &[1, 1], Duration::from_secs(1), &mut Random::new(1)),
            [1, 1]
        );
    }

    #[test]
    fn job_with_large_share_of_time_is_dear_beside_many() {
        let left = Duration::from_secs(200);
        assert!(is_dear(Duration::from_secs(11), left, 30) && !is_dear(Duration::from_secs(9), left, 30));
        assert!(!is_dear(Duration::from_secs(11), left, 20), "few jobs are all repeated");
    }

    proptest! {
        #[test]
        fn rounds_keep_the_time_budget(costs in prop::collection::vec(1u64..5000, 1..30), left in 0u64..60_000, seed: u64) {
            let costs: Vec<Option<Duration>> = costs.into_iter().map(|ms| Some(Duration::from_millis(ms))).collect();
            let left = Duration::from_millis(left);
            let order = more_rounds(&costs, &vec![10; costs.len()], &vec![1; costs.len()], left, &mut Random::new(seed));
            let spent: Duration = order.iter().filter_map(|&block| costs[block]).sum();
            prop_assert!(spent <= left);
            for block in 0..costs.len() {
                prop_assert!(order.iter().filter(|&&one| one == block).count() <= 9);
            }
        }
    }
}
