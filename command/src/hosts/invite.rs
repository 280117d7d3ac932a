//! `parvum invite`: makes a token with which other hosts join by themselves.

use crate::settings::duration;
use crate::terminal::out;
use crate::{complain, options};
use parvum_task::{Session, SessionError};
use parvum_wire::control::{Reply, Request, Role};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum invite", "a token for one host, valid for one hour"),
    ("parvum invite --uses 20 --for 7d --to token", "a token for 20 hosts, in a file"),
    ("parvum invite --json", "for a program"),
    ("parvum invite --revoke", "make all tokens of this daemon invalid"),
]))]
pub struct InviteArgs {
    /// The number of hosts that may join with the token
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    uses: u32,
    /// The time that the token is valid: 90s, 15m, 1h, 7d
    #[arg(long = "for", default_value = "1h", value_name = "TIME", value_parser = duration::parse)]
    time: u64,
    /// Write the token to FILE (mode 0600), and do not print it
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    to: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Make all tokens of this daemon invalid; hosts that have joined stay
    #[arg(long, conflicts_with_all = ["uses", "time", "to", "json"])]
    revoke: bool,
}

pub fn invite(args: &InviteArgs) -> ExitCode {
    match attempt(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => complain(&why),
    }
}

fn attempt(args: &InviteArgs) -> Result<(), String> {
    let text = |error: SessionError| error.to_string();
    if args.revoke {
        crate::tool().and_then(|mut session| session.request(Request::Revoke)).map_err(text)?;
        return out::line("the tokens of this daemon are no longer valid").map_err(text);
    }
    // The file is made first: without the file nobody could read the token.
    let file = args.to.as_deref().map(make).transpose()?;
    let made = ask(args, file);
    if let (Err(_), Some(path)) = (&made, &args.to) {
        // A file without a token would only mislead.
        let _ = std::fs::remove_file(path);
    }
    made
}

fn ask(args: &InviteArgs, file: Option<File>) -> Result<(), String> {
    let text = |error: SessionError| error.to_string();
    // The machine may begin with this.
    let mut session = Session::open(&options(Role::Tool, true)).map_err(text)?;
    let request = Request::Invite { seconds: args.time, uses: args.uses };
    let answer = session.request(request).map_err(text)?;
    let Reply::Invited { token, addresses } = answer else { return Err("E-PROTOCOL: odd answer".into()) };
    // From another host a loopback address leads nowhere.
    let is_loopback = |text: &str| text.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback());
    let (near, far): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|text| is_loopback(text));
    let addresses = if far.is_empty() { near } else { far };
    let Some(first) = addresses.first() else {
        return Err(
            "E-UNREACHED: this host has no address that others can reach; help: `ip address` lists them"
                .into(),
        );
    };
    if args.json {
        let uses = args.uses;
        let shown =
            serde_json::json!({ "addresses": addresses, "token": token, "uses": uses, "seconds": args.time });
        return out::line(shown).map_err(text);
    }
    let lines = match (file, &args.to) {
        (Some(mut file), Some(path)) => {
            let why = |error| format!("E-DIR: {}: {error}", path.display());
            file.write_all(format!("{token}\n").as_bytes()).map_err(why)?;
            format!("parvum join parvum://{first} --token-file {}", path.display())
        }
        _ => format!("PARVUM_JOIN='parvum://{first}#{token}' parvum join"),
    };
    out::line(lines).map_err(text)?;
    let hosts = if args.uses == 1 { "1 host".into() } else { format!("{} hosts", args.uses) };
    let others: Vec<_> = addresses.iter().skip(1).map(String::as_str).collect();
    let others =
        if others.is_empty() { String::new() } else { format!("; other addresses: {}", others.join(", ")) };
    let time = duration::shown(args.time);
    out::note(format!("run this line on the other host; the token is for {hosts}, for {time}{others}"));
    Ok(())
}

/// A new file that only its owner can read.
fn make(path: &Path) -> Result<File, String> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened.map_err(|error| {
        let path = path.display();
        format!("E-DIR: {path} cannot be made: {error}; help: `--to` makes a new file in a folder of yours")
    })
}
