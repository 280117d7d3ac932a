//! One host of a bed.

use super::holder::Holder;
use super::network::{self, Switch, Wires};
use super::room::Room;
use super::{Plan, ssh};
use crate::running::Running;
use crate::stage::program;
use crate::{alive, eventually};
use rustix::process::{Pid, Signal, kill_process};
use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;

/// A host.
pub struct Host {
    /// Its name, which all hosts of the bed know.
    pub name: String,
    /// Where its files lie.
    pub folder: PathBuf,
    pub(super) wires: Wires,
    pub(super) switch: Rc<Switch>,
    /// Its port of the switch: another one each time it is plugged in.
    pub(super) port: RefCell<String>,
    holder: RefCell<Option<Holder>>,
    ssh: bool,
    ipv6_only: bool,
    settings: RefCell<Vec<(String, String)>>,
    is_up: Cell<bool>,
}

fn cache_of_user() -> Option<String> {
    let named = std::env::var("XDG_CACHE_HOME").ok().filter(|cache| !cache.is_empty());
    named.or_else(|| Some(format!("{}/.cache", std::env::var("HOME").ok()?)))
}

impl Host {
    pub(super) fn plan(
        switch: &Rc<Switch>,
        at: usize,
        name: String,
        plan: &Plan,
        room: &Room,
    ) -> Result<Host, String> {
        let folder = room.root.join(&name);
        let home = folder.join("home");
        std::fs::create_dir_all(&home).map_err(|why| format!("{}: {why}", home.display()))?;
        let path = std::env::var("PATH").unwrap_or_default();
        let text = |path: &std::path::Path| path.to_str().expect("a plain path").to_owned();
        let mut settings = vec![
            ("PATH".to_owned(), format!("{}:{path}", text(&plan.bin))),
            ("HOME".to_owned(), text(&home)),
            ("PARVUM_DIR".to_owned(), text(&folder.join("pv"))),
            ("LD_LIBRARY_PATH".to_owned(), text(&plan.lib)),
            ("LC_ALL".to_owned(), "C".to_owned()),
            // Several beds share two processors with compilers: a daemon may get none for a second.
            ("PARVUM_DETECT".to_owned(), "3000".to_owned()),
        ];
        // What was fetched for the user is found from there too, such as the peers of a comparison.
        if let Some(cache) = cache_of_user() {
            settings.push(("XDG_CACHE_HOME".to_owned(), cache));
        }
        if !plan.ssh {
            let program = super::profile().join("hosts");
            let start = format!("{} rsh {} {{host}}", text(&program), text(&room.root));
            settings.push(("PARVUM_START_BY".to_owned(), start));
        }
        // What the laboratory predicts for hosts hangs on these: those that a relay has left.
        let left = std::thread::available_parallelism().map_or(1, usize::from);
        settings.push(("PARVUM_LAB_PROCESSORS".to_owned(), left.to_string()));
        if let Some(network) = &plan.network {
            settings.push(("PARVUM_LAB_NETWORK".to_owned(), network.words()));
            if network.shared {
                settings.push(("PARVUM_LAB_MEDIUM".to_owned(), "shared".to_owned()));
            }
        }
        let host = Host {
            name,
            folder,
            wires: switch.wires(at),
            switch: switch.clone(),
            port: RefCell::default(),
            holder: RefCell::default(),
            ssh: plan.ssh,
            ipv6_only: plan.ipv6_only,
            settings: RefCell::new(settings),
            is_up: Cell::new(false),
        };
        host.write_settings()?;
        Ok(host)
    }

    /// Its addresses, the one of IPv4 first.
    pub fn addresses(&self) -> Vec<String> {
        let v4 = (!self.ipv6_only).then(|| self.wires.v4.clone());
        v4.into_iter().chain([self.wires.v6.clone()]).collect()
    }

    /// Sets a variable of everything that is started here from now on.
    pub fn set(&self, name: &str, value: &str) {
        let mut settings = self.settings.borrow_mut();
        settings.retain(|(known, _)| known != name);
        settings.push((name.to_owned(), value.to_owned()));
        drop(settings);
        self.write_settings().expect("the bed's folder is writable");
    }

    /// What others read who start something here.
    fn write_settings(&self) -> Result<(), String> {
        let lines: String =
            self.settings.borrow().iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        std::fs::write(self.folder.join("environment"), lines).map_err(|why| why.to_string())
    }

