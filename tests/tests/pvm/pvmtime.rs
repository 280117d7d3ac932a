//! `apps/pvmtime/pvmtime.c`, the program of the suite pvmtime: it checks what it receives, and its configurations.

use parvum_tests::TestMachine;
use parvum_tests::running::await_tasks;
use parvum_tests::stage::stage;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn compiled(name: &str) -> PathBuf {
    let apps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pvmtime.{name}.{}", std::process::id()));
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    compiler
        .args(["-O1", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(&stage().include)
        .arg("-o")
        .arg(&out);
    compiler
        .args(["pvmtime/pvmtime.c", "pvmtime/pvmtime_main.c", "common/bench.c"].map(|file| apps.join(file)));
    // Tasks that others spawn find the libraries as well.
    compiler
        .arg(format!("-Wl,-rpath,{}", stage().lib.display()))
        .arg("-L")
        .arg(&stage().lib)
        .args(["-lpvm3", "-lm"]);
    let done = compiler.output().expect("a C compiler runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    out
}

fn lines(said: &str) -> Vec<serde_json::Value> {
    said.lines().map(|line| serde_json::from_str(line).expect("a line of samples")).collect()
}

#[test]
fn packing_levels_carry_every_message_whole() {
    let machine = TestMachine::up();
    let program = compiled("levels");
    for (test, levels, ways) in [("ping-pong", 16, 2), ("blast", 4, 1)] {
        for level in 0..levels {
            let encoding = ["default", "raw", "inplace"][level % 3];
            let mut run = Command::new(&program);
            machine.as_user(&mut run);
            run.args(["--test", test, "--level", &level.to_string(), "--encoding", encoding]);
            run.args([
                "--messages",
                "20",
                "--sizes",
                "4,5000,16384",
                "--fragment",
                "8192",
                "--compute-us",
                "10",
            ]);
            run.args(["--route", if level % 2 == 0 { "direct" } else { "dont" }]);
            let said = lines(&machine.check(&mut run));
            let moved: Vec<Option<u64>> = said.iter().map(|line| line["moved"].as_u64()).collect();
            assert_eq!(moved, [4, 5000, 16384].map(|size| Some(size * 20 * ways)), "{test}, level {level}");
        }
    }
    await_tasks(&machine, 0);
    std::fs::remove_file(program).expect("ours");
}

#[test]
fn masters_and_slaves_start_on_configured_hosts() {
    let machine = TestMachine::up();
    let program = compiled("places");
    let file = program.with_extension("conf");
    for (text, tasks, masters) in [
        ("# a pair\nmaster .\nslave :0\n", 2, 1),
        ("master :0\nslave .\nslave .\n\n  slave\t:0  # the last\n", 4, 1),
        ("master .\nslave .\nmaster .\nslave .\nmaster .\nslave .", 6, 3),
    ] {
        std::fs::write(&file, text).expect("ours");
        let mut run = Command::new(&program);
        machine.as_user(&mut run);
        run.args(["--test", "blast", "--messages", "50", "--sizes", "16384", "--route", "dont", "--config"])
            .arg(&file);
        let said = lines(&machine.check(&mut run));
        assert_eq!(said[0]["tasks"].as_u64(), Some(tasks), "{text}");
        assert_eq!(said[0]["samples_ns"].as_array().map(Vec::len), Some(masters), "{text}");
        assert_eq!(
            said[0]["moved"].as_u64(),
            Some(16384 * 50 * (tasks - masters as u64) / masters as u64),
            "{text}"
        );
    }
    await_tasks(&machine, 0);
    let _ = (std::fs::remove_file(program), std::fs::remove_file(file));
}

#[test]
fn invalid_configuration_is_refused_by_line_and_cause() {
    let machine = TestMachine::up();
    let program = compiled("errors");
    let file = program.with_extension("conf");
    let refused = |words: &[&str]| -> Output {
        let mut run = Command::new(&program);
        machine.as_user(&mut run);
        run.args(["--messages", "1", "--sizes", "4"]).args(words).output().expect("it starts")
    };
    for (text, code, cause) in [
        ("", 2, "no master in it"),
        (
            "master .\nslave .\nworker .\n",
            2,
            "line 3: a line begins with \"master\" or \"slave\", not \"worker\"",
        ),
        ("\nslave .\n", 2, "line 2: a slave before any master"),
        ("master .\n", 2, "line 1: this master has no slave"),
        ("master .\nmaster .\nslave .\n", 2, "line 1: this master has no slave"),
        ("master\n", 2, "line 1: where?"),
        ("master . .\n", 2, "line 1: \".\" is too much"),
        ("master :one\n", 2, "line 1: a core is a number from 0 to 1023, not \"one\""),
        ("master .\n\nslave nowhere:0\n", 1, "line 3: host \"nowhere\": no such host in the virtual machine"),
        ("master .\nslave :1000\n", 1, "a task ended before its time"),
    ] {
        std::fs::write(&file, text).expect("ours");
        let done = refused(&["--config", file.to_str().expect("a plain path")]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(
            done.status.code() == Some(code) && said.contains(cause),
            "{text:?}: {:?}: {said}",
            done.status
        );
        await_tasks(&machine, 0);
    }
    for (words, cause) in [
        (&["--config", "/nonexistent"][..], "cannot read the configuration /nonexistent"),
        (&["--test", "blast", "--level", "4"], "in a blast no message goes that way"),
        (&["--level", "16"], "--level is a number from 0 to 15"),
        (&["--sizes", "6"], "multiples of 4"),
        (&["--sizes"], "its value is missing"),
        (&["--frob", "1"], "unknown argument: --frob"),
    ] {
        let done = refused(words);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(2) && said.contains(cause), "{words:?}: {said}");
    }
    let _ = (std::fs::remove_file(program), std::fs::remove_file(file));
}
