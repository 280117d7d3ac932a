//! Which launch comes when: each job once, then again as time allows, then what met the host's slow state.

use crate::error::LabError;
use crate::host::state;
use crate::run::experiment::{self, Cores, Job};
use crate::run::progress::Progress;
use crate::run::record::{Folder, LaunchRecord};
use crate::run::runner::Runner;
use crate::systems::system::Extent;
use std::collections::{HashSet, VecDeque};
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
    let begun = Instant::now();
    let budget = progress.budget();
    let past: Vec<Past> = jobs.iter().map(|job| Past::of(job, &runner.launches)).collect();
    let measured = past.iter().filter(|past| past.is_over()).count();
    let before = if measured == 0 { String::new() } else { format!(", {measured} of them measured before") };
    progress.say(&format!("{} things to measure{before}, at most {} s", jobs.len(), budget.as_secs()));
    let mut costs: Vec<Option<Duration>> = past.iter().map(|past| past.cost).collect();
    let mut left_out = Vec::new();
    let mut order: VecDeque<usize> = experiment::first_round(jobs.len(), &mut runner.random).into();
    order.retain(|job| !past[*job].is_over());
    let mut retried: HashSet<usize> = (0..jobs.len()).filter(|job| past[*job].failed == 1).collect();
    while let Some(job) = order.pop_front() {
        stop_if(interrupted)?;
        if begun.elapsed() > budget {
            if !retried.contains(&job) {
                progress.say(&format!("no time left: {}", jobs[job].name()));
                left_out.push(jobs[job].name());
            }
            continue;
        }
        progress.begin(&jobs[job].name());
        costs[job] = runner.run(&jobs[job], folder)?;
        if let Some(last) = runner.launches.last()
            && let Some(failure) = &last.failure
        {
            // One accident does not leave a system out; two in a row do, and so does a launch that takes for ever.
            let accident = last.elapsed_s < jobs[job].measure.patience as f64;
            if accident && retried.insert(job) {
                order.push_back(job);
                progress.end();
                continue;
            }
            progress.say(&format!("left out: {}: {failure}", jobs[job].name()));
        }
        progress.end();
    }
    let wanted: Vec<usize> = jobs.iter().map(|job| job.wanted(extent)).collect();
    let left = budget.saturating_sub(begun.elapsed());
    let done: Vec<usize> = past.iter().map(|past| past.done.max(1)).collect();
    let order = experiment::more_rounds(&costs, &wanted, &done, left, &mut runner.random);
    let more: Duration = order.iter().filter_map(|job| costs[*job]).sum();
    progress.remaining(more.min(left));
    let once = match left_out.len() {
        0 => "each was measured once".to_owned(),
        some => format!("the time is over: {} of {} were measured once", jobs.len() - some, jobs.len()),
    };
    if order.is_empty() {
        progress.say(&once);
    } else {
        progress.say(&format!("{once}; {} launches more, about {} s", order.len(), more.min(left).as_secs()));
    }
    for job in order {
        if begun.elapsed() > budget {
            break;
        }
        stop_if(interrupted)?;
        progress.begin(&jobs[job].name());
        runner.run(&jobs[job], folder)?;
        progress.end();
    }
    repeat_slow(runner, &jobs, &mut progress, folder, (begun, budget), interrupted)?;
    progress.finish();
    Ok(left_out)
}

/// Launches that met the host's slow state are made once more, as long as there is time; the new one counts if it was spared.
fn repeat_slow(
    runner: &mut Runner,
    jobs: &[Job],
    progress: &mut Progress,
    folder: &mut Folder,
    (begun, budget): (Instant, Duration),
    interrupted: &AtomicBool,
) -> Result<(), LabError> {
    let slow = state::slow(&runner.launches);
    if !slow.is_empty() {
        progress.say(&format!(
            "the host was in its slow state in {} launches: repeated while there is time",
            slow.len()
        ));
    }
    for launch in slow {
        stop_if(interrupted)?;
        let record = &runner.launches[launch];
        let is_its = |job: &&Job| {
            job.name() == record.job
                && job.measure.tasks == record.tasks
                && job.system.map(|system| system.id()).unwrap_or_default() == record.system
        };
        let Some(job) = jobs.iter().find(is_its) else { continue };
        let takes = Duration::from_secs_f64(record.elapsed_s);
        if begun.elapsed() + takes > budget {
            continue;
        }
        progress.begin(&job.name());
        let again = runner.launches.len();
        if runner.run(job, folder)?.is_some() && !state::slow(&runner.launches).contains(&again) {
            runner.replace(launch, again);
        }
        progress.end();
    }
    Ok(())
}

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
