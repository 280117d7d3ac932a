//! `spawn ->`, and what jobs say.

use crate::{Live, User};
use parvum_tests::eventually;

#[test]
fn job_output_names_task() {
    let user = User::new();
    let mut console = Live::start(&mut user.call("pvm", &[]));
    console.tell("spawn -2 -> /bin/echo hello  there");
    let said = console.until("[1] finished\n");
    assert!(said.contains("[1]\n2 successful\nt40002\nt40003\npvm> "), "{said}");
    for tid in ["t40002", "t40003"] {
        let (hello, end) = (format!("[1:{tid}] hello there\n"), format!("[1:{tid}] EOF\n"));
        assert!(said.find(&hello).expect("it speaks") < said.find(&end).expect("it ends"), "{said}");
    }
    console.tell("spawn -> /bin/sh -c 'echo out; echo err >&2; printf part'");
    let said = console.until("[2] finished\n");
    assert!(said.contains("] out\n") && said.contains("] err\n") && said.contains("] part\n"), "{said}");
    assert!(console.end().success());
}

/// PVM gives a task one pipe for both of its outputs.
#[test]
fn output_lines_of_both_streams_keep_order() {
    let user = User::new();
    let script = user
        .file("turns.sh", "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done\n");
    let mut console = Live::start(&mut user.call("pvm", &[]));
    console.tell(format!("spawn -> /bin/sh {script}"));
    let said = console.until("[1] finished\n");
    let lines: Vec<&str> = said.lines().filter_map(|line| Some(line.split_once("[1:t40002] ")?.1)).collect();
    let expected = (0..300).flat_map(|i| [format!("out {i}"), format!("err {i}")]);
    assert_eq!(lines, expected.chain(["EOF".to_owned()]).collect::<Vec<_>>());
    assert!(console.end().success());
}

#[test]
fn names_and_arguments_outside_utf_8_pass_unchanged() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let user = User::new();
    let folder = user.home.join(OsStr::from_bytes(b"d\xff"));
    std::fs::create_dir(&folder).expect("a folder in the user's home");
    let program = folder.join(OsStr::from_bytes(b"say\xfe"));
    std::fs::write(&program, "#!/bin/sh\npwd; echo \"$1\"; echo \"$BYTES\"\n").expect("a script");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("ours");
    let mut console = Live::start(&mut user.call("pvm", &[]));
    console.tell(b"setenv BYTES v\xfe");
    console.tell("export BYTES");
    let (folder, program) = (folder.as_os_str().as_bytes(), program.as_os_str().as_bytes());
    console.tell([b"spawn ->out\xff -:", folder, b" ", program, b" a\xff"].concat());
    console.until("[1] finished\n");
    let said = std::fs::read(user.home.join(OsStr::from_bytes(b"out\xff"))).expect("the job's file");
    let tag = &b"[1:t40002] "[..];
    let wanted = [tag, folder, b"\n", tag, b"a\xff\n", tag, b"v\xfe\n", tag, b"EOF\n"].concat();
    assert_eq!(OsStr::from_bytes(&said), OsStr::from_bytes(&wanted));
    // Two names that differ in such a byte are two.
    for (name, value) in [(&b"m\xff"[..], "7"), (b"m\xfe", "8")] {
        console.tell([b"put ", name, b" 4 ", value.as_bytes()].concat());
    }
    console.tell(b"names m\xff");
    let said = console.until("index=0");
    assert_eq!(said.matches(">:").count(), 1, "{said}");
    assert!(console.end().success());
}

#[test]
fn jobs_are_listed_while_they_run() {
    let user = User::new();
    let mut console = Live::start(&mut user.call("pvm", &["-nhere"]));
    console.tell("spawn -2 -> /bin/sleep 600");
    console.until("t40003\n");
    console.tell("jobs");
    console.until("\n 1: t40002 t40003\n");
    console.tell("jobs -l");
    console.until("FLAG 0x COMMAND\n 1:\n                    here    40002       2/f sleep");
    console.tell("kill t40002 t40003");
    console.until("[1] finished\n");
    console.tell("jobs");
    console.until("jobs\npvm> ");
    assert!(console.end().success());
}

