//! What a run of chaos tells.

use super::damage::{Damage, Damages};
use super::ledger::{Entry, Ledger};
use super::plan::Kind;
use std::collections::BTreeMap;
use std::fmt;

/// What happened, and what went wrong.
#[derive(Debug)]
pub struct Report {
    /// The seed of the plan.
    pub seed: u64,
    /// How often each fault was done.
    pub faults: BTreeMap<Kind, usize>,
    /// What the jobs did: what, and how often.
    pub traffic: Vec<(&'static str, usize)>,
    /// What went wrong.
    pub damages: Damages,
}

/// What the jobs did.
pub(super) fn traffic(ledger: &Ledger) -> Vec<(&'static str, usize)> {
    let count = |is: &dyn Fn(&Entry) -> bool| {
        ledger.records.iter().flat_map(|record| &record.entries).filter(|entry| is(entry)).count()
    };
    vec![
        ("tasks", ledger.records.len()),
        ("tasks that lived to the end", ledger.records.iter().filter(|record| record.is_settled()).count()),
        ("messages sent", count(&|entry| matches!(entry, Entry::Sent { .. }))),
        ("messages received", count(&|entry| matches!(entry, Entry::Got { .. }))),
        ("sends refused", count(&|entry| matches!(entry, Entry::Unsent { .. }))),
        ("units of work done", count(&|entry| matches!(entry, Entry::Accept(_)))),
        ("barriers left", count(&|entry| matches!(entry, Entry::Leave(..)))),
        ("barriers broken", count(&|entry| matches!(entry, Entry::Broken))),
        ("notices asked for", count(&|entry| matches!(entry, Entry::Asked(..)))),
        ("notices told", count(&|entry| matches!(entry, Entry::Told(..)))),
    ]
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |f: &mut fmt::Formatter<'_>, name: &str, count: usize| writeln!(f, "  {name:32}{count:>9}");
        writeln!(f, "seed {}\n\nfaults", self.seed)?;
        for kind in Kind::ALL {
            row(f, kind.name(), self.faults.get(&kind).copied().unwrap_or(0))?;
        }
        writeln!(f, "\njobs")?;
        for (name, count) in &self.traffic {
            row(f, name, *count)?;
        }
        writeln!(f, "\ndamage")?;
        for damage in Damage::ALL {
            row(f, damage.name(), self.damages.count(damage))?;
        }
        if !self.damages.is_empty() {
            writeln!(f)?;
        }
        for (damage, words) in self.damages.lines() {
            writeln!(f, "{}: {words}", damage.name())?;
        }
        Ok(())
    }
}
