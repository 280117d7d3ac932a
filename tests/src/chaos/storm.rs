//! A run: hosts, jobs, faults, the end, the verdict.

use super::damage::{Damage, Damages};
use super::jobs::{Jobs, host_of};
use super::judge::{HostAdded, Outside, judge};
use super::ledger::Ledger;
use super::plan::{Kind, Plan};
use super::report::{Report, traffic};
use super::tables::{Table, Verdict, verdict};
use crate::bed::{self, Bed, Host};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a run shall be like.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Of the plan.
    pub seed: u64,
    /// How long faults are done; the end takes a little longer.
    pub time: Duration,
    /// So many are done however long they take.
    pub least: usize,
    /// The bed; three hosts at least.
    pub plan: bed::Plan,
    /// After what silence hosts give each other up.
    pub detect: Duration,
    /// Where ledgers and logs are kept when there is damage.
    pub keep: Option<PathBuf>,
}

/// So long hosts may take to agree, and tasks to settle.
const PATIENCE: Duration = Duration::from_secs(45);

/// Between two looks: each is a command on each host.
const LOOK: Duration = Duration::from_millis(100);

pub(super) struct Storm<'a> {
    pub bed: &'a Bed,
    pub jobs: Jobs,
    pub outside: Outside,
    pub damages: Damages,
    pub detect: Duration,
    pub faults: BTreeMap<Kind, usize>,
    folder: PathBuf,
    /// Daemons by host, as they are when nothing is done to them.
    daemons: BTreeMap<usize, u32>,
    /// Hosts that are known to be lost, and not back yet.
    lost: BTreeSet<usize>,
    began: Instant,
    tell: &'a mut dyn FnMut(&str),
}

/// Runs chaos; `tell` gets a line now and then.
pub fn run(settings: &Settings, tell: &mut dyn FnMut(&str)) -> Result<Report, String> {
    let bed = Bed::make(&settings.plan)?;
    let folder = bed.root().join("ledger");
    std::fs::create_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    for host in bed.hosts() {
        host.set("PARVUM_DETECT", &settings.detect.as_millis().to_string());
    }
    let mut storm = Storm {
        bed: &bed,
        jobs: Jobs::new(&folder),
        outside: Outside::default(),
        damages: Damages::default(),
        detect: settings.detect,
        faults: BTreeMap::new(),
        folder,
        daemons: BTreeMap::new(),
        lost: BTreeSet::new(),
        began: Instant::now(),
        tell,
    };
    bed.join_all();
    let all: Vec<usize> = (0..bed.hosts().len()).collect();
    if storm.agree(&all) {
        storm.note_daemons();
        storm.rage(settings);
        storm.calm();
    }
    storm.end(settings)
}