    /// A variable that was set.
    pub fn settings_named(&self, name: &str) -> Option<String> {
        self.settings.borrow().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    pub(super) fn settings(&self) -> Vec<(String, String)> {
        self.settings.borrow().clone()
    }

    /// Switches it on.
    pub fn boot(&self) -> Result<(), String> {
        let holder = self.switch.start_host(&self.folder)?;
        let pid = holder.pid();
        *self.holder.borrow_mut() = Some(holder);
        self.is_up.set(true);
        *self.port.borrow_mut() = self.switch.plug(pid, &self.wires)?;
        let Wires { v4, v6, .. } = &self.wires;
        let v4 = if self.ipv6_only { String::new() } else { format!("ip address add {v4}/24 dev eth0") };
        let (name, folder) = (&self.name, self.folder.display());
        // A new /proc first: the others find processes in it.
        let script = format!(
            "set -e
            mount -t proc proc /proc
            hostname {name}
            mount --bind {folder}/hosts /etc/hosts
            mount -t tmpfs none /dev/shm
            mount -t tmpfs none /run
            mkdir -p /run/sshd
            [ ! -d ~/.ssh ] || mount -t tmpfs none ~/.ssh
            echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad || :
            ip link set lo up
            {v4}
            ip address add {v6}/64 dev eth0 nodad
            ip link set eth0 up"
        );
        let mut command = self.enter("sh");
        network::done(command.env("HOME", ssh::home()).args(["-c", &script]))?;
        if self.ssh {
            ssh::start(self)?;
        }
        Ok(())
    }

    /// Switches it off, at once, without a word to anybody.
    pub fn crash(&self) {
        self.is_up.set(false);
        *self.holder.borrow_mut() = None;
        // What a switched off computer forgets.
        let _ = std::fs::remove_dir_all(self.folder.join("pv"));
        let _ = std::fs::remove_file(self.folder.join("door"));
    }

    /// Whether it is switched on.
    pub fn is_up(&self) -> bool {
        self.is_up.get()
    }

    fn enter(&self, program: impl AsRef<OsStr>) -> Command {
        let holder = self.holder.borrow();
        let pid = holder.as_ref().unwrap_or_else(|| panic!("{} is switched off", self.name)).pid();
        let mut command = network::enter(pid, &["--net", "--uts", "--ipc", "--mount", "--pid", "--wd=/"]);
        command.arg(program);
        command
    }

    /// A command on this host.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        // nsenter waits for the program; a test that kills it means both.
        let mut command = self.enter("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(program);
        command.env_clear().envs(self.settings());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, words: &[&str]) -> Output {
        // Longer than any deadline of the command itself.
        let mut command = self.command("timeout");
        command.args(["--foreground", "--signal=KILL", "60"]).args(words).output().expect("nsenter runs")
    }

    /// Runs a command that must succeed; what it said.
    pub fn succeed(&self, words: &[&str]) -> String {
        let done = self.run(words);
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{}: {words:?}: {}\n{said}{errors}", self.name, done.status);
        said
    }

    /// Runs `parvum` to its end.
    pub fn parvum(&self, words: &[&str]) -> Output {
        self.run(&[&["parvum"], words].concat())
    }

    /// Adds hosts to this one's machine.
    pub fn add(&self, names: &[&str]) {
        let words: Vec<&str> = ["parvum", "add"].into_iter().chain(names.iter().copied()).collect();
        self.succeed(&words);
    }

    /// A program of `tests/programs`.
    pub fn program(&self, name: &str) -> Command {
        self.command(program(name))
    }

    /// Starts a program of `tests/programs`.
    pub fn start(&self, name: &str, words: &[&str]) -> Running {
        Running::start(self.program(name).args(words))
    }

    /// Runs a program of `tests/programs`, which checks itself, over a route, to its end; what it said.
    pub fn check(&self, name: &str, words: &[&str], route: &str) -> String {
        let mut command = self.program(name);
        Running::start(command.args(words).env("PARVUM_ROUTE", route)).finish(|| self.log())
    }

    /// Waits until no task is left on any host of the machine.
    pub fn await_idle(&self) {
        let mut said = String::new();
        eventually("the tasks are gone", || {
            said = String::from_utf8_lossy(&self.parvum(&["ps"]).stdout).into_owned();
            said.lines().count() == 1
        });
    }

    /// Bytes that it has sent, over all its interfaces.
    pub fn sent(&self) -> u64 {
        let table = self.succeed(&["cat", "/proc/net/dev"]);
        let sent = |line: &str| line.split_once(':')?.1.split_whitespace().nth(8)?.parse::<u64>().ok();
        table.lines().filter(|line| !line.trim_start().starts_with("lo:")).filter_map(sent).sum()
    }

    /// The number of the daemon's process on this host.
    pub fn daemon(&self) -> Option<u32> {
        std::fs::read_to_string(self.folder.join("pv/daemon.lock")).ok()?.trim().parse().ok()
    }

    /// Kills the daemon and nothing else.
    pub fn kill_daemon(&self) {
        let pid = self.daemon().expect("a daemon runs here");
        self.succeed(&["kill", "-9", &pid.to_string()]);
    }

    /// The daemon's log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("pv/daemon.log")).unwrap_or_default()
    }

