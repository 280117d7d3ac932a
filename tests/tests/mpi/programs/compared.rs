//! `parvum compare -- PROGRAM`: a program of a user under every MPI, and what is left when the user has had enough.

use parvum_tests::schemas::fits;
use parvum_tests::stage::stage;
use parvum_tests::{eventually, parvum};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Two ranks add up. The last rank comes 20 ms late, which the page must name. With an argument the program waits for a message that nobody
/// sends, leaves a process behind, or writes its number into that file and sleeps until the test ends it.
const PROGRAM: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, one = 1, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "hang") == 0)
        MPI_Recv(&all, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (argc > 1 && strcmp(argv[1], "leave") == 0) {
        if (rank == 0 && fork() == 0) {
            setsid();
            execlp("sleep", "sleep", "600", (char *)0);
        }
    } else if (argc > 1 && strcmp(argv[1], "two") != 0) {
        FILE *file = fopen(argv[1], "w");
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
        sleep(600);
    }
    if (rank == size - 1)
        usleep(20000);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks\n", all);
    MPI_Finalize();
    return 0;
}
"#;

/// A folder with the compiled program, gone at the end.
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new(test: &str) -> Place {
        let dir = std::env::temp_dir().join(format!("pcmp-{test}-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("writable");
        fs::write(dir.join("program.c"), PROGRAM).expect("writable");
        let mut compile = Command::new(stage().bin.join("mpicc"));
        compile.arg(dir.join("program.c")).arg("-o").arg(dir.join("program"));
        assert!(compile.status().expect("mpicc runs").success());
        Place(dir)
    }

    /// A comparison whose files are all in the folder. No MPI of PyPI is there.
    pub(super) fn compare(&self, words: &[&str]) -> Command {
        let mut compare = Command::new(parvum());
        compare.arg("compare").arg("--libraries").arg(&stage().lib).arg("--out").arg(self.0.join("results"));
        compare.args(words).env("TMPDIR", &self.0).env("XDG_CACHE_HOME", &self.0);
        compare.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        compare
    }

    fn program(&self) -> String {
        self.0.join("program").to_str().expect("a plain path").to_owned()
    }

    /// A system whose launcher is this script; the answer is the option that adds the system.
    fn peer(&self, script: &str) -> [String; 2] {
        let (launcher, file) = (self.0.join("toyrun"), self.0.join("toy.toml"));
        fs::write(&launcher, format!("#!/bin/sh\n{script}\n")).expect("writable");
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o700)).expect("our file");
        let launcher = launcher.display();
        let text = format!(
            "name = 'Toy'\nruns = ['mpich']\ninstall = 'none'\nlauncher = ['{launcher}']\nlaunch = ['{{launcher}}', '{{n}}', '{{program}}']\n"
        );
        fs::write(&file, text).expect("writable");
        ["--peer".to_owned(), file.to_str().expect("a plain path").to_owned()]
    }

    /// The output of a comparison with one more system, whose launcher is this script.
    fn beside(&self, script: &str) -> String {
        let [option, file] = self.peer(script);
        let done =
            self.compare(&[&option, &file, "-n", "2", "--budget", "4", "--", &self.program()]).output();
        let done = done.expect("it runs");
        let said =
            String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{said}");
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Processes that name the folder in their command line or environment.
    fn processes(&self) -> Vec<PathBuf> {
        let name = self.0.as_os_str().as_encoded_bytes();
        let names = |file: PathBuf| {
            fs::read(file).is_ok_and(|text| text.windows(name.len()).any(|window| window == name))
        };
        let all = fs::read_dir("/proc").expect("proc").flatten().map(|entry| entry.path());
        all.filter(|path| names(path.join("cmdline")) || names(path.join("environ"))).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn named(folder: &Path, beginning: &str) -> usize {
    let files = fs::read_dir(folder).expect("the folder").flatten();
    files.filter(|file| file.file_name().as_encoded_bytes().starts_with(beginning.as_bytes())).count()
}

#[test]
fn compare_runs_a_program_and_names_what_limits_it() {
    let place = Place::new("runs");
    let done = place.compare(&["--json", "-n", "2", "--budget", "2", "--", &place.program()]).output();
    let done = done.expect("it runs");
    let (said, complaints) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}{complaints}");
    let lines = fits("compare-program", &said);
    let ours = lines.as_array().expect("lines").iter().find(|line| line["system"] == "Parvum");
    let ours = ours.unwrap_or_else(|| panic!("Parvum is not there: {said}"));
    assert!(ours["seconds"][0].as_f64().is_some_and(|seconds| seconds > 0.02), "{ours}");
    assert!(ours["processor_s"].is_number(), "the profile saw the ranks: {ours}");
    let folder = fs::read_dir(place.0.join("results")).expect("results").flatten().next().expect("a run");
    let page = fs::read_to_string(folder.path().join("report.html")).expect("a page");
    assert!(page.contains("MPI_Allreduce") && page.contains("Which system should I use?"));
    assert_eq!((named(&place.0, "plab"), place.processes()), (0, vec![]), "something is left");
}

#[test]
fn interrupted_comparison_leaves_no_process_and_no_file() {
    let place = Place::new("ends");
    let number = place.0.join("number");
    let mut compare = place
        .compare(&["-n", "1", "--", &place.program(), number.to_str().expect("a plain path")])
        .spawn()
        .expect("it starts");
    eventually("the program", || fs::read_to_string(&number).is_ok_and(|text| text.ends_with('\n')));
    kill_process(Pid::from_child(&compare), Signal::INT).expect("it runs");
    eventually("the end", || compare.try_wait().expect("our child").is_some());
    let done = compare.wait_with_output().expect("it has ended");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && said.contains("interrupted"), "{said}");
    // The processes end a moment after the signal.
    eventually("the end of every process", || place.processes().is_empty());
    assert_eq!((named(&place.0, "plab"), place.0.join("results").exists()), (0, false), "{said}");
}

