//! Starting a daemon on another host, and being started so.
//!
//! A command (the user's own ssh, or another) runs `parvum join` over there. The two daemons speak
//! over its standard input and output, a line of JSON each:
//!
//! ```text
//! adder                                  joiner
//!   Invitation: number, life, name         makes its keys
//!                                        Acceptance: its public key, what the host is
//!   Admission: certificate, hosts          opens its network, connects with the adder
//!                                        Joined: where it is reached
//! ```
//!
//! Each step has a deadline, and a failure says which step it was.

use crate::daemon::hosts::invitation::{Acceptance, Admission, Invitation, Joined, Said, TO_JOIN, TWICE};
use crate::daemon::hosts::network::Network;
use crate::daemon::life::options::set;
use crate::daemon::shell::Shell;
use crate::shown::shown;
use crate::state::{Input, Starting, Wanted};
use parvum_mesh::keys::{KeyError, PublicKey, SignRequest};
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure, HostOptions, HostRecord, HostRow, PROTOCOL};
use serde::{Deserialize, Serialize};
use std::process::{Output, Stdio};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

/// How a daemon is started on another host unless the user says otherwise: no questions, and no
/// endless wait for a host that does not answer.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=5 {host}";
/// How long the other host may take until its daemon speaks.
const TO_ANSWER: Duration = Duration::from_secs(15);
/// The longest line.
const LINE: u64 = 1 << 20;

/// Starts a daemon on a host, and feeds the machine with what came of it.
pub(crate) async fn fetch(shell: Rc<Shell>, wanted: Wanted) {
    let Wanted { number, life, name, start } = wanted;
    let result = match shell.need_network() {
        Ok(network) => invite(&shell, &network, number, life, &name, &start).await,
        Err(error) => Err(Failure::new(ErrorKind::CannotStart, format!("{name}: this host: {error}"))),
    };
    came(&shell, number, life, &name, result);
}

/// Feeds the machine with what came of a host.
pub(crate) fn came(
    shell: &Rc<Shell>,
    number: u32,
    life: u64,
    name: &str,
    result: Result<HostRecord, Failure>,
) {
    match &result {
        Ok(_) => shell.log.line(&format!("host {number}, {name}, has joined")),
        Err(why) => shell.log.line(&format!("host {name} was not added: {why}")),
    }
    shell.input(Input::Fetched { number, life, result });
}

async fn invite(
    shell: &Shell,
    network: &Network,
    number: u32,
    life: u64,
    name: &str,
    start: &Starting,
) -> Result<HostRecord, Failure> {
    // The semaphore is never closed: with the permit or without, it is this host's turn.
    let _turn = network.starts.acquire().await;
    let options = options_of(name, start, false)?;
    let mut starter = Starter::begin(name, &options)?;
    let invitation = invitation(network, number, life, name, options);
    let accepted: Acceptance = starter.exchange("start a daemon", &invitation, TO_ANSWER).await?;
    let admission = admission(shell, network, &accepted, (number, life), name)
        .map_err(|error| starter.failed("sign its key", &error.to_string()))?;
    let joined = starter.exchange("connect with it", &admission, TO_JOIN).await?;
    Ok(record(accepted, joined, (number, life), name))
}

/// What was said of a host: with its name, and in the hostfile.
pub(crate) fn options_of(name: &str, start: &Starting, hoster: bool) -> Result<HostOptions, Failure> {
    let unfit = |why: String| Failure::new(ErrorKind::BadParameter, why);
    let (_, said) = HostOptions::of_line(&start.line, &|name| std::env::var_os(name)).map_err(unfit)?;
    let options = said.over(&start.known);
    options.unfit(hoster).map_err(|why| unfit(format!("{name}: {why}")))?;
    Ok(options)
}

/// The command over there.
pub(crate) fn program_of(options: &HostOptions) -> String {
    options.daemon.clone().or_else(|| set("PARVUM_REMOTE")).unwrap_or_else(|| "parvum".into())
}

pub(crate) fn invitation(
    network: &Network,
    number: u32,
    life: u64,
    name: &str,
    options: HostOptions,
) -> Invitation {
    let machine = network.authority.machine().to_string();
    let release = env!("CARGO_PKG_VERSION").into();
    Invitation { release, protocol: PROTOCOL, number, life, name: name.to_owned(), machine, options }
}

pub(crate) fn admission(
    shell: &Shell,
    network: &Network,
    accepted: &Acceptance,
    (number, life): (u32, u64),
    name: &str,
) -> Result<Admission, KeyError> {
    let request = SignRequest::new(PublicKey(accepted.key), number, life, name);
    let (home, _, _) = shell.identity();
    Ok(Admission {
        encrypt: shell.encrypts(),
        certificate: network.authority.sign(&request)?.to_bytes(),
        authority: network.authority.to_bytes(),
        home,
        // The others it learns of with all else that is agreed.
        hosts: shell.record_of(home).into_iter().collect(),
    })
}

pub(crate) fn record(
    accepted: Acceptance,
    Joined { addresses }: Joined,
    (number, life): (u32, u64),
    name: &str,
) -> HostRecord {
    let Acceptance { arch, cpus, speed, .. } = accepted;
    let tid = Tid::new(number, 0).expect("the machine chose it in range");
    let row = HostRow { tid, name: name.to_owned(), arch, speed, cpus };
    HostRecord { number, life, row, addresses }
}

