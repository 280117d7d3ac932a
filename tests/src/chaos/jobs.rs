//! The jobs, and who of their tasks is alive.

use super::ledger::Record;
use crate::bed::{Bed, Host};
use crate::stage::program;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// A job that is started again when too few of its tasks are left.
struct Job {
    role: &'static str,
    route: &'static str,
    run: String,
}

/// All jobs, and all tasks that have ever been.
pub(super) struct Jobs {
    folder: PathBuf,
    jobs: Vec<Job>,
    started: usize,
    /// What was started here; they are ours to wait for.
    children: Vec<Child>,
    /// All tasks by name; only the first lines of their ledgers.
    pub tasks: BTreeMap<String, Member>,
}

/// A task.
pub(super) struct Member {
    pub record: Record,
    /// Nobody asks any more whether it lives.
    pub is_over: bool,
}

/// With fewer tasks a ring or a group is started anew.
const FEWEST: usize = 3;

impl Jobs {
    pub fn new(folder: &Path) -> Jobs {
        let kinds = [
            ("farm", "direct"),
            ("farm", "routed"),
            ("ring", "direct"),
            ("ring", "routed"),
            ("group", "direct"),
        ];
        let job = |(role, route)| Job { role, route, run: String::new() };
        Jobs {
            folder: folder.to_owned(),
            jobs: kinds.into_iter().map(job).collect(),
            started: 0,
            children: Vec::new(),
            tasks: BTreeMap::new(),
        }
    }

    /// Looks who has come and who is gone.
    pub fn look(&mut self, bed: &Bed) {
        for file in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some(name) = name.strip_suffix(".log").filter(|name| !self.tasks.contains_key(*name)) else {
                continue;
            };
            let mut first = String::new();
            let read = File::open(file.path()).and_then(|file| BufReader::new(file).read_line(&mut first));
            if read.is_ok()
                && first.ends_with('\n')
                && let Ok(record) = Record::parse(&first)
            {
                self.tasks.insert(name.to_owned(), Member { record, is_over: false });
            }
        }
        for member in self.tasks.values_mut().filter(|member| !member.is_over) {
            member.is_over = !host_of(bed, &member.record).is_some_and(|host| host.runs(member.record.pid));
        }
        self.children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }

    /// Those that live.
    pub fn living(&self) -> impl Iterator<Item = &Record> {
        self.tasks.values().filter(|member| !member.is_over).map(|member| &member.record)
    }

    /// Starts what is missing, on hosts that `pick` chooses.
    pub fn start_missing(&mut self, bed: &Bed, hosts: &[usize], mut pick: impl FnMut(usize) -> usize) {
        self.look(bed);
        for at in 0..self.jobs.len() {
            let Job { role, run, .. } = &self.jobs[at];
            let of_run: Vec<&Record> = self.living().filter(|task| task.run == *run).collect();
            let enough = match *role {
                // Without its master the workers end.
                "farm" => of_run.iter().any(|task| task.role == "farm"),
                _ => of_run.len() >= FEWEST,
            };
            if !enough {
                let host = hosts[pick(hosts.len())];
                self.start(bed, at, host);
            }
        }
        for host in hosts {
            let name = &bed[*host].name;
            if !self.living().any(|task| task.role == "watch" && task.host == *name) {
                self.started += 1;
                let run = format!("watch{}", self.started);
                self.launch(&bed[*host], "watch", &run, "direct");
            }
        }
    }

    fn start(&mut self, bed: &Bed, at: usize, host: usize) {
        self.started += 1;
        let Job { role, route, .. } = self.jobs[at];
        let run = format!("{role}{}-{route}", self.started);
        self.jobs[at].run.clone_from(&run);
        self.launch(&bed[host], role, &run, route);
    }

    fn launch(&mut self, host: &Host, role: &str, run: &str, route: &str) {
        let mut command = host.command(program("chaos"));
        command.arg(role).arg(&self.folder).args([run, route]);
        command.stdout(Stdio::null());
        // What it complains of when it checks itself.
        let errors = File::options().create(true).append(true).open(self.folder.join("complaints"));
        command.stderr(errors.map_or_else(|_| Stdio::null(), Stdio::from));
        self.children.extend(command.spawn());
    }

    /// The last line that a task wrote.
    pub fn last_words(&self, task: &Record) -> String {
        let path = self.folder.join(format!("{}.log", task.name));
        let tail = || -> std::io::Result<String> {
            let mut file = File::open(path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(400)))?;
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            Ok(text)
        };
        tail().unwrap_or_default()
    }
}

/// The host of a task.
pub(super) fn host_of<'a>(bed: &'a Bed, task: &Record) -> Option<&'a Host> {
    bed.hosts().iter().find(|host| host.name == task.host).filter(|host| host.is_up())
}
