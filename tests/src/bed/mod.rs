//! A test bed: several hosts on one machine, made of namespaces.
//!
//! Each host has a network of its own behind one virtual switch, a name, its own table of processes,
//! `/etc/hosts`, `/dev/shm` and home; files elsewhere are shared, as over NFS. The switch is in a
//! namespace too, so nothing of the machine's own network is touched, and any number of beds exist
//! side by side. All hosts' processes are below one *holder*: with it everything goes, and it goes
//! when the process that made the bed does.
//!
//! ```text
//! the test -- holder of the switch (namespaces: net, pid, mount; not root: user)
//!                 |-- holder of alpha (net, pid, mount, uts, ipc): daemon, tasks, sshd
//!                 '-- holder of beta
//! ```

mod cut;
pub mod emulated;
pub mod holder;
mod host;
mod medium;
mod network;
pub mod relay;
mod rival;
mod room;
mod ssh;
#[allow(unsafe_code)]
mod tap;
mod wire;

pub use cut::{cut_between, heal_between};
pub use host::Host;
pub use rival::Rival;
pub use room::profile;

use crate::{Lack, skip};
use emulated::Emulated;
use network::Switch;
use std::ops::Index;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What hosts are called, in this order; later ones are `h9`, `h10`.
const NAMES: [&str; 8] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];

/// What a bed shall be like.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many hosts.
    pub hosts: usize,
    /// Each runs an sshd, and daemons are started with ssh.
    pub ssh: bool,
    /// The hosts have no IPv4 address, not even for themselves by name.
    pub ipv6_only: bool,
    /// What joins them, where that is not as fast as this machine can.
    pub network: Option<Emulated>,
    /// The folder with the `parvum` command: the beginning of each host's `PATH`.
    pub bin: PathBuf,
    /// The libraries.
    pub lib: PathBuf,
}

impl Plan {
    /// Hosts with what the tests build, whose daemons are started without ssh.
    pub fn of(hosts: usize) -> Plan {
        let bin = crate::parvum().parent().expect("it lies in a folder").to_path_buf();
        let lib = crate::stage::stage().lib.clone();
        Plan { hosts, ssh: false, ipv6_only: false, network: None, bin, lib }
    }

    /// Hosts with what `./x build` has made, if this is of that build, else with what the tests build.
    pub fn of_this_build(hosts: usize) -> Plan {
        let built = profile().ancestors().nth(2).map(|top| top.join("build")).filter(|built| {
            profile().ends_with("release") && built.join("bin/parvum").exists() && built.join("lib").exists()
        });
        match built {
            Some(built) => {
                let (bin, lib) = (built.join("bin"), built.join("lib"));
                Plan { hosts, ssh: false, ipv6_only: false, network: None, bin, lib }
            }
            None => Plan::of(hosts),
        }
    }
}

/// Hosts, as long as it lives.
pub struct Bed {
    switch: Rc<Switch>,
    hosts: Vec<Host>,
    root: PathBuf,
}

impl Bed {
    /// So many hosts, or a word on standard error why the test is skipped.
    pub fn of(hosts: usize) -> Option<Bed> {
        Bed::or_skip(&Plan::of(hosts))
    }

    /// So many hosts that start daemons with ssh, or a word why not.
    pub fn over_ssh(hosts: usize) -> Option<Bed> {
        Bed::or_skip(&Plan { ssh: true, ..Plan::of(hosts) })
    }

    /// Such hosts, or a word on standard error why the test is skipped.
    pub fn or_skip(plan: &Plan) -> Option<Bed> {
        if let Err(why) = possible() {
            skip(Lack::Root, why);
            return None;
        }
        if plan.ssh
            && let Err((lack, why)) = ssh::possible()
        {
            skip(lack, why);
            return None;
        }
        if plan.network.as_ref().is_some_and(|network| !network.is_rate_alone())
            && let Err(why) = tap::possible()
        {
            skip(Lack::Host, why);
            return None;
        }
        Some(Bed::make(plan).unwrap_or_else(|why| panic!("the bed: {why}")))
    }

    /// Makes the hosts.
    pub fn make(plan: &Plan) -> Result<Bed, String> {
        let room = room::Room::take()?;
        let switch = Rc::new(Switch::make(&room, plan.network.as_ref())?);
        let mut bed = Bed { switch, hosts: Vec::new(), root: room.root.clone() };
        for at in 0..plan.hosts {
            let name = NAMES.get(at).map_or_else(|| format!("h{}", at + 1), |name| (*name).to_owned());
            bed.hosts.push(Host::plan(&bed.switch, at, name, plan, &room)?);
        }
        host::write_names(&bed.hosts, plan)?;
        if plan.ssh {
            ssh::make_keys(&bed.hosts)?;
        }
        for host in &bed.hosts {
            host.boot()?;
        }
        Ok(bed)
    }

    /// All of them; the first is the one on which tests begin.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The names of all but the first.
    pub fn others(&self) -> Vec<&str> {
        self.hosts[1..].iter().map(|host| host.name.as_str()).collect()
    }

    /// Makes a machine of all hosts, on the first.
    pub fn join_all(&self) {
        self.hosts[0].add(&self.others());
    }

    /// Where everything of this bed lies.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl Index<usize> for Bed {
    type Output = Host;

    fn index(&self, at: usize) -> &Host {
        &self.hosts[at]
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let logs = if std::thread::panicking() { self.logs() } else { String::new() };
        self.hosts.clear();
        self.switch.end();
        let removed = std::fs::remove_dir_all(&self.root);
        if std::thread::panicking() {
            eprintln!("{logs}");
            return;
        }
        removed.expect("the bed's folder can be removed");
        let left = room::processes_below(&self.root);
        assert!(left.is_empty(), "processes {left:?} of {} are left", self.root.display());
    }
}

impl Bed {
    /// What the daemons have written down: for a test that failed.
    fn logs(&self) -> String {
        let log = |host: &Host| format!("--- daemon of {}\n{}", host.name, host.log());
        self.hosts.iter().map(log).collect()
    }
}

/// Whether hosts can be made here, and if not, why.
pub fn possible() -> Result<(), String> {
    static FOUND: std::sync::OnceLock<Result<(), String>> = std::sync::OnceLock::new();
    FOUND.get_or_init(network::try_namespaces).clone()
}
