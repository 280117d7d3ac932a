//! What can go wrong, and how often it did.

use std::collections::BTreeMap;

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// A message that never came.
    Lost,
    /// A message that came again.
    Doubled,
    /// A message that came after a later one.
    Reordered,
    /// A message that is not what was sent.
    Changed,
    /// A message for a task that another got, who has the same tid.
    Misdelivered,
    /// A call refused to send to a task that lives.
    Refused,
    /// A notice that was asked for and never came.
    NoticeMissing,
    /// A notice that came again, or of what nobody asked for.
    NoticeDoubled,
    /// A notice of the end of what is still there.
    NoticeFalse,
    /// A unit of work that was never done.
    UnitLost,
    /// A unit of work that was accepted twice.
    UnitDoubled,
    /// A unit of work with a wrong result.
    UnitWrong,
    /// A member left a barrier before another that lives had come.
    BarrierEarly,
    /// A task ended that nobody killed.
    TaskDied,
    /// A task still waits for something.
    TaskHung,
    /// A host is out of the machine, or its daemon ended, and nothing was done to it.
    HostLost,
    /// Hosts do not agree which of them are in the machine.
    Disagreement,
    /// A host that is gone is still in the machine.
    HostKept,
    /// A host that is whole could not be added again.
    NotAdded,
    /// A process, file or segment that is left after the end.
    Left,
}

impl Damage {
    /// All of them.
    pub const ALL: [Damage; 20] = [
        Damage::Lost,
        Damage::Doubled,
        Damage::Reordered,
        Damage::Changed,
        Damage::Misdelivered,
        Damage::Refused,
        Damage::NoticeMissing,
        Damage::NoticeDoubled,
        Damage::NoticeFalse,
        Damage::UnitLost,
        Damage::UnitDoubled,
        Damage::UnitWrong,
        Damage::BarrierEarly,
        Damage::TaskDied,
        Damage::TaskHung,
        Damage::HostLost,
        Damage::Disagreement,
        Damage::HostKept,
        Damage::NotAdded,
        Damage::Left,
    ];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Damage::Lost => "messages lost",
            Damage::Doubled => "messages doubled",
            Damage::Reordered => "messages out of order",
            Damage::Changed => "messages changed",
            Damage::Misdelivered => "messages at another task",
            Damage::Refused => "messages refused",
            Damage::NoticeMissing => "notices missing",
            Damage::NoticeDoubled => "notices doubled",
            Damage::NoticeFalse => "notices false",
            Damage::UnitLost => "units of work lost",
            Damage::UnitDoubled => "units of work doubled",
            Damage::UnitWrong => "units of work wrong",
            Damage::BarrierEarly => "barriers left early",
            Damage::TaskDied => "tasks that died unasked",
            Damage::TaskHung => "tasks that hang",
            Damage::HostLost => "hosts lost unasked",
            Damage::Disagreement => "disagreements on hosts",
            Damage::HostKept => "hosts kept that are gone",
            Damage::NotAdded => "hosts not added again",
            Damage::Left => "things left behind",
        }
    }
}

/// So many of a kind are described, the others counted only.
const DESCRIBED: usize = 8;

/// All damage of a run.
#[derive(Debug, Default)]
pub struct Damages {
    found: BTreeMap<Damage, (usize, Vec<String>)>,
}

impl Damages {
    /// Something has gone wrong; the words say where.
    pub fn add(&mut self, damage: Damage, words: impl Into<String>) {
        let (count, described) = self.found.entry(damage).or_default();
        *count += 1;
        if described.len() < DESCRIBED {
            described.push(words.into());
        }
    }

    /// How often.
    pub fn count(&self, damage: Damage) -> usize {
        self.found.get(&damage).map_or(0, |(count, _)| *count)
    }

    /// Whether all is well.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All that is described.
    pub fn lines(&self) -> impl Iterator<Item = (Damage, &str)> {
        self.found.iter().flat_map(|(damage, (_, lines))| lines.iter().map(|line| (*damage, line.as_str())))
    }

    /// What another has found as well.
    pub fn append(&mut self, other: Damages) {
        for (damage, (count, mut lines)) in other.found {
            let (sum, described) = self.found.entry(damage).or_default();
            *sum += count;
            described.append(&mut lines);
        }
    }
}
