//! The words of message containers: waits and messages by the names that lead to a container.

use super::graph::Picture;
use parvum_task::Session;
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request, UnmatchedRow, Waits};
use std::collections::BTreeMap;

/// What leads to containers: of which task, and its number and context.
#[derive(Default)]
pub struct Names(BTreeMap<Mailbox, String>);

type Mailbox = (Tid, i32, u32);

/// The container that a task waits for or sends to.
fn place_of(task: Tid, waits: &Waits) -> Option<Mailbox> {
    let context = CONTEXT;
    match waits.mark() {
        // One that takes what other interfaces send has their words.
        "own-container" if waits.context == CONTEXT as i32 => Some((task, waits.tag, context)),
        "container-of-peer" if Tid(waits.peer).is_task() => Some((Tid(waits.peer), waits.tag, context)),
        _ => None,
    }
}

/// Of messages to containers.
const CONTEXT: u32 = 0x4348_0001;

impl Names {
    /// Asks for those that a picture needs. A part of a machine without a majority knows none.
    pub fn ask(session: &mut Session, picture: &Picture) -> Names {
        let mut places: Vec<Mailbox> = Vec::new();
        for row in picture.tasks() {
            let Some(place) = row.waits.as_ref().and_then(|waits| place_of(row.tid, waits)) else { continue };
            places.push(place);
            let unmatched = row.sight.iter().flat_map(|sight| &sight.unmatched);
            let to_containers = unmatched.filter(|message| message.context == CONTEXT);
            places.extend(to_containers.map(|message| (row.tid, message.tag, CONTEXT)));
        }
        if places.is_empty() {
            return Names::default();
        }
        match session.request(Request::NamesOf { places: places.clone() }) {
            Ok(Reply::NamesOf(names)) => Names(places.into_iter().zip(names).collect()),
            _ => Names::default(),
        }
    }

    fn say(&self, place: Mailbox) -> String {
        match self.0.get(&place).filter(|name| !name.is_empty()) {
            Some(name) => format!("\"{name}\""),
            None => format!("number {}", place.1),
        }
    }

    /// What a task does, if it is in a call of containers.
    pub fn doing(&self, task: Tid, waits: &Waits) -> Option<String> {
        let place = place_of(task, waits)?;
        let it = self.say(place);
        Some(match (waits.mark(), waits.kind_name()) {
            ("own-container", _) => format!("waits for a message to its container {it}"),
            (_, "send") => format!("waits to send until container {it} of {} has room", place.0),
            _ => format!("waits in a call for the answer of container {it} of {}", place.0),
        })
    }

    /// What has come and is for another container, while the task waits at one.
    pub fn near(&self, task: Tid, waits: &Waits, message: &UnmatchedRow) -> Option<String> {
        place_of(task, waits).filter(|place| message.context == CONTEXT && place.1 != message.tag)?;
        let it = self.say((task, message.tag, CONTEXT));
        Some(format!("{} B from {} for its container {it}", message.length, message.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::graph::tests::word;
    use parvum_wire::calls::Sort;

    const ME: Tid = Tid(0x40001);

    const RECEIVE: (u32, &str) = (1, "own-container");
    const SEND: (u32, &str) = (2, "container-of-peer");
    const CALL: (u32, &str) = (1, "container-of-peer");

    fn waits((kind, mark): (u32, &str), peer: i32, tag: i32, context: u32) -> Waits {
        let interface = "containers".into();
        let context = context as i32;
        Waits {
            kind,
            interface,
            word: Some(word(Sort::Call, mark, "a call")),
            closed: false,
            peer,
            tag,
            context,
            for_ms: 0,
            since: 1,
            ends: false,
            barrier: None,
            threads: false,
            operation: None,
        }
    }

    #[test]
    fn wait_shows_name_of_its_container() {
        let names = Names(BTreeMap::from([
            ((ME, 3, CONTEXT), "inbox".to_owned()),
            ((Tid(0x40002), 5, CONTEXT), "server".to_owned()),
        ]));
        let says = |call, peer, tag, context| names.doing(ME, &waits(call, peer, tag, context));
        assert!(
            says(RECEIVE, -1, 3, CONTEXT).is_some_and(|said| said.ends_with("to its container \"inbox\""))
        );
        assert!(says(RECEIVE, -1, 4, CONTEXT).is_some_and(|said| said.ends_with("container number 4")));
        assert_eq!(says(RECEIVE, -1, 4, 0), None, "a tag of other interfaces");
        assert!(
            says(SEND, 0x40002, 5, CONTEXT)
                .is_some_and(|said| said.contains("container \"server\" of t40002 has room"))
        );
        assert!(
            says(CALL, 0x40002, 5, CONTEXT + 1)
                .is_some_and(|said| said.contains("answer of container \"server\""))
        );
        assert_eq!(says((1, ""), -1, 3, CONTEXT), None);
        let message = UnmatchedRow { from: Tid(0x40002), tag: 9, context: CONTEXT, length: 4, order: 1 };
        let near = names.near(ME, &waits(RECEIVE, -1, 3, CONTEXT), &message);
        assert_eq!(near.as_deref(), Some("4 B from t40002 for its container number 9"));
    }
}
