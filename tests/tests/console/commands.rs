//! Each command against a machine that is up.

use crate::{Live, User};
use parvum_tests::eventually;
use std::os::unix::fs::PermissionsExt;

#[test]
fn conf_lists_hosts_as_pvm_does() {
    let user = User::new();
    let said = user.pvm(&["-nhere"], "conf\nmstat here nowhere\n");
    let rows = "1 host, 1 data format\n                    HOST     DTID     ARCH   SPEED       DSIG\n                    here    40000";
    assert!(said.answer("conf").starts_with(rows), "{said:?}");
    assert!(said.answer("conf").ends_with("1000 0x00408c41\n"), "{said:?}");
    let states = "                    here  ok\n                 nowhere  No such host\n";
    assert_eq!(said.answer("mstat here nowhere"), states);
}

#[test]
fn invalid_hosts_are_neither_added_nor_deleted() {
    let user = User::new();
    let said = user.pvm(&["-nhere"], "add here no-such-host.invalid\ndelete here elsewhere\n");
    let answer = said.answer("add here no-such-host.invalid");
    // Without ssh on this host nobody can say that there is no such host.
    let why = if answer.contains("No such host") { "No such host" } else { "Can't start pvmd" };
    let rows = format!(
        "0 successful\n                    HOST     DTID\n                    here Duplicate host\n    no-such-host.invalid {why}\n"
    );
    assert_eq!(answer, rows);
    let rows = "0 successful\n                    HOST  STATUS\n                    here  Bad parameter\n               elsewhere  No such host\n";
    assert_eq!(said.answer("delete here elsewhere"), rows);
    assert!(
        (said.err.contains("E-NOHOST") || said.err.contains("E-CANTSTART"))
            && said.err.contains("`halt` stops it"),
        "{said:?}"
    );
}

#[test]
fn help_describes_every_command() {
    let user = User::new();
    let said = user.pvm(&[], "help\nhelp spawn\nhelp nosuch\n");
    let list = said.answer("help");
    for name in ["add ", "getopt ", "names ", "put ", "unexport ", "version "] {
        assert!(list.lines().any(|line| line.trim_start().starts_with(name)), "{name}: {list}");
    }
    assert!(said.answer("help spawn").contains("->>file"), "{said:?}");
    assert_eq!(said.answer("help nosuch"), "");
    assert!(said.err.contains("nosuch"), "{said:?}");
}

#[test]
fn aliases_are_defined_listed_and_removed() {
    let user = User::new();
    let script = "alias say echo 'a  b' c\nsay d\nalias\nunalias say\nsay\nalias a b\nalias b a\na\n";
    let said = user.pvm(&[], script);
    assert_eq!(said.answer("say d"), "a  b c d\n");
    assert_eq!(said.answer("alias"), "say\techo a  b c\n");
    assert_eq!(said.answer("say"), "say: not found\n");
    assert_eq!(said.answer("a"), "alias loop\n");
}

#[test]
fn tasks_are_listed_signalled_and_ended() {
    let user = User::new();
    let mut console = Live::start(&mut user.call("pvm", &["-nhere"]));
    console.tell("spawn -2 /bin/sleep 600");
    let said = console.until("t40003\n");
    assert!(said.ends_with("2 successful\nt40002\nt40003\n"), "{said}");
    console.tell("ps -axl");
    let rows = console.until("t40003\n".trim_start_matches('t').trim_end());
    assert!(rows.contains("                    HOST      TID     PTID    PID   FLAG 0x COMMAND\n"), "{rows}");
    assert!(rows.contains("                    here   (cons)        - "), "{rows}");
    assert!(rows.contains("                    here    40002 ffffffdd "), "{rows}");
    console.tell("ps -n nosuch");
    console.until("ps: wrong #args");
    console.tell("ps -nnosuch");
    console.until("unknown host nosuch\n");
    console.tell("ps -z");
    console.until("unknown flag -z\n");
    console.tell("pstat t40002 40099 x");
    console.until("t   40002  run\nt   40099  No such task\nt       0  Bad parameter\n");
    console.tell("kill t40002");
    console.tell("sig 9 40003");
    eventually("both are gone", || user.machine.tasks().len() == 1);
    console.tell("ps");
    console.until("COMMAND\npvm> ");
    assert!(console.end().success());
}

#[test]
fn kill_option_ends_the_children() {
    let user = User::new();
    // The puppet's child belongs to it.
    let mut console = Live::start(&mut user.call("pvm", &[]));
    let puppet = env!("CARGO_BIN_EXE_puppet");
    console.tell(format!("spawn -> {puppet} spawn-and-end /bin/sleep 600"));
    console.until("[1:t40002] EOF\n");
    console.tell("kill -c t40002");
    let said = console.until("[1] finished\n");
    assert!(said.contains("[1:t40003] EOF\n"), "{said}");
    console.tell("kill -c");
    console.until("kill: wrong #args\n");
    assert!(console.end().success());
}

#[test]
fn reset_ends_all_tasks_except_consoles_and_persistent_ones() {
    let user = User::new();
    let mut other = Live::start(&mut user.call("pvm", &[]));
    other.tell("spawn -3 /bin/sleep 600");
    other.until("t40004\n");
    let said = user.pvm(&[], "reset\nreset foo\n");
    assert_eq!(said.answer("reset foo"), "\"foo\" arg to reset not valid\n");
    eventually("the tasks are gone", || user.machine.tasks().len() == 1);
    other.tell("id");
    other.until("t40001\n");
    other.tell("setopt PvmNoReset 0");
    other.until("PvmNoReset Changed from 1 to 0\n");
    user.pvm(&[], "reset\n");
    assert_eq!(other.end().code(), Some(143), "it did not want to stay any more");
}

