//! `mpiexec`, called as MPICH's and Open MPI's users call it.

use parvum_tests::stage::{compiler, program, project, stage};
use parvum_tests::{Lack, TestMachine, skip};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub(crate) fn mpiexec(machine: &TestMachine, arguments: &[&str]) -> Command {
    let mut command = Command::new(stage().bin.join("mpiexec"));
    machine.as_user(&mut command);
    // It finds the library beside itself.
    command.env_remove("LD_LIBRARY_PATH").env_remove("MPIEXEC_TIMEOUT");
    command.args(arguments);
    command
}

fn tester() -> String {
    program("mpi_launch").to_str().expect("a plain path").to_owned()
}

/// The lines that a good job says, in order of the alphabet.
fn lines(command: &mut Command) -> Vec<String> {
    let done = command.output().expect("mpiexec runs");
    assert!(done.status.success(), "{command:?}: {done:?}");
    let mut lines: Vec<String> =
        String::from_utf8(done.stdout).expect("text").lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

fn complaint(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// A file of this test's own, gone with it.
struct Own(PathBuf);

impl Own {
    fn new(name: &str, text: &str) -> Own {
        let file = std::env::temp_dir().join(format!("parvum-mpiexec-{}-{name}", std::process::id()));
        fs::write(&file, text).expect("writable");
        Own(file)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn mpiexec_joins_two_programs_in_one_world() {
    let (machine, tester) = (TestMachine::up(), tester());
    let wanted = ["[0] rank 0 of 3, program 0", "[1] rank 1 of 3, program 1", "[2] rank 2 of 3, program 1"];
    let labelled = ["-l", "-n", "1", &tester, "who", ":", "-n", "2", &tester, "who"];
    assert_eq!(lines(&mut mpiexec(&machine, &labelled)), wanted);
    let file = Own::new("parts", &format!("# two\n-n 1 {tester} who\n\n--np 2 '{tester}' who\n"));
    assert_eq!(lines(&mut mpiexec(&machine, &["--prepend-rank", "-configfile", file.path()])), wanted);
    // Parvum's own command has one world for them as well.
    let mut run = machine.command(&["run", "-n", "1", &tester, "who", ":", "-n", "2", &tester, "who"]);
    machine.as_user(&mut run);
    assert_eq!(lines(&mut run), wanted.map(|line| line[4..].to_owned()));
}

#[test]
fn processes_get_variables_of_mpich() {
    let (machine, tester) = (TestMachine::up(), tester());
    let names = ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PARVUM_SIZE"];
    let asked: Vec<&str> = names.iter().flat_map(|name| ["var", name]).collect();
    let wanted = "MPI_LOCALNRANKS=2 MPI_LOCALNRANKS=2 MPI_LOCALRANKID=0 MPI_LOCALRANKID=1 PARVUM_SIZE=2 PARVUM_SIZE=2 PMI_RANK=0 PMI_RANK=1 PMI_SIZE=2 PMI_SIZE=2";
    let arguments = [&["-n", "2", &tester], &asked[..]].concat();
    assert_eq!(lines(&mut mpiexec(&machine, &arguments)).join(" "), wanted);
    let mut run = machine.command(&[&["run"], &arguments[..]].concat());
    machine.as_user(&mut run);
    assert_eq!(lines(&mut run).join(" "), wanted);
}

#[test]
fn environment_options_of_mpich_and_open_mpi_work() {
    let (machine, tester) = (TestMachine::up(), tester());
    let show = ["var", "LAUNCH_A", "var", "LAUNCH_B"];
    let both = |options: &[&str], second: &[&str]| {
        let arguments = [options, &[&tester], &show, &[":"], second, &[&tester], &show].concat();
        let mut command = mpiexec(&machine, &arguments);
        lines(command.env("LAUNCH_B", "here")).join(" ")
    };
    assert_eq!(
        both(&["-genv", "LAUNCH_A", "1"], &["-env", "LAUNCH_A", "2", "-envlist", "PATH"]),
        "LAUNCH_A=1 LAUNCH_A=2 LAUNCH_B=(none) LAUNCH_B=here"
    );
    assert_eq!(
        both(&["-env", "LAUNCH_A", "1"], &["--envnone"]),
        "LAUNCH_A=(none) LAUNCH_A=1 LAUNCH_B=(none) LAUNCH_B=here"
    );
    assert_eq!(
        both(&["-genvnone", "-x", "LAUNCH_B"], &["-x", "LAUNCH_A=3"]),
        "LAUNCH_A=(none) LAUNCH_A=3 LAUNCH_B=(none) LAUNCH_B=here"
    );
}

#[test]
fn mpiexec_accepts_common_options() {
    let (machine, tester) = (TestMachine::up(), tester());
    let taken = [
        "-n",
        "2",
        "--oversubscribe",
        "--allow-run-as-root",
        "-usize",
        "4",
        "-ppn",
        "2",
        "-hosts",
        ".:2",
        "-bind-to",
        "none",
        "--map-by",
        "slot",
        "-timeout",
        "25",
        "-wdir",
        "/",
        &tester,
        "where",
    ];
    assert_eq!(lines(&mut mpiexec(&machine, &taken)), ["in /", "in /"]);
    let hosts = Own::new("hosts", "# this one\nlocalhost:2\n");
    assert_eq!(lines(&mut mpiexec(&machine, &["-f", hosts.path(), "-np", "2", &tester, "who"])).len(), 2);
    let each = ["-host", "localhost", "-n", "1", &tester, "who", ":", "-H", ".", "-n", "1", &tester, "who"];
    assert_eq!(lines(&mut mpiexec(&machine, &each)), ["rank 0 of 2, program 0", "rank 1 of 2, program 1"]);
    let pattern = std::env::temp_dir().join(format!("parvum-mpiexec-{}-out", std::process::id()));
    let pattern = format!("{}.%r", pattern.display());
    assert!(
        lines(&mut mpiexec(&machine, &["-n", "2", "-outfile-pattern", &pattern, &tester, "who"])).is_empty()
    );
    for rank in ["0", "1"] {
        let file = Own(pattern.replace("%r", rank).into());
        let text = fs::read_to_string(&file.0).expect("it was written");
        assert_eq!(text, format!("rank {rank} of 2, program 0\n"));
    }
}

#[test]
fn mpiexec_refuses_invalid_options_before_start() {
    let (machine, tester) = (TestMachine::up(), tester());
    for (options, named) in [
        (&["--mca", "btl", "self"][..], "--mca"),
        (&["-rankmap", "x"], "-map-by"),
        (&["-nosuch"], "-nosuch"),
        (&["-n", "0"], "-n 0"),
    ] {
        let done = mpiexec(&machine, &[options, &[&tester]].concat()).output().expect("it runs");
        let said = complaint(&done);
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(
            said.starts_with("parvum: E-USAGE: ") && said.contains(named) && said.lines().count() == 1,
            "{said}"
        );
    }
    for arguments in [&["-configfile", "/no/such"][..], &["-configfile", "/dev/null"], &["-n", "2"]] {
        let done = mpiexec(&machine, arguments).output().expect("it runs");
        assert!(done.status.code() == Some(2) && complaint(&done).contains("E-USAGE"), "{done:?}");
    }
    let done = mpiexec(&machine, &["-hosts", "nowhere", &tester]).output().expect("it runs");
    assert!(!done.status.success() && complaint(&done).contains("E-NOHOST"), "{done:?}");
    let done = mpiexec(&machine, &["no-such-program"]).output().expect("it runs");
    assert_eq!(done.status.code(), Some(127), "{done:?}");
}

#[test]
fn input_goes_to_rank_0_only() {
    let (machine, tester) = (TestMachine::up(), tester());
    let mut command = mpiexec(&machine, &["-n", "3", &tester, "read"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("mpiexec runs");
    child.stdin.take().expect("piped").write_all(&[b'x'; 10000]).expect("it reads");
    let done = child.wait_with_output().expect("it ends");
    let mut lines: Vec<&str> = std::str::from_utf8(&done.stdout).expect("text").lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["rank 0 read 10000", "rank 1 read 0", "rank 2 read 0"]);
}

#[test]
fn abort_ends_all_ranks_with_its_code() {
    let (machine, tester) = (TestMachine::up(), tester());
    for (given, seen) in [("7", 7), ("256", 1), ("263", 7)] {
        let done = mpiexec(&machine, &["-n", "3", &tester, "abort", given]).output().expect("it runs");
        assert_eq!(done.status.code(), Some(seen), "{done:?}");
        assert!(complaint(&done).contains("MPI_Abort"), "{done:?}");
        parvum_tests::running::await_tasks(&machine, 0);
    }
}

#[test]
fn exit_code_is_bitwise_or_of_all_codes() {
    let (machine, tester) = (TestMachine::up(), tester());
    let arguments = ["-disable-auto-cleanup", "-print-all-exitcodes", "-n", "3", &tester, "code"];
    let done = mpiexec(&machine, &arguments).output().expect("it runs");
    assert_eq!(done.status.code(), Some(7), "{done:?}");
    assert!(complaint(&done).contains("exit codes: rank 0: 1, rank 1: 2, rank 2: 4"), "{done:?}");
    let done = mpiexec(&machine, &["sh", "-c", "kill -USR1 $$"]).output().expect("it runs");
    assert_eq!(done.status.code(), Some(128 + 10), "{done:?}");
}

#[test]
fn timeout_variable_of_mpich_limits_time() {
    let machine = TestMachine::up();
    let done = mpiexec(&machine, &["sleep", "600"]).env("MPIEXEC_TIMEOUT", "1").output().expect("it runs");
    assert_eq!(done.status.code(), Some(124), "{done:?}");
    let done = mpiexec(&machine, &["true"]).env("MPIEXEC_TIMEOUT", "soon").output().expect("it runs");
    assert!(complaint(&done).contains("MPIEXEC_TIMEOUT=soon"), "{done:?}");
}

/// Where the systems to compare with are.
pub(crate) fn peer(file: &str) -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or(home.join(".cache"), PathBuf::from);
    let path = cache.join("parvum/peers").join(file);
    if !path.exists() {
        skip(Lack::Peers, format!("{} is not there (./x peers)", path.display()));
        return None;
    }
    Some(path)
}

#[test]
fn program_built_by_mpich_runs_unchanged() {
    let Some(mpicc) = peer("mpich/bin/mpicc") else { return };
    let machine = TestMachine::up();
    let target = Own(std::env::temp_dir().join(format!("parvum-mpiexec-{}-mpich", std::process::id())));
    let mut cc = compiler(mpicc.to_str().expect("a plain path"));
    let built =
        cc.arg("-o").arg(&target.0).arg(project().join("examples/hello_mpi.c")).output().expect("mpicc runs");
    assert!(built.status.success(), "{}", complaint(&built));
    let said = lines(&mut mpiexec(&machine, &["-n", "4", target.path()]));
    assert_eq!(said.iter().filter(|line| line.contains("of 4 on ")).count(), 4, "{said:?}");
    assert!(said.contains(&"the ranks add up to 6".to_owned()), "{said:?}");
}

#[test]
fn program_built_for_open_mpi_is_refused_with_reason() {
    let machine = TestMachine::up();
    // A library of that name is all that makes it one.
    let library = Own(std::env::temp_dir().join(format!("parvum-mpiexec-{}-libmpi.so", std::process::id())));
    let target = Own(std::env::temp_dir().join(format!("parvum-mpiexec-{}-open", std::process::id())));
    let source =
        Own::new("open.c", "int MPI_Init(int *a, char ***b);\nint main(void) { return MPI_Init(0, 0); }\n");
    let inside = Own::new("inside.c", "int MPI_Init(int *a, char ***b) { return !a && !b ? 0 : 1; }\n");
    let built = [
        compiler("cc")
            .args(["-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", "-o", library.path(), inside.path()])
            .output(),
        compiler("cc").args(["-o", target.path(), source.path(), library.path()]).output(),
    ];
    for built in built {
        let built = built.expect("cc runs");
        assert!(built.status.success(), "{}", complaint(&built));
    }
    let mut run = machine.command(&["run", target.path()]);
    machine.as_user(&mut run);
    for mut command in [mpiexec(&machine, &["-n", "2", target.path()]), run] {
        let done = command.output().expect("it runs");
        let said = complaint(&done);
        assert!(
            !done.status.success() && said.contains("E-OPENMPI") && said.contains("libmpi.so.40"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// MPICH's own launcher, of Debian or PyPI.
fn hydra() -> Option<PathBuf> {
    let cache = std::env::var_os("HOME")
        .map(|home| PathBuf::from(home).join(".cache/parvum/peers/mpich/bin/mpiexec"));
    [Some("/usr/bin/mpiexec.hydra".into()), cache].into_iter().flatten().find(|file| file.is_file())
}

/// It knows nothing of a machine: the ranks find each other through it.
#[test]
fn ranks_started_by_mpich_launcher_form_one_world() {
    let Some(hydra) = hydra() else { return skip(Lack::Peers, "MPICH's mpiexec is not installed") };
    let machine = TestMachine::up();
    let run = |ranks: &str, file: &str, words: &[&str]| {
        let mut command = Command::new(&hydra);
        machine.as_user(&mut command);
        command.args(["-n", ranks, file]).args(words);
        command
    };
    assert_eq!(
        lines(&mut run("3", &tester(), &["who"])),
        ["rank 0 of 3, program 0", "rank 1 of 3, program 0", "rank 2 of 3, program 0"]
    );
    assert_eq!(lines(&mut run("1", &tester(), &["who"])), ["rank 0 of 1, program 0"]);
    let messages = program("mpi_checks");
    let said = lines(&mut run("4", messages.to_str().expect("a plain path"), &[]));
    assert!(said.len() == 4 && said.iter().all(|line| line.ends_with("checks")), "{said:?}");
    let done = run("3", &tester(), &["abort", "7"]).output().expect("it runs");
    assert_eq!(done.status.code(), Some(7), "{done:?}");
    parvum_tests::running::await_tasks(&machine, 0);
}

/// Open MPI's launcher has PMIx: the ranks find each other through its library.
#[test]
fn ranks_started_by_open_mpi_launcher_form_one_world() {
    let launcher = PathBuf::from("/usr/bin/mpirun.openmpi");
    if !launcher.exists() {
        return skip(Lack::Peers, "Open MPI's mpirun is not installed");
    }
    let machine = TestMachine::up();
    let run = |ranks: &str, words: &[&str]| {
        let mut command = Command::new(&launcher);
        machine.as_user(&mut command);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.args(["--oversubscribe", "-n", ranks]).args(words);
        command
    };
    let three = ["rank 0 of 3, program 0", "rank 1 of 3, program 0", "rank 2 of 3, program 0"];
    let said = |command: &mut Command| lines(command).join("\n").replace("program -1", "program 0");
    assert_eq!(said(&mut run("3", &[&tester(), "who"])), three.join("\n"));
    assert_eq!(said(&mut run("1", &[&tester(), "who"])), "rank 0 of 1, program 0");
    // Programs that run one after the other in the same ranks.
    let twice = format!("{0} who && {0} who", tester());
    assert_eq!(lines(&mut run("2", &["sh", "-c", &twice])).len(), 4);
    let done = run("3", &[&tester(), "abort", "7"]).output().expect("it runs");
    assert_eq!(done.status.code(), Some(7), "{done:?}");
    parvum_tests::running::await_tasks(&machine, 0);
}

#[test]
fn host_list_sets_default_process_count() {
    let machine = TestMachine::up();
    let file = Own::new("slots", "localhost\nlocalhost\n");
    let count =
        |words: &[&str]| lines(&mut mpiexec(&machine, &[words, &["sh", "-c", "echo rank"]].concat())).len();
    for (words, wanted) in [
        (&["-hosts", "localhost:2"][..], 2),
        (&["-machinefile", file.path()], 2),
        (&["-npernode", "3"], 3),
        (&["--map-by", "ppr:2:node"], 2),
        (&["-n", "1", "-hosts", "localhost:2"], 1),
        (&[], 1),
    ] {
        assert_eq!(count(words), wanted, "{words:?}");
    }
    let mut allocated = mpiexec(&machine, &["sh", "-c", "echo rank"]);
    assert_eq!(lines(allocated.env("SLURM_NTASKS", "3")).len(), 3);
    let said = lines(&mut mpiexec(&machine, &["-usize", "7", "sh", "-c", "echo $PARVUM_MPI_UNIVERSE"]));
    assert_eq!(said, ["7"]);
}

/// Batch systems tell a program by a signal to its launcher that it is to save its state.
#[test]
fn signals_to_mpiexec_reach_processes_without_ending_job() {
    use std::io::{BufRead, BufReader, Read};
    let machine = TestMachine::up();
    for signal in ["USR1", "USR2", "ALRM"] {
        let script =
            format!("trap 'echo got {signal}; exit 0' {signal}; echo ready; while :; do sleep 0.05; done");
        let mut job = mpiexec(&machine, &["-n", "2", "sh", "-c", &script]);
        let mut job = job.stdout(Stdio::piped()).spawn().expect("mpiexec runs");
        let mut out = BufReader::new(job.stdout.take().expect("it has output"));
        for _ in 0..2 {
            let mut line = String::new();
            out.read_line(&mut line).expect("text");
            assert_eq!(line, "ready\n", "{signal}");
        }
        let sent = Command::new("kill").args([&format!("-{signal}"), &job.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, format!("got {signal}\ngot {signal}\n"));
        assert!(job.wait().expect("it ends").success(), "{signal}");
    }
}

#[test]
fn spawned_ranks_inherit_umask_and_limits_and_outlive_parent() {
    let machine = TestMachine::up();
    let rules = program("mpi_rules").to_str().expect("a plain path").to_owned();
    assert_eq!(
        lines(&mut mpiexec(&machine, &["-n", "1", &rules, "spawns"])),
        ["rank 0: 2 checks", "rank 0: 3 checks"]
    );
}

/// How programs that look for an MPI ask its launcher: CMake, libensemble, radical.pilot, mpi4py's own tests.
#[test]
fn questions_of_other_programs_are_answered() {
    let machine = TestMachine::up();
    let text = |arguments: &[&str]| {
        let done = mpiexec(&machine, arguments).output().expect("it runs");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).expect("text")
    };
    for version in [&["--version"][..], &["-version"], &["-V"]] {
        assert!(text(version).starts_with("mpiexec of Parvum "), "{version:?}");
    }
    let info = text(&["-info"]);
    assert!(
        info.starts_with("HYDRA build details:") && info.contains("    Version:  ") && info.contains("ssh"),
        "{info}"
    );
    for help in ["-help", "--help", "-h"] {
        assert!(text(&[help]).contains("-n N, -np N"), "{help}");
    }
    // The lines that these programs write.
    for line in [
        "-hosts localhost -np 2 --ppn 2 true",
        "-host localhost -np 2 -npernode 2 true",
        "--oversubscribe --bind-to none --map-by slot:OVERSUBSCRIBE -np 2 true",
        "-launcher fork -bind-to core:1 -n 2 true",
        "--map-by ppr:2:node:oversubscribe --rank-by slot --display map -x PATH -n 2 true",
    ] {
        text(&line.split(' ').collect::<Vec<_>>());
    }
}
