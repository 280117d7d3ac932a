//! Programs that carry PVM's own library in themselves.
//!
//! Such a program (linked with `libpvm3.a`) looks for PVM's daemon and never joins Parvum's machine; whoever spawned it
//! may wait for it without end. Most programs join in their first call. So the daemon looks at the program of a process
//! that has not joined after a while, or that has ended without, and at each program only once.

use crate::daemon::processes::programs::Begun;
use crate::daemon::shell::Shell;
use parvum_wire::Tid;
use parvum_wire::control::Event;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// A program of PVM joins in its first call, most do so at once. The look at a program that has ended takes no longer.
const TO_JOIN: Duration = Duration::from_secs(2);
/// PVM's library has this in its messages; Parvum's has not, and programs that share a library have none of its texts.
/// It is put together when it is needed: a program with this text in one piece would be taken for such a one.
const MARK: [&[u8]; 2] = [b"pvmbea", b"task()"];
/// So much of a program is looked through.
const LONGEST: u64 = 256 * 1024 * 1024;
/// So many programs are remembered.
const MOST: usize = 1024;

/// A process has begun: it is looked at if it does not join in time.
pub(crate) fn begins(shell: &Rc<Shell>, tid: Tid, pid: u32) {
    let path = PathBuf::from(format!("/proc/{pid}/exe"));
    if let Ok(program) = std::fs::read_link(&path) {
        let begun = Begun { program, looked_at: OnceCell::new() };
        shell.programs.borrow_mut().of_processes.insert(tid, Rc::new(begun));
    }
    let shell = shell.clone();
    tokio::task::spawn_local(async move {
        tokio::time::sleep(TO_JOIN).await;
        let begun = shell.programs.borrow().of_processes.get(&tid).cloned();
        if let (Some(begun), Some(parent)) = (begun, shell.unjoined_child(tid)) {
            // The process may have become another program since.
            begun.looked_at.get_or_init(|| look(&shell, tid, parent, &path)).await;
        }
    });
}

/// A process has ended. Its program is looked at if the process has never joined, and only once. The parent learns what was
/// found before it learns of the end, also if the process ends during the look.
pub(crate) async fn ends(shell: &Rc<Shell>, tid: Tid) {
    let begun = shell.programs.borrow_mut().of_processes.remove(&tid);
    if let (Some(begun), Some(parent)) = (begun, shell.unjoined_child(tid)) {
        let look = begun.looked_at.get_or_init(|| look(shell, tid, parent, &begun.program));
        // A disk that does not answer must not hold up the news of the end.
        let _ = tokio::time::timeout(TO_JOIN, look).await;
    }
}

/// Tells the parent and the log if the program carries PVM's library.
async fn look(shell: &Rc<Shell>, tid: Tid, parent: Option<Tid>, path: &Path) {
    let Ok(file) = File::open(path) else { return };
    let Ok(meta) = file.metadata() else { return };
    let key = (meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec());
    let known = shell.programs.borrow().known.get(&key).copied();
    let kind = match known {
        Some(kind) => kind,
        None => {
            // Reading may wait for a disk: the daemon does not.
            let kind = tokio::task::spawn_blocking(move || carries(file)).await.unwrap_or_default();
            let known = &mut shell.programs.borrow_mut().known;
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(key, kind);
            kind
        }
    };
    let Some(kind) = kind else { return };
    let path = std::fs::read_link(path).unwrap_or_else(|_| path.to_path_buf());
    let text = format!(
        "E-STATIC: task {tid} does not join: {} contains PVM's own library ({kind}), which talks to PVM's daemon only; \
         help: link the program with the shared library (cc ... -lpvm3, without -static and libpvm3.a)",
        path.display()
    );
    shell.log.line(&text);
    if let Some(parent) = parent {
        shell.send_event(parent, Event::Remark { text });
    }
}

/// How the program has the library, if it carries PVM's.
fn carries(file: File) -> Option<&'static str> {
    let mut program = Vec::new();
    file.take(LONGEST).read_to_end(&mut program).ok()?;
    let found = holds(&program, &MARK.concat());
    found.then(|| if is_static(&program) { "linked statically" } else { "libpvm3.a" })
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// Whether a program has no interpreter that would load shared libraries.
fn is_static(program: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    let number = |at: usize, bytes: usize| {
        let field = program.get(at..at + bytes)?;
        Some(field.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)) as usize)
    };
    // The header of 64-bit ELF: where the table of segments is, how long a row, how many.
    let rows = || Some((number(32, 8)?, number(54, 2)?, number(56, 2)?));
    let Some((table, length, count)) = rows().filter(|_| program.starts_with(b"\x7fELF\x02\x01")) else {
        return false;
    };
    let kind = |row: usize| number(table.checked_add(row * length)?, 4);
    (0..count).all(|row| kind(row) != Some(INTERPRETER as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_check_refuses_dynamic_program_and_other_files() {
        let own = std::fs::read("/proc/self/exe").expect("a test is a program");
        assert!(!is_static(&own));
        assert!(!is_static(b"#!/bin/sh\n") && !is_static(b"\x7fELF\x02\x01"));
        let mut none = vec![0; 64];
        none[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert!(is_static(&none), "no segments, no interpreter");
    }

    #[test]
    fn mark_is_found_at_any_position() {
        let mark = MARK.concat();
        let around = [b"xx", &mark[..], b"yy"].concat();
        assert!(holds(&around, &mark) && !holds(&mark[1..], &mark) && !holds(b"", &mark));
    }
}
