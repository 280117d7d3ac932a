//! Every interface across hosts: its programs check themselves.

use parvum_tests::bed::Bed;
use parvum_tests::stage::program;

/// Runs programs, started together as so many nodes on two hosts, over each route.
fn nodes_of_two_hosts(programs: &[(&str, &str, &[&str])]) {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    for route in ["auto", "routed"] {
        programs.iter().for_each(|program| run(&bed, route, *program));
    }
    bed[0].await_idle();
}

/// Runs a program as so many nodes on all hosts.
fn run(bed: &Bed, route: &str, (name, nodes, words): (&str, &str, &[&str])) {
    eprintln!("{name} over {route}");
    let path = program(name);
    let path = path.to_str().expect("a plain path");
    let setting = format!("PARVUM_ROUTE={route}");
    let run = ["env", &setting, "parvum", "run", "-n", nodes, path];
    bed[0].succeed(&[&run[..], words].concat());
}

#[test]
fn nx_programs_run_on_two_hosts() {
    nodes_of_two_hosts(&[("nx_points", "3", &[]), ("nx_global", "5", &[])]);
}

#[test]
fn cmmd_programs_run_on_two_hosts() {
    nodes_of_two_hosts(&[
        ("cmmd_matching", "3", &[]),
        ("cmmd_global", "5", &["5"]),
        ("cmmd_exchange", "2", &["async"]),
        ("cmmd_errors", "2", &[]),
    ]);
}

/// Checks 1 to 4 of CMMD, where an answer takes as long as the way.
#[test]
fn cmmd_buffering_holds_on_two_hosts() {
    nodes_of_two_hosts(&[("cmmd_buffering", "2", &["sockets"])]);
}

/// A run whose tasks are of several interfaces at the same time.
#[test]
fn tasks_of_three_interfaces_exchange_messages_over_two_hosts() {
    nodes_of_two_hosts(&[("interfaces_mixed", "3", &[])]);
}

#[test]
fn letter_passes_through_four_interfaces_on_two_hosts() {
    nodes_of_two_hosts(&[("letter", "4", &[])]);
}

/// The checks of TreadMarks' specification, and programs that check themselves.
#[test]
fn treadmarks_programs_run_on_two_hosts() {
    nodes_of_two_hosts(&[
        ("tmk_checks", "3", &["distribute", "3"]),
        ("tmk_checks", "4", &["counter", "4"]),
        ("tmk_checks", "3", &["transitive", "3"]),
        ("tmk_checks", "2", &["lazy", "2"]),
        ("tmk_checks", "4", &["writers", "4"]),
        ("tmk_checks", "4", &["barriers", "4"]),
        ("tmk_checks", "3", &["touched", "3"]),
        ("tmk_checks", "3", &["overwritten", "3"]),
        ("tmk_checks", "2", &["busy", "2"]),
        // Several tasks on each host, which map the same pages.
        ("tmk_checks", "6", &["distribute", "6"]),
        ("tmk_checks", "7", &["counter", "7"]),
        ("tmk_checks", "5", &["transitive", "5"]),
        ("tmk_checks", "6", &["lazy", "6"]),
        ("tmk_checks", "6", &["barriers", "6"]),
        ("tmk_checks", "5", &["touched", "5"]),
        ("tmk_checks", "4", &["busy", "4"]),
        ("tmk_views", "6", &["turns"]),
        ("tmk_views", "5", &["readers"]),
        ("tmk_views", "3", &["turns"]),
        ("tmk_views", "4", &["costs"]),
        ("tmk_pushes", "4", &["neighbours"]),
        ("tmk_pushes", "3", &["migrates"]),
        ("gather", "3", &["pvm", "2"]),
        ("gather", "3", &["reduce", "2"]),
    ]);
}

#[test]
fn treadmarks_protocols_all_run_on_four_hosts() {
    let Some(bed) = Bed::of(4) else { return };
    bed.join_all();
    for protocol in ["auto", "classic", "home"] {
        for words in [
            &["sor", "40", "50", "4"][..],
            &["integer_sort", "3000", "2"],
            &["gather", "shared", "2"],
            &["water", "60", "2"],
            &["barnes_hut", "120", "2"],
        ] {
            eprintln!("{words:?}, {protocol}");
            let path = program(words[0]);
            let path = path.to_str().expect("a plain path");
            let setting = format!("TMK_PROTOCOL={protocol}");
            for count in ["4", "8"] {
                let run = ["env", &setting, "parvum", "run", "-n", count, path];
                let said = bed[0].succeed(&[&run[..], &words[1..]].concat());
                assert!(said.contains(&format!("{count} processes")) && said.contains("all well"), "{said}");
            }
        }
    }
    bed[0].await_idle();
}

