//! `parvum compare -- PROGRAM`: a program of a user under every MPI, and what is left when the user has had enough.

use parvum_tests::schemas::fits;
use parvum_tests::stage::stage;
use parvum_tests::{eventually, parvum};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Two ranks add up. The last rank comes 20 ms late, which the page must name. With an argument the program writes its number there and
/// sleeps until the test ends it.
const PROGRAM: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, one = 1, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
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
fn compare_refuses_what_is_no_program_of_messages() {
    let place = Place::new("refused");
    for (words, wanted) in [
        (&["--", "/bin/true"][..], "uses neither MPI nor PVM"),
        (&["--", "./no-such-program"], "there is no program ./no-such-program"),
        (&["-n", "0", "--", "/bin/true"], "0 is not in 1..=4096"),
        (&["--openmpi", "/nowhere", "--", "/bin/true"], "/nowhere is no file"),
        (&["-n", "2"], "<PROGRAM>"),
    ] {
        let done = place.compare(words).output().expect("it runs");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && said.contains(wanted), "{words:?}: {said}");
    }
    assert!(!place.0.join("results").exists());
}
