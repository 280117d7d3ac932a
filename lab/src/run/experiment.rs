//! The plan: which launches, and what each of them starts.
//!
//! Every launch is one whole start of one program under one system. `blocks` has their order.

use crate::systems::system::{Extent, Family, System};

/// Which cores the tasks are pinned to, in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cores {
    /// All to the same one.
    One,
    /// Two; a machine with fewer cannot measure this.
    Two,
    /// One for each task, as far as there are that many.
    Each,
}

/// What is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// A program of `apps/`, which measures and writes its samples.
    Program(&'static str),
    /// A job, timed from outside: of a program of `apps/`, or of `/bin/true`.
    Job(Option<&'static str>),
    /// UCX's own `ucx_perftest`.
    Perftest(&'static [Test]),
    /// The program that measures the layers of a message's way; built with Parvum, not with `apps/`.
    Layers,
}

/// One run of `ucx_perftest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    /// As `-t` takes it.
    pub name: &'static str,
    /// Bytes of a message.
    pub size: u64,
    /// Messages.
    pub count: u32,
    /// The program of the row its figure goes to.
    pub program: &'static str,
}

/// Who runs where, for programs that read that from a file: masters, each with slaves of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrangement {
    /// Masters.
    pub masters: u32,
    /// Slaves of each.
    pub slaves: u32,
    /// Each task has a machine of its own; else all masters share one and all slaves another.
    pub spread: bool,
}

impl Arrangement {
    /// Masters and slaves.
    pub const fn tasks(self) -> u32 {
        self.masters * (1 + self.slaves)
    }

    /// Machines that it takes.
    pub const fn machines(self) -> u32 {
        if self.spread { self.tasks() } else { 2 }
    }

    /// Whether so many machines show it: what pairs do to each other cannot be shown on fewer than they ask for; slaves of one master may
    /// share what the master leaves.
    pub fn fits(self, machines: usize) -> bool {
        let least = if self.masters == 1 { 2 } else { self.machines() };
        machines >= least as usize
    }

    /// The file, with a machine of these for each that it asks for: hosts, or cores that stand for them. What is left shares those after the first.
    pub fn file(self, machines: &[String]) -> String {
        let place = |machine: u32| match (machines, machine as usize) {
            ([], _) => ".",
            ([only], _) => only,
            (all, machine) if machine < all.len() => &all[machine],
            (all, machine) => &all[1 + (machine - 1) % (all.len() - 1)],
        };
        let mut lines = String::new();
        let mut next = 0;
        for _ in 0..self.masters {
            for task in 0..=self.slaves {
                let machine = if self.spread { next } else { u32::from(task > 0) };
                next += 1;
                let role = if task == 0 { "master" } else { "slave" };
                lines.push_str(&format!("{role} {}\n", place(machine)));
            }
        }
        lines
    }
}

/// What one launch measures, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// For people, such as `ring on one core`.
    pub name: String,
    /// The program of its rows, such as `ring-one-core`.
    pub program: &'static str,
    /// What is started.
    pub how: How,
    /// Tasks that work together.
    pub tasks: u32,
    /// Whether the launcher starts the first of them only, which starts the others.
    pub spawns: bool,
    /// Where they run.
    pub cores: Cores,
    /// Sizes, in bytes or points; empty where there are none.
    pub sizes: &'static [u64],
    /// Further arguments.
    pub options: &'static str,
    /// A data set that it is given, if this machine has it ([`peers::data`](crate::systems::peers::data)).
    pub data: Option<&'static str>,
    /// Launches wanted in the quick run, when time allows.
    pub launches: usize,
    /// Seconds after which a launch is ended by force.
    pub patience: u64,
    /// Whether nothing of the system runs before and after: its daemon is part of what is timed.
    pub cold: bool,
    /// Whether the kernel refuses to copy from task to task.
    pub refused: bool,
    /// What else `parvum run` or `mpirun` is told.
    pub starter: &'static [&'static str],
    /// The build of the engine that its tasks load, where that is not the shipped one: a folder of `build/variants`.
    pub build: Option<&'static str>,
    /// Who runs where, for programs that read that from a file.
    pub arrangement: Option<Arrangement>,
    /// A second job of the same program runs all the while, on the same cores: its arguments.
    pub rival: Option<Rival>,
    /// A program that never waits computes all the while on the last of the cores.
    pub neighbour: bool,
}

/// A job that is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rival {
    /// Its sizes.
    pub sizes: &'static [u64],
    /// Its further arguments.
    pub options: &'static str,
}

