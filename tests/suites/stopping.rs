//! SIGINT, SIGTERM and SIGHUP: the test that runs is ended, then Parvum's machine, then this program.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on these signals only ask for the end. A second one ends the program at once.
pub fn heed() -> Result<(), String> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the first signal finds nothing asked for yet.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, ASKED.clone())
            .and_then(|_| signal_hook::flag::register(signal, ASKED.clone()))
            .map_err(|why| format!("signal {signal}: {why}"))?;
    }
    Ok(())
}

/// Whether this program shall end.
pub fn is_asked() -> bool {
    // Relaxed: nothing but the word itself is looked at.
    ASKED.load(Ordering::Relaxed)
}

/// An error if this program shall end.
pub fn refuse() -> Result<(), String> {
    if is_asked() { Err("interrupted".to_owned()) } else { Ok(()) }
}

/// Waits for the end of a process that leads its own group. The group is killed after so long, or when this program shall end.
pub fn await_end(child: &mut Child, patience: Option<Duration>) -> Option<ExitStatus> {
    let begun = Instant::now();
    loop {
        let is_late = is_asked() || patience.is_some_and(|patience| begun.elapsed() >= patience);
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if !is_late => std::thread::sleep(Duration::from_millis(1)),
            _ => {
                if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
                    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                }
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn signal_ends_running_test_and_not_the_runner() {
        heed().expect("handled");
        assert!(refuse().is_ok());
        let mut child = Command::new("sleep").arg("1000").process_group(0).spawn().expect("sleep runs");
        signal_hook::low_level::raise(SIGTERM).expect("sent");
        assert_eq!(await_end(&mut child, None), None);
        assert!(child.try_wait().is_ok_and(|ended| ended.is_some()) && refuse().is_err());
    }
}
