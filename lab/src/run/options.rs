//! What a user may choose about a comparison; `parvum compare` takes these as its arguments.

use crate::systems::system::Extent;
use std::ffi::OsString;
use std::path::PathBuf;

/// Compare message-passing systems on this machine.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct CompareOptions {
    /// The quick comparison, which is the default: at most three minutes of measuring, five for the suite speed
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Every route and encoding, three times the launches (about half an hour)
    #[arg(long)]
    pub full: bool,
    /// What to compare; `--suites` lists the names [default: choose, which MPI is the fastest here, in a minute]
    #[arg(long, default_value = "choose", value_name = "NAME", hide_default_value = true)]
    pub suite: String,
    /// List the suites, and what each compares
    #[arg(long, conflicts_with_all = ["suite", "full", "quick"])]
    pub suites: bool,
    /// Add Parvum's own targets to the page: whether this run reaches them
    #[arg(long)]
    pub targets: bool,
    /// Compare on so many hosts each, made of this one by network namespaces (suites shared and npb; root, or whoever may make a user
    /// namespace): 2, 4 or 8
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = hosts)]
    pub hosts: Vec<u32>,
    /// Only these classes (suite npb): S, W, A, B; without it W, with --full all
    #[arg(long = "class", value_delimiter = ',', value_name = "LIST", value_parser = class)]
    pub classes: Vec<char>,
    /// Only these benchmarks (suite npb)
    #[arg(long = "benchmark", value_delimiter = ',', value_name = "LIST", value_parser = ["lu", "sp", "bt"])]
    pub benchmarks: Vec<String>,
    /// Only with so many tasks (suite npb): 1, 2, 4, 8
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = tasks)]
    pub tasks: Vec<u32>,
    /// List every table and figure of the five papers, and what runs each again
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, default_missing_value = "text", require_equals = true)]
    pub list: Option<ListForm>,
    /// Run again what this paper measured (000 to 004, as --list has them), and say of each of its claims whether it still holds
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["suite", "list"])]
    pub paper: Option<String>,
    /// Run again everything of all five papers that can be, suite after suite, and say on one page of each of their tables and
    /// figures whether what the paper found still holds: 20 minutes, with --full some hours
    #[arg(long, conflicts_with_all = ["suite", "list", "paper", "hosts", "host", "classes", "benchmarks", "tasks"])]
    pub papers: bool,
    /// Go on with a run of --papers that was interrupted: its folder. Its settings hold, and others are refused
    #[arg(long, value_name = "DIR", requires = "papers", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
    /// Compare with an earlier run of the same suite, its folder, and name what changed beyond noise; with a second folder nothing is
    /// run: the two are compared
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 1..=2, conflicts_with_all = ["list", "paper", "papers"])]
    pub against: Vec<PathBuf>,
    /// Keep a finished run, its folder, in results/published of the sources, and write its numbers into README.md and the docs (of a run
    /// of --papers, what it found, into docs/project/findings.md); or the file of numbers that `./x hosts --encryption` or `--calibrate` has left
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "paper", "papers", "against", "suite"])]
    pub publish: Option<PathBuf>,
    /// Of that paper, these figures alone: 6 or 6,7,8
    #[arg(long, value_name = "LIST", requires = "paper", value_delimiter = ',')]
    pub figure: Vec<u32>,
    /// Of that paper, these tables alone
    #[arg(long, value_name = "LIST", requires = "paper", value_delimiter = ',')]
    pub table: Vec<u32>,
    /// Only these systems: parvum, pvm346, openmpi, mpich (speed: engine, openmpi4, mpich4, ucx too), or whole names such
    /// as pvm346-direct-raw
    #[arg(long, default_value = "", value_name = "LIST", hide_default_value = true)]
    pub systems: String,
    /// Compare over these hosts, this one first, whose folders are shared (suites main, of which it leaves the ring, pvmtime, exchange, npb
    /// and loggp): how others are reached says PARVUM_START_BY, else ssh
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "hosts")]
    pub host: Vec<String>,
    /// Where results go; a dated folder is made in it
    #[arg(long, default_value = "results", value_name = "DIR")]
    pub out: PathBuf,
    /// Decides the order of launches; the manifest records it
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Seconds for all launches together
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Compare your own program, behind `--`: run it under every system that can
    #[arg(last = true, value_name = "PROGRAM", conflicts_with_all = ["suite", "suites", "list", "paper", "papers", "against", "publish", "host", "hosts"])]
    pub program: Vec<OsString>,
    /// Run the program with these numbers of processes [default: 1, 2, 4 ... up to the cores]
    #[arg(short = 'n', long, value_name = "LIST", value_delimiter = ',', requires = "program", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub processes: Vec<u32>,
    /// Run this build of the program under Open MPI
    #[arg(long, value_name = "FILE", requires = "program")]
    pub openmpi: Option<PathBuf>,
    /// Judge each output by this shell command; exit code 0 means right
    #[arg(long, value_name = "COMMAND", requires = "program")]
    pub check: Option<String>,
    /// Give the program this file as standard input
    #[arg(long, value_name = "FILE", requires = "program")]
    pub input: Option<PathBuf>,
    /// End a run of the program after so many seconds
    #[arg(long = "timeout", value_name = "S", default_value_t = 600, requires = "program", value_parser = clap::value_parser!(u64).range(1..))]
    pub patience: u64,
    /// Stop when each ratio is known to so many percent
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, requires = "program", value_parser = percent)]
    pub precision: f64,
    /// Print the comparison of the program as JSON
    #[arg(long, requires = "program")]
    pub json: bool,
    /// The sources of the compared programs
    #[arg(long, value_name = "DIR")]
    pub apps: Option<PathBuf>,
    /// The `parvum` command to compare (this one)
    #[arg(long, value_name = "FILE")]
    pub parvum: Option<PathBuf>,
    /// The folder with Parvum's libpvm3.so.3 (beside the command)
    #[arg(long, value_name = "DIR")]
    pub libraries: Option<PathBuf>,
}

fn hosts(said: &str) -> Result<u32, String> {
    let count = said.parse().ok().filter(|count| crate::host::hosts::COUNTS.contains(count));
    count.ok_or_else(|| "2, 4 or 8 hosts can be made".to_owned())
}

fn class(said: &str) -> Result<char, String> {
    let known = ["S", "W", "A", "B"].into_iter().find(|known| said.eq_ignore_ascii_case(known));
    known.and_then(|class| class.chars().next()).ok_or_else(|| "the classes are S, W, A and B".to_owned())
}

fn percent(said: &str) -> Result<f64, String> {
    let percent = said.parse().ok().filter(|percent| (0.01..=100.0).contains(percent));
    percent.ok_or_else(|| "a number from 0.01 to 100".to_owned())
}

fn tasks(said: &str) -> Result<u32, String> {
    let count = said.parse().ok().filter(|count| crate::suites::npb::TASKS.contains(count));
    count.ok_or_else(|| "the benchmarks are run on 1, 2, 4 or 8 tasks".to_owned())
}

/// How the list of the papers' tables and figures is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ListForm {
    /// For a terminal
    Text,
    /// The page docs/project/papers.md
    Markdown,
}

impl CompareOptions {
    /// How much is compared.
    pub fn extent(&self) -> Extent {
        if self.full { Extent::Full } else { Extent::Quick }
    }
}
