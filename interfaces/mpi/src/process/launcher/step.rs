//! A launcher that tells each process only its rank and their number, as `srun --mpi=none` does. The processes meet through the
//! mailbox of the machine.
//!
//! Rank 0 takes an entry of each other rank, and then leaves the list of tasks for each of them. An entry ends with the task that
//! has put it, so rank 0 waits until the lists are gone. Each entry is taken once, so programs that run one after the other in
//! the same ranks do not mix.

use super::several_machines;
use crate::errors::{Error, Mpi, class};
use crate::process::machine::machine_notes;
use parvum_api::CoreApi;
use parvum_wire::control::{Blob, ErrorKind, MailFlags, Reply, Request};
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The variables of a step of Slurm.
pub(super) const VARIABLES: [&str; 3] = ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_NUM_NODES"];

/// All processes must begin MPI within this time.
const PATIENCE: Duration = Duration::from_secs(300);
/// The longest time between two looks of rank 0 at the mailbox.
const PAUSE: Duration = Duration::from_millis(20);

/// The processes that were started together.
pub(super) struct Step {
    /// The name that all processes use.
    name: String,
    rank: u32,
    size: u32,
    /// The number of hosts on which the launcher has started them, if it tells.
    hosts: Option<u32>,
}

/// Whether Slurm has started this process in a step.
pub(super) fn is_slurm() -> bool {
    std::env::var_os(VARIABLES[0]).is_some()
}

impl Step {
    pub(super) fn new(name: String, rank: u32, size: u32) -> Step {
        Step { name, rank, size, hosts: None }
    }

    /// The step of Slurm that this process is in, if it has several processes.
    pub(super) fn of_slurm() -> Mpi<Option<Step>> {
        Step::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Mpi<Option<Step>> {
        // Slurm sets it for each process of a step, and not in the script of a job.
        let Some(size) = variable("SLURM_STEP_NUM_TASKS") else { return Ok(None) };
        let number = |name: &str| variable(name).and_then(|value| value.parse::<u32>().ok());
        let (job, step) = (variable("SLURM_JOB_ID"), variable("SLURM_STEP_ID"));
        match (size.parse::<u32>(), number("SLURM_PROCID"), job, step) {
            (Ok(0 | 1), ..) => Ok(None),
            (Ok(size), Some(rank), Some(job), Some(step)) if rank < size => {
                let hosts = number("SLURM_STEP_NUM_NODES");
                Ok(Some(Step { hosts, ..Step::new(format!("slurm {job}.{step}"), rank, size) }))
            }
            _ => Err(Error::new(
                class::OTHER,
                format!(
                    "E-LAUNCHER: SLURM_STEP_NUM_TASKS={size}, but SLURM_PROCID, SLURM_JOB_ID and SLURM_STEP_ID do not name one of \
                     its processes; help: start the program with `srun`; PARVUM_LAUNCHER=none makes a world of one"
                ),
            )),
        }
    }

    /// The tasks of all processes, in the order of their ranks.
    pub(super) fn meet(&mut self, api: CoreApi, me: i32) -> Mpi<Vec<i32>> {
        // All daemons agree on each look. Many ranks that wait look less often.
        let pause = if self.rank == 0 { PAUSE } else { PAUSE.max(Duration::from_millis(self.size.into())) };
        let machine = Mailbox { api, pause };
        if let Some(hosts) = self.hosts
            && machine.hosts()? < hosts
        {
            return Err(several_machines());
        }
        let (until, up) = (Instant::now() + PATIENCE, format!("parvum {} up", self.name));
        let down = |rank: u32| format!("parvum {} down {rank}", self.name);
        if self.rank > 0 {
            machine.put(&up, &[self.rank, me as u32])?;
            let list = machine.take(&down(self.rank), until)?.ok_or_else(|| self.late(&[0]))?;
            return Ok(list.into_iter().map(|task| task as i32).collect());
        }
        let mut tasks = BTreeMap::from([(0, me as u32)]);
        while tasks.len() < self.size as usize {
            let missing = || (0..self.size).filter(|rank| !tasks.contains_key(rank)).collect::<Vec<_>>();
            let told = machine.take(&up, until)?.ok_or_else(|| self.late(&missing()))?;
            if let [rank, task] = told[..]
                && rank < self.size
            {
                tasks.insert(rank, task);
            }
        }
        let list: Vec<u32> = tasks.into_values().collect();
        for rank in 1..self.size {
            machine.put(&down(rank), &list)?;
        }
        let mut pause = Pause::new(PAUSE);
        loop {
            let left = machine.names()?;
            let waiting: Vec<u32> = (1..self.size).filter(|rank| left.contains(&down(*rank))).collect();
            if waiting.is_empty() {
                break;
            }
            if Instant::now() >= until {
                return Err(self.late(&waiting));
            }
            pause.sleep();
        }
        Ok(list.into_iter().map(|task| task as i32).collect())
    }

    fn late(&self, missing: &[u32]) -> Error {
        let Step { name, size, .. } = self;
        let shown = missing.iter().take(8).map(u32::to_string).collect::<Vec<_>>().join(", ");
        let more = if missing.len() > 8 { ", ..." } else { "" };
        let text = format!(
            "E-LAUNCHER: {size} processes of {name} should begin MPI, and after {} s these ranks are missing: {shown}{more}; help: \
             all of them must call MPI_Init, on hosts of one machine (`parvum hosts`); PARVUM_LAUNCHER=none makes a world of one",
            PATIENCE.as_secs()
        );
        Error::new(class::OTHER, text)
    }
}

/// The mailbox of the machine, with entries that are lists of numbers.
struct Mailbox {
    api: CoreApi,
    /// The longest time between two looks.
    pause: Duration,
}

/// The time between two looks, which grows.
struct Pause {
    next: Duration,
    most: Duration,
}

impl Pause {
    fn new(most: Duration) -> Pause {
        Pause { next: Duration::from_micros(200), most }
    }

