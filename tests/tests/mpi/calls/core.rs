//! Messages, communicators and collective operations; and what the survivors of a death do.

use parvum_tests::TestMachine;
use parvum_tests::stage::program;

/// What the ranks of a program say, in order; it must end well, but for those that are `killed`.
pub(crate) fn said(ranks: u32, name: &str, killed: bool) -> Vec<String> {
    said_with(ranks, name, &[], killed)
}

/// The same of ranks of which some kill themselves.
pub(crate) fn said_killed(ranks: u32, name: &str, word: &str) -> Vec<String> {
    said_by(ranks, name, &[], &[word], true)
}

pub(crate) fn said_with(ranks: u32, name: &str, its: &[&str], killed: bool) -> Vec<String> {
    said_by(ranks, name, &[], its, killed)
}

fn said_by(ranks: u32, name: &str, of_run: &[&str], its: &[&str], killed: bool) -> Vec<String> {
    let machine = TestMachine::up();
    let program = program(name);
    let (ranks, file) = (ranks.to_string(), program.to_str().expect("a plain path"));
    let mut arguments = vec!["run", "-n", &ranks];
    arguments.extend(of_run);
    if killed {
        arguments.extend(["--on-failure", "continue"]);
    }
    arguments.push(file);
    arguments.extend(its);
    // What a program writes is in a folder of its own, whoever else runs the same.
    let mut command = machine.command(&arguments);
    machine.as_user(&mut command);
    let done = command.current_dir(&machine.dir).output().expect("parvum runs");
    assert_eq!(done.status.success(), !killed, "{done:?}");
    let mut lines: Vec<String> = String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn mpi_checks_pass_with_2_3_and_8_ranks() {
    for ranks in [2, 3, 8] {
        let lines = said(ranks, "mpi_checks", false);
        assert_eq!(lines.len(), ranks as usize, "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with("checks")), "{lines:?}");
    }
}

#[test]
fn short_receives_posted_together_match_their_messages() {
    for ranks in [2, 3, 8] {
        let lines = said(ranks, "mpi_bursts", false);
        assert_eq!(lines.len(), ranks as usize, "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with("checks")), "{lines:?}");
    }
}

#[test]
fn mpi_messages_and_requests_pass_checks() {
    for ranks in [2, 8] {
        let lines = said(ranks, "mpi_messages", false);
        assert_eq!(lines.len(), ranks as usize, "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with("checks")), "{lines:?}");
    }
}

#[test]
fn noncontiguous_layouts_arrive_equal_over_any_route() {
    for (ranks, set) in [
        (2, "PARVUM_ROUTE=shm"),
        (4, "PARVUM_SINGLE_COPY=off"),
        (2, "PARVUM_ROUTE=tcp"),
        (2, "PARVUM_ROUTE=routed"),
    ] {
        let lines = said_by(ranks, "mpi_scattered", &["-x", set], &[], false);
        assert_eq!(lines.len(), ranks as usize, "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with("checks")), "{lines:?}");
    }
}

#[test]
fn scattered_receive_fails_when_sender_dies() {
    for set in ["PARVUM_ROUTE=shm", "PARVUM_ROUTE=tcp"] {
        assert_eq!(said_by(2, "mpi_scattered", &["-x", set], &["dies"], true), ["rank 0: told"]);
    }
}

#[test]
fn mpi_communicators_and_collectives_pass_checks() {
    for ranks in [2, 3, 8] {
        let lines = said(ranks, "mpi_groups", false);
        assert_eq!(lines.len(), ranks as usize, "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with("checks")), "{lines:?}");
    }
}

#[test]
fn segment_collectives_equal_message_collectives() {
    for ranks in [2, 3, 8] {
        let lines = said(ranks, "mpi_segments", false);
        let expected: Vec<_> = (0..ranks).map(|rank| format!("rank {rank}: 1 checks")).collect();
        assert_eq!(lines, expected);
    }
}

#[test]
fn ranks_read_memory_of_peers_if_allowed() {
    for ranks in [2, 3, 8] {
        for (single_copy, does) in [("on", "read"), ("off", "not read")] {
            let expected: Vec<_> = (0..ranks).map(|rank| format!("rank {rank}: {does}")).collect();
            let set = format!("PARVUM_SINGLE_COPY={single_copy}");
            assert_eq!(said_by(ranks, "mixed_exposed", &["-x", &set], &[], false), expected);
        }
    }
}

#[test]
fn death_or_revocation_reaches_all_ranks_in_segment() {
    for ranks in [2, 4, 8] {
        let left = |who: &dyn Fn(u32) -> bool, count: u32| -> Vec<String> {
            let ranks_left = (0..ranks).filter(|rank| who(*rank));
            ranks_left.map(|rank| format!("rank {rank}: {count} of {ranks} left")).collect()
        };
        assert_eq!(said_with(ranks, "mpi_segments", &["dies"], true), left(&|rank| rank != 1, ranks - 1));
        assert_eq!(said_with(ranks, "mpi_segments", &["revokes"], false), left(&|_| true, ranks));
        // Who broadcasts waits for nobody: one of those who listen ends, then the one who broadcasts.
        for root in ["0", "1"] {
            let dies = said_with(ranks, "mpi_segments", &["dies", root], true);
            assert_eq!(dies, left(&|rank| rank != 1, ranks - 1));
            assert_eq!(said_with(ranks, "mpi_segments", &["revokes", root], false), left(&|_| true, ranks));
        }
    }
}

#[test]
fn spawning_ranks_have_separate_children() {
    let lines = said(2, "mpi_spawn", false);
    let of = |end: &str| lines.iter().filter(|line| line.ends_with(end)).count();
    assert_eq!((of("its children are gone"), of("has met its parent")), (2, 4), "{lines:?}");
}

#[test]
fn jobs_connect_by_published_name() {
    use parvum_tests::running::Running;
    let machine = TestMachine::up();
    let job = |word: &str| {
        let mut command = machine.command(&["run", "-n", "2"]);
        machine.as_user(&mut command);
        Running::start(command.arg(program("mpi_spawn")).arg(word))
    };
    let mut server = job("serve");
    server.told("published");
    let caller = job("call");
    let (said, answer) = (caller.succeed(&machine), server.succeed(&machine));
    assert!(said.contains("sum 6 of 4") && said.contains("the name is gone"), "{said}");
    assert!(answer.contains("sum 6 of 4"), "{answer}");
}

#[test]
fn survivors_agree_and_continue() {
    let expected: Vec<String> = [0, 1, 3, 4]
        .iter()
        .enumerate()
        .map(|(place, rank)| format!("rank {rank}: agreed, {place} of 4, sum 8"))
        .collect();
    // By either binary interface.
    for name in ["mpi_survivors", "mpi_survivors_abi"] {
        assert_eq!(said(5, name, true), expected, "{name}");
    }
}

#[test]
fn death_during_shrink_is_found_by_next_shrink() {
    let expected: Vec<String> = [0, 1, 4]
        .iter()
        .enumerate()
        .map(|(place, rank)| format!("rank {rank}: agreed, {place} of 3, sum 5"))
        .collect();
    for name in ["mpi_survivors", "mpi_survivors_abi"] {
        assert_eq!(said_with(5, name, &["inside"], true), expected, "{name}");
    }
}

#[test]
fn acknowledged_death_allows_wildcard_receive_until_revoke() {
    let expected = [0, 1, 3, 4].map(|rank| format!("rank {rank}: as promised"));
    for name in ["mpi_survivors", "mpi_survivors_abi"] {
        assert_eq!(said_with(5, name, &["acknowledge"], true), expected, "{name}");
    }
}
