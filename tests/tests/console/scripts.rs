//! Scripts on standard input, ~/.pvmrc, and lines that make no sense.

use crate::User;
use parvum_tests::eventually;
use std::io::Write;
use std::process::Stdio;

const LAST_WORDS: &str = "\nConsole: exit handler called\npvmd still running.\n";

#[test]
fn script_echoes_lines_with_answers() {
    let user = User::new();
    let said = user.pvm(&[], "echo one\n# nothing\n\n  echo   two # and no more\necho it's\nid");
    let lines = "pvm> echo one\none\npvm> # nothing\npvm> \npvm>   echo   two # and no more\ntwo\n\
                 pvm> echo it's\nunmatched '\npvm> id\nt40001\npvm> quit\n";
    assert_eq!(said.out, format!("{lines}{LAST_WORDS}"));
    assert_eq!(said.code, Some(0));
    // The machine has stayed.
    let said = user.pvm(&[], "quit\necho not reached\n");
    assert_eq!(said.out, format!("pvmd already running.\npvm> quit\n{LAST_WORDS}"));
    assert_eq!(said.code, Some(0));
}

#[test]
fn halt_stops_the_machine() {
    let user = User::new();
    let said = user.pvm(&[], "spawn /bin/sleep 600\nhalt\necho not reached\n");
    assert!(said.out.ends_with("pvm> halt\n"), "{said:?}");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(!user.machine.dir.exists());
}

#[test]
fn halt_returns_after_the_daemon_ends() {
    for _ in 0..5 {
        let user = User::new();
        assert!(user.machine.run(&["up"]).status.success());
        let daemon = user.machine.daemon_pid();
        assert_eq!(user.pvm(&[], "halt\n").code, Some(0));
        assert!(!parvum_tests::alive(daemon), "it is still there");
    }
}

#[test]
fn parvum_console_starts_a_console() {
    let user = User::new();
    let mut command = user.call("parvum", &["console", "-nhere"]);
    let said = crate::finish(&mut command, b"conf\nhalt\n");
    assert!(said.out.contains("here    40000"), "{said:?}");
    assert_eq!(said.code, Some(0));
}

#[test]
fn pvmrc_commands_run_first() {
    let user = User::new();
    user.file(".pvmrc", "# mine\n\nalias say echo\nsay hello\nbogus\n");
    let said = user.pvm(&[], "say again\n");
    let lines = "# mine\nalias say echo\nsay hello\nhello\nbogus\nbogus: not found\npvm> say again\nagain\npvm> quit\n";
    assert_eq!(said.out, format!("{lines}{LAST_WORDS}"));
    user.file(".pvmrc", "quit\n");
    let said = user.pvm(&[], "echo not reached\n");
    assert_eq!(said.out, format!("pvmd already running.\nquit\n{LAST_WORDS}"));
}

#[test]
fn invalid_line_prints_a_hint() {
    let user = User::new();
    let said = user.pvm(&[], "spwan x\ncon\n\"\"\nsig 15\nhalt now\nfoo;\nexit\n!!\nid\n");
    assert_eq!(said.answer("spwan x"), "spwan: not found\n");
    assert_eq!(said.answer("sig 15"), "sig: wrong #args\n");
    assert_eq!(said.answer("halt now"), "halt: wrong #args\n");
    assert_eq!(said.answer("foo;"), "foo;: not found\n");
    assert_eq!(said.answer("id"), "t40001\n");
    for hint in ["`spawn`?", "`conf`?", "usage: sig number tid ...", "`quit`?", "up arrow"] {
        assert!(said.err.contains(hint), "{hint}: {said:?}");
    }
}

#[test]
fn empty_endless_and_binary_lines_are_harmless() {
    let user = User::new();
    let mut script = b"\n \t \n\0\0\0\n\xff\xfe\x80 \x1b[2J\necho \xff\0\n".to_vec();
    script.extend(vec![b'x'; 3_000_000]);
    script.extend(b"\nspawn \0\nsetenv \0 \0\nput \xff 0 1\nalias \0 \0\nps -\xff\ntrace \0\nid\n");
    let said = user.pvm(&[], script);
    assert_eq!(said.answer("id"), "t40001\n", "{said:?}");
    assert!(said.out.contains("command too long\n"), "{said:?}");
    assert!(!said.err.contains('\u{1b}'), "{said:?}");
    assert_eq!(said.code, Some(0));
}

#[test]
fn console_ends_when_reader_closes() {
    let user = User::new();
    let mut command = user.call("pvm", &[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("piped");
    // It ends although there is more to read.
    eventually("nobody reads any more", || input.write_all(b"help\n").is_err());
    assert!(child.wait().expect("it is our child").success());
}
