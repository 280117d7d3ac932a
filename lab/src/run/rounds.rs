//! Which launch comes when: each block once, then again as time allows, then the blocks in which the machine was disturbed.

use crate::error::LabError;
use crate::run::blocks;
use crate::run::disturbed;
use crate::run::experiment::{Cores, Job};
use crate::run::progress::Progress;
use crate::run::record::{Folder, LaunchRecord};
use crate::run::runner::Runner;
use crate::systems::system::Extent;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The first round teaches what launches cost; the rest is dealt out by that. Returns the jobs that found no time.
pub(crate) fn run_plan(
    runner: &mut Runner,
    mut jobs: Vec<Job>,
    extent: Extent,
    mut progress: Progress,
    folder: &mut Folder,
    interrupted: &AtomicBool,
) -> Result<Vec<String>, LabError> {
    jobs.retain(|job| runner.serves(job));
    if jobs.iter().all(|job| job.system.is_none()) {
        return Err(LabError::NothingToCompare);
    }
    let all = jobs.len();
    jobs.retain(|job| has_cores(job.measure.cores, runner.cores.len(), runner.over_hosts));
    if jobs.len() < all {
        progress.say(&format!("one core: {} things that need two are left out", all - jobs.len()));
    }
    let past: Vec<Past> = jobs.iter().map(|job| Past::of(job, &runner.launches)).collect();
    let measured = past.iter().filter(|past| past.is_over()).count();
    let before = if measured == 0 { String::new() } else { format!(", {measured} of them measured before") };
    progress.say(&format!(
        "{} things to measure{before}, at most {} s",
        jobs.len(),
        progress.budget().as_secs()
    ));
    let plan = Plan { blocks: blocks::of(&jobs), jobs: &jobs, begun: Instant::now(), interrupted };
    let mut costs: Vec<Option<Duration>> = past.iter().map(|past| past.cost).collect();
    let left_out = plan.first_round(runner, &past, &mut costs, &mut progress, folder)?;
    let once = match left_out.len() {
        0 => "each was measured once".to_owned(),
        some => format!("the time is over: {} of {} were measured once", jobs.len() - some, jobs.len()),
    };
    plan.more_rounds(runner, &past, costs, (extent, once), &mut progress, folder)?;
    plan.repeat_disturbed(runner, &mut progress, folder)?;
    progress.finish();
    Ok(left_out)
}

/// The jobs to run, in their blocks.
struct Plan<'a> {
    jobs: &'a [Job],
    /// Places in `jobs`.
    blocks: Vec<Vec<usize>>,
    begun: Instant,
    interrupted: &'a AtomicBool,
}

