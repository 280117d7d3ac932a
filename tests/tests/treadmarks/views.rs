//! Views, with real processes: `tests/programs/treadmarks/tmk_views.c`.

use crate::{PROTOCOLS, processes};
use parvum_tests::running::{Running, await_tasks};
use parvum_tests::{TestMachine, eventually};

fn shown(part: &str, counts: &[u32]) {
    let machine = TestMachine::up();
    for protocol in PROTOCOLS {
        for &count in counts {
            eprintln!("{part}: {count} processes, {protocol}");
            let said = machine.check(&mut processes(&machine, count, protocol, &["tmk_views", part]));
            assert!(said.contains("all well"), "{said}");
        }
    }
    await_tasks(&machine, 0);
}

#[test]
fn view_shows_writes_to_next_holder() {
    shown("turns", &[1, 2, 4]);
}

#[test]
fn view_allows_several_readers_at_once() {
    shown("readers", &[1, 3]);
}

#[test]
fn view_data_comes_with_the_grant() {
    shown("costs", &[1, 2, 4]);
}

#[test]
fn invalid_view_calls_end_the_run_with_reason() {
    let machine = TestMachine::up();
    let everywhere: [(&str, &str); 5] = [
        ("number", "E-TMK-VIEW: view 1024 does not exist"),
        ("acquire_none", "E-TMK-VIEW: view 1024 does not exist"),
        ("twice", "E-TMK-VIEW: view 1 is held already by this process"),
        ("release", "E-TMK-VIEW: memory of view 1 was touched, or the view released"),
        ("other", "E-TMK-VIEW: memory of view 1 was touched, or the view released"),
    ];
    // On one host nothing stops an access.
    let between_hosts: [(&str, &str); 3] = [
        ("again", "E-TMK-VIEW: view 2 does not exist, or was made already"),
        ("outside", "E-TMK-VIEW: memory of view 1 was touched"),
        ("reader", "E-TMK-VIEW: view 1 was written to by a process that has acquired it to read"),
    ];
    for (protocol, cases) in [
        ("auto", &everywhere[..]),
        ("lazy", &everywhere),
        ("lazy", &between_hosts),
        ("classic", &between_hosts),
    ] {
        for (what, sentence) in cases {
            let mut run = processes(&machine, 2, protocol, &["tmk_views", what]);
            let ended = run.output().expect("it runs");
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(!ended.status.success() && said.contains(sentence), "{what}, {protocol}: {said}");
            await_tasks(&machine, 0);
        }
    }
}

#[test]
fn why_names_holder_of_view() {
    let machine = TestMachine::up();
    for protocol in ["auto", "lazy"] {
        let mut run = Running::start(&mut processes(&machine, 2, protocol, &["tmk_views", "hold"]));
        (0..2).for_each(|_| drop(run.told("ready ")));
        eventually("why names the view", || {
            let done = machine.run(&["why"]);
            let said = String::from_utf8_lossy(&done.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
            said.contains("waits in Tmk_acquire_view for view 2, which rank 0 (")
                && said.contains("holds view 2")
        });
        run.kill();
        run.end();
        await_tasks(&machine, 0);
    }
}
