//! What a user may choose about a comparison; `parvum compare` takes these as its arguments.

use crate::history::ALL;
use crate::systems::system::Extent;
use clap::builder::ArgPredicate;
use std::ffi::OsString;
use std::path::PathBuf;

/// Compare message-passing systems on this machine.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(group(clap::ArgGroup::new("own").multiple(true)), group(clap::ArgGroup::new("printable").multiple(true)))]
pub struct CompareOptions {
    /// Measure for 3 minutes at most, the default (suite speed: 5)
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Measure every transport and encoding, three times as often (30 min)
    #[arg(long)]
    pub full: bool,
    /// Run this suite; `--suites` lists the names [default: choose]
    ///
    /// The default suite, choose, prints in a minute which MPI is the fastest here.
    #[arg(long, default_value = "choose", value_name = "NAME", hide_default_value = true)]
    #[arg(default_value_ifs([("history", ArgPredicate::IsPresent, ALL), ("bisect", ArgPredicate::IsPresent, ALL)]))]
    pub suite: String,
    /// List the suites, and what each compares
    #[arg(long, conflicts_with_all = ["suite", "full", "quick"])]
    pub suites: bool,
    /// Add Parvum's own targets to the page
    #[arg(long)]
    pub targets: bool,
    /// Emulate 2, 4 or 8 hosts with network namespaces
    ///
    /// Suites shared and npb; needs root, or user namespaces.
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = hosts)]
    pub hosts: Vec<u32>,
    /// Run only these classes of npb: S, W, A, B [default: W]
    #[arg(long = "class", value_delimiter = ',', value_name = "LIST", value_parser = class)]
    pub classes: Vec<char>,
    /// Run only these benchmarks of npb
    #[arg(long = "benchmark", value_delimiter = ',', value_name = "LIST", value_parser = ["lu", "sp", "bt"])]
    pub benchmarks: Vec<String>,
    /// Run npb only with these numbers of tasks: 1, 2, 4, 8
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = tasks)]
    pub tasks: Vec<u32>,
    /// List the tables and figures of the papers, and their suites
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, default_missing_value = "text", require_equals = true)]
    pub list: Option<ListForm>,
    /// Repeat the measurements of paper NUMBER, 000 to 004
    ///
    /// The report prints for each result of the paper: confirmed, not confirmed, or unclear.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["suite", "list"])]
    pub paper: Option<String>,
    /// Repeat the measurements of all five papers (20 min)
    #[arg(long, conflicts_with_all = ["suite", "list", "paper", "hosts", "host", "classes", "benchmarks", "tasks"])]
    pub papers: bool,
    /// Continue an interrupted run of --papers in its folder DIR
    #[arg(long, value_name = "DIR", requires = "papers", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
    /// Print what changed since the run in folder OLD
    ///
    /// With NEW, Parvum compares the two folders and measures nothing.
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 1..=2, conflicts_with_all = ["list", "paper", "papers"])]
    pub against: Vec<PathBuf>,
    /// Print how each figure changed over all runs below DIR [default: --out]
    ///
    /// Parvum measures nothing. It finds the commit since which a figure is better or worse, and writes DIR/history.html.
    /// `--suite` chooses one suite.
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with_all = ["list", "paper", "papers", "against", "publish", "suites"])]
    pub history: Option<Option<PathBuf>>,
    /// Find the commit that changed FIGURE between the commits GOOD and BAD
    ///
    /// FIGURE is a name of --history, or words of one. Parvum builds commits of its sources in a scratch folder, and measures each
    /// beside GOOD and BAD. A build takes minutes.
    #[arg(long, value_names = ["FIGURE", "GOOD", "BAD"], num_args = 3, conflicts_with_all = ["list", "paper", "papers", "against", "publish", "suites", "history", "full", "quick", "host", "hosts", "systems", "apps", "parvum", "libraries", "commit"])]
    pub bisect: Vec<String>,
    /// Run the suite for N commits from OLD to NEW, for --history
    ///
    /// Parvum builds the commits of its sources in a scratch folder. A build takes minutes. The N commits are evenly spread over the
    /// commits that change code. The command leaves out commits that have a run in the folder of --out. `--budget` is for one commit [default: 30].
    #[arg(long, value_names = ["OLD", "NEW", "N"], num_args = 3, conflicts_with_all = ["list", "paper", "papers", "against", "publish", "suites", "history", "bisect", "host", "hosts", "classes", "benchmarks", "tasks", "apps", "parvum", "libraries", "commit"])]
    pub commits: Vec<String>,
    /// Record that the run measures commit NAME [default: that of the sources]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub commit: Option<String>,
    /// Copy the numbers of run DIR into the documentation
    ///
    /// For contributors: DIR goes to results/published, its numbers into README.md and docs. Instead of DIR you may give a file that
    /// `./x hosts --encryption` or `--calibrate` wrote.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "paper", "papers", "against", "suite"])]
    pub publish: Option<PathBuf>,
    /// Repeat only these figures of the paper: 6,7,8
    #[arg(long, value_name = "LIST", requires = "paper", value_delimiter = ',')]
    pub figure: Vec<u32>,
    /// Repeat only these tables of the paper
    #[arg(long, value_name = "LIST", requires = "paper", value_delimiter = ',')]
    pub table: Vec<u32>,
    /// Measure only these systems: parvum, pvm346, openmpi, mpich
    ///
    /// The suite speed also has the systems engine, openmpi4, mpich4 and ucx. Whole names work, such as pvm346-direct-raw.
    #[arg(long, default_value = "", value_name = "LIST", hide_default_value = true)]
    pub systems: String,
    /// Run across these hosts, this one first
    ///
    /// The hosts must share the program folder and /tmp. Parvum uses ssh or PARVUM_START_BY. Suites main, pvmtime, exchange,
    /// npb, loggp, rates, guidelines and arrival.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "hosts")]
    pub host: Vec<String>,
    /// Write results into a dated folder in DIR
    #[arg(long, default_value = "results", value_name = "DIR")]
    pub out: PathBuf,
    /// Order the runs by seed N [default: random, recorded]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Measure for S seconds in all
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Compare your own program, behind `--`: run it under every system that can
    ///
    /// Several programs form one job: `-- -n 1 ./master : ./worker`.
    #[arg(last = true, value_name = "PROGRAM", groups = ["own"], conflicts_with_all = ["suite", "suites", "list", "paper", "papers", "against", "publish", "hosts", "history", "bisect", "commits"])]
    pub program: Vec<OsString>,
    /// Compare executors: run `main(executor)` of this script with the executor of each package
    ///
    /// `python3` in PATH must have the packages. Words behind `--` are arguments of the script.
    #[arg(long, value_name = "FILE", groups = ["own"], conflicts_with_all = ["suite", "suites", "list", "paper", "papers", "against", "publish", "hosts", "host", "history", "bisect", "commits", "openmpi", "peer", "built_for", "bundle"])]
    pub python: Option<PathBuf>,
    /// Run the program with these numbers of processes [default: 1, 2, 4 ... up to the cores]
    #[arg(short = 'n', long, value_name = "LIST", value_delimiter = ',', requires = "own", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub processes: Vec<u32>,
    /// Run this build of the program under Open MPI
    #[arg(long, value_name = "FILE", requires = "own")]
    pub openmpi: Option<PathBuf>,
    /// Run the program under the system that FILE describes, too
    ///
    /// The page of `parvum docs add-peer` describes the fields of FILE. Files in ~/.config/parvum/peers are read without this option.
    #[arg(long, value_name = "FILE", requires = "own")]
    pub peer: Vec<PathBuf>,
    /// Judge each output by this shell command; exit code 0 means right
    #[arg(long, value_name = "COMMAND", requires = "own")]
    pub check: Option<String>,
    /// Give the program this file as standard input
    #[arg(long, value_name = "FILE", requires = "own")]
    pub input: Option<PathBuf>,
    /// End a run of the program after S seconds [default: --budget, or 10 times the fastest system]
    #[arg(
        long = "timeout",
        value_name = "S",
        default_value_t = 0,
        hide_default_value = true,
        requires = "own"
    )]
    pub patience: u64,
    /// Take the program for one of this library, as a script's program may be
    #[arg(long, value_name = "LIBRARY", requires = "own", value_enum)]
    pub built_for: Option<crate::program::Library>,
    /// Stop when each ratio is known to so many percent
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, requires = "own", value_parser = percent)]
    pub precision: f64,
    /// Pack the run, its program and the command that repeats it into FILE.tar.gz
    #[arg(long, value_name = "FILE.tar.gz", conflicts_with_all = ["list", "paper", "papers", "against", "publish", "suites", "history", "bisect", "commits", "host", "hosts"])]
    pub bundle: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long, conflicts_with_all = ["list", "paper", "papers", "against", "publish", "suites", "bisect", "commits"])]
    pub json: bool,
    /// Build the benchmark programs from DIR
    #[arg(long, value_name = "DIR")]
    pub apps: Option<PathBuf>,
    /// Measure the `parvum` command FILE [default: this one]
    #[arg(long, value_name = "FILE")]
    pub parvum: Option<PathBuf>,
    /// Use libpvm3.so.3 of DIR [default: beside the command]
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
    /// Text for a terminal
    Text,
    /// Markdown, as docs/project/papers.md
    Markdown,
}

impl CompareOptions {
    /// How much is compared.
    pub fn extent(&self) -> Extent {
        if self.full { Extent::Full } else { Extent::Quick }
    }
}
