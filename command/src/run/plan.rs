//! What is to be started: the programs of a command line, and the request that starts them.

use super::input::Reader;
use super::{BindTo, HostRules, MpiPart, RunArgs, elf, places, races};
use crate::hosts::slurm::Allocation;
use crate::mpiexec::surroundings::{library, put_last};
use clap::Parser;
use parvum_wire::Tid;
use parvum_wire::control::{Bind, Blob, Details, Each, HostRow, Output, Program, Recorder, SpawnRequest};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The variable that tells tasks how many they are.
const SIZE: &str = "PARVUM_SIZE";
/// The same, as MPICH has it.
const PMI_SIZE: &str = "PMI_SIZE";
/// The variable that tells tasks which of the programs theirs is.
const APPNUM: &str = "PARVUM_MPI_APPNUM";

/// How many processes a batch system has given to the job that we run in.
fn allocated() -> Option<u32> {
    ["SLURM_NTASKS", "PBS_NP"].iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// The most tasks that one request may start.
const MOST: usize = 4096;

/// A further program of the job: what follows a ` : `.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true, name = "a program behind `:`")]
struct Further {
    #[arg(short, long = "np", alias = "n", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    n: u32,
    #[arg(long, alias = "wd")]
    wdir: Option<PathBuf>,
    #[arg(short = 'x', action = clap::ArgAction::Append)]
    variables: Vec<String>,
    #[arg(required = true, trailing_var_arg = true)]
    program: Vec<OsString>,
}

/// All programs of the job.
pub struct Plan {
    parts: Vec<Part>,
    wanted: places::Wanted,
    /// The hosts of Slurm's job. Options about hosts replace them.
    allocation: Option<Allocation>,
}

/// One of them, and how often it runs.
struct Part {
    program: Program,
    /// Nothing before the hosts are known: so many as these have slots.
    count: Option<u32>,
    /// Its own hosts; else those of the job.
    wanted: Option<places::Wanted>,
}

impl Plan {
    /// What the command line asks for. A failure begins with its code.
    pub fn of(args: &RunArgs) -> Result<Plan, String> {
        let parts = match &args.mpi {
            Some(job) => job.parts.iter().map(mpi_part).collect::<Result<Vec<_>, _>>()?,
            None => own_parts(args)?,
        };
        let plan = Plan { parts, wanted: places::wanted(args)?, allocation: Allocation::of_environment()? };
        for part in &plan.parts {
            elf::check(&part.program)?;
        }
        match plan.count() {
            count if count > MOST => {
                Err(format!("E-USAGE: {count} tasks are too many for one job; help: use {MOST} at most"))
            }
            _ => Ok(plan),
        }
    }

    fn count(&self) -> usize {
        self.parts.iter().map(|part| part.count.unwrap_or(1) as usize).sum()
    }

    /// Programs of which nobody has said how often they run do so once for each slot of the hosts that were named.
    fn count_slots(&mut self, args: &RunArgs, hosts: &[HostRow]) -> Result<(), String> {
        for part in self.parts.iter_mut().filter(|part| part.count.is_none()) {
            let wanted = part.wanted.as_ref().unwrap_or(&self.wanted);
            part.count = Some(places::slots(wanted, args.ppn, hosts.len()).or_else(allocated).unwrap_or(1));
        }
        match self.count() {
            count if count > MOST => {
                Err(format!("E-USAGE: {count} tasks are too many for one job; help: use {MOST} at most"))
            }
            _ => Ok(()),
        }
    }

    /// The host of each task; nothing where the machine shall decide.
    fn places(&self, args: &RunArgs, hosts: &[HostRow], here: Tid) -> Result<Vec<Option<Tid>>, String> {
        let count = self.count();
        if self.parts.iter().all(|part| part.wanted.is_none()) {
            let all = places::place(args, &self.wanted, hosts, here, count)?;
            return Ok(all.map_or(vec![None; count], |all| all.into_iter().map(Some).collect()));
        }
        let mut all = Vec::new();
        for part in &self.parts {
            let (wanted, count) =
                (part.wanted.as_ref().unwrap_or(&self.wanted), part.count.unwrap_or(1) as usize);
            match places::place(args, wanted, hosts, here, count)? {
                Some(places) => all.extend(places.into_iter().map(Some)),
                None => all.extend(std::iter::repeat_n(None, count)),
            }
        }
        Ok(all)
    }

    /// Hosts that were named and are not in the machine.
    pub fn missing(&self, hosts: &[HostRow], here: Tid) -> Vec<String> {
        let parts = self.parts.iter().filter_map(|part| part.wanted.as_ref()).flatten();
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.wanted.iter().chain(parts) {
            if places::find(name, hosts, here).is_none() && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// Leaves this host out: `mpiexec -nolocal`.
    fn leave_out(&mut self, rules: &HostRules, hosts: &[HostRow], here: Tid) -> Result<(), String> {
        if !rules.not_here {
            return Ok(());
        }
        if self.wanted.is_empty() {
            self.wanted = hosts.iter().map(|row| (row.name.clone(), None)).collect();
            // Names without slots do not say how many processes start.
            self.parts.iter_mut().for_each(|part| _ = part.count.get_or_insert(1));
        }
        let is_elsewhere = |name: &str| places::find(name, hosts, here).is_none_or(|row| row.tid != here);
        let parts = self.parts.iter_mut().filter_map(|part| part.wanted.as_mut());
        for wanted in parts.chain([&mut self.wanted]) {
            wanted.retain(|(name, _)| is_elsewhere(name));
            if wanted.is_empty() {
                return Err(
                    "E-USAGE: -nolocal: there is no other host; help: `parvum add HOST`, or -hosts".into()
                );
            }
        }
        Ok(())
    }

    /// Refuses more processes than slots: `mpiexec -nooversubscribe`.
    fn check_slots(
        &self,
        rules: &HostRules,
        args: &RunArgs,
        hosts: &[HostRow],
        here: Tid,
    ) -> Result<(), String> {
        if !rules.no_more_than_slots {
            return Ok(());
        }
        let cpus = |name: &str| places::find(name, hosts, here).map_or(1, |row| row.cpus);
        let named = |wanted: &places::Wanted| -> u32 {
            wanted.iter().map(|(name, slots)| slots.or(args.ppn).unwrap_or_else(|| cpus(name))).sum()
        };
        let all = match self.wanted.is_empty() {
            true => hosts.iter().map(|row| args.ppn.unwrap_or(row.cpus)).sum(),
            false => named(&self.wanted),
        };
        let refuse = |count: u32, slots: u32| match count > slots {
            true => Err(format!(
                "E-USAGE: -nooversubscribe: {count} processes are more than the {slots} slots; help: start fewer, name more \
                 hosts, or leave the option out"
            )),
            false => Ok(()),
        };
        let mut shared = 0;
        for part in &self.parts {
            let count = part.count.unwrap_or(1);
            match &part.wanted {
                Some(wanted) => refuse(count, named(wanted))?,
                None => shared += count,
            }
        }
        refuse(shared, all)
    }

    /// Uses the hosts of the allocation, with a slot for each task of the job, if no option names hosts. Hosts that are not in the
    /// machine are left out: they are late, or the allocation has shrunk.
    fn use_allocation(&mut self, args: &RunArgs, hosts: &[HostRow], here: Tid) {
        let Some(allocation) = &self.allocation else { return };
        if !self.wanted.is_empty() {
            return;
        }
        let is_there = |name: &str| places::find(name, hosts, here).is_some();
        let (there, missing): (Vec<_>, Vec<_>) =
            allocation.nodes.iter().partition(|node| is_there(&node.name));
        if there.is_empty() {
            return;
        }
        if !missing.is_empty() && !args.quiet {
            let names = missing.iter().map(|node| node.name.as_str()).collect::<Vec<_>>().join(" ");
            crate::terminal::out::note(format!(
                "hosts of the job that are not in the machine: {names}; help: `parvum down`, then start the machine again"
            ));
        }
        let slots = |node: &crate::hosts::slurm::Node| args.ppn.is_none().then_some(node.tasks);
        self.wanted = there.into_iter().map(|node| (node.name.clone(), slots(node))).collect();
        // The number of tasks of the job is Slurm's.
        if let Some(count) = allocated().filter(|_| args.ppn.is_none()) {
            self.parts
                .iter_mut()
                .filter(|part| part.wanted.is_none())
                .for_each(|part| _ = part.count.get_or_insert(count));
        }
    }

    /// The request that starts all of it, given the hosts that there are.
    pub fn request(
        mut self,
        args: &RunArgs,
        hosts: &[HostRow],
        here: Tid,
        record: Option<Recorder>,
    ) -> Result<SpawnRequest, String> {
        self.use_allocation(args, hosts, here);
        if let Some(job) = &args.mpi {
            self.leave_out(&job.hosts, hosts, here)?;
        }
        self.count_slots(args, hosts)?;
        if let Some(job) = &args.mpi {
            self.check_slots(&job.hosts, args, hosts, here)?;
        }
        let count = self.count();
        let places = self.places(args, hosts, here)?;
        // The variables of a request's own program hold for all: of MPI's parts none does, so all of them are further ones.
        let before = usize::from(args.mpi.is_some());
        let numbers = self
            .parts
            .iter()
            .zip(before..)
            .flat_map(|(part, at)| std::iter::repeat_n(at, part.count.unwrap_or(1) as usize));
        let each = numbers.zip(places).enumerate().map(|(rank, (program, host))| Each {
            rank: rank as u32,
            program: program as u32,
            host,
            input: args.stdin.is(rank as u32),
        });
        let each: Vec<Each> = each.collect();
        if let Reader::Rank(rank) = args.stdin
            && rank as usize >= count
        {
            return Err(format!(
                "E-USAGE: --stdin {rank}: the tasks are 0 to {}; help: `--stdin 0`, all or none",
                count - 1
            ));
        }
        let bind = match (&args.cpu_list, args.bind_to) {
            (Some(list), _) => Some(Bind::Processors(list.0.clone())),
            (None, BindTo::Core) => Some(Bind::Core),
            (None, BindTo::Socket) => Some(Bind::Socket),
            (None, BindTo::None) => None,
        };
        let mut programs: Vec<Program> = self.parts.into_iter().map(|part| part.program).collect();
        for (number, program) in programs.iter_mut().enumerate() {
            program.env_add.push(variable_of(APPNUM, &number.to_string()));
        }
        let first = match args.mpi {
            Some(_) => Program { env_add: Vec::new(), ..programs[0].clone() },
            None => programs.remove(0),
        };
        let mut env_add = first.env_add;
        env_add.extend([SIZE, PMI_SIZE].map(|name| variable_of(name, &count.to_string())));
        let env = match args.mpi {
            Some(_) => Vec::new(),
            None => surroundings().into_iter().filter(|(name, _)| !is_anothers(name)).map(pair).collect(),
        };
        let search = args.mpi.iter().flat_map(|job| job.search.iter().cloned()).map(blob);
        let writes_files = args.output_filename.is_some()
            || args.mpi.as_ref().is_some_and(|job| job.out.is_some() || job.err.is_some());
        let one_stream = !writes_files && are_one_file();
        let details = Details { programs, each, bind, terminal: args.pty, one_stream, inherited: None };
        Ok(SpawnRequest {
            program: first.program,
            args: first.args,
            count: count as u32,
            cwd: first.cwd.or_else(|| std::env::current_dir().ok().map(|dir| blob(dir.into()))),
            env: Some(env),
            env_add,
            search: search.chain(args.mpi.iter().flat_map(|_| path_of_here())).collect(),
            output: Output::Spawner,
            all_or_none: true,
            // A program asks for its parent to learn whether it is the first: the runner is none of it.
            orphan: true,
            gang: args.gang,
            record,
            details: Box::new(details),
            ..Default::default()
        })
    }
}

/// Whether this process's standard output and standard error lead to the same place: then nobody asks which of them a task used, and
/// lines are to come in the order in which they were written.
fn are_one_file() -> bool {
    let place = |fd| rustix::fs::fstat(fd).ok().map(|stat| (stat.st_dev, stat.st_ino));
    let (out, err) = (place(rustix::stdio::stdout()), place(rustix::stdio::stderr()));
    out.is_some() && out == err
}

/// This process's variables. A program that asks for MPICH's library, or loads it while it runs as mpi4py does, finds ours, unless the
/// environment names a folder that has another.
fn surroundings() -> Vec<(OsString, OsString)> {
    let mut all: Vec<_> = std::env::vars_os().collect();
    let called = std::env::args_os().next().unwrap_or_default();
    if let Some(library) = library(&called) {
        // A folder with a colon in its name cannot be said to the loader.
        let _ = put_last(&mut all, &library);
    }
    all
}

/// The parts of a line of `run`.
fn own_parts(args: &RunArgs) -> Result<Vec<Part>, String> {
    let mut parts = args.program.split(|word| word == ":" && !args.single);
    let mut first = program(parts.next().unwrap_or_default(), &args.wdir, &args.variables)?;
    if args.races {
        first.env_add.push(variable_of(races::VARIABLE, &races::told()));
    }
    let mut all = vec![Part { program: first, count: Some(args.n), wanted: None }];
    for words in parts {
        let words = crate::settings::spelling::of_words(words, &<Further as clap::CommandFactory>::command());
        let part = Further::try_parse_from(words)
            .map_err(|error| format!("E-USAGE: behind `:`: {}", crate::usage(&error, "parvum run")))?;
        let program = program(&part.program, &part.wdir, &part.variables)?;
        all.push(Part { program, count: Some(part.n), wanted: None });
    }
    Ok(all)
}

fn mpi_part(part: &MpiPart) -> Result<Part, String> {
    let mut program = program(&part.program, &part.wdir, &[])?;
    program.env_add =
        part.environment.iter().filter(|(name, _)| !is_anothers(name)).cloned().map(pair).collect();
    let wanted = if part.hosts.is_empty() { None } else { Some(places::named(&part.hosts)?) };
    Ok(Part { program, count: part.count, wanted })
}

/// What another launcher has told this command, or a parent its child, holds for none of the tasks.
fn is_anothers(name: &OsStr) -> bool {
    const OTHERS: [&str; 9] = [
        "PMI_FD",
        "PMI_PORT",
        "PMI_ID",
        "PMI_SPAWNED",
        "PMI_RANK",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
        "PARVUM_MPI_PARENT",
        APPNUM,
    ];
    OTHERS.iter().any(|other| name == *other)
}

/// Where programs are looked for, also when they get no PATH.
fn path_of_here() -> Vec<Blob> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| blob(folder.into()))
        .collect()
}

fn pair((mut name, value): (OsString, OsString)) -> Blob {
    name.push("=");
    name.push(value);
    blob(name)
}

fn variable_of(name: &str, value: &str) -> Blob {
    Blob::from(format!("{name}={value}").as_str())
}

fn program(words: &[OsString], wdir: &Option<PathBuf>, variables: &[String]) -> Result<Program, String> {
    let Some((name, args)) = words.split_first() else {
        return Err("E-USAGE: a program is missing beside `:`; help: `parvum run -n 2 ./a : -n 4 ./b`".into());
    };
    let cwd = wdir.as_ref().map(|dir| {
        std::path::absolute(dir).map_err(|error| format!("E-USAGE: --wdir {}: {error}", dir.display()))
    });
    Ok(Program {
        program: blob(name.clone()),
        args: args.iter().cloned().map(blob).collect(),
        cwd: cwd.transpose()?.map(|dir| blob(dir.into())),
        env_add: variables.iter().filter_map(|text| variable(text).transpose()).collect::<Result<_, _>>()?,
    })
}

/// What `-x` sets; nothing for a variable that the tasks have anyway.
fn variable(text: &str) -> Result<Option<Blob>, String> {
    match text.split_once('=') {
        Some(("", _)) => Err(format!("E-USAGE: -x {text}: the name is missing; help: `-x NAME=VALUE`")),
        Some(_) => Ok(Some(Blob::from(text))),
        None if std::env::var_os(text).is_some() => Ok(None),
        None => {
            Err(format!("E-USAGE: -x {text}: that variable is not set here; help: `-x {text}=VALUE` sets it"))
        }
    }
}

fn blob(text: OsString) -> Blob {
    Blob(text.into_vec())
}

/// What people call the program.
pub fn short_name(program: &Blob) -> String {
    let path = Path::new(OsStr::from_bytes(&program.0));
    path.file_name().unwrap_or(path.as_os_str()).display().to_string()
}
