//! One machine of each kind, in a folder of its own, and gone completely when it is over.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);
/// After this long a daemon that was told to end does not listen.
const DEAF: Duration = Duration::from_secs(2);

/// Whose machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PVM 3.4.6 from Debian.
    Pvm,
    /// MPICH from Debian: no machine, each program starts its own processes.
    Mpich,
    /// Ours.
    Parvum,
}

/// The folder of a run: the user's home, the libraries under their installed names, our own helper programs.
pub struct Place {
    /// The folder.
    pub root: PathBuf,
    /// Where the build lies: the command and the libraries.
    built: PathBuf,
}

impl Kind {
    /// As tables and differences name it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Pvm => "PVM",
            Kind::Mpich => "MPICH",
            Kind::Parvum => "Parvum",
        }
    }
}

/// Installed names, and the files of the build that they are.
const LIBRARIES: [(&str, &str); 5] = [
    ("libparvum.so.0", "libparvum.so"),
    ("libpvm3.so.3", "libpvm3.so"),
    ("libgpvm3.so.3", "libpvm3.so"),
    ("libmpi.so.12", "libmpi.so"),
    ("libmpich.so.12", "libmpi.so"),
];

impl Place {
    /// Makes the folder.
    pub fn make() -> Result<Place, String> {
        let me = std::env::current_exe().map_err(|why| why.to_string())?;
        let built = me.parent().expect("a program lies in a folder").to_path_buf();
        if !built.join("libpvm3.so").exists() {
            return Err(format!("{} has no libpvm3.so; run `./x drop-in`, which builds it", built.display()));
        }
        let root = std::env::temp_dir().join(format!("parvum-drop-in-{}", std::process::id()));
        let place = Place { root, built };
        place.fill().map_err(|why| format!("{}: {why}", place.root.display()))?;
        Ok(place)
    }

    fn fill(&self) -> std::io::Result<()> {
        fs::DirBuilder::new().mode(0o700).create(&self.root)?;
        for folder in ["home", "lib", "bin", "launch"] {
            fs::create_dir(self.root.join(folder))?;
        }
        for (name, file) in LIBRARIES {
            std::os::unix::fs::symlink(self.built.join(file), self.root.join("lib").join(name))?;
        }
        // It finds the libraries beside it.
        std::os::unix::fs::symlink(self.built.join("parvum"), self.root.join("launch/mpiexec"))
    }

    /// Compiles the helpers against Debian's library: they are unmodified PVM programs too.
    pub fn compile_for_pvm(&self) -> Result<(), String> {
        ["starter", "tiler", "faults", "pace"].iter().try_for_each(|helper| self.compile(helper))
    }

    fn compile(&self, name: &str) -> Result<(), String> {
        let source = files().join(format!("{name}.c"));
        let mut cc = Command::new("cc");
        cc.env("LC_ALL", "C").arg("-o").arg(self.root.join("bin").join(name)).arg(source);
        cc.args(["-w", "-I/usr/include", "-lgpvm3", "-lpvm3"]);
        let done = cc.output().map_err(|why| format!("cc: {why}"))?;
        if done.status.success() {
            return Ok(());
        }
        Err(format!("{name}.c: {}", String::from_utf8_lossy(&done.stderr)))
    }

    /// Where Parvum's libraries lie under the names that programs look for.
    pub fn libraries(&self) -> PathBuf {
        self.root.join("lib")
    }

    /// Starts a machine.
    pub fn start(&self, kind: Kind) -> Result<Machine, String> {
        let home = self.root.join("home");
        let _ = fs::remove_dir_all(&home);
        let folder = self.root.join(kind.name());
        let _ = fs::remove_dir_all(&folder);
        for new in [&home, &folder] {
            fs::DirBuilder::new()
                .mode(0o700)
                .create(new)
                .map_err(|why| format!("{}: {why}", new.display()))?;
        }
        let mut path = OsString::from(self.root.join("bin"));
        path.push(":/usr/local/bin:/usr/bin:/bin");
        let set = |name: &str, value: &Path| (name.to_owned(), value.as_os_str().to_owned());
        let mut environment = vec![
            set("HOME", &home),
            ("PATH".to_owned(), path),
            set("LC_ALL", Path::new("C")),
            set("TERM", Path::new("dumb")),
            set("HOST", Path::new("here")),
            set("PVM_ALLOW_ROOT", Path::new("1")),
        ];
        let daemon = match kind {
            Kind::Pvm => {
                environment.push(set("PVM_ROOT", Path::new("/usr/lib/pvm3")));
                environment.push(set("PVM_TMP", &folder));
                environment.push(set("PVM_VMID", Path::new(&format!("dropin{}", std::process::id()))));
                None
            }
            Kind::Mpich => {
                // By this its processes are known.
                environment.push(set("MPICH_FOLDER", &folder));
                None
            }
            Kind::Parvum => {
                environment.push(set("PARVUM_DIR", &folder));
                environment.push(set("PARVUM_BIN", &self.built.join("parvum")));
                environment.push(set("LD_LIBRARY_PATH", &self.libraries()));
                None
            }
        };
        let launcher = match kind {
            Kind::Parvum => self.root.join("launch/mpiexec"),
            _ => PathBuf::from("/usr/bin/mpiexec.mpich"),
        };
        let built = self.built.clone();
        let mut machine = Machine { kind, folder, home, launcher, environment, daemon, built };
        match kind {
            Kind::Pvm => machine.start_pvm(&self.root)?,
            Kind::Mpich => {}
            Kind::Parvum => machine.start_parvum()?,
        }
        Ok(machine)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Sources and scripts of ours that programs are given.
pub fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("drop-in/files")
}

/// A machine that is up.
pub struct Machine {
    /// Whose.
    pub kind: Kind,
    /// The user's home, where programs start.
    pub home: PathBuf,
    /// What is called for `mpiexec`.
    pub launcher: PathBuf,
    folder: PathBuf,
    environment: Vec<(String, OsString)>,
    daemon: Option<Child>,
    built: PathBuf,
}

impl Machine {
    /// A command with the environment of this machine's user, and no other.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.home).stdin(Stdio::null());
        command
    }