/// No process knows who holds a lock that it waits for on another host; `parvum why` does.
#[test]
fn treadmarks_lock_holders_are_named_between_hosts() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let path = program("tmk_stuck");
    let path = path.to_str().expect("a plain path");
    let mut command = bed[0].command("parvum");
    command.args(["run", "-n", "2", path, "locks"]);
    let mut run = parvum_tests::running::Running::start(&mut command);
    run.told("ready ");
    run.told("ready ");
    parvum_tests::eventually("why names both locks", || {
        let done = bed[1].command("parvum").arg("why").output().expect("parvum runs");
        let said = String::from_utf8_lossy(&done.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        said.contains("DEADLOCK: rank 0 (")
            && said.contains("holds lock 1 and wants lock 2; rank 1 (")
            && said.contains("holds lock 2 and wants lock 1. All must take them in one order.")
    });
    run.kill();
    run.end();
    bed[0].await_idle();
}

/// A host crashes: each of the others says whom it misses, also where there are several tasks on each.
#[test]
fn treadmarks_reports_lost_host() {
    let path = program("tmk_errors");
    let path = path.to_str().expect("a plain path");
    for (count, survivors) in [("3", 2), ("6", 4)] {
        let Some(bed) = Bed::of(3) else { return };
        bed.join_all();
        let mut command = bed[0].command("parvum");
        command.args(["run", "-n", count, "--on-failure", "continue", path, "die"]);
        let mut run = parvum_tests::running::Running::start(&mut command);
        run.told("dies");
        bed[2].crash();
        assert!(!run.end().success());
        let errors = run.complaints();
        assert_eq!(errors.matches("E-TMK-DEAD: node ").count(), survivors, "{errors}");
    }
}

/// Races are found between hosts as within one, and told where the command runs, also when process 0 does not.
#[test]
fn treadmarks_finds_races_between_hosts() {
    if !cfg!(target_arch = "x86_64") {
        return parvum_tests::skip(parvum_tests::Lack::Tools, "races are looked for on x86-64 alone");
    }
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let path = program("tmk_races");
    let path = path.to_str().expect("a plain path");
    let look = |at: usize, protocol: &str, count: &str, part: &str| {
        let setting = format!("TMK_PROTOCOL={protocol}");
        let words = ["env", &setting, "parvum", "run", "--races", "-n", count, path, part];
        let ended = bed[at].run(&words);
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        eprintln!("{part} at host {at}, {protocol}: {said}");
        assert!(String::from_utf8_lossy(&ended.stdout).contains("all well"), "{said}");
        (ended.status.code(), said)
    };
    for (at, protocol) in [(0, "auto"), (1, "auto"), (0, "classic"), (1, "home")] {
        for (part, what) in
            [("count", "two writes that nothing orders"), ("locks", "a write and a read that nothing")]
        {
            let (code, said) = look(at, protocol, "3", part);
            assert_eq!((code, said.matches("parvum: race ").count()), (Some(66), 1), "{said}");
            assert!(said.contains(what) && said.contains("tmk_races.c:"), "{said}");
            assert!(said.contains("parvum: 1 race, seen once"), "{said}");
        }
        let (code, said) = look(at, protocol, "4", "orderly");
        assert_eq!((code, said.contains("parvum: no races")), (Some(0), true), "{said}");
    }
    bed[0].await_idle();
}

/// A process of another host is killed, or a whole host is lost: the others have what it had.
#[test]
fn treadmarks_survives_loss_of_process_or_host() {
    let path = program("tmk_replicas");
    let path = path.to_str().expect("a plain path");
    for (hosts, crashes) in [(2, false), (3, true)] {
        let Some(bed) = Bed::of(hosts) else { return };
        bed.join_all();
        let mut command = bed[0].command("parvum");
        command.env("TMK_REPLICAS", "1");
        // In turns: the last process is the last host's.
        command.args(["run", "-n", &hosts.to_string(), "--on-failure", "continue", path, "4", "told"]);
        let mut run = parvum_tests::running::Running::start(&mut command);
        let last = hosts - 1;
        run.told(&format!("node {last}: turn 2"));
        if crashes {
            bed[last].crash();
        } else {
            let pid = bed[last].processes("tmk_replicas").into_iter().max().expect("it runs");
            parvum_tests::kill_hard(pid);
        }
        let mut well = 0;
        while well < last {
            let line = run.told("node ");
            well += usize::from(line.contains(&format!("of {last}: all well, recovered 1 times")));
        }
        run.end();
    }
}

