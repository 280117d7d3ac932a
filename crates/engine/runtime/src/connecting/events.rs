//! Carries out events of the daemon.

use crate::connecting::connections::Expected;
use crate::errors::remember;
use crate::runtime::Runtime;
use crate::status::remarks;
use parvum_engine::Envelope;
use parvum_transport::Route;
use parvum_wire::control::{Event, Notice, OutputNews};
use parvum_wire::{Tid, encoding};
use rustix::fd::OwnedFd;

/// The cookie of notices that the runtime asked for; no interface has such a tag.
pub(crate) const FOR_OURSELVES: u64 = u64::MAX;

impl Runtime {
    /// Reads the events of the daemon, and carries them out.
    pub(crate) fn attend(&mut self) {
        self.waits.waiters.stirred = true;
        loop {
            if let Err(why) = self.identity.session.poll() {
                remember(&why);
            }
            while let Some(arrival) = self.identity.session.next_event() {
                self.carry_out(arrival.event, arrival.fds);
            }
            self.identity.session.keep_spares();
            if !self.identity.session.has_more() {
                break;
            }
        }
        self.map_anew();
        remarks::say_kept();
    }

    fn carry_out(&mut self, event: Event, fds: Vec<OwnedFd>) {
        match event {
            Event::Offered { from, route, .. } => self.take_offer(from, route, fds),
            Event::Listen { route, .. } => self.listen_at(route, fds),
            Event::Expect { from, route, token, encrypted } => {
                if let Some(route) = Route::of_number(route) {
                    self.expect(Expected { from, route, token, encrypted });
                }
            }
            Event::NotConnected { from, route } => {
                if let Some(route) = Route::of_number(route) {
                    self.not_joined_by(from, route);
                }
            }
            Event::OpenData => {
                if let Err(why) = self.open_routed() {
                    remember(&why);
                }
            }
            Event::Gone { tid, routed } => self.see_off(tid, routed),
            // Its earlier messages may still be on their way, and come first.
            Event::Undeliverable { to } if self.engine.is_leaving(to) => {}
            Event::Undeliverable { to } => self.task_gone(to),
            Event::Notified { cookie, about, tid } => self.deliver_notice(cookie, about, tid),
            Event::Manager(manager) => self.services.manager = manager,
            Event::Tracer(mail) => self.services.tracer = Some(mail.0),
            Event::Word { context, tag, data } => self.inject_from_daemon(context, tag, &data.0),
            Event::TaskOutput { tid, context, tag, news } => self.note_output(tid, context, tag, news),
            // Once: the daemon sends each remark once.
            Event::Remark { text } => remarks::say(text),
            // For runners, and for interfaces that catch output.
            Event::Started { .. } | Event::Output { .. } | Event::Exited { .. } => {}
        }
    }

    /// The daemon has made a listener for this task. An earlier listener for the same route is no longer the daemon's.
    fn listen_at(&mut self, route: u8, fds: Vec<OwnedFd>) {
        let Some((route, listener)) = Route::of_number(route).zip(fds.into_iter().next()) else { return };
        self.connections.listeners.retain(|(known, _)| *known != route);
        self.connections.listeners.push((route, listener));
    }

    /// A notice becomes a message, as PVM lays it out; the cookie holds context and tag.
    fn deliver_notice(&mut self, cookie: u64, about: Notice, tid: Tid) {
        if cookie == FOR_OURSELVES {
            // One whose last words are still on their way is let go when they have come.
            if !self.engine.is_leaving(tid) {
                self.task_gone(tid);
            }
            return;
        }
        if about == Notice::TaskExit && self.engine.is_leaving(tid) {
            return self.connections.notices.push((tid, cookie));
        }
        self.inject_notice(cookie, about, tid);
    }

    fn inject_notice(&mut self, cookie: u64, about: Notice, tid: Tid) {
        let id = tid.0.to_be_bytes();
        let words = match about {
            Notice::TaskExit | Notice::HostDelete => id.to_vec(),
            Notice::HostAdd => [1i32.to_be_bytes(), id].concat(),
        };
        self.inject_from_daemon((cookie >> 32) as u32, cookie as u32 as i32, &words);
    }

    /// Delivers the notices of tasks that are gone and whose last words have all come.
    #[cold]
    pub(crate) fn deliver_kept_notices(&mut self) {
        if self.engine.has_leaving() {
            self.let_go();
        }
        let engine = &self.engine;
        let is_due = |(about, _): &mut (Tid, u64)| !engine.is_leaving(*about);
        let due: Vec<_> = self.connections.notices.extract_if(.., is_due).collect();
        for (about, cookie) in due {
            self.inject_notice(cookie, Notice::TaskExit, about);
        }
    }

    /// An event of a task's output becomes a message in PVM's form: the task, then the number of bytes and the bytes.
    /// At the end the number is 0, at the beginning -2 and -1.
    fn note_output(&mut self, tid: Tid, context: u32, tag: i32, news: OutputNews) {
        let number = |number: i32| number.to_be_bytes();
        let begins = |kind: i32, parent: Option<Tid>| {
            [number(tid.0), number(kind), number(parent.map_or(0, |parent| parent.0))].concat()
        };
        let words = match news {
            OutputNews::Expected(parent) => begins(-2, parent),
            OutputNews::Begun(parent) => begins(-1, parent),
            OutputNews::Wrote(data) => {
                let mut words = [number(tid.0), number(data.0.len() as i32)].concat();
                words.extend_from_slice(&data.0);
                words.resize(words.len().next_multiple_of(4), 0);
                words
            }
            OutputNews::Ended => [number(tid.0), number(0)].concat(),
        };
        self.inject_from_daemon(context, tag, &words);
    }

    /// An event of the daemon, as a message in XDR.
    fn inject_from_daemon(&mut self, context: u32, tag: i32, words: &[u8]) {
        let envelope = Envelope {
            from: Tid::LOCAL_DAEMON,
            tag,
            context,
            meta: encoding::XDR,
            length: words.len() as u64,
            order: None,
        };
        self.engine.inject(envelope, words);
    }
}