impl Storm<'_> {
    pub fn say(&mut self, words: &str) {
        let line = format!("{:6.1} s  {words}", self.began.elapsed().as_secs_f64());
        let path = self.folder.join("story");
        let story = std::fs::File::options().create(true).append(true).open(path);
        let _ =
            story.and_then(|mut story| std::io::Write::write_all(&mut story, format!("{line}\n").as_bytes()));
        (self.tell)(&line);
    }

    fn rage(&mut self, settings: &Settings) {
        let until = Instant::now() + settings.time;
        let mut dice = Plan::new(!settings.seed);
        for (count, fault) in Plan::new(settings.seed).enumerate() {
            let hosts = self.members();
            self.jobs.start_missing(self.bed, &hosts, |bound| dice.below(bound));
            std::thread::sleep(Duration::from_millis(fault.peace));
            if count >= settings.least && Instant::now() >= until {
                break;
            }
            self.strike(fault);
            let ending = [Damage::Disagreement, Damage::HostKept, Damage::NotAdded];
            if ending.into_iter().any(|damage| self.damages.count(damage) > 0) {
                // What comes after that tells nothing more.
                break;
            }
            self.mend();
        }
    }

    /// The hosts of the machine in the order in which they came, as most of them see it.
    pub fn members(&self) -> Vec<usize> {
        let seen = self.bed.hosts().iter().filter(|host| host.is_up()).map(table);
        let longest = seen.max_by_key(Vec::len).unwrap_or_default();
        longest.iter().filter_map(|(name, _)| self.place(name)).collect()
    }

    /// The host whose daemon has said last that it leads; nobody says so as long as the first of all does.
    pub fn leader(&self) -> Option<usize> {
        let said = |at: usize| {
            let log = self.bed[at].log();
            let line = log.lines().rev().find(|line| line.ends_with("this host leads the machine"))?;
            line.split_once(' ')?.0.parse::<f64>().ok()
        };
        let all = (0..self.bed.hosts().len()).filter_map(|at| Some((said(at)?, at)));
        all.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, at)| at)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.bed.hosts().iter().position(|host| host.name == *name)
    }

    /// Waits until these hosts, and no others, know each other as the machine. Those of them that are lost are counted,
    /// and the others agree all the same.
    pub fn agree(&mut self, hosts: &[usize]) -> bool {
        let until = Instant::now() + PATIENCE;
        let bed = self.bed;
        let wanted: Vec<&str> = hosts.iter().map(|at| bed[*at].name.as_str()).collect();
        loop {
            let tables: Vec<(&str, Table)> =
                hosts.iter().map(|at| (bed[*at].name.as_str(), table(&bed[*at]))).collect();
            let found = verdict(&wanted, &tables);
            let is_over = found == Verdict::Agreed || Instant::now() > until;
            if !is_over {
                std::thread::sleep(LOOK);
                continue;
            }
            let agreed = tables.iter().find(|(_, table)| !table.is_empty());
            self.outside.hosts = agreed.iter().flat_map(|(_, table)| table).map(|(_, tid)| *tid).collect();
            match found {
                Verdict::Agreed => return true,
                Verdict::Lost(lost) => {
                    let lost: Vec<usize> = lost.iter().filter_map(|name| self.place(name)).collect();
                    lost.into_iter().for_each(|at| self.count_lost(at));
                    return true;
                }
                Verdict::Wrong(damage, words) => {
                    self.damages.add(damage, format!("{wanted:?} should agree: {words}"));
                    return false;
                }
            }
        }
    }

    /// A host is lost though nothing was done to it.
    fn count_lost(&mut self, at: usize) {
        if !self.lost.insert(at) {
            return;
        }
        let host = &self.bed[at];
        self.say(&format!("{} is lost, and nobody touched it", host.name));
        let log = host.log();
        log.lines().rev().take(20).collect::<Vec<_>>().iter().rev().for_each(|line| self.say(line));
        self.damages.add(Damage::HostLost, host.name.clone());
        self.keep_log(at);
    }

    fn note_daemons(&mut self) {
        for (at, host) in self.bed.hosts().iter().enumerate() {
            self.daemons.extend(host.daemon().map(|pid| (at, pid)));
        }
    }

    /// What runs on the host is lost with it.
    pub fn write_off(&mut self, at: usize) {
        let host = &self.bed[at];
        self.jobs.look(self.bed);
        for (name, member) in &mut self.jobs.tasks {
            if member.record.host == host.name && !member.is_over {
                self.outside.killed.insert(name.clone());
            }
        }
        self.keep_log(at);
    }

    /// Those that ended between two looks as well: all that were there since the host came.
    pub fn write_off_all(&mut self, at: usize) {
        self.write_off(at);
        let host = &self.bed[at];
        let until = Instant::now() + PATIENCE;
        loop {
            self.jobs.look(self.bed);
            let mut left = 0;
            for (name, member) in &mut self.jobs.tasks {
                if member.record.host == host.name {
                    // A settled one is judged as settled all the same.
                    self.outside.killed.insert(name.clone());
                    left += usize::from(!member.is_over);
                }
            }
            if left == 0 {
                return;
            }
            if Instant::now() > until {
                let words = format!("{left} tasks run on {}, which is out of the machine", host.name);
                self.damages.add(Damage::TaskHung, words);
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// A host is out of the machine: its tasks end, and it comes back.
    pub fn come_back(&mut self, at: usize) -> bool {
        self.write_off_all(at);
        let rest: Vec<usize> = self.members().into_iter().filter(|host| *host != at).collect();
        let host = &self.bed[at];
        let mut said = String::new();
        for attempt in 0..5 {
            let by = &self.bed[rest[attempt % rest.len()]];
            let begun = monotonic();
            let done = by.parvum(&["add", &host.name]);
            said =
                String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
            let tid = said.split(" as t").nth(1).and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
            if let Some(tid) = tid.filter(|_| done.status.success()) {
                self.outside.added.push(HostAdded { tid, begun, done: monotonic() });
                let all: Vec<usize> = rest.iter().copied().chain([at]).collect();
                self.lost.remove(&at);
                let agreed = self.agree(&all);
                self.daemons.extend(host.daemon().map(|pid| (at, pid)));
                return agreed;
            }
            self.say(&format!("{} is not added: {}", host.name, said.trim()));
            std::thread::sleep(Duration::from_secs(1));
        }
        self.damages.add(Damage::NotAdded, format!("{}: {}", self.bed[at].name, said.trim()));
        false
    }

    /// Brings back hosts that were lost though nothing was done to them.
    fn mend(&mut self) {
        let members = self.members();
        for at in 0..self.bed.hosts().len() {
            let host = &self.bed[at];
            if members.contains(&at) && host.daemon() == self.daemons.get(&at).copied() {
                continue;
            }
            self.count_lost(at);
            if host.daemon().is_some() && !members.contains(&at) {
                host.kill_daemon();
            }
            if !self.come_back(at) {
                return;
            }
        }
    }

    fn keep_log(&self, at: usize) {
        let host = &self.bed[at];
        let path = self.folder.join(format!("{}.daemon", host.name));
        let file = std::fs::File::options().create(true).append(true).open(path);
        let text = format!("--- until {:.1} s\n{}", self.began.elapsed().as_secs_f64(), host.log());
        let _ = file.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    }

    fn put_up(&self, sign: &str) {
        std::fs::write(self.folder.join(sign), "").expect("the bed's folder is writable");
    }

    /// Lets all tasks finish, and counts those that cannot.
    fn calm(&mut self) {
        self.say("finishing");
        self.put_up("finish");
        let is_over = |text: &str| text.lines().any(|line| line == "settled" || line.starts_with("over"));
        self.await_tasks(|storm| {
            let open = storm.jobs.living().filter(|task| !is_over(&storm.jobs.last_words(task)));
            open.map(|task| format!("{} {} of {} on {}", task.role, task.name, task.run, task.host)).collect()
        });
        // What is told twice is told within this.
        std::thread::sleep(Duration::from_millis(500));
        self.put_up("leave");
        self.await_tasks(|storm| {
            storm.jobs.living().map(|task| format!("{} on {} does not leave", task.name, task.host)).collect()
        });
    }

    /// Waits until none is left; those that are after a long time hang.
    fn await_tasks(&mut self, open: impl Fn(&Self) -> Vec<String>) {
        let until = Instant::now() + PATIENCE;
        loop {
            self.jobs.look(self.bed);
            let left = open(self);
            if left.is_empty() {
                return;
            }
            if Instant::now() > until {
                let tasks = self.members().first().map(|at| self.bed[*at].parvum(&["ps"]).stdout);
                let tasks = String::from_utf8_lossy(&tasks.unwrap_or_default()).into_owned();
                self.say(&tasks);
                for words in left {
                    // It is counted here and need not be counted as dead.
                    self.outside
                        .hung
                        .extend(words.split(' ').find(|word| word.contains('.')).map(str::to_owned));
                    self.damages.add(Damage::TaskHung, words);
                }
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Ends the machine, looks for what is left, and judges.
    fn end(mut self, settings: &Settings) -> Result<Report, String> {
        (0..self.bed.hosts().len()).for_each(|at| self.keep_log(at));
        let first = self.members().first().copied();
        if let Some(first) = first {
            let done = self.bed[first].parvum(&["down"]);
            if !done.status.success() {
                self.damages.add(Damage::Left, String::from_utf8_lossy(&done.stderr));
            }
        }
        for host in self.bed.hosts() {
            self.find_left(host);
        }
        let ledger = Ledger::read(&self.folder)?;
        self.damages.append(judge(&ledger, &self.outside));
        if let Some(keep) = settings.keep.as_ref().filter(|_| !self.damages.is_empty()) {
            copy_all(&self.folder, keep)?;
        }
        let traffic = traffic(&ledger);
        Ok(Report { seed: settings.seed, faults: self.faults, traffic, damages: self.damages })
    }

    fn find_left(&mut self, host: &Host) {
        let until = Instant::now() + Duration::from_secs(5);
        loop {
            let left = host.leftovers();
            if left.is_empty() {
                return;
            }
            if Instant::now() > until {
                for thing in left {
                    self.damages.add(Damage::Left, format!("{}: {thing}", host.name));
                }
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// A task that lives, counted round.
    pub fn some_task(&mut self, which: usize) -> Option<(String, u32, &Host)> {
        self.jobs.look(self.bed);
        let living: Vec<_> = self.jobs.living().collect();
        let task = living.get(which % living.len().max(1))?;
        Some((task.name.clone(), task.pid, host_of(self.bed, task)?))
    }
}

/// The hosts as a host knows them.
fn table(host: &Host) -> Table {
    if !host.is_up() {
        return Vec::new();
    }
    let done = host.parvum(&["hosts"]);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        Some((name, u64::from_str_radix(words.next()?.strip_prefix('t')?, 16).ok()?))
    };
    text.lines().skip(1).filter_map(row).collect()
}

/// The clock that tasks write down.
fn monotonic() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    let copy = || -> std::io::Result<()> {
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir_all(to)?;
        for file in std::fs::read_dir(from)? {
            let file = file?;
            std::fs::copy(file.path(), to.join(file.file_name()))?;
        }
        Ok(())
    };
    copy().map_err(|why| format!("{}: {why}", to.display()))
}
