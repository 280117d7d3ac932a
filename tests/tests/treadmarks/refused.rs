//! What is wrong: one sentence that says what, and the end of the run everywhere.

use crate::processes;
use parvum_tests::TestMachine;
use parvum_tests::running::await_tasks;
use std::process::Command;

/// Runs to the end of a run that fails; what was said on standard error.
fn refused(run: &mut Command) -> String {
    let ended = run.output().expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success(), "{said}");
    said
}

fn all_refused(protocols: &[&str], cases: &[(&str, &str)]) {
    let machine = TestMachine::up();
    for protocol in protocols {
        for (what, sentence) in cases {
            eprintln!("{what}, {protocol}");
            let said = refused(&mut processes(&machine, 3, protocol, &["tmk_errors", what]));
            assert!(said.contains(sentence), "{what}, {protocol}: {said}");
            await_tasks(&machine, 0);
        }
    }
}

#[test]
fn invalid_locks_and_barriers_are_refused() {
    all_refused(&["auto/3"], &[("barriers", "E-TMK-BARRIER: node ")]);
    all_refused(
        &["auto", "classic", "auto/2"],
        &[
            ("lock", "E-TMK-LOCK: there is no lock 4096"),
            ("release_lock", "E-TMK-LOCK: there is no lock 2147483648"),
            ("barrier", "E-TMK-BARRIER: there is no barrier 256"),
            ("not_held", "E-TMK-HELD: lock 3 is not held by this process"),
            ("held", "E-TMK-HELD: lock 3 is taken already by this process"),
            ("others", "E-TMK-HELD: lock 3 is not held by this process"),
            ("barriers", "E-TMK-BARRIER: node 0 waits at barrier 5, and node 2 at barrier 7"),
        ],
    );
}

#[test]
fn invalid_memory_calls_are_refused() {
    all_refused(
        &["auto", "lazy", "lazy/2"],
        &[
            ("free", "E-TMK-POINTER"),
            ("free_inside", "E-TMK-POINTER"),
            ("free_twice", "E-TMK-POINTER"),
            ("stack", "E-TMK-PRIVATE"),
            ("shared", "E-TMK-PRIVATE"),
            ("negative", "E-TMK-ARGUMENT: the size given to Tmk_distribute is negative"),
            ("touch", "E-TMK-POINTER"),
            ("overwrite", "E-TMK-POINTER"),
            ("type", "E-TMK-ARGUMENT: Tmk_reduce takes types"),
            ("reduce_shared", "E-TMK-ARGUMENT: Tmk_reduce takes an array of private memory"),
        ],
    );
    all_refused(&["lazy", "home", "auto/2"], &[("home", "E-TMK-HOME")]);
}

