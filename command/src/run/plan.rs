//! What is to be started: the programs of a command line, and the request that starts them.

use super::input::Reader;
use super::{BindTo, RunArgs, places};
use clap::Parser;
use parvum_wire::Tid;
use parvum_wire::control::{Bind, Blob, Details, Each, HostRow, Output, Program, SpawnRequest};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The variable that tells tasks how many they are.
const SIZE: &str = "PARVUM_SIZE";

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

/// All programs of the job, each with the number of its tasks.
pub struct Plan {
    first: (Program, u32),
    further: Vec<(Program, u32)>,
    wanted: places::Wanted,
}

impl Plan {
    /// What the command line asks for. A failure begins with its code.
    pub fn of(args: &RunArgs) -> Result<Plan, String> {
        let mut parts = args.program.split(|word| word == ":" && !args.single);
        let first = parts.next().unwrap_or_default();
        let first = (program(first, &args.wdir, &args.variables)?, args.n);
        let further = parts.map(|words| {
            let words = crate::spelling::of_words(words, &<Further as clap::CommandFactory>::command());
            let part = Further::try_parse_from(words)
                .map_err(|error| format!("E-USAGE: behind `:`: {}", crate::usage(&error)))?;
            Ok((program(&part.program, &part.wdir, &part.variables)?, part.n))
        });
        let further = further.collect::<Result<Vec<_>, String>>()?;
        let plan = Plan { first, further, wanted: places::wanted(args)? };
        match plan.count() {
            count if count > MOST => {
                Err(format!("E-USAGE: {count} tasks are more than the {MOST} of one job"))
            }
            _ => Ok(plan),
        }
    }

    fn count(&self) -> usize {
        let counts = self.further.iter().map(|(_, n)| *n as usize);
        self.first.1 as usize + counts.sum::<usize>()
    }

    /// The request that starts all of it, given the hosts that there are.
    pub fn request(
        self,
        args: &RunArgs,
        hosts: &[HostRow],
        here: Tid,
        record: Option<u64>,
    ) -> Result<SpawnRequest, String> {
        let count = self.count();
        let places = places::place(args, &self.wanted, hosts, here, count)?;
        let numbers = std::iter::repeat_n(0, self.first.1 as usize).chain(
            self.further.iter().zip(1..).flat_map(|((_, n), at)| std::iter::repeat_n(at, *n as usize)),
        );
        let each = numbers.enumerate().map(|(rank, program)| Each {
            rank: rank as u32,
            program,
            host: places.as_ref().map(|places| places[rank]),
            input: args.stdin.is(rank as u32),
        });
        let each: Vec<Each> = each.collect();
        if let Reader::Rank(rank) = args.stdin
            && rank as usize >= count
        {
            return Err(format!("E-USAGE: --stdin {rank}: the tasks are 0 to {}", count - 1));
        }
        let pair = |(mut name, value): (OsString, OsString)| {
            name.push("=");
            name.push(value);
            Blob(name.into_vec())
        };
        let mut env_add = self.first.0.env_add;
        env_add.push(Blob(format!("{SIZE}={count}").into_bytes()));
        let bind = match (&args.cpu_list, args.bind_to) {
            (Some(list), _) => Some(Bind::Processors(list.0.clone())),
            (None, BindTo::Core) => Some(Bind::Core),
            (None, BindTo::Socket) => Some(Bind::Socket),
            (None, BindTo::None) => None,
        };
        let programs = self.further.into_iter().map(|(program, _)| program).collect();
        let details = Details { programs, each, bind, terminal: args.pty, inherited: None };
        Ok(SpawnRequest {
            program: self.first.0.program,
            args: self.first.0.args,
            count: count as u32,
            cwd: self.first.0.cwd.or_else(|| std::env::current_dir().ok().map(|dir| blob(dir.into()))),
            env: Some(std::env::vars_os().map(pair).collect()),
            env_add,
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

fn program(words: &[OsString], wdir: &Option<PathBuf>, variables: &[String]) -> Result<Program, String> {
    let Some((name, args)) = words.split_first() else {
        return Err("E-USAGE: a program is missing beside `:`".into());
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
        Some(("", _)) => Err(format!("E-USAGE: -x {text}: a variable has a name")),
        Some(_) => Ok(Some(Blob::from(text))),
        None if std::env::var_os(text).is_some() => Ok(None),
        None => Err(format!("E-USAGE: -x {text}: that variable is not set here; -x {text}=VALUE sets it")),
    }
}

fn blob(text: OsString) -> Blob {
    Blob(text.into_vec())
}

/// What people call the program.
pub fn short_name(program: &Blob) -> String {
    let text = program.lossy();
    Path::new(&text).file_name().map_or(text.clone(), |name| name.to_string_lossy().into_owned())
}