impl Measure {
    /// A program that measures and writes its samples itself, on a core for each of two tasks.
    pub fn program(name: impl Into<String>, program: &'static str) -> Self {
        Measure {
            name: name.into(),
            program,
            how: How::Program(program),
            tasks: 2,
            spawns: false,
            cores: Cores::Two,
            sizes: &[],
            options: "",
            data: None,
            launches: 10,
            patience: 15,
            cold: false,
            refused: false,
            starter: &[],
            build: None,
            arrangement: None,
            rival: None,
            neighbour: false,
        }
    }
}

/// One line of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What.
    pub measure: Measure,
    /// Of which system; the floors have none.
    pub system: Option<System>,
}

impl Job {
    /// What the machine does without a messaging library.
    pub fn floors(sizes: &'static [u64]) -> Job {
        let options = "--time-ms 8 --least 5 --most 500";
        Job { measure: Measure { sizes, options, ..Measure::program("floors", "floors") }, system: None }
    }

    /// For progress lines and error messages.
    pub fn name(&self) -> String {
        match self.system {
            Some(system) => format!("{}: {}", self.measure.name, system.label()),
            None => self.measure.name.clone(),
        }
    }

    /// How many launches are wanted, when time allows.
    pub fn wanted(&self, extent: Extent) -> usize {
        match extent {
            Extent::Quick => self.measure.launches,
            Extent::Full => (self.measure.launches * 3).max(6),
        }
    }

    /// The files of `apps/` that it needs: a name, and the family it is built for.
    pub fn files(&self) -> Vec<(&'static str, Option<Family>)> {
        let family = self.system.map(|system| system.family);
        let mut files = match self.measure.how {
            How::Program(program) | How::Job(Some(program)) => vec![(program, family)],
            How::Job(None) | How::Perftest(_) | How::Layers => vec![],
        };
        if matches!(self.measure.how, How::Job(_)) && family == Some(Family::Pvm) {
            files.push(("start", family));
        }
        if self.measure.refused {
            files.push(("refuse", None));
        }
        if self.measure.neighbour {
            files.push(("busy", None));
        }
        if self.measure.cold {
            files.push(("from-cold", None));
        }
        files
    }
}

/// The same measure of several systems.
pub fn of_each(measure: &Measure, systems: impl IntoIterator<Item = System>) -> impl Iterator<Item = Job> {
    systems.into_iter().map(|system| Job { measure: measure.clone(), system: Some(system) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrangement_places_each_task() {
        let file = |arrangement: Arrangement, machines: &[&str]| {
            arrangement.file(&machines.iter().map(|machine| (*machine).to_owned()).collect::<Vec<_>>())
        };
        let pair = Arrangement { masters: 1, slaves: 1, spread: true };
        assert_eq!(file(pair, &[":3", ":5"]), "master :3\nslave :5\n");
        assert_eq!(file(pair, &[]), "master .\nslave .\n");
        assert_eq!(file(pair, &["alpha"]), "master alpha\nslave alpha\n");
        let four = Arrangement { slaves: 4, ..pair };
        let (two, three) = ([":3", ":5"], [":3", ":5", ":7"]);
        assert_eq!(file(four, &two), "master :3\nslave :5\nslave :5\nslave :5\nslave :5\n");
        assert_eq!(file(four, &three), "master :3\nslave :5\nslave :7\nslave :5\nslave :7\n");
        let together = Arrangement { masters: 2, slaves: 1, spread: false };
        assert_eq!(file(together, &three), "master :3\nslave :5\nmaster :3\nslave :5\n");
        let apart = Arrangement { masters: 2, ..pair };
        assert_eq!(file(apart, &["a", "b", "c", "d"]), "master a\nslave b\nmaster c\nslave d\n");
        assert!(four.fits(2) && together.fits(2) && !pair.fits(1) && !apart.fits(2) && apart.fits(4));
    }

    #[test]
    fn job_names_files_it_needs() {
        let system = |family| System { family, route: "", encoding: crate::systems::system::Encoding::None };
        let mut job = Job { measure: Measure::program("rate", "rate"), system: Some(system(Family::Mpich)) };
        assert_eq!(job.files(), [("rate", Some(Family::Mpich))]);
        job.measure.refused = true;
        assert!(job.files().contains(&("refuse", None)));
        job.measure.refused = false;
        job.measure.neighbour = true;
        assert!(job.files().contains(&("busy", None)));
        job.measure.neighbour = false;
        job.measure.how = How::Job(None);
        assert_eq!(job.files(), []);
        job.system = Some(system(Family::Pvm));
        assert_eq!(job.files(), [("start", Some(Family::Pvm))]);
    }
}