/// Operations of groups by two levels, of ranks that lie in rows and in turns.
#[test]
fn mpi_collectives_run_on_three_hosts() {
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    let path = program("mpi_collectives");
    let path = path.to_str().expect("a plain path");
    for by in ["slot", "node"] {
        for form in [&[][..], &["begun"], &["prepared"]] {
            for ranks in ["5", "8"] {
                let run = ["parvum", "run", "-n", ranks, "--map-by", by, "-N", "3", path];
                let said = bed[0].succeed(&[&run[..], form].concat());
                let count = said.lines().filter(|line| line.ends_with(" checks")).count();
                assert_eq!(count.to_string(), ranks, "{by} {form:?}: {said}");
            }
        }
    }
    bed[0].await_idle();
}

#[test]
fn mpi_collectives_run_on_two_hosts_over_libfabric() {
    if !parvum_tests::has_libfabric() {
        return;
    }
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let path = program("mpi_collectives");
    let path = path.to_str().expect("a plain path");
    let run = ["parvum", "run", "-n", "4", "--map-by", "node", "-N", "2", path];
    // Everywhere, or between the hosts only.
    for setting in [&["PARVUM_ROUTE=fabric"][..], &[]] {
        let said = bed[0].succeed(&[&["env", "PARVUM_FABRIC=tcp"][..], setting, &run].concat());
        assert_eq!(said.lines().filter(|line| line.ends_with(" checks")).count(), 4, "{said}");
    }
    bed[0].await_idle();
}

/// Ranks by their hosts, as the launcher was told; each host counts its own.
#[test]
fn mpiexec_starts_one_world_on_two_hosts() {
    let Some(bed) = Bed::of(2) else { return };
    bed.join_all();
    let mpiexec = parvum_tests::stage::stage().bin.join("mpiexec");
    let (mpiexec, path) = (mpiexec.to_str().expect("a plain path"), program("mpi_launch"));
    let path = path.to_str().expect("a plain path");
    let hosts = format!("{}:2,{}:1", bed[0].name, bed[1].name);
    let job = [mpiexec, "-l", "-hosts", &hosts, "-n", "2", path, "who", "var", "MPI_LOCALNRANKS"];
    let further = [":", "-n", "1", path, "who", "var", "MPI_LOCALNRANKS"];
    let said = bed[0].succeed(&[&job[..], &further].concat());
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort_unstable();
    let wanted = [
        "[0] MPI_LOCALNRANKS=2",
        "[0] rank 0 of 3, program 0",
        "[1] MPI_LOCALNRANKS=2",
        "[1] rank 1 of 3, program 0",
        "[2] MPI_LOCALNRANKS=1",
        "[2] rank 2 of 3, program 1",
    ];
    assert_eq!(lines, wanted);
    bed[0].await_idle();
}

#[test]
fn container_programs_run_on_two_hosts() {
    nodes_of_two_hosts(&[("containers_hosts", "4", &["4", "2"]), ("containers_hosts", "2", &["2", "1"])]);
}

#[test]
fn container_message_crosses_each_link_once() {
    const SENT: u64 = 5 << 20;
    let Some(bed) = Bed::of(3) else { return };
    bed.join_all();
    let sent_by_all = || bed.hosts().iter().map(|host| host.sent()).sum::<u64>();
    for route in ["auto", "routed"] {
        let before = sent_by_all();
        // Five messages of 1 MiB to one container of each of two tasks on each other host, and one on the leader's.
        run(&bed, route, ("containers_hosts", "6", &["6", "1"]));
        let sent = sent_by_all() - before;
        assert!(sent > 2 * SENT, "{sent} over {route}: to both of the others");
        assert!(sent < 3 * SENT, "{sent} over {route}: once to each, and little else");
    }
    bed[0].await_idle();
}
