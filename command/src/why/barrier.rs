//! Who has come to a barrier and who is missing: the tasks say where they wait, the daemon who belongs to the group.

use super::graph::Picture;
use parvum_control::GROUP_BYTES;
use parvum_wire::Tid;
use parvum_wire::control::{BarrierRow, GroupRow};

/// The number of missing tasks that are named.
const NAMED: usize = 8;

/// Whether a page that had room for the beginning of a long name means this group.
fn is_meant(shown: &str, name: &str) -> bool {
    // A character is not cut in two.
    name == shown || (shown.len() + 3 >= GROUP_BYTES && name.starts_with(shown))
}

/// What is known of the barrier that a task waits in. Without `groups` the daemon has not answered.
pub fn gathered(picture: &Picture, groups: Option<&[GroupRow]>, barrier: &BarrierRow) -> String {
    let BarrierRow { group: shown, count } = barrier;
    let waits_there = |tid: &Tid| {
        let waits = picture.task(*tid).and_then(|row| row.waits.as_ref());
        waits.and_then(|waits| waits.barrier.as_ref()).is_some_and(|other| other.group == *shown)
    };
    let mut came: Vec<Tid> = picture.tasks().map(|row| row.tid).filter(waits_there).collect();
    let Some(groups) = groups else {
        return format!("group {shown}: {} have come; the daemon did not say who is missing", came.len());
    };
    let Some(group) = groups.iter().find(|row| is_meant(shown, &row.name)) else {
        return format!("group {shown}: {} have come, and the group is no more", came.len());
    };
    let is_member = |tid: &Tid| group.members.iter().any(|(_, member)| member == tid);
    came.retain(is_member);
    // Who asked for all members asked for those of the first one's time.
    let awaited = match usize::try_from(*count) {
        Ok(count) => count,
        Err(_) => group.awaited.map_or(group.members.len(), |count| count as usize),
    };
    let members = group.members.iter().map(|(_, tid)| *tid);
    let missing: Vec<Tid> = members.filter(|tid| !came.contains(tid)).collect();
    let mut text = format!("group {shown}: {} of {awaited} have come", came.len());
    let still = awaited.saturating_sub(came.len());
    if still > 0 && !missing.is_empty() {
        let any = if still < missing.len() { format!("{still} of ") } else { String::new() };
        let named: Vec<_> = missing.iter().take(NAMED).map(Tid::to_string).collect();
        let more = missing.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &format!(", missing: {any}{}{more}", named.join(", "));
    }
    let strangers = still.saturating_sub(missing.len());
    if strangers > 0 {
        text += &format!(", {strangers} more must join the group");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::graph::tests::{self, tid};
    use parvum_wire::control::TaskRow;

    fn row(local: u32, barrier: Option<BarrierRow>) -> TaskRow {
        let mut row = tests::row(local, barrier.as_ref().map(|_| (5, -1, -1)));
        if let Some(waits) = &mut row.waits {
            waits.barrier = barrier;
        }
        row
    }

    /// Of five tasks the first two wait in the barrier, the third in another's.
    fn told(count: i32, members: u32, shown: &str, name: &str) -> String {
        let here = BarrierRow { group: shown.into(), count };
        let other = BarrierRow { group: "others".into(), count };
        let tasks = vec![
            row(1, Some(here.clone())),
            row(2, Some(here.clone())),
            row(3, Some(other)),
            row(4, None),
            row(5, None),
        ];
        let members = (1..=members).map(|local| (local - 1, tid(local))).collect();
        let group = GroupRow { name: name.into(), members, awaited: None, waiting: 0, lost: None };
        gathered(&Picture::of(tasks), Some(&[group]), &here)
    }

    #[test]
    fn barrier_report_names_missing_tasks() {
        let ends = |text: String, with: &str| assert!(text.ends_with(with), "{text}");
        ends(told(-1, 4, "g", "g"), "group g: 2 of 4 have come, missing: t40003, t40004");
        ends(told(3, 4, "g", "g"), "2 of 3 have come, missing: 1 of t40003, t40004");
        ends(told(6, 3, "g", "g"), "2 of 6 have come, missing: t40003, 3 more must join the group");
        ends(told(-1, 2, "g", "g"), "2 of 2 have come");
        ends(told(-1, 12, "g", "g"), "t4000a and 2 more");
    }

    #[test]
    fn barrier_report_handles_unknown_group_or_count() {
        let long = "x".repeat(GROUP_BYTES);
        assert!(told(-1, 3, &long, &(long.clone() + "tail")).contains("2 of 3"));
        assert!(told(-1, 3, "g", "g2").ends_with("2 have come, and the group is no more"));
        let here = BarrierRow { group: "g".into(), count: -1 };
        let alone = Picture::of(vec![row(1, Some(here.clone()))]);
        assert!(
            gathered(&alone, None, &here).ends_with("1 have come; the daemon did not say who is missing")
        );
    }
}