#[test]
fn a_wrong_output_is_named_before_any_time() {
    let said = Place::new("wrong").beside("echo 3 ranks");
    assert!(said.contains("find out first which output is right"), "{said}");
    assert!(said.contains("prints \"3 ranks\" instead of \"2 ranks\""), "{said}");
}

#[test]
fn numbers_that_change_from_run_to_run_are_not_compared() {
    let said = Place::new("varies").beside("echo 2 ranks; echo took $$ s >&2; exec sleep 0.05");
    assert!(!said.contains("instead of"), "{said}");
    let place = Place::new("check");
    let said = place.beside("echo \"$$ ranks\"");
    assert!(
        said.contains("The output changes from run to run") && said.contains("--check COMMAND"),
        "{said}"
    );
}

#[test]
fn a_system_under_which_the_program_fails_is_not_recommended() {
    let place = Place::new("fails");
    let said = place.beside("echo no such fabric >&2; exit 3");
    assert!(said.contains("the program failed under Toy"), "{said}");
    assert!(said.contains("Toy failed with 2 processes: exit status: 3: no such fabric"), "{said}");
    assert!(!said.contains("use Toy"), "{said}");
}

#[test]
fn deadlock_ends_the_comparison_with_its_cause() {
    let place = Place::new("hang");
    let done = place.compare(&["-n", "2", "--timeout", "30", "--", &place.program(), "hang"]).output();
    let done = done.expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && said.contains("2 processes: DEADLOCK: rank 0"), "{said}");
    assert_eq!((named(&place.0, "plab"), place.0.join("results").exists()), (0, false), "{said}");
    eventually("the end of every process", || place.processes().is_empty());
}

#[test]
fn process_that_a_run_leaves_is_ended_and_named() {
    let place = Place::new("left");
    let done = place.compare(&["-n", "2", "--budget", "2", "--", &place.program(), "leave"]).output();
    let done = done.expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(done.status.success() && said.contains("the program left processes behind"), "{said}");
    assert!(said.contains("ended them: sleep"), "{said}");
    assert_eq!(place.processes(), Vec::<PathBuf>::new());
}

#[test]
fn results_that_cannot_be_written_go_to_another_folder() {
    let place = Place::new("lost");
    // The judge of the outputs takes the folder of the results away.
    let check = format!("rm -rf {}", place.0.join("results").display());
    let done =
        place.compare(&["-n", "1", "--budget", "2", "--check", &check, "--", &place.program()]).output();
    let done = done.expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("The results are in another folder, because"), "{said}");
    let kept = fs::read_dir(place.0.join("parvum-results")).expect("kept").flatten().next().expect("a run");
    assert!(kept.path().join("report.html").exists(), "{said}");
}

