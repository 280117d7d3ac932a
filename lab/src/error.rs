//! What can go wrong before or around a comparison. A launch that fails is not an error here: it is recorded and the
//! comparison goes on.

use crate::systems::programs::peers_command;
use std::path::PathBuf;

/// One cause and one remedy each.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The sources of the compared programs were not found.
    #[error(
        "the programs to compare were not found; help: run from Parvum's source folder or give --apps DIR"
    )]
    NoPrograms,
    /// The programs did not compile.
    #[error("the programs to compare did not build ({0}); note: the compiler has printed why")]
    Build(String),
    /// A system was asked for by a name nobody bears.
    #[error("no system is called {name:?}; help: use one of {known}")]
    UnknownSystem {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A suite was asked for by a name nobody bears.
    #[error("no suite is called {name:?}; help: use one of {known}")]
    UnknownSuite {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A lesson with an unknown name.
    #[error("no lesson is called {name:?}; help: use one of {known}")]
    UnknownLesson {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// Hosts were asked for, and the suite has nothing to run on them.
    #[error("the suite {0} runs on one host; help: --hosts goes with --suite shared and --suite npb")]
    NotOnHosts(String),
    /// A class, a benchmark or a number of tasks was asked for, and the suite has no such choice.
    #[error(
        "--class, --benchmark and --tasks choose of the suite npb; note: the suite {0} has no such parts"
    )]
    NoParts(String),
    /// The user's own program cannot be compared.
    #[error("{0}")]
    Program(String),
    /// A bundle that cannot be written.
    #[error("{0}")]
    Bundle(String),
    /// A file of samples does not tell what messages cost.
    #[error(
        "{} has no lines of the program loggp for two lengths of messages; help: \
         parvum run -n 2 build/programs/loggp.mpich --tasks 2 --sizes 8,1024,16384,65536 --time-ms 200 --least 5 --most 500 --out FILE writes some",
        .0.display()
    )]
    NoCosts(PathBuf),
    /// The choices leave nothing.
    #[error("suite {suite}: nothing is left to run: {why}")]
    NothingLeft {
        /// Of what.
        suite: String,
        /// Which choices exclude each other, and what they could be.
        why: String,
    },
    /// A paper was asked for that is none of the five.
    #[error("no paper has the number {name:?}; help: use one of {known}")]
    UnknownPaper {
        /// The number given.
        name: String,
        /// The papers there are.
        known: String,
    },
    /// A table or figure was asked for that the paper does not have.
    #[error("paper {paper} has no {name}; help: use one of {known}")]
    UnknownExhibit {
        /// The paper's number.
        paper: String,
        /// What was asked for.
        name: String,
        /// What the paper has.
        known: String,
    },
    /// What was asked for is too long for the quick run.
    #[error("{name} of paper {paper} is part of the full run only; help: add --full")]
    OnlyFull {
        /// The paper's number.
        paper: String,
        /// What was asked for.
        name: String,
    },
    /// A suite that runs on one host was asked for over several.
    #[error(
        "the suite {suite} (or this part of it) runs on one host; help: over --host there are main (its ring), pvmtime, exchange, npb, loggp, rates, guidelines and arrival, and what they run of papers 000, 001 and 004"
    )]
    OneHost {
        /// The suite.
        suite: String,
    },
    /// One host is not several.
    #[error(
        "--host {host} names one host; help: a comparison over hosts needs two or more: --host {host},OTHER"
    )]
    OneHostNamed {
        /// The host.
        host: String,
    },
    /// A run that was published has rows that this one has not.
    #[error(
        "the published run {} has {lacking} rows that this one has not (other figures, systems or classes); help: \
         remove it first if this one is to stand in its place",
        file.display()
    )]
    LessThanPublished {
        /// The published one.
        file: PathBuf,
        /// How many.
        lacking: usize,
    },
    /// A run over hosts is to be published, and nothing is known of what joined them.
    #[error(
        "cannot publish a run over {hosts}: its network is unknown; help: run inside `./x hosts N --network NAME`, with \
         `parvum compare --suite NAME --host LIST`"
    )]
    NoKnownNetwork {
        /// The hosts.
        hosts: String,
    },
    /// Nothing that could be compared is installed.
    #[error(
        "none of the systems asked for is installed; help: `{}` installs PVM, Open MPI and MPICH",
        peers_command()
    )]
    NothingToCompare,
    /// Every launch failed.
    #[error("no launch succeeded, so there is nothing to report; note: the first failure was: {0}")]
    NothingMeasured(String),
    /// The user ended it.
    #[error("interrupted; note: daemons are ended and nothing was kept")]
    Interrupted,
    /// The user ended what can be gone on with.
    #[error(
        "interrupted; note: daemons are ended and all that was measured is kept; help: `parvum compare --papers --resume {}`",
        folder.display()
    )]
    CanGoOn {
        /// The folder to go on with.
        folder: PathBuf,
    },
    /// There is nothing to go on with.
    #[error("{} holds no run of --papers ({why}); help: `parvum compare --papers` begins one", folder.display())]
    NoRunOfPapers {
        /// The folder.
        folder: PathBuf,
        /// What is missing there.
        why: String,
    },
    /// It was begun with other settings than those of now.
    #[error(
        "{} was begun otherwise, and samples of both do not belong together: {differences}; help: go on as it was begun, or begin anew without --resume",
        folder.display()
    )]
    OtherSettings {
        /// The folder.
        folder: PathBuf,
        /// Each setting, as it was and as it is.
        differences: String,
    },
    /// Another process is at it.
    #[error("another `parvum compare` works in {} right now; help: let it end first", folder.display())]
    GoesOnAlready {
        /// The folder.
        folder: PathBuf,
    },
    /// There is nothing to compare with.
    #[error("{} holds no finished run: {why}", folder.display())]
    NoRun {
        /// The folder.
        folder: PathBuf,
        /// What is missing there.
        why: String,
    },
    /// There are no runs to make a history of.
    #[error(
        "{0} has no history: {why}; help: `parvum compare --suite main --out {0}` adds a run",
        folder.display()
    )]
    NoHistory {
        /// The folder.
        folder: PathBuf,
        /// What is missing there.
        why: String,
    },
    /// The search for a commit cannot begin, or finds nothing.
    #[error("cannot bisect: {0}")]
    Bisect(String),
    /// Old commits cannot be measured.
    #[error("cannot measure old commits: {0}")]
    Commits(String),
    /// It was written by a Parvum whose files are others.
    #[error(
        "{} was made by another version of Parvum (format {theirs}, this one reads {ours}); help: compare with a run of this one",
        folder.display()
    )]
    OtherFormat {
        /// The folder.
        folder: PathBuf,
        /// Its format.
        theirs: String,
        /// Ours.
        ours: u32,
    },
    /// Two runs of different suites have no value in common.
    #[error("{} is a run of the suite {theirs}, the other one of {ours}; help: compare runs of one suite (--suite {theirs})", folder.display())]
    OtherSuite {
        /// The folder.
        folder: PathBuf,
        /// Its suite.
        theirs: String,
        /// The other's.
        ours: String,
    },
    /// A run that is to be published was made beside other work.
    #[error("{} was begun on a busy machine (load {load}); help: run the suite again when nothing else does, and publish that", folder.display())]
    NotQuiet {
        /// The folder of the run.
        folder: PathBuf,
        /// The load before it.
        load: String,
    },
    /// A page quotes what a published run does not have.
    #[error("{} cannot be written: {why}", page.display())]
    Quoted {
        /// The page.
        page: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system answered.
        source: std::io::Error,
    },
    /// A line of samples is not what the programs write.
    #[error("{}, line {line}: {why}; note: the file is damaged or from another version", path.display())]
    Samples {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl LabError {
    /// For `map_err` on file operations.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> LabError {
        let path = path.into();
        move |source| LabError::File { action, path, source }
    }
}
