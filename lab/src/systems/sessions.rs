//! The daemons that PVM programs need: a private machine for each, started before the measurements and gone after
//! them, also when the comparison ends early.

use crate::host::cores;
use crate::host::hosts::{self, Hosts};
use crate::run::launch::Launch;
use crate::systems::peers::Kit;
use crate::systems::system::{Family, System};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The names by which Parvum's libraries are found, and what the build calls them.
const INSTALLED_AS: [(&str, &str); 6] = [
    ("libpvm3.so.3", "libpvm3.so"),
    ("libparvum.so.0", "libparvum.so"),
    ("libnx.so.1", "libnx.so"),
    ("libcmmd.so.1", "libcmmd.so"),
    ("libcontainers.so.0", "libcontainers.so"),
    ("libTmk.so.1", "libTmk.so"),
];

/// The route of an MPI whose tasks use TCP although they share a host.
const OVER_TCP: &str = "tcp";

const PATIENCE: Duration = Duration::from_secs(10);
/// The same for hosts that join.
const HOSTS_PATIENCE: Duration = Duration::from_secs(60);

/// A running private machine.
#[derive(Debug)]
pub struct Session {
    family: Family,
    route: &'static str,
    /// Started by this program, which has the kernel refuse to copy from task to task.
    refuse: Option<PathBuf>,
    kit: Kit,
    folder: PathBuf,
    /// What programs of this machine need in their environment.
    pub environment: Vec<(String, OsString)>,
    /// Where it has several, its programs begin on the first.
    hosts: Option<Hosts>,
    /// Hosts that the machine is over, by name, this one first; none where it is of this one alone, or of hosts made of it.
    over: Vec<String>,
    /// PVM's daemon stays our child; Parvum's goes its own way and is told to end.
    daemon: Option<Child>,
}

impl Session {
    /// Starts the machine that `system` needs, if need be by a program that has the kernel `refuse` single copies; MPI and
    /// UCX need none and have only an environment here.
    pub fn start(
        kit: &Kit,
        system: &System,
        refuse: Option<PathBuf>,
        root: &Path,
        hosts: &[String],
    ) -> Result<Session, String> {
        let refused = if refuse.is_some() { "refused" } else { "" };
        let folder = root.join(format!("{}{}{refused}", kit.family.ending(), system.route));
        std::fs::DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(&folder)
            .map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
        let mut session = Session {
            family: kit.family,
            route: system.route,
            refuse,
            kit: kit.clone(),
            folder,
            environment: loader_path(kit.family, std::env::var_os(LOADER_PATH)),
            hosts: None,
            over: hosts.to_vec(),
            daemon: None,
        };
        match kit.family {
            family if family.is_ours() => match hosts::of_route(system.route) {
                None => session.start_parvum()?,
                Some(count) => session.start_on_hosts(count)?,
            },
            Family::Pvm => session.start_pvm()?,
            Family::OpenMpi | Family::OpenMpi4 => {
                session.set(&[("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
                if system.route == OVER_TCP {
                    session.set(&[("OMPI_MCA_pml", "ob1"), ("OMPI_MCA_btl", "tcp,self")]);
                }
                session.reach_hosts()?;
            }
            Family::Mpich | Family::Mpich4 => {
                match hosts::of_route(system.route) {
                    Some(_) => session.set(&[("HYDRA_IFACE", "eth0")]),
                    None if hosts.is_empty() => session.set(&[("HYDRA_IFACE", "lo")]),
                    // It knows best by what it reaches hosts that it is told of.
                    None => {}
                }
                if system.route == OVER_TCP {
                    // The library's build decides which of its networks reads a variable: UCX, or libfabric.
                    session.set(&[
                        ("MPIR_CVAR_NOLOCAL", "1"),
                        ("UCX_TLS", "tcp,self"),
                        ("FI_PROVIDER", "tcp"),
                    ]);
                }
                session.reach_hosts()?;
            }
            // What reaches over a network has no place in a comparison on one host.
            Family::Ucx => session.set(&[("UCX_TLS", "posix,sysv,cma,self")]),
            // Ours are started above.
            _ => {}
        }
        Ok(session)
    }

    /// Whether programs of `system` run on this machine, where single copies are `refused` or not. PVM's daemon serves
    /// both of its routes, Parvum's both of its interfaces.
    pub fn serves(&self, system: &System, refused: bool) -> bool {
        let same = if self.family.is_ours() {
            // Over hosts one machine serves every route: the program chooses.
            system.family.is_ours() && (self.route == system.route || !self.over.is_empty())
        } else {
            self.family == system.family
                && hosts::of_route(self.route) == hosts::of_route(system.route)
                && (self.route == OVER_TCP) == (system.route == OVER_TCP)
        };
        same && self.refuse.is_some() == refused
    }

    fn set(&mut self, variables: &[(&str, &str)]) {
        self.environment
            .extend(variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))));
    }

