//! `mpiexec` and `mpirun`: MPI's launcher, with the options of MPICH's and Open MPI's, over `parvum run`'s machinery.

mod forms;
mod hints;
mod options;
pub mod surroundings;
mod words;

use crate::run::{self, MpiJob, MpiPart, RunArgs};
use crate::terminal::out;
use options::{Common, Own};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

const USAGE: &str = "\
Run MPI programs, and any others, on Parvum's virtual machine

Usage: mpiexec [OPTIONS] PROGRAM [ARGS] [: [OPTIONS] PROGRAM [ARGS]]...

Options (one hyphen or two):
  -n N, -np N            Start N processes [default: the slots, else 1]
  -ppn N                 Start N processes on each host
  -hosts A:2,B           Use these hosts (-host, -H)
  -f FILE                Use the hosts of FILE (-hostfile, -machinefile)
  -env NAME VALUE        Set a variable of this program (-genv: of all programs)
  -x NAME[=VALUE]        Set a variable, as Open MPI does
  -envlist A,B           Pass only these variables (-envnone: none)
                         -genvlist, -genvnone: for all programs
  -wdir DIR              Start in DIR (-wd)
  -l                     Print the rank before each line (-prepend-rank)
  -outfile-pattern P     Write output to files: %r is the rank, %h the host
                         -errfile-pattern: the same for standard error
  -configfile FILE       Read one program with its options from each line
  -bind-to WHAT          Bind processes: core, socket, none, user:LIST
  -map-by HOW            Place processes: slot, node, ppr:N:node
  -launcher HOW          Add hosts by ssh, rsh; slurm, fork: add no host
                         -launcher-exec COMMAND: add hosts by COMMAND
  -nolocal               Use no processor of this host
  -nooversubscribe       Start no more processes than slots
  -s RANK|all|none       Pass standard input to RANK [default: 0]
  -print-all-exitcodes   Print the exit code of each process
  -disable-auto-cleanup  Let the others go on when one process fails
  -usize N               Set MPI_UNIVERSE_SIZE to N
  -timeout SECONDS       End the job after SECONDS (or set MPIEXEC_TIMEOUT)
  -version, -info, -help

Ranks are in PARVUM_RANK and PMI_RANK.

Examples:
  mpiexec -n 4 ./hello
  mpiexec -n 4 -l -timeout 60 ./app input.dat
  mpiexec -hosts alpha:2,beta:2 ./app
  mpiexec -n 1 ./master : -n 4 ./worker

More: man mpiexec; parvum run --help; parvum doctor; parvum explain CODE";

pub fn run(called: &OsStr, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = arguments.collect();
    match attempt(called, words) {
        Ok(Some(args)) => run::run(&args),
        Ok(None) => ExitCode::SUCCESS,
        Err(why) => {
            out::note(why);
            ExitCode::from(crate::USAGE)
        }
    }
}

/// The job that is asked for; nothing when only a text was.
fn attempt(called: &OsStr, words: Vec<OsString>) -> Result<Option<RunArgs>, String> {
    let mut common = Common::default();
    let mut lines: VecDeque<Vec<OsString>> =
        words.split(|word| word == ":").map(<[OsString]>::to_vec).collect();
    let mut parts = Vec::new();
    while let Some(line) = lines.pop_front() {
        let (own, program) = options::read(&line, &mut common)?;
        if common.version {
            println!("mpiexec of Parvum {}", env!("COMMAND_VERSION"));
            return Ok(None);
        }
        if common.info {
            println!("{}", info(called));
            return Ok(None);
        }
        if common.help {
            println!("{USAGE}");
            return Ok(None);
        }
        if let Some(file) = common.file.take() {
            if let Some(word) = program.first() {
                let word = word.display();
                return Err(format!(
                    "E-USAGE: {word}: nothing may follow -configfile FILE; help: write the parts into the lines of FILE"
                ));
            }
            words::parts(&file)?.into_iter().rev().for_each(|line| lines.push_front(line));
            continue;
        }
        if program.is_empty() {
            return Err("E-USAGE: there is no program to run; help: `mpiexec -help` lists the options".into());
        }
        parts.push((own, program.to_vec()));
    }
    let deals_out = |(option, value): &(String, Option<OsString>)| {
        option == "--map-by" && value.as_ref().is_some_and(|value| value == "node")
    };
    if common.ranks_by_slot && common.given.iter().any(deals_out) {
        let why = "E-USAGE: -rank-by slot: with -map-by node, ranks are dealt out to the hosts in turn; help: list the hosts in the \
                   order of the ranks";
        return Err(why.into());
    }
    let launches_by = common.launches_by.take();
    forms::start_by(common.launcher, launches_by.as_deref(), &mut common.hosts);
    let time = surroundings::timeout()?;
    let library = surroundings::library(called);
    let mut job = MpiJob {
        parts: Vec::new(),
        search: common.path.clone(),
        out: common.out.clone(),
        err: common.err.clone(),
        all_codes: common.all_codes,
        hosts: std::mem::take(&mut common.hosts),
    };
    let line = run_line(&common, &parts, time);
    for (own, program) in parts {
        job.parts.push(part(&common, own, program, library.as_deref())?);
    }
    let mut args = crate::run_args(&line)?;
    args.mpi = Some(job);
    Ok(Some(args))
}

