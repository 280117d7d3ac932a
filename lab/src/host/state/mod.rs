//! The state of the machine: how fast it is at this moment, and whether others use it.
//!
//! A virtual machine changes its speed when its host moves its cores, lends them to others or lowers their frequency. Launches in
//! different states are launches on different machines: only launches in equal states are compared.

mod hop;
mod probes;

pub use probes::{Probe, Ticks};

use serde::{Deserialize, Serialize};

/// The machine at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Nanoseconds of a cache line from one core to another one. One core has none, and so have cores that did not run at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_ns: Option<f64>,
    /// Nanoseconds of a multiplication that waits for the one before: the frequency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<f64>,
    /// Gigabytes that are copied in a second, in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_gb_s: Option<f64>,
    /// Processes and threads of others that were ready to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<u32>,
}

/// Factors between values of different states. The frequency is measured best.
const LINE: f64 = 1.5;
const STEP: f64 = 1.2;
const COPY: f64 = 3.0;

impl State {
    /// Whether two looks saw the same machine. Values that one look lacks are ignored.
    pub fn is_like(&self, other: &State) -> bool {
        let near = |one: Option<f64>, two: Option<f64>, most: f64| match (one, two) {
            (Some(one), Some(two)) => one <= most * two && two <= most * one,
            _ => true,
        };
        near(self.line_ns, other.line_ns, LINE)
            && near(self.step_ns, other.step_ns, STEP)
            && near(self.copy_gb_s, other.copy_gb_s, COPY)
    }

    /// Whether others were about to run.
    pub fn is_shared(&self) -> bool {
        self.others.is_some_and(|others| others > 0)
    }
}

/// A host that takes so large a share of the time of the cores disturbs whatever runs.
const STOLEN: f64 = 0.05;

/// Whether runs with these looks before and after them may be compared: all looks saw the same machine, and nobody else used it.
pub fn is_steady(looks: &[State], stolen: f64) -> bool {
    stolen <= STOLEN
        && looks.iter().all(|one| !one.is_shared() && looks.iter().all(|other| one.is_like(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: State =
        State { line_ns: Some(60.0), step_ns: Some(1.0), copy_gb_s: Some(8.0), others: Some(0) };

    #[test]
    fn states_differ_if_one_value_does() {
        assert!(QUIET.is_like(&State { line_ns: Some(80.0), copy_gb_s: Some(6.0), ..QUIET }));
        assert!(QUIET.is_like(&State::default()), "unknown values are ignored");
        for other in [
            State { line_ns: Some(130.0), ..QUIET },
            State { step_ns: Some(1.3), ..QUIET },
            State { copy_gb_s: Some(2.0), ..QUIET },
        ] {
            assert!(!QUIET.is_like(&other) && !other.is_like(&QUIET), "{other:?}");
        }
    }

    #[test]
    fn steady_machine_is_alone_and_stays_in_one_state() {
        let slow = State { line_ns: Some(130.0), ..QUIET };
        assert!(is_steady(&[QUIET, QUIET], 0.0) && is_steady(&[slow, slow], 0.01) && is_steady(&[], 0.0));
        assert!(!is_steady(&[QUIET, slow], 0.0) && !is_steady(&[QUIET, QUIET], 0.1));
        assert!(!is_steady(&[QUIET, State { others: Some(2), ..QUIET }], 0.0));
    }

    #[test]
    fn machine_with_ready_processes_of_others_is_shared() {
        assert!(State { others: Some(1), ..QUIET }.is_shared());
        assert!(!QUIET.is_shared() && !State::default().is_shared());
    }
}
