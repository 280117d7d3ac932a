//! PVM 3.4.6, where it is installed, on the hosts of a bed: for comparisons.

use super::{Bed, Host};
use crate::running::Running;
use crate::{Lack, eventually, skip};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const ROOT: &str = "/usr/lib/pvm3";
const DAEMON: &str = "/usr/bin/pvmd";

/// A virtual machine of real PVM over all hosts of a bed, as long as it lives.
pub struct Rival<'a> {
    bed: &'a Bed,
    /// PVM's first daemon stays with whoever starts it.
    daemon: Option<Running>,
}

impl<'a> Rival<'a> {
    /// Starts it, or says on standard error why not.
    pub fn over(bed: &'a Bed) -> Option<Rival<'a>> {
        Rival::of(bed, bed.hosts())
    }

    /// Starts it on the first host alone; others may be added.
    pub fn over_first(bed: &'a Bed) -> Option<Rival<'a>> {
        Rival::of(bed, &bed.hosts()[..1])
    }

    fn of(bed: &'a Bed, hosts: &[Host]) -> Option<Rival<'a>> {
        if !Path::new(DAEMON).exists() || !Path::new(ROOT).is_dir() {
            skip(Lack::Peers, "PVM 3.4.6 is not installed (./x peers)");
            return None;
        }
        let remote = bed.root().join("pvm-rsh");
        // PVM calls it as rsh: HOST [-n] [-l USER] COMMAND.
        let script = format!(
            "#!/bin/sh\nhost=$1\nshift\n[ \"$1\" != -n ] || shift\n[ \"$1\" != -l ] || shift 2\n\
             exec {} rsh {root} \"$host\" env {} PVM_TMP={root}/$host/pvm \"$@\"\n",
            super::profile().join("hosts").display(),
            without_parvum().map(|(name, value)| format!("{name}={value}")).join(" "),
            root = bed.root().display(),
        );
        std::fs::write(&remote, script).expect("the bed's folder is writable");
        std::fs::set_permissions(&remote, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        for host in bed.hosts() {
            std::fs::create_dir_all(host.folder.join("pvm")).expect("the bed's folder is writable");
        }
        let hostfile = bed.root().join("pvm-hosts");
        let line = |host: &Host| format!("{} dx={DAEMON}\n", host.name);
        std::fs::write(&hostfile, hosts.iter().map(line).collect::<String>()).expect("writable");
        let mut rival = Rival { bed, daemon: None };
        let mut first = rival.command(&bed[0], DAEMON);
        first.arg(format!("-n{}", bed[0].name)).arg(&hostfile).env("PVM_RSH", &remote);
        rival.daemon = Some(Running::start(&mut first));
        eventually("PVM has all hosts", || rival.conf().len() == hosts.len());
        Some(rival)
    }

    /// A command on a host, in the environment of PVM.
    pub fn command(&self, host: &Host, program: &str) -> Command {
        let mut command = host.command("env");
        command.args(["-u", "LD_LIBRARY_PATH", program]).envs(without_parvum());
        command.env("PVM_TMP", host.folder.join("pvm"));
        command
    }

    /// The hosts, as PVM's console lists them.
    pub fn conf(&self) -> Vec<String> {
        let said = self.console("conf");
        let hosts = said.lines().skip_while(|line| line.split_whitespace().next() != Some("HOST")).skip(1);
        let rows = hosts.filter(|line| line.split_whitespace().count() >= 5);
        rows.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    }

    /// Kills its first daemon: one whose resource manager is gone does not halt.
    pub fn kill(mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill();
            daemon.end();
        }
    }

    /// Gives PVM's console an order.
    pub fn console(&self, order: &str) -> String {
        let script = format!("echo {order} | /usr/bin/pvm");
        let done = self.command(&self.bed[0], "sh").args(["-c", &script]).output().expect("nsenter runs");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }
}

/// What a process of real PVM has in its environment, and one of Parvum's has not.
fn without_parvum() -> [(&'static str, &'static str); 5] {
    [
        ("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"),
        ("LD_LIBRARY_PATH", ""),
        ("PVM_ROOT", ROOT),
        ("PVM_ALLOW_ROOT", "1"),
        ("PVM_VMID", "bed"),
    ]
}

impl Drop for Rival<'_> {
    fn drop(&mut self) {
        let Some(mut daemon) = self.daemon.take() else { return };
        self.console("halt");
        if !std::thread::panicking() {
            daemon.end();
        }
    }
}