    fn start_parvum(&mut self) -> Result<(), String> {
        if self.over.is_empty() {
            self.set(&[("PARVUM_ROUTE", self.route)]);
        }
        self.environment.push(("PARVUM_DIR".into(), self.folder.clone().into()));
        if let Some(libraries) = self.kit.libraries.clone() {
            let path =
                self.library_path(&libraries).map_err(|e| format!("cannot name Parvum's libraries: {e}"))?;
            self.environment.push((LOADER_PATH.into(), path));
        }
        let mut up = Launch {
            program: self.kit.starter.clone(),
            arguments: vec!["up".into()],
            environment: self.environment.clone(),
            deadline: PATIENCE,
        };
        if let Some(refuse) = &self.refuse {
            up = up.under(refuse);
        }
        match up.run(&self.folder.join("up.log")).failure {
            Some(failure) => Err(format!("parvum up: {failure}")),
            None if self.over.is_empty() => Ok(()),
            None => self.add_hosts(),
        }
    }

    fn add_hosts(&self) -> Result<(), String> {
        let mut arguments: Vec<OsString> = vec!["add".into()];
        arguments.extend(self.over[1..].iter().map(OsString::from));
        let add = Launch {
            program: self.kit.starter.clone(),
            arguments,
            environment: self.environment.clone(),
            deadline: HOSTS_PATIENCE,
        };
        match add.run(&self.folder.join("add.log")).failure {
            Some(failure) => {
                self.stop_parvum();
                Err(format!("parvum add: {failure}"))
            }
            None => Ok(()),
        }
    }