    /// The names of this machine's hosts as this host knows them; none when there is no daemon.
    pub fn knows(&self) -> Vec<String> {
        self.knows_by("parvum")
    }

    fn knows_by(&self, parvum: &str) -> Vec<String> {
        let done = self.run(&[parvum, "hosts"]);
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let names = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        names.map(str::to_owned).collect()
    }

    /// Waits until this host knows exactly these.
    pub fn await_hosts(&self, names: &[&str]) {
        self.await_hosts_by(Path::new("parvum"), names);
    }

    /// The same, asked with a certain `parvum`.
    pub fn await_hosts_by(&self, parvum: &Path, names: &[&str]) {
        let mut known = Vec::new();
        let wanted = |known: &[String]| {
            known.len() == names.len() && names.iter().all(|name| known.iter().any(|known| known == name))
        };
        eventually(&format!("{} knows {names:?}", self.name), || {
            known = self.knows_by(parvum.to_str().expect("a plain name"));
            wanted(&known)
        });
    }

    /// The processes of this host with that in their arguments, as the test counts them.
    pub fn processes(&self, words: &str) -> Vec<u32> {
        let runs = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ").contains(words)
        };
        let pids = std::fs::read_dir("/proc").expect("/proc").flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| self.holds(*pid) && alive(*pid) && runs(pid)).collect()
    }

    /// Kills everything that runs on it, as an administrator would; the host stays.
    pub fn kill_all(&self) {
        let holder = self.holder.borrow();
        let init = holder.as_ref().expect("it is switched on").pid();
        for pid in super::room::processes_below(&self.folder).into_iter().filter(|pid| *pid != init) {
            if self.holds(pid) {
                // Those that others took with them, as a daemon its tasks, are gone already.
                let _ = Pid::from_raw(pid as i32).map(|pid| kill_process(pid, Signal::KILL));
            }
        }
    }

    /// Whether a process runs here, as this host counts.
    pub fn runs(&self, pid: u32) -> bool {
        let holder = self.holder.borrow();
        let Some(holder) = &*holder else { return false };
        let stat = std::fs::read_to_string(format!("/proc/{}/root/proc/{pid}/stat", holder.pid()));
        let stat = stat.unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
        !matches!(state, None | Some('Z' | 'X'))
    }

    /// What a machine that is down has left here: processes, files of its folder, segments.
    pub fn leftovers(&self) -> Vec<String> {
        let holder = self.holder.borrow();
        let Some(holder) = &*holder else { return Vec::new() };
        let entries = |path: String| -> Vec<String> {
            let found = std::fs::read_dir(path).into_iter().flatten().flatten();
            found.filter_map(|entry| entry.file_name().into_string().ok()).collect()
        };
        let root = format!("/proc/{}/root", holder.pid());
        let command = |pid: &u32| std::fs::read(format!("{root}/proc/{pid}/cmdline")).unwrap_or_default();
        let pids = entries(format!("{root}/proc")).into_iter().filter_map(|name| name.parse::<u32>().ok());
        // 1 is the holder.
        let processes = pids.filter(|pid| *pid != 1 && self.runs(*pid)).map(|pid| {
            format!("process {pid}, {}", String::from_utf8_lossy(&command(&pid)).replace('\0', " "))
        });
        let processes: Vec<String> = processes.collect();
        let files = entries(self.folder.join("pv").display().to_string());
        let files = files.into_iter().map(|name| format!("file {name}"));
        let segments = entries(format!("{root}/dev/shm")).into_iter().map(|name| format!("segment {name}"));
        processes.into_iter().chain(files).chain(segments).collect()
    }

    /// Whether that process, as the test counts, is one of this host.
    fn holds(&self, pid: u32) -> bool {
        let namespace = |pid: u32| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let holder = self.holder.borrow();
        holder.as_ref().is_some_and(|holder| namespace(holder.pid()) == namespace(pid))
    }
}

/// Writes what each host knows of the names of all.
pub(super) fn write_names(hosts: &[Host], plan: &Plan) -> Result<(), String> {
    let own = if plan.ipv6_only { "::1 localhost\n" } else { "127.0.0.1 localhost\n::1 localhost\n" };
    let line = |host: &Host| {
        host.addresses().iter().map(|address| format!("{address} {}\n", host.name)).collect::<String>()
    };
    let text: String = std::iter::once(own.to_owned()).chain(hosts.iter().map(line)).collect();
    for host in hosts {
        std::fs::write(host.folder.join("hosts"), &text).map_err(|why| why.to_string())?;
    }
    Ok(())
}
