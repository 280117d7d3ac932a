//! The same script to Debian's PVM 3.4.6 and to ours: what scripts read is the same.

use crate::{Live, Said, User, finish};
use parvum_tests::{Lack, PATIENCE, eventually, skip};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The real machine, in a folder of its own.
struct Real {
    folder: PathBuf,
    daemon: Child,
}

impl Real {
    /// None when PVM is not installed or does not come up; the reason is printed.
    fn start(user: &User) -> Option<Real> {
        if !Path::new("/usr/bin/pvm").exists() || !Path::new("/usr/bin/pvmd").exists() {
            skip(Lack::Peers, "PVM is not installed (`./x peers` installs it)");
            return None;
        }
        let folder = user.home.join("real");
        std::fs::create_dir(&folder).expect("a folder");
        let mut command = Real::command(user, &folder, "/usr/bin/pvmd");
        // The name is the address: PVM then needs no name service.
        let daemon = command.arg("-n127.0.0.1").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut real = Real { daemon: daemon.expect("it starts"), folder };
        let until = Instant::now() + PATIENCE;
        while !real.serves() {
            if real.daemon.try_wait().expect("it is our child").is_some() || Instant::now() > until {
                skip(Lack::Peers, "PVM's daemon does not come up on this host");
                return None;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Some(real)
    }

    fn command(user: &User, folder: &Path, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &user.home).current_dir(&user.home);
        command.env("PVM_ROOT", "/usr/lib/pvm3").env("PVM_ALLOW_ROOT", "1").env("PVM_TMP", folder);
        let name = folder.to_string_lossy().replace('/', "-");
        command.env("PVM_VMID", name).env("PVM_ARCH", "LINUX64").stdin(Stdio::null());
        command
    }

    fn console(&self, user: &User) -> Command {
        // It keeps back what goes into a pipe.
        let mut command = Real::command(user, &self.folder, "/usr/bin/stdbuf");
        command.args(["-oL", "/usr/bin/pvm"]);
        command
    }

    /// The file exists a moment before the daemon's address is in it.
    fn serves(&self) -> bool {
        let files = std::fs::read_dir(&self.folder).expect("our folder").flatten();
        let socket = |name: &str| name.starts_with("pvmd.");
        let mut sockets = files.filter(|file| socket(&file.file_name().to_string_lossy()));
        sockets.any(|file| file.metadata().is_ok_and(|data| data.len() > 0))
    }
}

impl Drop for Real {
    /// SIGTERM lets it remove its files; it has no tasks left.
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.daemon);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let until = Instant::now() + PATIENCE;
        while matches!(self.daemon.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ = self.daemon.kill();
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// Orders whose whole answers are to be the same. PVM's console loses what follows a comment or an alias loop
/// in one portion of its input, so they stand last, and no script is longer than such a portion.
const SAME: [&str; 3] = [
    "conf\nid\nps\nps -a\nps -x\nps -an\nps -z\nps -h zz\nfoo\nversion\nversion x\njobs\njobs -l\nalias\nalias a b c\nalias\na\n\
     echo a   b  \"c  d\" 'x  y' $HOME \"$HOME\" a\\ b x\necho one ; echo two\necho a#b\necho \"a\\\\b\" a\\\\b a\\nb\n\
     echo \"\"x \"\" y\necho a\"b c\"d e\nunalias a\nalias e echo\nalias e2 e x\ne2 y\n\
     alias echo echo wrapped\necho hi\nunalias echo\nnames\nmstat 127.0.0.1 nowhere\nmstat\npstat\npstat 4ffff\n\
     kill\nsig 9\nid x\n\"\"\nid;\nhelp a b\nexport\nexport FOO\nexport FOO BAR\nexport\nunexport FOO\nexport\nexport FOO FOO\n\
     setenv V bar baz\nsetenv V\nalias l1 l2\nalias l2 l1\nl1\n",
    "setopt\ngetopt\ngetopt route\ngetopt PvmFragSize\nsetopt PvmRoute 3\nsetopt PvmFragSize 8000\ngetopt PvmFragSize\n\
     setopt foo 3\ngetopt a b\nput\nput a b\nput a 0 1\nput p 5 2\nnames\nput many 2 1\nput many 2 2\nnames m\nnames x y\n\
     reset foo\nreset info a b c\nreset info\nnames p\nsetopt PvmNoReset 0\nnames\nsetopt PvmNoReset 1\nadd\ndelete\n\
     delete nowhere\ndelete 127.0.0.1\nunalias\nhalt x\nquit x\nspawn ->\nspawn\n",
    "trace\ntrace - *\ntrace + send pvm_recv\ntrace\ntrace xpvm\ntrace\ntrace nosuch\ntrace - nosuch send\ntrace\ntrace buf\n\
     trace buf 1000\ntrace buf\ntrace opt\ntrace opt time\ntrace opt\ntrace opt foo\ntrace *\ntrace\nspawn nosuch\n\
     spawn -2 nosuch\nspawn -nowhere /bin/true\n",
];

#[test]
fn answers_equal_those_of_real_console() {
    for script in SAME {
        let user = User::new();
        let Some(real) = Real::start(&user) else { return };
        let theirs = finish(&mut real.console(&user), script.as_bytes());
        drop(real);
        // Its machine is up as well.
        user.pvm(&["-n127.0.0.1"], "");
        eventually("the first console is gone", || user.machine.tasks().is_empty());
        let ours = user.pvm(&[], script);
        compare(script, &theirs, &ours);
    }
}

fn compare(script: &str, theirs: &Said, ours: &Said) {
    // Ours is the second console of its machine.
    let tids = |said: &Said, me: i32| {
        let (hex, decimal) = (format!("{me:x}"), me.to_string());
        said.out.replace(&hex, "ME").replace(&decimal, "ME")
    };
    let (theirs, ours) = (tids(theirs, 0x40001), tids(ours, 0x40002));
    // The mailbox is listed by name here, and in the order of putting there.
    let entries = |text: &str| {
        let mut blocks: Vec<_> = text.split("\n\n").map(str::trim).map(str::to_owned).collect();
        blocks.sort_unstable();
        blocks
    };
    for line in script.lines() {
        let shown = format!("pvm> {line}\n");
        let answers = |text: &str| -> Vec<String> {
            let parts = text.split(&shown).skip(1);
            parts.map(|rest| rest.split("pvm> ").next().unwrap_or_default().to_owned()).collect()
        };
        let (theirs, ours) = (answers(&theirs), answers(&ours));
        assert!(!theirs.is_empty(), "PVM was not asked {line:?}");
        assert_eq!(theirs.len(), ours.len(), "{line}");
        for (theirs, ours) in theirs.iter().zip(&ours) {
            if line.starts_with("names") {
                assert_eq!(entries(theirs), entries(ours), "{line}; left: PVM, right: Parvum");
            } else {
                assert_eq!(theirs, ours, "{line}; left: PVM, right: Parvum");
            }
        }
    }
    let last = |text: &str| text[text.rfind("pvm> ").expect("a prompt")..].to_owned();
    assert_eq!(last(&theirs), last(&ours));
    assert!(theirs.starts_with("pvmd already running.\n") && ours.starts_with("pvmd already running.\n"));
}

#[test]
fn jobs_print_as_in_real_console() {
    let user = User::new();
    let Some(real) = Real::start(&user) else { return };
    let talk = |console: &mut Command| {
        let mut console = Live::start(console);
        let mut said = String::new();
        for (order, end) in [
            ("spawn -> /bin/echo hello   world", "[1] finished\n"),
            ("spawn -:/usr -> /bin/pwd", "[2] finished\n"),
            ("spawn ->spoken /bin/echo to a file", "[3] finished\n"),
            ("spawn -LINUX64 -> /bin/sh -c 'echo one; echo two'", "[4] finished\n"),
            ("spawn /bin/true", "t40006\n"),
        ] {
            console.tell(order);
            said += &console.until(end);
        }
        assert!(console.end().success());
        let file = user.home.join("spoken");
        said += &std::fs::read_to_string(&file).expect("the job has written");
        std::fs::remove_file(&file).expect("it is ours");
        said
    };
    let theirs = talk(&mut real.console(&user));
    drop(real);
    let ours = talk(&mut user.call("pvm", &[]));
    // Where a prompt stands among what jobs say is chance, and PVM shows an order now and then only in part.
    let read_by_scripts = |said: &str| -> Vec<String> {
        let lines = said.lines().map(|line| line.trim_start_matches("pvm> ").to_owned());
        let told = |line: &String| line.starts_with(['[', 't']) || line.ends_with("successful");
        lines.filter(told).collect()
    };
    let (theirs, ours) = (read_by_scripts(&theirs), read_by_scripts(&ours));
    assert!(theirs.len() > 20, "{theirs:?}");
    assert_eq!(theirs, ours, "left: PVM, right: Parvum");
}
