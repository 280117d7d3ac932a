//! `parvum join` with a token, and `parvum leave`.

use crate::terminal::out;
use crate::{complain, tool};
use parvum_machine::{Asked, JOINED, StartError, Token};
use parvum_task::{MachineDirectory, SessionError};
use parvum_wire::control::{Reply, Request};
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// The variable that names the machine to join: `parvum://HOST:PORT#TOKEN`.
const JOIN: &str = "PARVUM_JOIN";
/// The daemon of a host that has left ends within this time.
const TO_END: Duration = Duration::from_secs(20);
/// No token file is longer.
const MOST: u64 = 4096;

#[derive(clap::Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum join parvum://10.0.0.5:4411 --token-file token", "`parvum invite` prints this line"),
    ("PARVUM_JOIN='parvum://10.0.0.5:4411#pvt1_...' parvum join", "the token in the environment"),
    ("parvum join --stay", "in a container: stay until the host leaves or the machine ends"),
    ("parvum leave", "leave the machine again"),
]))]
pub struct JoinArgs {
    /// The machine: parvum://HOST:PORT, as `parvum invite` prints it [default: from PARVUM_JOIN]
    address: Option<String>,
    /// Read the token from FILE; `-` is standard input
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Join under this name [default: the name of this host]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Stay in the foreground until the host leaves or the machine ends; SIGTERM makes the host leave
    #[arg(long)]
    stay: bool,
    /// Try to connect for SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u32,
    /// Another daemon has called this command, and speaks on standard input
    #[arg(long, hide = true)]
    invited: bool,
    /// The ticket that a hoster has passed on. The daemon answers with one line
    #[arg(long, hide = true)]
    pub hosted: Option<String>,
}

impl JoinArgs {
    /// Whether another daemon has called this command. Else this host joins by itself.
    pub fn is_called(&self) -> bool {
        let is_set = || std::env::var_os(JOIN).is_some_and(|it| !it.is_empty());
        let has_machine = self.address.is_some() || self.token_file.is_some() || is_set();
        // A script of the user may call `parvum join` for a daemon, with standard input connected.
        self.invited || self.hosted.is_some() || (!has_machine && !std::io::stdin().is_terminal())
    }
}

pub fn join(args: &JoinArgs) -> ExitCode {
    let asked = match asked(args) {
        Ok(asked) => asked,
        Err(why) => return complain(&why),
    };
    let place = MachineDirectory::from_env();
    if !args.stay {
        return launch(&place, &asked);
    }
    match parvum_machine::serve_guest(place, &asked, true) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&explained(&error)),
    }
}

fn explained(error: &StartError) -> String {
    match error {
        StartError::Running(dir) => format!(
            "E-RUNNING: this host has a machine already, in {dir}; help: `parvum down` stops it, or set PARVUM_DIR \
             to another directory"
        ),
        other => other.to_string(),
    }
}

fn asked(args: &JoinArgs) -> Result<Asked, String> {
    let variable = std::env::var(JOIN).unwrap_or_default();
    let (address, secret) = match &args.address {
        Some(given) if given.contains('#') => {
            return Err("E-USAGE: other users can read a token on the command line; help: use --token-file or PARVUM_JOIN".into());
        }
        Some(given) => (given.as_str(), None),
        None => match variable.split_once('#') {
            Some((address, token)) => (address, Some(token)),
            None => (variable.as_str(), None),
        },
    };
    if address.is_empty() && secret.is_none() {
        let why = "E-USAGE: no machine is named; help: `parvum invite` on a host of the machine prints the line to run here";
        return Err(why.into());
    }
    let address = address.strip_prefix("parvum://").unwrap_or(address);
    if !address.split(',').all(is_address) {
        // The text may be a token in the wrong place: it is not repeated.
        let shown = if address.contains("pvt1_") { "a token".to_owned() } else { format!("{address:?}") };
        return Err(format!(
            "E-USAGE: {shown} is not the address of a machine; help: `parvum join parvum://HOST:PORT`, as `parvum invite` \
             prints it; PARVUM_JOIN is parvum://HOST:PORT#TOKEN"
        ));
    }
    let token = match (&args.token_file, secret) {
        (Some(file), _) => read(file)?,
        (None, Some(token)) => token.to_owned(),
        (None, None) => {
            return Err("E-USAGE: there is no token; help: use --token-file FILE, or PARVUM_JOIN='parvum://HOST:PORT#TOKEN'".into());
        }
    };
    let name = args.name.clone().unwrap_or_else(own_name);
    let patience = Duration::from_secs(args.timeout.into());
    Ok(Asked { address: address.to_owned(), token: token.parse::<Token>()?, name, patience })
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn own_name() -> String {
    // In a step of Slurm the host has Slurm's name.
    if let Some(name) = std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty()) {
        return name;
    }
    crate::shown::host_name()
}

