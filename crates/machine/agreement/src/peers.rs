//! Sends messages, and waits for answers.

use crate::messages::{Answer, Envelope, Message, Question, cut, join};
use crate::{Keeper, Member};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use tokio::sync::oneshot;

pub(crate) struct Peers {
    pub me: Member,
    pub keeper: Rc<dyn Keeper>,
    /// Hosts that do not answer.
    lost: RefCell<BTreeSet<u32>>,
    asked: Cell<u64>,
    waiting: RefCell<BTreeMap<u64, (u32, oneshot::Sender<Answer>)>>,
    /// Beginnings of long messages, by host.
    begun: RefCell<HashMap<u32, Vec<u8>>>,
}

impl Peers {
    pub fn new(me: Member, keeper: Rc<dyn Keeper>) -> Peers {
        Peers {
            me,
            keeper,
            lost: Default::default(),
            asked: Cell::new(0),
            waiting: Default::default(),
            begun: Default::default(),
        }
    }

    pub fn reaches(&self, host: u32) -> bool {
        !self.lost.borrow().contains(&host)
    }

    pub fn has_lost_any(&self) -> bool {
        !self.lost.borrow().is_empty()
    }

    pub fn mark_lost(&self, host: u32) {
        self.lost.borrow_mut().insert(host);
        self.begun.borrow_mut().remove(&host);
        // Whoever waits for an answer of it hears that there is none.
        self.waiting.borrow_mut().retain(|_, (asked, _)| *asked != host);
    }

    pub fn mark_found(&self, host: u32) {
        self.lost.borrow_mut().remove(&host);
        self.begun.borrow_mut().remove(&host);
    }

    pub fn write(&self, to: Member, message: Message) {
        let envelope = Envelope { from: self.me.life, to: to.life, message };
        // Plain data of ours always has a form in bytes.
        let bytes = postcard::to_stdvec(&envelope).unwrap_or_default();
        for piece in cut(&bytes) {
            self.keeper.send(to.host, piece);
        }
    }

    /// Asks, and waits for the answer; none when the host is lost.
    pub async fn ask(&self, to: Member, question: Question) -> Option<Answer> {
        if !self.reaches(to.host) {
            return None;
        }
        self.asked.set(self.asked.get() + 1);
        let number = self.asked.get();
        let (answer, answered) = oneshot::channel();
        self.waiting.borrow_mut().insert(number, (to.host, answer));
        self.write(to, Message::Question(number, question));
        let unasked = Unasked(self, number);
        let answer = answered.await.ok();
        drop(unasked);
        answer
    }

    pub fn answered(&self, number: u64, answer: Answer) {
        if let Some((_, waiting)) = self.waiting.borrow_mut().remove(&number) {
            // Nobody may wait any more.
            let _ = waiting.send(answer);
        }
    }

    /// A piece of a message has come; the message when it is whole, and for this life.
    pub fn receive(&self, host: u32, piece: &[u8]) -> Option<Envelope> {
        let whole = join(self.begun.borrow_mut().entry(host).or_default(), piece)?;
        let envelope: Envelope = postcard::from_bytes(&whole).ok()?;
        (envelope.to == self.me.life).then_some(envelope)
    }
}

/// Forgets a question whose asker waits no more.
struct Unasked<'a>(&'a Peers, u64);

impl Drop for Unasked<'_> {
    fn drop(&mut self) {
        self.0.waiting.borrow_mut().remove(&self.1);
    }
}
