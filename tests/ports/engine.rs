//! Containers on Parvum's engine.

use containers::{Bounds, ContainerRepresentative, DistributedNameServer as Names, Error, MessageContainer};
use std::collections::HashMap;
use std::time::Duration;

/// One process of several that were started beside each other.
pub struct Process {
    own: HashMap<String, MessageContainer>,
    others: HashMap<String, ContainerRepresentative>,
}

impl Process {
    /// Joins the machine; the number is the first that no other process has taken.
    pub fn join(count: usize) -> (Process, usize) {
        let place = MessageContainer::new(Bounds::default()).expect("a machine");
        for me in 0..count {
            let name = format!("process {me}");
            match Names::bind(&name, &place) {
                Ok(()) => {
                    let own = HashMap::from([(name, place)]);
                    return (Process { own, others: HashMap::new() }, me);
                }
                Err(Error::NameTaken(_)) => {}
                Err(why) => panic!("{why}"),
            }
        }
        panic!("there are {count} already");
    }
}

impl super::program::Process for Process {
    fn open(&mut self, name: &str) {
        let container = MessageContainer::new(Bounds::default()).expect("made");
        Names::bind(name, &container).expect("free");
        self.own.insert(name.to_owned(), container);
    }

    fn send(&mut self, name: &str, data: &[u8]) {
        let to = self.others.entry(name.to_owned()).or_insert_with(|| {
            Names::lookup(name, Some(Duration::from_secs(20))).expect("it is bound in time")
        });
        to.send(data).expect("sent");
    }

    fn receive(&mut self, name: &str) -> Vec<u8> {
        let mut room = vec![0; 60_000];
        let received = self.own[name].receive(&mut room).expect("a message");
        room.truncate(received.length);
        room
    }
}