    fn start_pvm(&mut self, root: &Path) -> Result<(), String> {
        // Groups need the program pvmgs, which PVM looks for like any other.
        let hostfile = root.join("hostfile");
        let text =
            format!("* ep=/usr/bin:{} wd={}\n127.0.0.1\n", root.join("bin").display(), self.home.display());
        fs::write(&hostfile, text).map_err(|why| why.to_string())?;
        let log = File::create(self.folder.join("daemon.log")).map_err(|why| why.to_string())?;
        let mut command = self.command("/usr/bin/setpriv");
        command.args(["--pdeathsig", "TERM", "--", "/usr/bin/pvmd", "-n127.0.0.1"]).arg(hostfile);
        command.process_group(0).stdout(log.try_clone().map_err(|why| why.to_string())?).stderr(log);
        self.daemon = Some(command.spawn().map_err(|why| format!("cannot start pvmd: {why}"))?);
        let begun = Instant::now();
        while !self.socket_is_named() {
            let daemon = self.daemon.as_mut().expect("just started");
            if let Ok(Some(status)) = daemon.try_wait() {
                let log = fs::read_to_string(self.folder.join("daemon.log")).unwrap_or_default();
                return Err(format!("pvmd ended at once ({status}): {log}"));
            }
            if begun.elapsed() > PATIENCE {
                return Err("pvmd did not come up".to_owned());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// PVM's daemon writes its address into a file.
    fn socket_is_named(&self) -> bool {
        fs::read_dir(&self.folder).is_ok_and(|files| {
            files.flatten().any(|file| {
                file.file_name().to_string_lossy().starts_with("pvmd.")
                    && file.metadata().is_ok_and(|data| data.len() > 0)
            })
        })
    }

    fn start_parvum(&mut self) -> Result<(), String> {
        let up = self.command(self.built.join("parvum")).arg("up").output().map_err(|why| why.to_string())?;
        if up.status.success() {
            return Ok(());
        }
        Err(format!("parvum up: {}", String::from_utf8_lossy(&up.stderr)))
    }

    /// Ends it, and says what it left behind.
    pub fn stop(mut self) -> Result<(), String> {
        self.halt();
        let until = Instant::now() + PATIENCE;
        loop {
            let left = self.processes();
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > until {
                left.iter().for_each(|pid| kill(*pid));
                return match self.kind {
                    // What others leave behind is their affair; it is gone now.
                    Kind::Pvm | Kind::Mpich => Ok(()),
                    Kind::Parvum => Err(format!("processes were left on Parvum: {left:?}")),
                };
            }
            if self.kind != Kind::Parvum {
                left.iter().for_each(|pid| kill(*pid));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn halt(&mut self) {
        match (self.kind, self.daemon.take()) {
            (Kind::Parvum, _) => {
                let _ = self.command(self.built.join("parvum")).arg("down").output();
            }
            (Kind::Mpich, _) | (Kind::Pvm, None) => {}
            (Kind::Pvm, Some(mut daemon)) => {
                let console =
                    self.command("/usr/bin/pvm").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
                if let Ok(mut console) = console {
                    if let Some(mut input) = console.stdin.take() {
                        let _ = input.write_all(b"halt\n");
                    }
                    // A dead resource manager, for one, leaves PVM's daemon deaf.
                    let _ = await_end(&mut console, DEAF);
                }
                let _ = await_end(&mut daemon, DEAF);
            }
        }
    }

    /// Processes that have this machine's folder in their environment.
    pub fn processes(&self) -> Vec<u32> {
        let folder = self.folder.as_os_str().as_encoded_bytes();
        let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| *pid != std::process::id() && lives(*pid))
            .filter(|pid| {
                let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|word| {
                    let value = word.splitn(2, |byte| *byte == b'=').nth(1);
                    value == Some(folder)
                })
            })
            .collect()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.halt();
        self.processes().into_iter().for_each(kill);
    }
}

/// Waits for a child; ends it by force when it takes too long.
pub fn await_end(child: &mut Child, patience: Duration) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_micros(500)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Whether it runs; a zombie does not.
fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

fn kill(pid: u32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid as i32) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}