    /// One machine of several hosts.
    fn start_on_hosts(&mut self, count: u32) -> Result<(), String> {
        // Daemons that share two processors with all tasks may get none for a second.
        self.set(&[("PARVUM_DETECT", "5000")]);
        if let Some(libraries) = self.kit.libraries.clone() {
            let path =
                self.library_path(&libraries).map_err(|e| format!("cannot name Parvum's libraries: {e}"))?;
            self.environment.push((LOADER_PATH.into(), path));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let beside = self.kit.starter.parent().unwrap_or(Path::new("/")).to_owned();
        let path = std::env::join_paths(std::iter::once(beside).chain(std::env::split_paths(&path)));
        self.environment.push(("PATH".into(), path.map_err(|why| why.to_string())?));
        let hosts = Hosts::make(count, &self.folder, &self.environment)?;
        self.environment.push(("PARVUM_DIR".into(), hosts.directory.clone().into()));
        self.environment.push(("PARVUM_START_BY".into(), hosts.start_by.clone()));
        let others = hosts.names[1..].iter().map(OsString::from);
        let steps = [vec!["up".into()], std::iter::once("add".into()).chain(others).collect()];
        self.hosts = Some(hosts);
        for arguments in steps {
            if let Some(failure) = self.command(arguments).run(&self.folder.join("up.log")).failure {
                return Err(format!("parvum on hosts: {failure}"));
            }
        }
        Ok(())
    }

    /// Where the route is over hosts, those: a peer's launcher or daemon reaches the others from the first by itself.
    fn make_hosts(&mut self) -> Result<(), String> {
        if let Some(count) = hosts::of_route(self.route) {
            self.hosts = Some(Hosts::make(count, &self.folder, &self.environment)?);
        }
        Ok(())
    }

    /// What an MPI's launcher needs for that: hosts made of this one, or a way to those that were named.
    fn reach_hosts(&mut self) -> Result<(), String> {
        self.make_hosts()?;
        if !self.over.is_empty() {
            self.write_remote_shell("").map_err(|why| format!("cannot name an MPI's rsh: {why}"))?;
        }
        Ok(())
    }

    /// What else a launcher is told where there are hosts: who they are, in blocks of neighbours, and how to start something there.
    pub fn starter_arguments(&self, family: Family, tasks: u32) -> Vec<OsString> {
        let shared = self.hosts.as_ref().map(|_| cores::allowed().len()).or_else(cores::of_all_hosts);
        self.told_of_hosts(family, tasks, shared)
    }

    /// The same, where all hosts are one in truth and share so many processors, if that is known.
    fn told_of_hosts(&self, family: Family, tasks: u32, shared: Option<usize>) -> Vec<OsString> {
        let (names, rsh) = match &self.hosts {
            Some(hosts) => (&hosts.names, hosts.rsh.clone()),
            None => (&self.over, self.remote_shell_file()),
        };
        if names.is_empty() {
            return Vec::new();
        }
        let each = tasks.div_ceil(names.len() as u32);
        let list = names.iter().map(|name| format!("{name}:{each}")).collect::<Vec<_>>().join(",");
        let (rsh, list): (OsString, OsString) = (rsh.into(), list.into());
        match family {
            ours if ours.is_ours() => {
                // However this host is called by others, here it is this one.
                let others = names[1..].iter().map(|name| format!(",{name}:{each}")).collect::<String>();
                vec!["--host".into(), format!(".:{each}{others}").into(), "--map-by".into(), "slot".into()]
            }
            Family::OpenMpi | Family::OpenMpi4 => {
                let mut words = vec!["--prtemca".into(), "plm_ssh_agent".into(), rsh, "--host".into(), list];
                // It sees one task on each host and keeps looking, while the next host's task wants the processor.
                if shared.is_some_and(|processors| tasks as usize > processors) {
                    words.extend(["--mca", "mpi_yield_when_idle", "1"].map(OsString::from));
                }
                words
            }
            Family::Mpich | Family::Mpich4 => {
                vec!["-launcher".into(), "rsh".into(), "-launcher-exec".into(), rsh, "-hosts".into(), list]
            }
            _ => Vec::new(),
        }
    }

    /// Parvum's command with these words, on this machine.
    fn command(&self, arguments: Vec<OsString>) -> Launch {
        let environment = self.environment.clone();
        let command =
            Launch { program: self.kit.starter.clone(), arguments, environment, deadline: PATIENCE * 3 };
        self.on_first(command)
    }

    /// Where there are several hosts, the same on the first of them.
    pub fn on_first(&self, launch: Launch) -> Launch {
        match &self.hosts {
            Some(hosts) => launch.under(&hosts.on_first),
            None => launch,
        }
    }

    /// A build folder has libpvm3.so, an installation libpvm3.so.3; programs look for the latter.
    fn library_path(&self, libraries: &Path) -> std::io::Result<OsString> {
        let links = self.folder.join("lib");
        std::fs::create_dir_all(&links)?;
        for (installed, built) in INSTALLED_AS {
            if !libraries.join(installed).exists() && libraries.join(built).exists() {
                std::os::unix::fs::symlink(libraries.join(built), links.join(installed))?;
            }
        }
        let mut path = links.into_os_string();
        path.push(":");
        path.push(libraries);
        Ok(path)
    }

    fn start_pvm(&mut self) -> Result<(), String> {
        let name = format!("lab{}{}", std::process::id(), if self.refuse.is_some() { "r" } else { "" });
        self.set(&[("PVM_ROOT", "/usr/lib/pvm3"), ("PVM_ALLOW_ROOT", "1"), ("PVM_VMID", &name)]);
        let mut tmp = self.folder.clone();
        self.make_hosts()?;
        if let Some(hosts) = &self.hosts {
            self.over = hosts.names.clone();
            tmp = self.folder.join(&self.over[0]);
        }
        self.environment.push(("PVM_TMP".into(), tmp.clone().into()));
        let log = std::fs::File::create(self.folder.join("daemon.log")).map_err(|e| e.to_string())?;
        // Should the laboratory be killed, the daemon is to end too.
        let mut words: Vec<OsString> = vec![self.kit.starter.clone().into()];
        if let Some(refuse) = &self.refuse {
            words.insert(0, refuse.into());
        }
        if let Some(hosts) = &self.hosts {
            words.insert(0, hosts.on_first.clone().into());
        }
        if Path::new("/usr/bin/setpriv").exists() {
            let setpriv = ["/usr/bin/setpriv", "--pdeathsig", "TERM", "--"];
            words.splice(0..0, setpriv.map(OsString::from));
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        // Else it listens on the host's outer address, and ends at once where the host's name has none.
        let own = self.over.first().map_or("127.0.0.1", String::as_str).to_owned();
        command.arg(format!("-n{own}"));
        if !self.over.is_empty() {
            let remote =
                self.write_remote_shell(&name).map_err(|why| format!("cannot name PVM's rsh: {why}"))?;
            command.env("PVM_RSH", remote);
        }
        // Groups need the program pvmgs, which PVM looks for like any other.
        let hostfile = self.folder.join("hostfile");
        let mut lines = format!("* ep=/usr/lib/pvm3/lib:/usr/bin dx={}\n{own}\n", self.kit.starter.display());
        lines.extend(self.over.iter().skip(1).map(|host| format!("{host}\n")));
        std::fs::write(&hostfile, lines)
            .map_err(|why| format!("cannot write {}: {why}", hostfile.display()))?;
        command.arg(hostfile);
        command.envs(self.environment.iter().map(|(k, v)| (k, v))).current_dir(&self.folder).process_group(0);
        command.stdin(Stdio::null()).stdout(log.try_clone().map_err(|e| e.to_string())?).stderr(log);
        let mut daemon = command.spawn().map_err(|e| format!("cannot start pvmd: {e}"))?;
        let begun = Instant::now();
        // The file exists a moment before the daemon's address is in it.
        let socket_named = |folder: &Path| {
            std::fs::read_dir(folder).is_ok_and(|files| {
                files.flatten().any(|file| {
                    file.file_name().to_string_lossy().starts_with("pvmd.")
                        && file.metadata().is_ok_and(|data| data.len() > 0)
                })
            })
        };
        while !socket_named(&tmp) {
            if let Ok(Some(status)) = daemon.try_wait() {
                return Err(self.daemon_words(&format!("pvmd ended at once ({status})")));
            }
            if begun.elapsed() > PATIENCE {
                let _ = daemon.kill();
                let _ = daemon.wait();
                return Err(self.daemon_words("pvmd did not come up"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.daemon = Some(daemon);
        if self.over.is_empty() { Ok(()) } else { self.await_hosts() }
    }

    fn remote_shell_file(&self) -> PathBuf {
        self.folder.join("rsh-of-hosts")
    }

    /// What PVM, or an MPI, calls as rsh to start its other daemons.
    fn write_remote_shell(&self, name: &str) -> std::io::Result<PathBuf> {
        let file = self.remote_shell_file();
        let start = match &self.hosts {
            Some(hosts) => hosts.start_by.to_string_lossy().into_owned(),
            None => start_by(),
        };
        for host in &self.over {
            std::fs::create_dir_all(self.folder.join(host))?;
        }
        std::fs::write(&file, remote_shell(&start, name, &self.folder))?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700))?;
        Ok(file)
    }

    /// PVM adds the hosts of its file when it is up already.
    fn await_hosts(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let said = self.console("conf\nquit\n");
            let has = |host: &String| {
                said.lines().any(|line| line.split_whitespace().next() == Some(host.as_str()))
            };
            match self.over.iter().find(|host| !has(host)) {
                None => return Ok(()),
                Some(missing) if begun.elapsed() > HOSTS_PATIENCE => {
                    let why = self.daemon_words(&format!("the host {missing} did not join"));
                    self.stop_pvm();
                    return Err(why);
                }
                // PVM tells nobody; each question starts a console.
                Some(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        }
    }

    /// What went wrong, with the last words of the daemon.
    fn daemon_words(&self, what: &str) -> String {
        let log = std::fs::read_to_string(self.folder.join("daemon.log")).unwrap_or_default();
        let last = log.lines().map(str::trim).rfind(|line| !line.is_empty());
        last.map_or_else(|| what.to_owned(), |last| format!("{what}: {last}"))
    }

    /// How much PVM's daemon has written by now of what tasks say that it has started.
    pub fn tasks_said(&self) -> u64 {
        self.tasks_log().and_then(|log| log.metadata().ok()).map_or(0, |data| data.len())
    }

    /// What such tasks have said since, the last lines of it; nothing where they write to the launch's own log.
    pub fn tasks_words(&self, since: u64) -> Option<String> {
        let file = self.tasks_log()?;
        // The daemon reads what tasks say by itself, and tells nobody when it has.
        (0..10).find_map(|look| {
            std::thread::sleep(Duration::from_millis(20 * look));
            let log = std::fs::read(&file).ok()?;
            last_of_tasks(&String::from_utf8_lossy(log.get(since as usize..)?))
        })
    }

    fn tasks_log(&self) -> Option<PathBuf> {
        let folder = self.environment.iter().find(|(name, _)| name == "PVM_TMP")?.1.clone();
        let mut files = std::fs::read_dir(folder).ok()?.flatten();
        files.find(|file| file.file_name().to_string_lossy().starts_with("pvml.")).map(|file| file.path())
    }

    /// The daemon's process; MPI and UCX have none.
    pub fn daemon(&self) -> Option<u32> {
        if self.family.is_ours() {
            std::fs::read_to_string(self.folder.join("daemon.lock")).ok()?.trim().parse().ok()
        } else {
            self.daemon.as_ref().map(Child::id)
        }
    }

    /// Ends tasks that a launch left behind: the daemon started them, so they are not of its process group.
    pub fn reset(&self) {
        if self.family == Family::Pvm || self.family.is_ours() {
            self.console("reset\nquit\n");
        }
    }

    /// Has the machine's console do this; what it said.
    fn console(&self, words: &str) -> String {
        let mut console = if self.family == Family::Pvm {
            // The one beside the daemon: in PATH, `pvm` may be Parvum's.
            let program = self.kit.starter.with_file_name("pvm");
            let (arguments, environment) = (Vec::new(), self.environment.clone());
            self.on_first(Launch { program, arguments, environment, deadline: PATIENCE }).command()
        } else {
            self.command(vec!["console".into()]).command()
        };
        console.envs(self.environment.iter().map(|(k, v)| (k, v))).process_group(0);
        let log = self.folder.join("console.log");
        let Ok(output) = std::fs::File::create(&log) else { return String::new() };
        console.stdin(Stdio::piped()).stdout(output).stderr(Stdio::null());
        let Ok(mut console) = console.spawn() else { return String::new() };
        if let Some(mut input) = console.stdin.take() {
            let _ = input.write_all(words.as_bytes());
        }
        let begun = Instant::now();
        while matches!(console.try_wait(), Ok(None)) {
            if begun.elapsed() > PATIENCE {
                let _ = console.kill();
            }
            // A child can be waited for without a limit, or be looked at.
            std::thread::sleep(Duration::from_millis(5));
        }
        std::fs::read_to_string(log).unwrap_or_default()
    }

    fn stop_pvm(&mut self) {
        let Some(mut daemon) = self.daemon.take() else { return };
        self.console("halt\n");
        let begun = Instant::now();
        while matches!(daemon.try_wait(), Ok(None)) {
            if begun.elapsed() > PATIENCE {
                let _ = daemon.kill();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn stop_parvum(&self) {
        let _ = self.command(vec!["down".into()]).run(&self.folder.join("down.log"));
    }
}

/// How a program on another host is started.
fn start_by() -> String {
    std::env::var("PARVUM_START_BY").unwrap_or_else(|_| "ssh {host}".to_owned())
}

/// A program in a new folder that runs a command on one of these hosts, as rsh does.
pub(crate) fn remote_shell_in(folder: &Path, hosts: &[String]) -> std::io::Result<PathBuf> {
    for host in hosts {
        std::fs::create_dir_all(folder.join(host))?;
    }
    let file = folder.join("rsh");
    std::fs::write(&file, remote_shell(&start_by(), "", folder))?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700))?;
    Ok(file)
}

/// The script for `HOST [-n] [-l USER] COMMAND`, by what starts a command on a `{host}`. Hosts that share their folders have each its own for
/// the daemon's files.
fn remote_shell(start: &str, name: &str, folder: &Path) -> String {
    // An MPI's command may be several, for a shell: words in front would belong to the first command alone.
    let pvm = match name {
        "" => String::new(),
        name => format!(
            "env {LOADER_PATH}= PVM_ROOT=/usr/lib/pvm3 PVM_ALLOW_ROOT=1 PVM_VMID={name} PVM_TMP={}/$host ",
            folder.display()
        ),
    };
    format!(
        "#!/bin/sh\nhost=$1\nshift\n[ \"$1\" != -n ] || shift\n[ \"$1\" != -l ] || shift 2\nexec {} {pvm}\"$@\"\n",
        start.replace("{host}", "\"$host\"")
    )
}

/// Where the loader looks for libraries first.
const LOADER_PATH: &str = "LD_LIBRARY_PATH";

/// What programs of a system are told of that, where this process was told `path`: MPICH's would run on Parvum's library, which bears
/// the same name, and be compared as MPICH's.
fn loader_path(family: Family, path: Option<OsString>) -> Vec<(String, OsString)> {
    if family.is_ours() { Vec::new() } else { vec![(LOADER_PATH.to_owned(), without_parvum(path))] }
}

/// A loader's path without the folders of Parvum's libraries, which would stand in for the peer's own.
fn without_parvum(path: Option<OsString>) -> OsString {
    let path = path.unwrap_or_default();
    let others = std::env::split_paths(&path).filter(|folder| !folder.join("libparvum.so.0").exists());
    // The parts were parts of such a path before.
    std::env::join_paths(others).unwrap_or_default()
}

impl Drop for Session {
    fn drop(&mut self) {
        match self.family {
            Family::Pvm => self.stop_pvm(),
            family if family.is_ours() => self.stop_parvum(),
            _ => {}
        }
    }
}

/// Of the log of PVM's daemon: "[t80040000] 11/27 07:27:39 [t80001] ring: what the task says", behind what the daemon says itself.
fn last_of_tasks(log: &str) -> Option<String> {
    let of_task = |line: &'_ str| {
        line.rsplit_once(" [t").and_then(|(_, rest)| Some(rest.split_once("] ")?.1.to_owned()))
    };
    let lines: Vec<String> = log.lines().filter_map(of_task).collect();
    let last = &lines[lines.len().saturating_sub(3)..];
    (!last.is_empty()).then(|| last.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_of_task_are_found_in_daemon_log() {
        let log = "[t80040000] 11/27 07:27:39 ready Fri Nov 27 07:27:39 2026\n\
                   [t80040000] 11/27 07:27:39 [t80001] group.pvm346: verification failed: task 1 has 67, not 3\n";
        assert_eq!(
            last_of_tasks(log).as_deref(),
            Some("group.pvm346: verification failed: task 1 has 67, not 3")
        );
        assert_eq!(last_of_tasks("[t80040000] 11/27 07:27:39 ready Fri Nov 27 07:27:39 2026\n"), None);
    }

    #[test]
    fn remote_shell_of_pvm_runs_command_on_host() {
        let folder = std::env::temp_dir().join(format!("parvum-lab-rsh-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let script = folder.join("rsh");
        std::fs::write(&script, remote_shell("echo on {host}:", "lab1", &folder)).expect("a file");
        let said = |words: &[&str]| {
            let done = Command::new("sh").arg(&script).args(words).output().expect("sh runs");
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        let there = said(&["beta", "-n", "pvmd", "-s"]);
        assert!(there.starts_with("on beta: env LD_LIBRARY_PATH= "), "{there}");
        assert!(there.contains("PVM_VMID=lab1") && there.trim_end().ends_with("/beta pvmd -s"), "{there}");
        assert_eq!(said(&["beta", "-l", "me", "pvmd", "-s"]), there);
        std::fs::remove_dir_all(folder).expect("removed");
    }

    /// As many slots on each host as fill all of them, whoever is told; this one first.
    #[test]
    fn launchers_get_hosts_in_blocks() {
        let told_sharing = |over: &[&str], family, tasks, shared| {
            let kit = Kit { family, version: String::new(), starter: PathBuf::new(), libraries: None };
            let session = Session {
                // Nothing of it runs, and nothing is ended with it.
                family: Family::Mpich,
                route: "",
                refuse: None,
                kit,
                folder: "/lab".into(),
                environment: Vec::new(),
                hosts: None,
                over: over.iter().map(|name| (*name).to_owned()).collect(),
                daemon: None,
            };
            let words = session.told_of_hosts(family, tasks, shared);
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        let told = |over: &[&str], family, tasks| told_sharing(over, family, tasks, None);
        let three = ["a", "b", "c"];
        assert_eq!(told(&three, Family::Mpi, 4), "--host .:2,b:2,c:2 --map-by slot");
        assert_eq!(told(&three, Family::Parvum, 1), "--host .:1,b:1,c:1 --map-by slot");
        assert!(
            told(&three, Family::Mpich, 4).ends_with("-launcher-exec /lab/rsh-of-hosts -hosts a:2,b:2,c:2")
        );
        assert!(told(&three, Family::OpenMpi, 3).ends_with("--host a:1,b:1,c:1"));
        let yields = |tasks, shared| {
            told_sharing(&three, Family::OpenMpi, tasks, shared).ends_with("--mca mpi_yield_when_idle 1")
        };
        assert!(
            yields(3, Some(2)) && !yields(2, Some(2)) && !yields(3, None),
            "where tasks share processors"
        );
        for family in [Family::Mpi, Family::Mpich, Family::OpenMpi] {
            assert_eq!(told(&[], family, 4), "", "on one host nobody is told of hosts");
        }
    }

    #[test]
    fn library_path_of_peer_omits_parvum() {
        let folder = std::env::temp_dir().join(format!("parvum-lab-path-{}", std::process::id()));
        let (ours, other) = (folder.join("ours"), folder.join("other"));
        std::fs::create_dir_all(&ours).expect("a folder");
        std::fs::create_dir_all(&other).expect("a folder");
        std::fs::write(ours.join("libparvum.so.0"), b"").expect("a file");
        let path = std::env::join_paths([&ours, &other]).expect("a path");
        assert_eq!(without_parvum(Some(path)), other.clone().into_os_string());
        assert_eq!(without_parvum(None), OsString::new());
        for peer in
            [Family::Pvm, Family::Mpich, Family::Mpich4, Family::OpenMpi, Family::OpenMpi4, Family::Ucx]
        {
            let path = std::env::join_paths([&ours, &other]).expect("a path");
            let told = [(LOADER_PATH.to_owned(), other.clone().into_os_string())];
            assert_eq!(loader_path(peer, Some(path)), told, "{peer:?}");
        }
        assert_eq!(loader_path(Family::Parvum, Some(ours.into_os_string())), []);
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
