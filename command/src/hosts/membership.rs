//! `parvum add`, `remove` and `join`.

use crate::{complain, hosts::push, options, terminal::out, tool};
use parvum_machine::{Manner, StartError};
use parvum_task::{MachineDirectory, Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{Failure, HostSettings, Reply, Request, Role};
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// Each step over there has a deadline of its own; together they are shorter than this.
pub const PATIENCE: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum add beta gamma", "start daemons on two hosts by ssh"),
    ("parvum add --push beta", "copy this release to beta first"),
    ("parvum add \"beta lo=anna wd=/data\"", "as user anna, tasks start in /data"),
    ("parvum doctor beta", "check what could stop it"),
]))]
pub struct AddArgs {
    /// The hosts, by names that ssh knows
    ///
    /// Options of a hostfile may follow a name: "beta ep=/opt/bin wd=/data sp=2000".
    #[arg(required = true)]
    hosts: Vec<String>,
    /// Start daemons by COMMAND; {host} stands for the name of the host [default: ssh]
    #[arg(long, value_name = "COMMAND")]
    start_by: Option<String>,
    /// Run the `parvum` at PATH on those hosts [default: from PATH]
    #[arg(long, value_name = "PATH")]
    remote: Option<String>,
    /// First copy this release to ~/.local/share/parvum on the new hosts
    #[arg(long, conflicts_with = "remote")]
    push: bool,
}

pub fn add(args: &AddArgs) -> ExitCode {
    let by = args.start_by.as_deref();
    let mut pushed = vec![Ok(args.remote.clone()); args.hosts.len()];
    if args.push {
        pushed = push::push(&args.hosts, by).into_iter().map(|path| path.map(Some)).collect();
    }
    let mut code = ExitCode::SUCCESS;
    let (mut names, mut hosts) = (Vec::new(), Vec::new());
    for (host, program) in args.hosts.iter().zip(pushed) {
        match program {
            Ok(program) => {
                let program = program.map(|path| format!(" parvum={path}")).unwrap_or_default();
                let by = by.map(|by| format!(" by={by}")).unwrap_or_default();
                names.push(name_of(host).to_owned());
                hosts.push(format!("{host}{program}{by}"));
            }
            Err(why) => code = complain(&why),
        }
    }
    if hosts.is_empty() {
        return code;
    }
    // The machine may begin with this.
    let asked = Session::open(&options(Role::Tool, true))
        .and_then(|mut session| results(&mut session, Request::AddHosts { hosts }));
    let added = report(&names, asked, "is in the machine as");
    if code == ExitCode::SUCCESS { added } else { code }
}

/// A host's name without the options that may follow it.
fn name_of(host: &str) -> &str {
    host.split_whitespace().next().unwrap_or_default()
}

pub fn remove(hosts: Vec<String>) -> ExitCode {
    let asked = tool().and_then(|mut session| {
        let hosts = hosts.clone();
        results(&mut session, Request::RemoveHosts { hosts })
    });
    report(&hosts, asked, "is out of the machine, it was")
}

type Results = Vec<Result<Tid, Failure>>;

fn results(session: &mut Session, request: Request) -> Result<Results, SessionError> {
    match session.ask(request, &[], PATIENCE)?.reply? {
        Reply::HostResults(results) => Ok(results),
        _ => Err(SessionError::Protocol("another answer than asked for".into())),
    }
}

/// Adds hosts to a machine that is up; gives those that did not come, and why.
pub fn add_all(session: &mut Session, hosts: Vec<String>) -> Result<Vec<(String, Failure)>, SessionError> {
    if hosts.is_empty() {
        return Ok(Vec::new());
    }
    let results = results(session, Request::AddHosts { hosts: hosts.clone() })?;
    let failed = hosts.into_iter().zip(results).filter_map(|(host, result)| Some((host, result.err()?)));
    Ok(failed.collect())
}

/// One line for each host; a failure if there was one.
fn report(hosts: &[String], asked: Result<Results, SessionError>, done: &str) -> ExitCode {
    let results = match asked {
        Ok(results) => results,
        Err(error) => return complain(&error),
    };
    let mut code = ExitCode::SUCCESS;
    for (host, result) in hosts.iter().zip(results) {
        match result {
            Ok(tid) => {
                if let Err(error) = out::line(format!("{host} {done} {tid}")) {
                    code = complain(&error);
                }
            }
            Err(why) => code = complain(&why),
        }
    }
    code
}

/// Starts the daemon of this host, which hears and says what passes through here, and leaves when
/// it stands on its own feet: the connection over which this was called ends then.
///
/// With a ticket, a hoster has started this, and wants one line.
pub fn join(hosted: Option<&str>) -> ExitCode {
    let begun = std::env::current_exe().and_then(|program| {
        let place = MachineDirectory::from_env();
        let mut command = Command::new(program);
        command.args(["daemon", "--join", "--dir"]).arg(place.dir());
        command.args(hosted.iter().flat_map(|ticket| ["--hosted", ticket]));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    });
    let mut daemon = match begun {
        Ok(daemon) => daemon,
        Err(error) => return complain(&SessionError::System("start the daemon".into(), error)),
    };
    let (Some(mut input), Some(output)) = (daemon.stdin.take(), daemon.stdout.take()) else {
        return ExitCode::FAILURE;
    };
    // Not waited for: it reads until whoever called this is done.
    std::thread::spawn(move || std::io::copy(&mut std::io::stdin(), &mut input));
    let mut declined = false;
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        declined |= parvum_machine::is_refusal(&line);
        if let Err(error) = out::line(line) {
            return complain(&error);
        }
        if hosted.is_some() {
            // The hoster passes it on when this has ended; the daemon goes on without it.
            return ExitCode::SUCCESS;
        }
    }
    if declined { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Is the daemon of this host.
pub fn become_host(place: MachineDirectory, hosted: Option<&str>) -> ExitCode {
    let ended = match hosted {
        Some(ticket) => parvum_machine::serve_hosted(place, ticket),
        None => parvum_machine::serve(place, Manner::Invited, HostSettings::default(), Vec::new()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        // It has been said to the one who invited.
        Err(StartError::NotJoined(_)) => ExitCode::FAILURE,
        Err(error) => {
            parvum_machine::decline(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