impl Plan<'_> {
    /// Runs each block once; the jobs for which no time was left.
    fn first_round(
        &self,
        runner: &mut Runner,
        past: &[Past],
        costs: &mut [Option<Duration>],
        progress: &mut Progress,
        folder: &mut Folder,
    ) -> Result<Vec<String>, LabError> {
        let mut left_out = Vec::new();
        for block in blocks::first_round(self.blocks.len(), &mut runner.random) {
            let mut order = self.blocks[block].clone();
            order.retain(|job| !past[*job].is_over());
            runner.random.shuffle(&mut order);
            runner.begin_block();
            for job in order {
                stop_if(self.interrupted)?;
                if self.begun.elapsed() > progress.budget() {
                    progress.say(&format!("no time left: {}", self.jobs[job].name()));
                    left_out.push(self.jobs[job].name());
                    continue;
                }
                costs[job] = self.first_of(runner, job, &past[job], progress, folder)?;
            }
        }
        Ok(left_out)
    }

    /// The first launch of a job. One accident does not leave a system out; two in a row do, and so does a launch that takes for ever.
    fn first_of(
        &self,
        runner: &mut Runner,
        job: usize,
        past: &Past,
        progress: &mut Progress,
        folder: &mut Folder,
    ) -> Result<Option<Duration>, LabError> {
        let job = &self.jobs[job];
        let attempts = if past.failed == 1 { 1 } else { 2 };
        for attempt in 1..=attempts {
            progress.begin(&job.name());
            let cost = runner.run(job, folder)?;
            progress.end();
            let Some(last) = runner.launches.last().filter(|last| last.failure.is_some()) else {
                return Ok(cost);
            };
            let is_endless = last.elapsed_s >= job.measure.patience as f64;
            if attempt == attempts || is_endless {
                let why = last.failure.as_deref().unwrap_or_default();
                progress.say(&format!("left out: {}: {why}", job.name()));
                break;
            }
        }
        Ok(None)
    }

    /// Deals out the time that is left.
    fn more_rounds(
        &self,
        runner: &mut Runner,
        past: &[Past],
        mut costs: Vec<Option<Duration>>,
        (extent, once): (Extent, String),
        progress: &mut Progress,
        folder: &mut Folder,
    ) -> Result<(), LabError> {
        let left = progress.budget().saturating_sub(self.begun.elapsed());
        let working = costs.iter().flatten().count();
        for cost in &mut costs {
            *cost = cost.filter(|cost| !blocks::is_dear(*cost, left, working));
        }
        let of_block = |block: &Vec<usize>| {
            let working: Vec<Duration> = block.iter().filter_map(|job| costs[*job]).collect();
            // A single job that still works is repeated too: its own figure gets better.
            (!working.is_empty()).then(|| working.iter().map(|cost| *cost + LOOK).sum())
        };
        let block_costs: Vec<Option<Duration>> = self.blocks.iter().map(of_block).collect();
        let most = |of: &dyn Fn(usize) -> usize| -> Vec<usize> {
            self.blocks.iter().map(|block| block.iter().map(|job| of(*job)).max().unwrap_or(0)).collect()
        };
        let (wanted, done) = (most(&|job| self.jobs[job].wanted(extent)), most(&|job| past[job].done.max(1)));
        let order = blocks::more_rounds(&block_costs, &wanted, &done, left, &mut runner.random);
        let more: Duration = order.iter().filter_map(|block| block_costs[*block]).sum();
        // Disturbed blocks are repeated in the time that is left.
        progress.remaining((more + more / 4).min(left));
        if order.is_empty() {
            progress.say(&once);
        } else {
            progress.say(&format!(
                "{once}; {} blocks more, about {} s",
                order.len(),
                more.min(left).as_secs()
            ));
        }
        for block in order {
            if self.begun.elapsed() > progress.budget() {
                break;
            }
            let jobs = self.blocks[block].iter().copied().filter(|job| costs[*job].is_some()).collect();
            self.run_block(runner, jobs, progress, folder)?;
        }
        Ok(())
    }

    /// Runs these jobs one right after the other, in a random order.
    fn run_block(
        &self,
        runner: &mut Runner,
        mut jobs: Vec<usize>,
        progress: &mut Progress,
        folder: &mut Folder,
    ) -> Result<(), LabError> {
        runner.random.shuffle(&mut jobs);
        runner.begin_block();
        for job in jobs {
            stop_if(self.interrupted)?;
            progress.begin(&self.jobs[job].name());
            runner.run(&self.jobs[job], folder)?;
            progress.end();
        }
        Ok(())
    }

    /// Blocks that were disturbed, or slow, are run once more, as long as there is time; the new one counts if it was spared.
    fn repeat_disturbed(
        &self,
        runner: &mut Runner,
        progress: &mut Progress,
        folder: &mut Folder,
    ) -> Result<(), LabError> {
        let disturbed = disturbed::disturbed(&runner.launches);
        let slow = disturbed::slow(&runner.launches);
        // Ratios of slow blocks count: these come last.
        let again: Vec<usize> =
            disturbed.iter().copied().chain(slow.difference(&disturbed).copied()).collect();
        if !again.is_empty() {
            progress.say(&format!(
                "the machine changed its speed or was used by others in {} blocks: repeated while there is time",
                again.len()
            ));
        }
        for block in again {
            let of_block: Vec<&LaunchRecord> =
                runner.launches.iter().filter(|one| one.block == block && one.failure.is_none()).collect();
            let takes: f64 = of_block.iter().map(|launch| launch.elapsed_s).sum();
            let is_its = |job: &Job, launch: &LaunchRecord| {
                let system = job.system.map(|system| system.id()).unwrap_or_default();
                launch.job_and_system()
                    == (job.name().as_str(), job.measure.program, job.measure.tasks, system.as_str())
            };
            let jobs: Vec<usize> = (0..self.jobs.len())
                .filter(|job| of_block.iter().any(|launch| is_its(&self.jobs[*job], launch)))
                .collect();
            if self.begun.elapsed() + Duration::from_secs_f64(takes) > progress.budget() {
                continue;
            }
            self.run_block(runner, jobs, progress, folder)?;
            let by = runner.block;
            let has_all = runner.launches.iter().all(|one| one.block != by || one.failure.is_none());
            let is_spared = !disturbed::disturbed(&runner.launches).contains(&by)
                && !disturbed::slow(&runner.launches).contains(&by);
            if has_all && is_spared {
                runner.replace(block, by);
            }
        }
        Ok(())
    }
}

/// A look at the machine after each launch takes about so long.
const LOOK: Duration = Duration::from_millis(8);

/// How a job went in the part of a session that was interrupted.
#[derive(Debug, Default, PartialEq)]
struct Past {
    /// What its first launch took.
    cost: Option<Duration>,
    /// Launches that worked.
    done: usize,
    /// Launches that did not.
    failed: usize,
    /// One of these took for ever.
    endless: bool,
}

impl Past {
    fn of(job: &Job, launches: &[LaunchRecord]) -> Past {
        let (name, system) = (job.name(), job.system.map(|system| system.id()).unwrap_or_default());
        let mut past = Past::default();
        for launch in launches {
            let is_its = launch.job == name
                && launch.system == system
                && launch.program == job.measure.program
                && launch.tasks == job.measure.tasks;
            match launch.failure {
                _ if !is_its => {}
                Some(_) => {
                    past.failed += 1;
                    past.endless |= launch.elapsed_s >= job.measure.patience as f64;
                }
                None => {
                    past.done += 1;
                    past.cost = past.cost.or(Some(Duration::from_secs_f64(launch.elapsed_s)));
                }
            }
        }
        past
    }

    /// Whether its first round is over: it is known what it costs, or that it does not work.
    fn is_over(&self) -> bool {
        self.done > 0 || self.failed > 1 || self.endless
    }
}

/// Whether what is to have these cores can have them. With one of two it would measure something else under the same name; hosts have
/// their own, however many of them this one is.
fn has_cores(wanted: Cores, here: usize, over_hosts: bool) -> bool {
    over_hosts || here > 1 || wanted != Cores::Two
}

fn stop_if(interrupted: &AtomicBool) -> Result<(), LabError> {
    if interrupted.load(Ordering::Relaxed) { Err(LabError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_for_two_cores_is_skipped_on_one() {
        assert!(!has_cores(Cores::Two, 1, false));
        assert!(has_cores(Cores::Two, 1, true), "hosts that are named have their own");
        assert!(has_cores(Cores::Two, 2, false) && has_cores(Cores::One, 1, false));
    }
}