#[test]
fn calls_before_and_during_startup_are_refused() {
    all_refused(
        &["auto"],
        &[
            ("early", "E-TMK-EARLY: Tmk_distribute was called before Tmk_startup"),
            ("early_lock", "E-TMK-EARLY: Tmk_lock_acquire"),
            ("twice", "E-TMK-TWICE"),
        ],
    );
    let machine = TestMachine::up();
    let mut early = processes(&machine, 1, "auto", &["tmk_errors", "early_statistics"]);
    assert!(machine.check(&mut early).contains("none yet"));
    for (name, value, sentence) in [
        (
            "TMK_PROTOCOL",
            "eager",
            "E-OPTION: TMK_PROTOCOL=eager is not valid; help: use auto, classic, lazy or home",
        ),
        ("TMK_HEAP", "1X", "E-OPTION: TMK_HEAP=1X is not valid"),
        ("TMK_HEAP", "9T", "E-OPTION: TMK_HEAP="),
        ("TMK_PAGE", "5000", "E-OPTION: TMK_PAGE=5000 is not valid"),
        ("TMK_RECORDS", "-1", "E-OPTION: TMK_RECORDS=-1 is not valid"),
        ("TMK_PUSH", "perhaps", "E-OPTION: TMK_PUSH=perhaps is not valid; help: use yes or no"),
        ("TMK_AHEAD", "2", "E-OPTION: TMK_AHEAD=2 is not valid; help: use yes or no"),
        ("TMK_GROUP", "0", "E-OPTION: TMK_GROUP=0 is not valid; help: use host, or a number from 1 to 256"),
        ("TMK_GROUP", "all", "E-OPTION: TMK_GROUP=all is not valid"),
        (
            "TMK_FAULTS",
            "signal",
            "E-OPTION: TMK_FAULTS=signal is not valid; help: use auto, userfaultfd or mprotect",
        ),
        ("TMK_HUGE", "perhaps", "E-OPTION: TMK_HUGE=perhaps is not valid; help: use yes or no"),
        ("TMK_RACES", "perhaps", "E-OPTION: TMK_RACES=perhaps is not valid"),
        ("TMK_STATISTICS", "perhaps", "E-OPTION: TMK_STATISTICS=perhaps is not valid"),
    ] {
        let said = refused(processes(&machine, 2, "auto", &["tmk_errors"]).env(name, value));
        assert!(said.contains(sentence), "{said}");
    }
    for (other, value, sentence) in [
        (
            "TMK_RACES",
            "yes",
            "E-TMK-RACES: --races needs a private memory in each task; help: leave out TMK_GROUP",
        ),
        ("TMK_REPLICAS", "1", "E-TMK-REPLICA: there is no TMK_GROUP but 1 with TMK_REPLICAS=1"),
    ] {
        let said = refused(processes(&machine, 2, "auto/2", &["tmk_errors"]).env(other, value));
        assert!(said.contains(sentence), "{said}");
        // Where nothing is said each has its own.
        let mut fits = processes(&machine, 2, "auto", &["tmk_checks", "transitive"]);
        assert!(machine.check(fits.env(other, value)).contains("all well"));
    }
    let said = refused(machine.program("tmk_errors").env("TMK_NODES", "257"));
    assert!(
        said.contains("E-OPTION: TMK_NODES=257 is not valid; help: use a number from 1 to 256"),
        "{said}"
    );
    await_tasks(&machine, 0);
}

/// Processes that do not fit together: each says so.
#[test]
fn processes_with_other_program_or_options_are_refused() {
    let machine = TestMachine::up();
    let script = std::path::Path::new(&machine.dir).join("differs.sh");
    // Of a run's processes one is another program, or has another option: the first to make a folder.
    let write = |first: &str| {
        let (errors, checks) =
            (parvum_tests::stage::program("tmk_errors"), parvum_tests::stage::program("tmk_checks"));
        let text = format!(
            "#!/bin/sh\nif mkdir \"$0.one\" 2>/dev/null; then {first} exec {}; fi\nexec {} barriers\n",
            if first.is_empty() { errors.display() } else { checks.display() },
            checks.display()
        );
        std::fs::write(&script, text).expect("writable");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).expect("ours");
    };
    for (first, code) in
        [("", "E-TMK-BINARY"), ("TMK_HEAP=2M", "E-TMK-OPTION"), ("TMK_GROUP=1", "E-TMK-OPTION")]
    {
        write(first);
        let mut run = machine.command(&["run", "-n", "2", "--on-failure", "continue", "--"]);
        machine.as_user(&mut run);
        let said = refused(run.arg(&script));
        assert_eq!(said.matches(code).count(), 2, "{said}");
        std::fs::remove_dir(script.with_extension("sh.one")).expect("it was made");
        await_tasks(&machine, 0);
    }
    std::fs::remove_file(&script).expect("ours");
}

#[test]
fn host_without_room_is_refused() {
    let machine = TestMachine::up();
    let mut run = machine.command(&["run", "-n", "2", "--on-failure", "continue", "--", "sh", "-c"]);
    machine.as_user(&mut run);
    let words =
        format!("ulimit -v 4000000; exec {} barriers", parvum_tests::stage::program("tmk_checks").display());
    let said = refused(run.arg(words));
    assert_eq!(said.matches("E-TMK-ROOM").count(), 2, "{said}");
    await_tasks(&machine, 0);
}
