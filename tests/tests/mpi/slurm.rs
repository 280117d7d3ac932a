//! A real Slurm with two nodes on this host: what Parvum does in its jobs. Skipped if Slurm is not installed.

use parvum_tests::stage::{program, stage};
use parvum_tests::{Lack, eventually, parvum, skip};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A cluster that ends with the test.
struct Slurm {
    root: PathBuf,
    daemons: Vec<Child>,
    /// The name that all machines of this cluster's jobs have.
    name: String,
}

const DAEMONS: [&str; 2] = ["/usr/sbin/slurmctld", "/usr/sbin/slurmd"];

impl Slurm {
    fn start() -> Option<Slurm> {
        if let Some(missing) = DAEMONS.iter().find(|path| !Path::new(path).exists()) {
            skip(Lack::Tools, format!("{missing} is missing (slurm-wlm)"));
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            skip(Lack::Root, "slurmd needs root");
            return None;
        }
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Relaxed: the numbers differ, and nothing else hangs on them.
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("s{}n{number}", std::process::id());
        let root = std::env::temp_dir().join(format!("parvum-slurm-{name}"));
        let mut slurm = Slurm { root, daemons: Vec::new(), name };
        slurm.prepare();
        slurm.run("/usr/sbin/slurmctld", &["-D"]);
        for node in ["n1", "n2"] {
            slurm.run("/usr/sbin/slurmd", &["-D", "-N", node]);
        }
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let said = slurm.command("sinfo").args(["-h", "-o", "%D %t"]).output();
            if said.as_ref().is_ok_and(|said| said.stdout == b"2 idle\n") {
                return Some(slurm);
            }
            if Instant::now() > until {
                skip(Lack::Host, format!("Slurm does not begin here: {said:?}"));
                return None;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn prepare(&self) {
        let root = self.root.display();
        for folder in ["state", "n1", "n2"] {
            fs::create_dir_all(self.root.join(folder)).expect("writable");
        }
        let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
        let host = host.trim().split('.').next().expect("a word").to_owned();
        let sockets: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let port = |at: usize| sockets[at].local_addr().expect("bound").port();
        let text = format!(
            "ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/%n/spool
TmpFS={root}/%n
SlurmctldPidFile={root}/ctld.pid
SlurmdPidFile={root}/%n/pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=5
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
",
            port(0),
            port(1),
            port(2),
            name = self.name,
        );
        fs::write(self.root.join("slurm.conf"), text).expect("writable");
    }

    fn run(&mut self, program: &str, arguments: &[&str]) {
        let name = format!("{}.log", self.daemons.len());
        let log = fs::File::create(self.root.join(name)).expect("writable");
        let mut command = self.command(program);
        let other = log.try_clone().expect("a descriptor");
        self.daemons.push(command.args(arguments).stdout(log).stderr(other).spawn().expect("it runs"));
    }

    /// A command of a user of this cluster.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        let folders = [&stage().bin, parvum().parent().expect("a folder")].map(|it| it.display().to_string());
        command.env("PATH", format!("{}:{path}", folders.join(":")));
        command.env("SLURM_CONF", self.root.join("slurm.conf")).env("PARVUM_BIN", parvum());
        command.env("LD_LIBRARY_PATH", &stage().lib).env("PVM_VMID", &self.name);
        for name in ["PARVUM_DIR", "XDG_RUNTIME_DIR", "PARVUM_TID", "PARVUM_TICKET"] {
            command.env_remove(name);
        }
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    fn srun(&self, arguments: &[&str]) -> Output {
        let done = self.command("timeout").args(["120", "srun", "--quiet"]).args(arguments).output();
        done.expect("srun runs")
    }

    /// The interfaces of MPI's launch that this Slurm has. PMIx needs a library.
    fn interfaces(&self) -> Vec<&'static str> {
        let works =
            |name: &&str| self.srun(&["-N1", "-n1", &format!("--mpi={name}"), "true"]).status.success();
        let found: Vec<_> = ["none", "pmi2", "pmix"].into_iter().filter(works).collect();
        assert!(found.len() >= 2, "{found:?}");
        found
    }

    /// Runs a script as a job with two tasks on each node. Returns its output.
    fn batch(&self, script: &str) -> String {
        self.submit(script, &["--wait"]);
        fs::read_to_string(self.root.join("out")).expect("it has written")
    }

    fn submit(&self, script: &str, options: &[&str]) -> String {
        let file = self.root.join("script");
        fs::write(&file, format!("#!/bin/sh\n{script}")).expect("writable");
        let mut command = self.command("timeout");
        command.args(["120", "sbatch", "--parsable", "-N2", "-n4", "-o", "out"]).args(options);
        let done = command.arg(&file).output().expect("sbatch runs");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// Folders of machines of this cluster's jobs.
    fn machines(&self) -> Vec<PathBuf> {
        let all = fs::read_dir("/tmp").expect("readable").filter_map(Result::ok).map(|entry| entry.path());
        let is_own = |path: &PathBuf| path.to_string_lossy().contains(&format!("-{}-slurm-", self.name));
        all.filter(is_own).collect()
    }

    fn await_nothing_left(&self) {
        eventually("no machine is left", || self.machines().is_empty());
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = self.command("scancel").args(["--user", "root"]).output();
        for daemon in self.daemons.iter_mut().rev() {
            let pid = rustix::process::Pid::from_child(daemon);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            let _ = daemon.wait();
        }
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn launch() -> String {
    program("mpi_launch").to_str().expect("a plain path").to_owned()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

const FOUR: [&str; 4] =
    ["rank 0 of 4, program 0", "rank 1 of 4, program 0", "rank 2 of 4, program 0", "rank 3 of 4, program 0"];

#[test]
fn job_has_a_machine_of_its_hosts_and_mpiexec_uses_its_slots() {
    let Some(slurm) = Slurm::start() else { return };
    let said = slurm.batch(&format!("mpiexec {} who", launch()));
    assert_eq!(sorted(&said), FOUR);
    let said = slurm.batch("mpiexec sh -c 'echo $SLURMD_NODENAME'; parvum hosts | cut -d' ' -f1");
    assert_eq!(sorted(&said), ["HOST", "n1", "n1", "n1", "n2", "n2", "n2"]);
    slurm.await_nothing_left();
    // A step on the second host first asks for the machine.
    let said =
        slurm.batch(&format!("srun --overlap -N1 -n1 -w n2 parvum up -q; srun --overlap {} who", launch()));
    assert_eq!(sorted(&said), FOUR);
    slurm.await_nothing_left();
}

/// The shell of `salloc` runs on a host that is not in the allocation.
#[test]
fn login_host_has_no_tasks_and_its_daemon_ends_with_the_allocation() {
    let Some(slurm) = Slurm::start() else { return };
    let mut salloc = slurm.command("timeout");
    let said = salloc
        .args(["120", "salloc", "--quiet", "-N2", "-n4", "sh", "-c"])
        .arg("mpiexec sh -c 'echo $SLURMD_NODENAME'; mpiexec -ppn 1 sh -c 'echo $SLURMD_NODENAME'")
        .output()
        .expect("salloc runs");
    let said = String::from_utf8(said.stdout).expect("text");
    assert_eq!(sorted(&said), ["n1", "n1", "n1", "n2", "n2", "n2"]);
    slurm.await_nothing_left();
}

#[test]
fn srun_makes_one_world_by_each_interface() {
    let Some(slurm) = Slurm::start() else { return };
    let program = launch();
    for interface in slurm.interfaces() {
        let mpi = format!("--mpi={interface}");
        let done = slurm.srun(&["-N2", "-n4", &mpi, &program, "who"]);
        let said = String::from_utf8_lossy(&done.stdout);
        let programs = said.replace("program -1", "program 0");
        assert_eq!(sorted(&programs), FOUR, "{interface}: {done:?}");
    }
    // Programs in turns: the ranks of each program meet.
    let thrice = format!("{program} who brief && {program} brief && {program} who");
    let done = slurm.srun(&["-N1", "-n2", "--mpi=none", "sh", "-c", &thrice]);
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said.lines().filter(|line| line.contains("of 2")).count(), 4, "{done:?}");
    // A child of a rank is no rank.
    for interface in slurm.interfaces() {
        let done = slurm.srun(&["-N1", "-n2", &format!("--mpi={interface}"), &program, "child"]);
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && said.starts_with("rank 0 of 1,"), "{interface}: {done:?}");
    }
    slurm.await_nothing_left();
}

#[test]
fn processes_that_cannot_meet_are_no_silent_worlds_of_one() {
    let Some(slurm) = Slurm::start() else { return };
    let program = launch();
    for interface in slurm.interfaces() {
        let mpi = format!("--mpi={interface}");
        let done = slurm.srun(&["-N2", "-n2", &mpi, "env", "PARVUM_SLURM=no", &program, "who"]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && said.contains("E-LAUNCHER"), "{interface}: {done:?}");
        assert!(!String::from_utf8_lossy(&done.stdout).contains("of 1"), "{interface}: {done:?}");
    }
    // The user chooses worlds of one.
    let done = slurm.srun(&["-N1", "-n2", "--mpi=none", "env", "PARVUM_LAUNCHER=none", &program, "who"]);
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said.lines().filter(|line| line.starts_with("rank 0 of 1")).count(), 2, "{done:?}");
    // PARVUM_SLURM=no has started the user's usual machine.
    let mut down = slurm.command(parvum().to_str().expect("a plain path"));
    assert!(down.arg("down").status().expect("it runs").success());
}

#[test]
fn signals_reach_tasks_and_scancel_leaves_nothing() {
    let Some(slurm) = Slurm::start() else { return };
    let task = "trap 'echo got USR1 >>got; exit 0' USR1; echo up >>begun; while :; do sleep 0.1; done";
    let count = |name: &str| fs::read_to_string(slurm.root.join(name)).unwrap_or_default().lines().count();
    let job =
        slurm.submit(&format!("parvum up -q; exec mpiexec -disable-auto-cleanup sh -c \"{task}\""), &[]);
    eventually("all tasks run", || count("begun") == 4);
    assert_eq!(slurm.machines().len(), 2);
    let signal = slurm.command("scancel").args(["--signal=USR1", &job]).status().expect("it runs");
    assert!(signal.success());
    eventually("all tasks have got the signal", || count("got") == 4);
    // The daemons have got it as well, and the job ends by itself.
    slurm.await_nothing_left();
    let _ = fs::remove_file(slurm.root.join("begun"));
    let job = slurm.submit("parvum up -q; mpiexec sh -c 'echo up >>begun; exec sleep 1000'", &[]);
    eventually("all tasks run", || count("begun") == 4);
    slurm.command("scancel").arg(&job).status().expect("it runs");
    slurm.await_nothing_left();
    eventually("the nodes are free", || {
        let said = slurm.command("squeue").arg("-h").output();
        said.is_ok_and(|said| said.stdout.is_empty())
    });
}