/// What `mpiexec -info` prints. Programs that look for a launcher with MPICH's options read the first word.
fn info(called: &OsStr) -> String {
    let library = surroundings::library(called)
        .map_or_else(|| "none beside this command".into(), |it| it.display().to_string());
    format!(
        "HYDRA build details: none, this is mpiexec of Parvum, which accepts HYDRA's options\n    \
         Version:                {}\n    \
         MPI library:            {library}\n    \
         Launchers available:    ssh rsh slurm fork",
        env!("COMMAND_VERSION")
    )
}

/// The variable by which the library knows how many processes there may be.
const UNIVERSE: &str = "PARVUM_MPI_UNIVERSE";

fn part(
    common: &Common,
    own: Own,
    program: Vec<OsString>,
    library: Option<&OsStr>,
) -> Result<MpiPart, String> {
    let mut environment = surroundings::environment(common, &own, library)?;
    if let Some(universe) = common.universe {
        environment.push((UNIVERSE.into(), universe.to_string().into()));
    }
    Ok(MpiPart { program, count: own.count, wdir: own.wdir, environment, hosts: own.hosts })
}

/// The line of `parvum run` that means the same for all parts, which its own parser judges and the user's settings complete.
fn run_line(common: &Common, parts: &[(Own, Vec<OsString>)], time: Option<u64>) -> Vec<OsString> {
    let mut line: Vec<OsString> = ["parvum", "run", "--single"].map(OsString::from).to_vec();
    let mut add = |option: &str, value: Option<&OsStr>| {
        line.push(option.into());
        line.extend(value.map(OsStr::to_owned));
    };
    for (option, value) in &common.given {
        add(option, value.as_deref());
    }
    if let Some(time) = time.filter(|_| !common.given.iter().any(|(option, _)| option == "--timeout")) {
        add("--timeout", Some(time.to_string().as_ref()));
    }
    add("--", None);
    line.extend(parts.iter().take(1).flat_map(|(_, program)| program.iter().cloned()));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<RunArgs, String> {
        let words = line.split_whitespace().map(OsString::from).collect();
        attempt("mpiexec".as_ref(), words).map(|args| args.expect("a job"))
    }

    fn parts(line: &str) -> Vec<(u32, String)> {
        let job = asked(line).expect("it makes sense").mpi.expect("it is MPI's");
        let words = |program: Vec<OsString>| program.join(" ".as_ref()).into_string().expect("text");
        job.parts.into_iter().map(|part| (part.count.unwrap_or(0), words(part.program))).collect()
    }

    #[test]
    fn mpiexec_parts_form_one_job_with_either_hyphen_style() {
        let two = [(1, "a -n 3".to_owned()), (2, "b".to_owned())];
        assert_eq!(parts("-l -n 1 a -n 3 : -np 2 b"), two);
        assert_eq!(parts("--prepend-rank --n 1 a -n 3 : --np=2 b"), two);
        // How many is not said: the hosts tell.
        assert_eq!(parts("prog"), [(0, "prog".to_owned())]);
    }

    #[test]
    fn mpiexec_refuses_unknown_option_with_hint() {
        let why = |line: &str| asked(line).err().expect("it is refused");
        assert!(why("--mca btl self a").contains("--mca") && why("--mca btl self a").contains("PARVUM_"));
        assert!(why("-frobnicate a").contains("-frobnicate"));
        assert!(why("-usize many a").contains("infinite"));
        assert!(why("-n many a").contains("-n many"));
        assert!(why("-n").contains("-n"));
        assert!(why("-n 2").contains("no program"));
        assert!(why("-n 1 a :").contains("no program"));
        assert!(why("-map-by seq a").contains("seq"));
    }

    #[test]
    fn mpiexec_part_has_its_own_variables() {
        let job =
            asked("-genv A 1 -genvnone -env B 2 a : -env A 3 b").expect("it makes sense").mpi.expect("MPI's");
        let of = |at: usize, name: &str| {
            let found = job.parts[at].environment.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.to_str().expect("text").to_owned())
        };
        assert_eq!([of(0, "A"), of(0, "B"), of(0, "PATH")], [Some("1".into()), Some("2".into()), None]);
        assert_eq!([of(1, "A"), of(1, "B")], [Some("3".into()), None]);
    }
}