    fn sleep(&mut self) {
        sleep(self.next);
        self.next = (self.next * 2).min(self.most);
    }
}

impl Mailbox {
    fn ask(&self, request: &Request) -> Mpi<Option<Reply>> {
        let answer = self.api.ask(request, &machine_notes());
        match answer
            .map_err(|status| Error::new(class::OTHER, format!("the machine does not answer: {status:?}")))?
        {
            Ok(reply) => Ok(Some(reply)),
            Err(why) if why.kind == ErrorKind::NoSuchEntry => Ok(None),
            Err(why) => Err(Error::new(class::OTHER, why.to_string())),
        }
    }

    fn hosts(&self) -> Mpi<u32> {
        match self.ask(&Request::Hosts)? {
            Some(Reply::Hosts(rows)) => Ok(rows.len() as u32),
            _ => Err(Error::new(class::INTERN, "the list of hosts is odd")),
        }
    }

    /// The names of all entries.
    fn names(&self) -> Mpi<BTreeSet<String>> {
        match self.ask(&Request::MailList)? {
            Some(Reply::MailList(classes)) => Ok(classes.into_iter().map(|class| class.name).collect()),
            _ => Err(Error::new(class::INTERN, "the list of the mailbox is odd")),
        }
    }

    fn put(&self, name: &str, numbers: &[u32]) -> Mpi {
        let data = Blob(numbers.iter().flat_map(|number| number.to_le_bytes()).collect());
        // Each rank takes entries of others.
        let flags = MailFlags::MULTI.and(MailFlags::OVERWRITABLE);
        let put = Request::MailPut { name: name.to_owned(), index: None, flags, data };
        self.ask(&put).map(|_| ())
    }

    /// Takes the first entry, if an entry comes in time.
    fn take(&self, name: &str, until: Instant) -> Mpi<Option<Vec<u32>>> {
        let get = Request::MailGet { name: name.to_owned(), index: 0, first: true, take: true, wait: false };
        let mut pause = Pause::new(self.pause);
        loop {
            if let Some(Reply::Mail { data, .. }) = self.ask(&get)? {
                let (numbers, _) = data.0.as_chunks::<4>();
                return Ok(Some(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect()));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            pause.sleep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(variables: &[(&str, &str)]) -> Mpi<Option<Step>> {
        Step::of(|asked| {
            let found = variables.iter().find(|(name, _)| *name == asked);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const STEP: [(&str, &str); 5] = [
        ("SLURM_STEP_NUM_TASKS", "4"),
        ("SLURM_PROCID", "2"),
        ("SLURM_JOB_ID", "17"),
        ("SLURM_STEP_ID", "0"),
        ("SLURM_STEP_NUM_NODES", "2"),
    ];

    #[test]
    fn process_of_a_step_knows_its_rank_and_the_others() {
        let found = step(&STEP).expect("a step").expect("several");
        assert_eq!((found.name.as_str(), found.rank, found.size, found.hosts), ("slurm 17.0", 2, 4, Some(2)));
        assert!(step(&[]).expect("no Slurm").is_none());
        // The script of a job has these two.
        assert!(step(&STEP[1..3]).expect("no step").is_none());
        assert!(step(&[("SLURM_STEP_NUM_TASKS", "1")]).expect("one").is_none());
    }

    #[test]
    fn step_without_rank_is_refused() {
        for left_out in 1..4 {
            let some: Vec<_> =
                STEP.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, it)| *it).collect();
            let why = step(&some).err().expect("refused").text.clone();
            assert!(why.starts_with("E-LAUNCHER") && why.contains("PARVUM_LAUNCHER=none"), "{why}");
        }
        assert!(step(&[STEP[0], ("SLURM_PROCID", "4"), STEP[2], STEP[3]]).is_err());
    }

    #[test]
    fn ranks_that_do_not_come_are_named() {
        let all: Vec<u32> = (1..20).collect();
        let why = Step::new("slurm 1.0".into(), 0, 20).late(&all).text.clone();
        assert!(why.contains("1, 2, 3, 4, 5, 6, 7, 8, ...") && why.contains("20 processes"), "{why}");
    }
}
