//! The programs by which TreadMarks was compared with PVM and MPI (`apps/`, the suite shared), in each form: they check their results.

use crate::{PROTOCOLS, processes_of};
use parvum_tests::TestMachine;
use parvum_tests::running::await_tasks;
use parvum_tests::stage::stage;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A form: its name, flags, what its programs' names end with, and what is beside them.
type Form = (&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

const SHARED: Form = ("tmk", &["-lTmk"], "tmk", &["share_tmk"]);
const HYBRID: Form = ("hybrid", &["-DHYBRID", "-lTmk", "-lpvm3"], "tmk", &["share_tmk", "share_pvm"]);
const PVM: Form =
    ("pvm", &["-lpvm3"], "pass", &["share_pass", "share_pvm", "team_pvm", "tasks_pvm", "together"]);

/// The programs, and small runs of them.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("sort", &["--sizes", "1,10007"]),
    ("mandelbrot", &["--sizes", "1,61"]),
    ("network", &["--sizes", "8800,400", "--in-a-row", "3", "--items", "50"]),
];

fn compiled(program: &str, form: Form) -> PathBuf {
    let (name, flags, ending, beside) = form;
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let apps = project.join("apps");
    // Each test removes its own.
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let file = format!("{program}.{name}.{}.{number}", std::process::id());
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    compiler.args(["-O1", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(&stage().include);
    compiler.arg("-I").arg(project.join("interfaces/treadmarks/include"));
    compiler.arg("-I").arg(project.join("crates/engine/runtime/include")).arg("-o").arg(&out);
    let sources = [&format!("{program}_{ending}"), &format!("{program}_core"), "share"];
    for file in sources.into_iter().chain(beside.iter().copied()) {
        let folder =
            ["shared", "teams"].into_iter().map(|folder| apps.join(folder).join(format!("{file}.c")));
        compiler.args(folder.filter(|source| source.exists()));
    }
    compiler.arg(apps.join("common/bench.c"));
    // Tasks that others spawn find the libraries as well.
    compiler.arg(format!("-Wl,-rpath,{}", stage().lib.display()));
    compiler.arg("-L").arg(&stage().lib).args(flags).arg("-lm");
    let done = compiler.output().expect("a C compiler runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    out
}

/// What task 0 has written: a line for each size, with its count of bytes.
fn bytes_of(said: &str, tasks: u32) -> Vec<u64> {
    let lines =
        said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line of samples"));
    lines
        .map(|line| {
            assert_eq!(
                (line["tasks"].as_u64(), line["verified"].as_bool()),
                (Some(tasks.into()), Some(true))
            );
            line["counts"]["sent_bytes"].as_u64().expect("the ledger is known")
        })
        .collect()
}

#[test]
fn program_forms_all_give_the_same_result() {
    let machine = TestMachine::up();
    for (program, words) in PROGRAMS {
        for form in [SHARED, HYBRID] {
            let file = compiled(program, form);
            for protocol in PROTOCOLS {
                for tasks in [1, 3, 4] {
                    eprintln!("{program} by {}, {tasks} tasks, {protocol}", form.0);
                    let mut run = processes_of(&machine, tasks, protocol, &file);
                    run.args(["--tasks", &tasks.to_string()]).args(words);
                    let sent = bytes_of(&machine.check(&mut run), tasks);
                    // Pages of one host.
                    let near = protocol == "auto" || protocol == "home/3" && tasks <= 3;
                    let nothing = tasks == 1 || near && form == SHARED;
                    // A pool on one host's pages may be empty before anybody else comes to it: then no row travels.
                    let perhaps = program == "mandelbrot" && near;
                    assert_eq!(sent.len(), 2);
                    let travelled = sent.iter().any(|bytes| *bytes > 0);
                    assert!(travelled != nothing || perhaps && !nothing, "{sent:?}");
                }
            }
            std::fs::remove_file(file).expect("ours");
        }
        let file = compiled(program, PVM);
        for tasks in [1, 3, 4] {
            let mut run = Command::new(&file);
            machine.as_user(&mut run);
            run.args(["--tasks", &tasks.to_string()]).args(words);
            let sent = bytes_of(&machine.check(&mut run), tasks);
            assert_eq!(sent.iter().all(|bytes| *bytes == 0), tasks == 1, "{sent:?}");
        }
        std::fs::remove_file(file).expect("ours");
    }
    await_tasks(&machine, 0);
}

/// What the paper found, and what helps: the gather of eight processes by the protocol of 1994 costs several times what messages do.
#[test]
fn classic_gather_costs_several_times_lazy_and_hybrid() {
    let machine = TestMachine::up();
    let words = ["--sizes", "8800", "--in-a-row", "3", "--items", "16", "--tasks", "8"];
    let sent = |form: Form, protocol: &str| {
        let file = compiled("network", form);
        let said = machine.check(processes_of(&machine, 8, protocol, &file).args(words));
        std::fs::remove_file(file).expect("ours");
        bytes_of(&said, 8)[0]
    };
    // Weights to seven and changes from them, three times.
    let messages = 2 * 7 * 3 * 8800 * 8;
    let (classic, lazy, hybrid) = (sent(SHARED, "classic"), sent(SHARED, "lazy"), sent(HYBRID, "lazy"));
    eprintln!("messages {messages}, classic {classic}, lazy {lazy}, hybrid {hybrid}");
    assert!(classic > 3 * messages, "{classic} of {messages}");
    // Who comes to the lock after whom is chance, and with it whether one matrix more goes round: 1.28 times, seldom 1.301.
    assert!(lazy < messages * 14 / 10, "{lazy} of {messages}");
    assert!(hybrid < messages * 16 / 10, "{hybrid} of {messages}");
}

#[test]
fn paper_programs_refuse_invalid_arguments() {
    let machine = TestMachine::up();
    for (program, words, sentence) in [
        ("network", &["--sizes", "500", "--in-a-row", "1"][..], "nets have 400 weights"),
        ("network", &["--sizes", "400"], "--in-a-row says how many epochs"),
        ("network", &["--sizes", "400", "--in-a-row", "1", "--items", "0"], "--items must be at least 1"),
        ("sort", &[], "--sizes is missing"),
        ("sort", &["--sizes", "10", "--tasks", "3"], "2 processes were started, --tasks says 3"),
    ] {
        let file = compiled(program, SHARED);
        let ended = processes_of(&machine, 2, "auto", &file).args(["--tasks", "2"]).args(words).output();
        std::fs::remove_file(file).expect("ours");
        let ended = ended.expect("it runs");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && said.contains(sentence), "{said}");
        await_tasks(&machine, 0);
    }
}
