//! An sshd for each host of a bed, with keys that are made for it.

use super::Host;
use super::network::done;
use crate::Lack;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const SSHD: &str = "/usr/sbin/sshd";

/// Whether hosts can have an sshd here, and if not, why.
pub(super) fn possible() -> Result<(), (Lack, String)> {
    if !rustix::process::geteuid().is_root() {
        return Err((Lack::Root, "no sshd on hosts of a bed unless root makes it".to_owned()));
    }
    let found = Path::new(SSHD).exists() && Path::new("/etc/ssh").is_dir();
    match found && Command::new("ssh").arg("-V").stderr(Stdio::null()).status().is_ok() {
        true => Ok(()),
        false => Err((Lack::Tools, "no ssh and sshd; install openssh-client and openssh-server".to_owned())),
    }
}

/// The home of this user as sshd and ssh find it: they do not look at `HOME`.
pub(super) fn home() -> String {
    let script = "getent passwd \"$(id -u)\" | cut -d: -f6";
    let said = Command::new("sh").args(["-c", script]).output().map(|done| done.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// Makes the folder that each host sees as `/etc/ssh`.
pub(super) fn make_keys(hosts: &[Host]) -> Result<(), String> {
    let first = hosts[0].folder.join("ssh");
    let mut known = String::new();
    for host in hosts {
        let folder = host.folder.join("ssh");
        std::fs::create_dir(&folder).map_err(|why| why.to_string())?;
        let key = make_key(&folder.join("host_key"))?;
        let names: Vec<String> = std::iter::once(host.name.clone()).chain(host.addresses()).collect();
        known += &format!("{} {key}", names.join(","));
        write(&folder.join("sshd_config"), &daemon_config(host), 0o600)?;
        write(&folder.join("ssh_config"), CLIENT, 0o644)?;
    }
    let user = make_key(&first.join("user_key"))?;
    let secret = std::fs::read_to_string(first.join("user_key")).map_err(|why| why.to_string())?;
    for host in hosts {
        let folder = host.folder.join("ssh");
        write(&folder.join("user_key"), &secret, 0o600)?;
        write(&folder.join("authorized_keys"), &user, 0o600)?;
        write(&folder.join("known_hosts"), &known, 0o644)?;
    }
    Ok(())
}

/// Makes a pair of keys; the public one.
fn make_key(file: &Path) -> Result<String, String> {
    done(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "bed", "-f"]).arg(file))?;
    std::fs::read_to_string(file.with_extension("pub")).map_err(|why| why.to_string())
}

fn write(file: &Path, text: &str, mode: u32) -> Result<(), String> {
    let written = std::fs::write(file, text)
        .and_then(|()| std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)));
    written.map_err(|why| format!("{}: {why}", file.display()))
}

const CLIENT: &str = "Host *
IdentityFile /etc/ssh/user_key
IdentitiesOnly yes
UserKnownHostsFile /etc/ssh/known_hosts
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
";

fn daemon_config(host: &Host) -> String {
    let settings: Vec<String> =
        host.settings().iter().map(|(name, value)| format!("\"{name}={value}\"")).collect();
    format!(
        "HostKey /etc/ssh/host_key
AuthorizedKeysFile /etc/ssh/authorized_keys
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PidFile none
PrintMotd no
MaxStartups 100
SetEnv {}
",
        settings.join(" ")
    )
}

/// Starts the sshd of a host; it answers when this returns.
pub(super) fn start(host: &Host) -> Result<(), String> {
    let folder = host.folder.join("ssh");
    let script = format!(
        "mount --bind {} /etc/ssh && exec {SSHD} -f /etc/ssh/sshd_config -E {}",
        folder.display(),
        host.folder.join("sshd.log").display()
    );
    done(host.command("sh").args(["-c", &script])).map(drop)
}