#[test]
fn mailbox_is_filled_listed_and_cleared_by_console() {
    let user = User::new();
    let script =
        "put mine 0 1\nput many 3 1\nput many 3 2\nput stays 1 7\nnames m\nput x\nput x 9 1\nput x 1 y\n";
    let said = user.pvm(&[], script);
    let owner = "owner=0x40001/262145";
    let many = format!("<many>:\n\tindex=0 {owner} flags=0x3\n\tindex=1 {owner} flags=0x3\n\n");
    // In the order of the classes' first entries, as PVM lists them.
    assert_eq!(said.answer("names m"), format!("<mine>:\n\tindex=0 {owner} flags=0x0\n\n{many}"));
    assert!(said.err.contains("sum of 1, 2 and 4") && said.err.contains("a number is wanted"), "{said:?}");
    // The console is gone: what persists belongs to nobody.
    let said = user.pvm(
        &[],
        "reset info many 1\nnames m\nreset info nosuch\nreset info stays\nnames s\nreset\nnames many\n",
    );
    assert_eq!(said.answer("names m"), "<many>:\n\tindex=0 owner=0x0/0 flags=0x3\n\n");
    assert_eq!(said.answer("names s"), "");
    assert_eq!(said.answer("names many"), "", "reset deletes what is left");
}

#[test]
fn options_are_shown_and_set() {
    let user = User::new();
    let script = "getopt PvmRoute\nsetopt PvmRoute 3\ngetopt\nsetopt PvmRoute 9\nsetopt route 1\ntrace buf 100\ngetopt PvmTraceBuffer\n";
    let said = user.pvm(&[], script);
    assert_eq!(said.answer("getopt PvmRoute"), "PvmRoute Currently Set to 1\n");
    assert_eq!(said.answer("setopt PvmRoute 3"), "PvmRoute Changed from 1 to 3\n");
    let all = said.answer("getopt");
    assert_eq!(all.lines().count(), 23);
    assert!(all.starts_with("PvmRoute Currently Set to 3\nPvmDebugMask Currently Set to 0\n"), "{all}");
    assert_eq!(said.answer("setopt PvmRoute 9"), "");
    assert_eq!(said.answer("setopt route 1"), "PVM Option \"route\" Unknown.\n");
    assert_eq!(said.answer("getopt PvmTraceBuffer"), "PvmTraceBuffer Currently Set to 100\n");
    assert!(
        said.err.contains("PvmRoute may be 1 to 3") && said.err.contains("did you mean PvmRoute?"),
        "{said:?}"
    );
}

#[test]
fn exported_variables_reach_tasks() {
    let user = User::new();
    let mut console = Live::start(user.call("pvm", &[]).env("INHERITED", "too").env("HIDDEN", "no"));
    for line in ["setenv WORD two words", "export WORD INHERITED", "setenv OTHER no"] {
        console.tell(line);
    }
    console.tell("spawn -> /bin/sh -c 'echo $WORD,$INHERITED,$OTHER'");
    console.until("] two words,too,\n");
    console.tell("unexport INHERITED");
    console.tell("export");
    console.until("PVM_EXPORT=WORD\n");
    console.tell("setenv WORD");
    console.until("two words\n");
    console.tell("setenv A=B c");
    assert!(console.end().success());
}

#[test]
fn spawn_finds_programs_in_path_of_the_console() {
    let user = User::new();
    // The daemon starts before the folder is in PATH.
    assert!(user.machine.run(&["up"]).status.success());
    for (folder, variable) in [("first", "PVM_PATH"), ("second", "PATH")] {
        let folder = user.home.join(folder);
        std::fs::create_dir(&folder).expect("made");
        let program = folder.join(format!("from-{variable}"));
        std::fs::write(&program, "#!/bin/sh\necho found\n").expect("written");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("ours");
        let path = std::env::var("PATH").expect("a path");
        let mut call = user.call("pvm", &[]);
        let mut console = Live::start(call.env(variable, format!("{}:{path}", folder.display())));
        console.tell(format!("spawn -> from-{variable}"));
        console.until("] found\n");
        assert!(console.end().success());
    }
}

#[test]
fn trace_mask_is_kept_and_shown() {
    let user = User::new();
    let script = "trace - *\ntrace pvm_send\ntrace + recv\ntrace\ntrace nosuch\ntrace opt time\ntrace opt\ntrace opt x\n";
    let said = user.pvm(&[], script);
    let table = said.answer("trace");
    assert_eq!(table.lines().count(), 26);
    let marked: Vec<_> = table.split('*').skip(1).map(|rest| rest.split_whitespace().next()).collect();
    assert_eq!(marked, [Some("recv"), Some("send")]);
    assert_eq!(said.answer("trace nosuch"), "no such event \"nosuch\"\n");
    assert_eq!(said.answer("trace opt"), "\nTrace Options set to \"time\"\n\n");
    assert_eq!(said.answer("trace opt x"), "\nError:  Unknown Trace Option \"x\"\n\n");
}

#[test]
fn version_prints_that_of_pvm() {
    assert_eq!(User::new().answer("version"), "3.4.6\n");
}
