//! `--races`: what process 0 of the job says that it has found, in the machine's mailbox, for it may be on another host; and what
//! becomes of it in the end.

use crate::complain;
use parvum_task::Session;
use parvum_wire::control::{Reply, Request};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that tells the job's processes.
pub const VARIABLE: &str = "TMK_RACES";
/// The command's code when the program has ended well and races were found: ThreadSanitizer's.
const FOUND: u8 = 66;

/// Under which it is said: this command's alone, among those of all hosts.
static NAME: LazyLock<String> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("parvum-races-{:x}-{:x}", std::process::id(), since.as_nanos())
});

/// What the variable says.
pub fn told() -> String {
    format!("mailbox:{}", *NAME)
}

/// Says what was found; the code that the command ends with.
pub fn end(session: &mut Session, code: u8) -> u8 {
    let said = take_out(session);
    for line in said.lines() {
        eprintln!("parvum: {line}");
    }
    let found = said.lines().any(|line| line.starts_with("race "));
    if said.is_empty() && code == 0 {
        complain(
            &"E-RACES: process 0 has said nothing of races: they are looked for in programs of TreadMarks' (treadmarks(7))",
        );
    }
    if code == 0 && found { FOUND } else { code }
}

fn take_out(session: &mut Session) -> String {
    let mut said = String::new();
    let mut next = 0;
    loop {
        let request =
            Request::MailGet { name: NAME.clone(), index: next, first: true, take: true, wait: false };
        let Ok(Reply::Mail { index, data, .. }) = session.request(request) else { return said };
        said.push_str(&data.lossy());
        next = index + 1;
    }
}