#[test]
fn parts_and_scripts_run_as_one_program() {
    let place = Place::new("parts");
    let program = place.program();
    let script = place.0.join("script.sh");
    fs::write(&script, format!("#!/bin/sh\nexec {program} two\n")).expect("writable");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).expect("our file");
    let script = script.to_str().expect("a plain path").to_owned();
    for words in [
        &["-n", "3", "--", "-n", "1", &program, ":", &program, "two"][..],
        &["-n", "3", "--check", "grep -q '3 ranks'", "--", &script],
    ] {
        let done = place.compare(&[&["--json", "--budget", "1"], words].concat()).output().expect("it runs");
        let (said, complaints) =
            (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success() && !said.contains("exit status"), "{words:?}: {said}{complaints}");
    }
}

#[test]
fn bundle_repeats_the_comparison_in_another_folder() {
    let place = Place::new("bundle");
    let bundle = place.0.join("mine.tar.gz");
    let bundle = bundle.to_str().expect("a plain path");
    let words = ["--bundle", bundle, "-n", "2", "--budget", "1", "--built-for", "mpich", "--"];
    let done = place.compare(&[&words[..], &[&place.program()]].concat()).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    fs::remove_file(place.0.join("program")).expect("the bundle has a copy");
    let unpacked = Command::new("tar").arg("-C").arg(&place.0).args(["-xzf", bundle]).status().expect("tar");
    assert!(unpacked.success());
    // The script takes an installed command from PATH, with its libraries.
    let bin = place.0.join("prefix/bin");
    fs::create_dir_all(&bin).expect("writable");
    fs::copy(parvum(), bin.join("parvum")).expect("writable");
    std::os::unix::fs::symlink(&stage().lib, place.0.join("prefix/lib")).expect("writable");
    let folders = std::env::join_paths([bin.as_path(), Path::new("/usr/bin"), Path::new("/bin")]);
    let mut again = Command::new("sh");
    again.arg(place.0.join("mine/run.sh")).env("PATH", folders.expect("plain paths")).stdin(Stdio::null());
    again.env("TMPDIR", &place.0).env("XDG_CACHE_HOME", &place.0);
    let done = again.output().expect("sh runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(place.0.join("mine/results").is_dir() && said.contains("Parvum"), "{said}");
}

#[test]
fn executors_run_the_main_function_of_a_script() {
    let place = Place::new("executors");
    let script = place.0.join("work.py");
    let text = "import sys\ndef half(x):\n    return x // 2\ndef main(executor):\n    print(sum(executor.map(half, range(int(sys.argv[1])))))\n";
    fs::write(&script, text).expect("writable");
    let script = script.to_str().expect("a plain path");
    let check = "test \"$(cat)\" = 20";
    let words = ["--python", script, "-n", "2", "--budget", "2", "--check", check, "--", "10"];
    let done = place.compare(&words).output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let complaints = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("ProcessPoolExecutor 3."), "{said}{complaints}");
    assert!(!said.contains("ProcessPoolExecutor failed"), "{said}");
    assert_eq!((named(&place.0, "plab"), place.processes()), (0, vec![]), "something is left");
}

#[test]
fn compare_refuses_what_is_no_program_of_messages() {
    let place = Place::new("refused");
    for (words, wanted) in [
        (&["--", "/bin/true"][..], "uses neither MPI nor PVM"),
        (&["--", "./no-such-program"], "there is no program ./no-such-program"),
        (&["-n", "0", "--", "/bin/true"], "0 is not in 1..=4096"),
        (&["--openmpi", "/nowhere", "--", "/bin/true"], "/nowhere is no file"),
        (&["-n", "2"], "PROGRAM"),
        (&["--", "/etc/passwd"], "/etc/passwd is not executable"),
        (&["--", "/etc"], "/etc is a folder"),
        (&["-n", "2", "--", "/bin/true", ":", "/bin/true"], "two parts of the program have no -n"),
        (&["-n", "2", "--", "-n", "1", "/bin/true"], "every part of the program has its own -n"),
        (&["-n", "2", "--", "-n", "2", "/bin/true", ":", "/bin/true"], "-n 3 or more"),
        (&["--host", "alone", "--", "/bin/true"], "--host alone names one host"),
        (&["--python", "/nowhere.py"], "--python /nowhere.py: there is no such file"),
        (&["--python", "/bin/true"], "ends in .py"),
        (&["--built-for", "lam", "--", "/bin/true"], "invalid value 'lam'"),
        (
            &["--check", "no-such-judge", "--built-for", "mpich", "--", "/bin/true"],
            "the shell cannot run this command",
        ),
    ] {
        let done = place.compare(words).output().expect("it runs");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && said.contains(wanted), "{words:?}: {said}");
    }
    assert!(!place.0.join("results").exists());
}
