//! Sentences for people: what a task waits for, and how a message differs from that.

use parvum_wire::Tid;
use parvum_wire::control::{UnmatchedRow, Waits};

/// The work of a task, in the words of its interface.
pub fn doing(waits: &Waits) -> String {
    let call = format!("{} {}", waits.interface, waits.name());
    let tag = if waits.tag < 0 { "any tag".into() } else { format!("tag {}", waits.tag) };
    match waits.kind_name() {
        "receive" | "probe" => format!("waits in {call} for a message from {}, {tag}", peer(waits)),
        // Such a send ends with its receive; others wait only if too much lies unreceived already.
        "send" if waits.mark() == "until-received" => {
            format!("waits in {call}: {} has posted no receive for it, {tag}", peer(waits))
        }
        "send" => format!("waits in {call}: {} has much that it has not received", peer(waits)),
        "barrier" => format!("waits in {call}"),
        _ if waits.barrier.is_some() => format!("waits in {call}"),
        "exit" => "has ended its work and waits until what it sent is received".into(),
        "join" => format!("joins {}: waits until its daemon, or {0} itself, has answered", peer(waits)),
        "machine" => "waits for an answer of the daemon".into(),
        _ => format!("waits in {call} for {}, {tag}", peer(waits)),
    }
}

fn peer(waits: &Waits) -> String {
    if Tid(waits.peer).is_task() { Tid(waits.peer).to_string() } else { "anyone".into() }
}

/// How nearly a message is what is waited for. `None` when it has nothing in common with that.
pub fn near(waits: &Waits, message: &UnmatchedRow) -> Option<String> {
    let from = waits.peer < 0 || waits.peer == message.from.0;
    let tag = waits.tag < 0 || waits.tag == message.tag;
    let context = waits.context < 0 || waits.context as u32 == message.context;
    let kind = format!("{} B from {} with tag {}", message.length, message.from, message.tag);
    match (from, tag, context) {
        (true, false, _) => Some(format!("{kind}: the sender is right, the tag is not {}", waits.tag)),
        (false, true, _) => Some(format!("{kind}: the tag is right, the sender is not {}", Tid(waits.peer))),
        (true, true, false) => Some(format!(
            "{kind}: sender and tag are right, it is in context {} and not {}",
            message.context, waits.context
        )),
        // All three are right for what a program's own match function has refused.
        (true, true, true) => {
            Some(format!("{kind}: it fits, and the program's match function has not taken it"))
        }
        (false, false, _) => None,
    }
}

/// How long something has lasted.
pub fn lasted(milliseconds: u64) -> String {
    match milliseconds {
        0..60_000 => format!("{:.1} s", milliseconds as f64 / 1000.0),
        60_000..7_200_000 => format!("{} min", milliseconds / 60_000),
        _ => format!("{} h", milliseconds / 3_600_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_match_report_names_the_difference() {
        let waits = Waits {
            kind: 1,
            interface: "pvm".into(),
            word: None,
            closed: false,
            peer: 0x40001,
            tag: 7,
            context: 0,
            for_ms: 0,
            since: 1,
            ends: false,
            barrier: None,
            threads: false,
            operation: None,
        };
        let message =
            |from, tag, context| UnmatchedRow { from: Tid(from), tag, context, length: 5, order: 1 };
        let says = |message: UnmatchedRow| near(&waits, &message).unwrap_or_default();
        assert!(says(message(0x40001, 8, 0)).contains("the tag is not 7"));
        assert!(says(message(0x40002, 7, 0)).contains("the sender is not t40001"));
        assert!(says(message(0x40001, 7, 3)).contains("context 3 and not 0"));
        assert_eq!(near(&waits, &message(0x40002, 8, 0)), None);
        assert!(doing(&waits).contains("from t40001, tag 7"));
        assert!(doing(&Waits { kind: 9, ..waits }).contains("joins t40001"));
    }
}