#[test]
fn job_includes_tasks_spawned_by_its_tasks() {
    let user = User::new();
    let mut console = Live::start(&mut user.call("pvm", &[]));
    let puppet = env!("CARGO_BIN_EXE_puppet");
    console.tell(format!("spawn -> {puppet} spawn-and-end /bin/sh -c 'sleep 0.1; echo grandchild'"));
    let said = console.until("[1] finished\n");
    assert!(said.contains("[1:t40003] grandchild\n[1:t40003] EOF\n"), "{said}");
    assert!(console.end().success());
}

#[test]
fn job_output_goes_to_a_file() {
    let user = User::new();
    let file = user.home.join("out");
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    let mut console = Live::start(&mut user.call("pvm", &[]));
    console.tell("spawn ->out /bin/echo one");
    console.until("[1] finished\n");
    assert_eq!(read(), "[1:t40002] one\n[1:t40002] EOF\n");
    // What is there is not written over, and nothing is started.
    console.tell("spawn ->out /bin/echo two");
    console.until("[2]\npvm> ");
    assert_eq!(read(), "[1:t40002] one\n[1:t40002] EOF\n");
    console.tell("spawn ->>out /bin/echo three");
    console.until("[3] finished\n");
    assert_eq!(read(), "[1:t40002] one\n[1:t40002] EOF\n[3:t40003] three\n[3:t40003] EOF\n");
    console.tell("spawn ->/nonexistent/file /bin/echo four");
    console.until("[4]\npvm> ");
    assert!(console.end().success());
}

#[test]
fn failed_spawn_prints_pvm_text_and_cause() {
    let user = User::new();
    let script = "spawn nosuch\nspawn -2 nosuch\nspawn /etc/passwd\nspawn -nohost /bin/true\nspawn -SUN4 /bin/true\n\
                  spawn ->\nspawn -0 /bin/true\nspawn -99999 /bin/true\nspawn -@ /bin/true\nspawn -? /bin/true\njobs\n";
    let said = user.pvm(&[], script);
    assert_eq!(said.answer("spawn nosuch"), "0 successful\nNo such file\n");
    assert_eq!(said.answer("spawn -2 nosuch"), "0 successful\nNo such file\nNo such file\n");
    assert_eq!(said.answer("spawn /etc/passwd"), "0 successful\nPermission denied\n");
    assert_eq!(said.answer("spawn -nohost /bin/true"), "0 successful\nNo such host\n");
    assert_eq!(said.answer("spawn -SUN4 /bin/true"), "0 successful\nNo such host\n");
    assert_eq!(said.answer("spawn ->"), "incorrect arg count\n");
    for line in
        ["spawn -0 /bin/true", "spawn -99999 /bin/true", "spawn -@ /bin/true", "spawn -? /bin/true", "jobs"]
    {
        assert_eq!(said.answer(line), "", "{line}");
    }
    for words in ["E-NOPROGRAM", "E-NOTEXEC", "E-NOHOST", "1 to 4096", "traces no tasks", "no debugger"] {
        assert!(said.err.contains(words), "{words}: {said:?}");
    }
}

#[test]
fn spawn_uses_given_host_and_folder() {
    let user = User::new();
    let mut console = Live::start(&mut user.call("pvm", &["-nhere"]));
    for (options, folder) in
        [("-:/usr", "/usr"), ("-here:/etc", "/etc"), ("--host=here", &*user.home.to_string_lossy())]
    {
        console.tell(format!("spawn {options} -> /bin/pwd"));
        console.until(&format!("] {folder}\n"));
    }
    assert!(console.end().success());
}

#[test]
fn tasks_outlive_the_console_that_quits() {
    let user = User::new();
    let said = user.pvm(&[], "spawn -> /bin/sleep 600\nquit\n");
    assert!(said.out.contains("1 successful\n"), "{said:?}");
    let only =
        |name: &str| user.machine.tasks().iter().map(|row| row.name.clone()).collect::<Vec<_>>() == [name];
    eventually("the console is gone and the task is not", || only("sleep"));
}