/// The words that run a command on a host, under a login name if one is said: what was said, or else the user's own way,
/// or ssh.
pub fn way_to(host: &str, login: Option<&str>, by: Option<&str>) -> Result<String, String> {
    let by = by.map(str::to_owned).or_else(|| set("PARVUM_START_BY")).unwrap_or_else(|| SSH.into());
    let first = by.split_whitespace().next().unwrap_or_default();
    let is_ssh = first.rsplit('/').next() == Some("ssh");
    let by = match login {
        Some(login) if by.contains("{login}") => by.replace("{login}", login),
        None if by.contains("{login}") => {
            let own = set("LOGNAME").or_else(|| set("USER"));
            by.replace("{login}", &own.ok_or("{login}: LOGNAME is not set; help: say lo=NAME")?)
        }
        Some(login) if is_ssh => {
            let target = format!("{login}@{host}");
            return Ok(if by.contains("{host}") {
                by.replace("{host}", &target)
            } else {
                format!("{by} {target}")
            });
        }
        Some(login) => {
            let why = "the command has no place for a login name; help: write {login} into it";
            return Err(format!("lo={login}: `{by}`: {why}"));
        }
        None => by,
    };
    Ok(if by.contains("{host}") { by.replace("{host}", host) } else { format!("{by} {host}") })
}

/// The command that starts the daemon over there.
struct Starter {
    host: String,
    words: String,
    child: Child,
    lines: Lines<BufReader<tokio::io::Take<ChildStdout>>>,
}

impl Starter {
    fn begin(host: &str, options: &HostOptions) -> Result<Starter, Failure> {
        let program = program_of(options);
        let address = options.address.as_deref().unwrap_or(host);
        let way = way_to(address, options.login.as_deref(), options.by.as_deref())
            .map_err(|why| Failure::new(ErrorKind::BadParameter, format!("{host}: {why}")))?;
        // The word keeps a variable PARVUM_JOIN over there out of it.
        let words = format!("{way} {program} join --invited");
        let mut split = words.split_whitespace();
        let mut command = Command::new(split.next().unwrap_or("ssh"));
        command.args(split).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |what: &str| Failure::new(ErrorKind::CannotStart, format!("{host}: {what}"));
        let mut child = command
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(&format!("the command `{words}` cannot be run: {error}")))?;
        let output = child.stdout.take().ok_or_else(|| failed("no pipe"))?;
        Ok(Starter { host: host.into(), words, child, lines: BufReader::new(output.take(LINE)).lines() })
    }

    /// Says a line and hears one.
    async fn exchange<T: for<'a> Deserialize<'a>>(
        &mut self,
        step: &str,
        line: &impl Serialize,
        patience: Duration,
    ) -> Result<T, Failure> {
        let mut text = serde_json::to_string(line).map_err(|error| self.failed(step, &error.to_string()))?;
        text.push('\n');
        if let Some(input) = &mut self.child.stdin {
            // A command that has ended already says why below.
            let _ = input.write_all(text.as_bytes()).await;
        }
        loop {
            match timeout(patience, self.lines.next_line()).await {
                Err(_) => return Err(self.ended(step, &format!("no answer within {patience:?}")).await),
                Ok(Ok(Some(line))) => match serde_json::from_str::<Said<T>>(&line) {
                    Ok(Ok(said)) => return Ok(said),
                    Ok(Err(why)) => return Err(self.declined(step, &why)),
                    // A greeting of the shell over there.
                    Err(_) => continue,
                },
                Ok(_) => return Err(self.ended(step, "it ended without an answer").await),
            }
        }
    }

    fn declined(&self, step: &str, why: &str) -> Failure {
        match why.strip_prefix(TWICE) {
            Some(known) => {
                let detail = format!("{} leads to {known}, by `{}`", self.host, self.words);
                Failure::new(ErrorKind::DuplicateHost, detail)
            }
            None => self.failed(step, why),
        }
    }

    fn failed(&self, step: &str, why: &str) -> Failure {
        let Starter { host, words, .. } = self;
        let help = format!("help: `parvum doctor {host}` checks ssh, release and ports");
        let detail = format!("cannot add {host}: could not {step} with `{words}`: {why}; {help}");
        Failure::new(ErrorKind::CannotStart, detail)
    }

    /// What the command said on standard error, and how it ended.
    async fn ended(&mut self, step: &str, what: &str) -> Failure {
        // One that has closed its output is about to end by itself, with a code that says why.
        let _ = timeout(Duration::from_millis(500), self.child.wait()).await;
        let _ = self.child.start_kill();
        let mut said = Vec::new();
        if let Some(stderr) = self.child.stderr.take() {
            let _ = timeout(Duration::from_secs(1), stderr.take(4096).read_to_end(&mut said)).await;
        }
        let status = timeout(Duration::from_secs(1), self.child.wait()).await;
        let output = Output {
            status: status.ok().and_then(Result::ok).unwrap_or_default(),
            stdout: Vec::new(),
            stderr: said,
        };
        let said = shown(&output.stderr);
        let said = said.trim();
        let code = output.status.code().map_or_else(String::new, |code| format!(", exit code {code}"));
        let said = if said.is_empty() { String::new() } else { format!("; note: the command said: {said}") };
        if said.contains("Could not resolve hostname") {
            // What ssh says of a name that nobody knows.
            let Starter { host, words, .. } = self;
            let why = format!("cannot add {host}: ssh cannot resolve the name, by `{words}`{code}{said}");
            return Failure::new(
                ErrorKind::NoSuchHost,
                format!("{why}; help: check that `ssh {host} true` works"),
            );
        }
        self.failed(step, &format!("{what}{code}{said}"))
    }
}
