//! Joining the machine that has invited this host: the other side of `fetch` and `hosted`.

use crate::daemon::hosts::invitation::{Acceptance, Admission, Invitation, Joined, Said, TWICE};
use crate::daemon::hosts::network::{Entry, parse_all};
use crate::daemon::hosts::voice;
use crate::daemon::life::options::set;
use crate::daemon::shell::Shell;
use parvum_mesh::keys::{Authority, HostCertificate, HostKeys, Identity, KeyError};
use parvum_socket::MachineDirectory;
use parvum_wire::control::{HostRecord, HostSettings, PROTOCOL};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;

/// What a daemon was given when it was invited to a machine.
pub(crate) struct Invited {
    pub number: u32,
    pub life: u64,
    pub name: String,
    pub hosts: Vec<HostRecord>,
    pub encrypt: bool,
    /// What was said of this host.
    pub settings: HostSettings,
    home: u32,
    entry: Entry,
    /// Further addresses of the host that has invited this host.
    pub(crate) also_at: Vec<SocketAddr>,
}

/// Accepts an invitation, for a host that is like this. It is heard on standard input, if it was not `heard` before.
pub(crate) fn accept(
    heard: Option<Invitation>,
    arch: String,
    cpus: u32,
    speed: i32,
) -> Result<Invited, String> {
    let heard = heard.map_or_else(read, Ok)?;
    let Invitation { release, protocol, number, life, name, options, .. } = heard;
    if protocol != PROTOCOL {
        let own = env!("CARGO_PKG_VERSION");
        return Err(format!(
            "E-VERSION: the machine is of release {release} (protocol {protocol}), this host has {own} \
             (protocol {PROTOCOL}); install one release on both"
        ));
    }
    let home = set("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let variable = |name: &str| match (std::env::var_os(name), name) {
        // PVM's daemon sets it for itself.
        (None, "PVM_ARCH") => Some(arch.clone().into()),
        (value, _) => value,
    };
    let settings = options.settings(&home, &variable).map_err(|why| format!("E-BADPARAM: {why}"))?;
    let speed = settings.speed.unwrap_or(speed);
    let keys = HostKeys::make().map_err(|error| error.to_string())?;
    say(&Ok(Acceptance { key: keys.public().0, arch: arch.clone(), cpus, speed }));
    let Admission { encrypt, certificate, authority, home, hosts } = read()?;
    let entry = || {
        let certificate = HostCertificate::from_bytes(&certificate)?;
        let authority = Authority::from_bytes(&authority)?;
        Ok(Entry { identity: Identity::new(keys, certificate)?, authority })
    };
    let entry = entry().map_err(|error: KeyError| error.to_string())?;
    Ok(Invited { number, life, name, hosts, encrypt, settings, home, entry, also_at: Vec::new() })
}

/// Hears a word of who invites: on standard input, or as a hoster's command otherwise.
fn read<T: for<'a> Deserialize<'a>>() -> Result<T, String> {
    if let Some(word) = voice::hear() {
        return serde_json::from_slice(&word?).map_err(|error| error.to_string());
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| format!("standard input: {error}"))?;
    serde_json::from_str(&line).map_err(|_| {
        "E-PROTOCOL: `parvum join --invited` is for another daemon to call; help: `parvum add HOST` calls it"
            .to_owned()
    })
}

/// Says a word to who invites: on standard output, or as a hoster's command otherwise.
fn say<T: Serialize>(line: &Said<T>) {
    let mut out = std::io::stdout();
    if let Ok(text) = serde_json::to_string(line)
        && !voice::say(text.as_bytes())
    {
        let _ = writeln!(out, "{text}");
        let _ = out.flush();
    }
}

/// Says on standard output why this host does not join the machine that has invited it.
pub fn decline(why: &str) {
    say::<Joined>(&Err(why.to_owned()));
}

/// How the daemon that runs in the directory stands to the machine that invites this one.
pub(crate) enum Other {
    /// It is of another, or of none.
    Stranger,
    /// It is of that machine: its host was named by another name. Who has invited was told.
    Declined,
    /// It was of that machine, which has taken its host out and invites it anew: its life is over.
    Leaving(Box<Invitation>),
}

/// Finds that out. The invitation is heard for it, if it was not before.
pub(crate) fn look_at_other(place: &MachineDirectory, heard: Option<Invitation>) -> Other {
    let known = std::fs::read_to_string(place.machine()).unwrap_or_default();
    let Some((machine, name)) = known.trim().split_once(' ') else { return Other::Stranger };
    match heard.map_or_else(read, Ok) {
        // A machine has no two hosts of one name.
        Ok(invitation) if invitation.machine == machine && invitation.name == name => {
            Other::Leaving(Box::new(invitation))
        }
        Ok(invitation) if invitation.machine == machine => {
            decline(&format!("{TWICE}{name}"));
            Other::Declined
        }
        _ => Other::Stranger,
    }
}

/// Whether this line of a joiner's says that it does not join.
pub fn is_refusal(line: &str) -> bool {
    matches!(serde_json::from_str::<Said<serde_json::Value>>(line), Ok(Err(_)))
}

/// Opens the network and connects with the host that has invited this one.
pub(crate) async fn join(shell: &Rc<Shell>, invited: Invited) -> Result<(), String> {
    let network = shell.enter_network(invited.entry).map_err(|error| error.to_string())?;
    shell.start_to_agree(false);
    let home = invited.hosts.iter().find(|host| host.number == invited.home);
    let mut addresses = home.map(|home| parse_all(&home.addresses)).unwrap_or_default();
    // A host that has called by an address that the other host does not know, as behind a router, finds the same port there.
    for at in invited.also_at {
        let ports: Vec<u16> = addresses.iter().map(SocketAddr::port).chain([at.port()]).collect();
        for address in ports.into_iter().map(|port| SocketAddr::new(at.ip(), port)) {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
    }
    network.mesh.connect(invited.home, &addresses).await.map_err(|error| error.to_string())?;
    say(&Ok(Joined { addresses: network.addresses() }));
    Ok(())
}
