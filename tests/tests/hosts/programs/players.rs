//! Resource managers, taskers and hosters: what they are sent is compared with what PVM 3.4.6 sends, and a hoster adds hosts.

use parvum_tests::bed::{Bed, Rival, profile};
use parvum_tests::running::Running;
use parvum_tests::stage::program;
use std::process::Command;

/// What the player and the one that asks have printed. Some messages come at any time: the player's lines are sorted.
#[derive(Debug, PartialEq, Eq)]
struct Printed {
    player: Vec<String>,
    asker: Vec<String>,
}

/// Has a part played and asked for, by commands of one system.
fn play(part: &str, hosts: &[&str], mut command: impl FnMut() -> Command) -> Printed {
    let mut player = Running::start(command().arg(part));
    player.told("ready 0");
    let asker = Running::start(command().args(["asks", part]).args(hosts));
    let lines = |said: String| said.lines().map(str::to_owned).collect::<Vec<_>>();
    let asker = lines(asker.finish(String::new));
    let mut player = lines(player.finish(String::new));
    player.sort();
    Printed { player, asker }
}

/// The same on Parvum.
fn play_here(bed: &Bed, part: &str, hosts: &[&str]) -> Printed {
    let door = format!("{} rsh {}", profile().join("hosts").display(), bed.root().display());
    let printed = play(part, hosts, || {
        let mut command = bed[0].program("players");
        command.env("DOOR", &door).env("PVM_VMID", "bed");
        command
    });
    bed[0].succeed(&["parvum", "down"]);
    printed
}

/// The same on PVM, if it is installed.
fn play_there(bed: &Bed, part: &str, hosts: &[&str]) -> Option<Printed> {
    // A part that was played stays taken on PVM.
    let pvm = Rival::over_first(bed)?;
    let players = program("players");
    let players = players.to_str().expect("a plain name");
    let printed = play(part, hosts, || {
        let mut command = pvm.command(&bed[0], players);
        command.env("DOOR", bed.root().join("pvm-rsh"));
        command
    });
    pvm.kill();
    Some(printed)
}

fn compare(part: &str, hosts: &[&str]) -> Option<Printed> {
    let bed = Bed::of(2)?;
    bed[0].set("PVM_VMID", "bed");
    let here = play_here(&bed, part, hosts);
    assert!(here.player.len() > 1, "{here:?}");
    assert!(here.player.iter().all(|line| !line.contains("AND MORE")), "{here:?}");
    if let Some(there) = play_there(&bed, part, hosts) {
        assert_eq!(here, there, "left: Parvum, right: PVM 3.4.6");
    }
    Some(here)
}

#[test]
fn manager_receives_messages_that_pvm_sends() {
    let Some(printed) = compare("manager", &["beta"]) else { return };
    let kinds =
        ["SPAWN", "EXECACK", "CONFIG", "TASK ", "ADDHOST", "ADDACK", "DELHOST", "NOTIFY", "TASKX", "HOSTX"];
    for kind in kinds {
        let begins = format!("SM_{kind}");
        assert!(printed.player.iter().any(|line| line.starts_with(&begins)), "{begins}: {printed:?}");
    }
}

#[test]
fn tasker_receives_messages_that_pvm_sends() {
    compare("tasker", &[]);
}

#[test]
fn hoster_receives_messages_that_pvm_sends_and_starts_host() {
    let Some(printed) = compare("hoster", &["beta lo=guest"]) else { return };
    assert_eq!(printed.asker, ["added 1 yes hosts 2"]);
}

#[test]
fn hosts_that_hoster_cannot_start_are_refused() {
    let Some(bed) = Bed::of(2) else { return };
    bed[0].succeed(&["parvum", "up"]);
    // It has no door: each command fails.
    let mut hoster = Running::start(bed[0].program("players").arg("hoster").env("DOOR", "/bin/false"));
    hoster.told("ready 0");
    let refused = bed[0].parvum(&["add", "beta"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && why.contains("E-CANTSTART") && why.contains("PvmCantStart"),
        "{why}"
    );
    hoster.kill();
    hoster.end();
    parvum_tests::eventually("the daemon starts hosts itself again", || {
        bed[0].parvum(&["add", "beta"]).status.success()
    });
    bed[1].await_hosts(&["alpha", "beta"]);
}