fn read(file: &Path) -> Result<String, String> {
    let mut text = String::new();
    let result = match file.to_str() {
        Some("-") => std::io::stdin().take(MOST).read_to_string(&mut text),
        _ => std::fs::File::open(file).and_then(|file| file.take(MOST).read_to_string(&mut text)),
    };
    result.map(|_| text).map_err(|error| {
        let file = file.display();
        format!("E-TOKEN: {file} cannot be read: {error}; help: `parvum invite --to FILE` makes such a file")
    })
}

/// Starts the daemon, and tells how that went. The token goes over a pipe: other users can read a command line.
fn launch(place: &MachineDirectory, asked: &Asked) -> ExitCode {
    let system = |what: &str, error| complain(&SessionError::System(what.into(), error));
    let begun = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.args(["daemon", "--guest", "--dir"]).arg(place.dir());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    });
    let mut daemon = match begun {
        Ok(daemon) => daemon,
        Err(error) => return system("start the daemon", error),
    };
    let Asked { address, token, name, patience } = asked;
    let text = format!("{address}\n{token}\n{name}\n{}\n", patience.as_secs());
    if let Some(mut input) = daemon.stdin.take()
        && let Err(error) = input.write_all(text.as_bytes())
    {
        return system("speak to the daemon", error);
    }
    let Some(output) = daemon.stdout.take() else { return ExitCode::FAILURE };
    let mut line = String::new();
    if let Err(error) = BufReader::new(output).read_line(&mut line) {
        return system("hear the daemon", error);
    }
    match line.trim().strip_prefix(JOINED) {
        Some(joined) => out::line(joined).map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS),
        None if line.is_empty() => {
            complain(&"E-SYSTEM: the daemon has ended without a reason; help: its log may have more")
        }
        None => complain(&line.trim()),
    }
}

/// Is the daemon that `launch` starts.
pub fn become_guest(place: MachineDirectory) -> ExitCode {
    let ended = heard().and_then(|asked| {
        parvum_machine::serve_guest(place, &asked, false).map_err(|error| explained(&error))
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // The command that has started this daemon may have ended.
            let _ = writeln!(std::io::stdout(), "{why}");
            ExitCode::FAILURE
        }
    }
}

fn heard() -> Result<Asked, String> {
    let mut lines = std::io::stdin().lines().map_while(Result::ok);
    let mut next = || lines.next().ok_or("E-PROTOCOL: `parvum daemon --guest` is for `parvum join`");
    let (address, token, name) = (next()?, next()?.parse()?, next()?);
    let seconds = next()?.parse().unwrap_or_default();
    Ok(Asked { address, token, name, patience: Duration::from_secs(seconds) })
}

/// Takes this host out of its machine.
pub fn leave() -> ExitCode {
    let mut session = match tool() {
        Ok(session) => session,
        Err(error) => return complain(&error),
    };
    let own = session.me.tid.daemon().0.to_string();
    let (daemon, known) = (super::power::daemon_of(&session), session.daemon());
    match session.ask(Request::RemoveHosts { hosts: vec![own] }, &[], super::membership::PATIENCE) {
        Ok(answer) => match answer.reply {
            Ok(Reply::HostResults(results)) if results.iter().all(Result::is_ok) => {}
            Ok(Reply::HostResults(results)) => match results.into_iter().find_map(Result::err) {
                Some(why) => return complain(&why),
                None => return ExitCode::FAILURE,
            },
            Ok(_) => return complain(&"E-PROTOCOL: odd answer"),
            Err(why) => return complain(&why),
        },
        // The daemon of a host that is out ends at once.
        Err(SessionError::Lost) => {}
        Err(error) => return complain(&error),
    }
    // The next machine of this host needs its folder.
    let until = std::time::Instant::now() + TO_END;
    if daemon.is_some_and(|daemon| !crate::processes::has_ended(&daemon, until)) {
        return complain(&SessionError::Deadline { waited: TO_END, daemon: known });
    }
    out::line("this host has left the machine").map_or_else(|error| complain(&error), |()| ExitCode::SUCCESS)
}
