//! Who is connected, and who decides that.
//!
//! Two daemons may dial each other at once, over several addresses each, and
//! one may have lost a connection that the other still holds. So that both
//! keep the same one, the host with the lower number decides for the pair
//! ([`Table::admit`] with `decide`), and the other follows.

use crate::events::Ended;
use crate::handshake::outcome::Tried;
use crate::handshake::refusal::{Refusal, RefusalKind};
use crate::link::Link;
use crate::session::Session;
use crate::{Host, Incarnation};
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Default)]
struct Peer {
    newest: Incarnation,
    /// The number of the last link that ended.
    lost: u64,
    link: Option<Rc<Link>>,
    session: Option<Rc<Session>>,
    tried: Vec<Tried>,
}

/// All peers of this host.
#[derive(Default)]
pub(crate) struct Table(HashMap<Host, Peer>);

impl Table {
    pub fn link(&self, host: Host) -> Option<&Rc<Link>> {
        self.0.get(&host)?.link.as_ref()
    }

    pub fn links(&self) -> Vec<Rc<Link>> {
        let mut links: Vec<_> = self.0.values().filter_map(|peer| peer.link.clone()).collect();
        links.sort_by_key(|link| link.host);
        links
    }

    /// What goes on with a host, connected or not.
    pub fn session(&self, host: Host) -> Option<Rc<Session>> {
        self.0.get(&host)?.session.clone().filter(|session| !session.is_over())
    }

    /// Nothing goes on with anybody.
    pub fn end_sessions(&self) {
        self.0.values().filter_map(|peer| peer.session.as_ref()).for_each(|session| session.end());
    }

    /// The last link with a host that ended.
    pub fn lost(&self, host: Host) -> u64 {
        self.0.get(&host).map_or(0, |peer| peer.lost)
    }

    pub fn tried(&self, host: Host) -> Vec<Tried> {
        self.0.get(&host).map(|peer| peer.tried.clone()).unwrap_or_default()
    }

    pub fn set_tried(&mut self, host: Host, tried: Vec<Tried>) {
        self.0.entry(host).or_default().tried = tried;
    }

    /// Older incarnations are refused from now on. A link with one is returned.
    pub fn require(&mut self, host: Host, incarnation: Incarnation) -> Option<Rc<Link>> {
        let peer = self.0.entry(host).or_default();
        peer.newest = peer.newest.max(incarnation);
        peer.session.take_if(|session| session.incarnation < incarnation).inspect(|session| session.end());
        peer.link.clone().filter(|link| link.incarnation < incarnation)
    }

    /// Refuses what was replayed, and who was replaced.
    pub fn check(&self, host: Host, incarnation: Incarnation) -> Result<(), Refusal> {
        let newest = self.0.get(&host).map_or(0, |peer| peer.newest);
        if incarnation < newest {
            let text = format!("host {host} shows incarnation {incarnation}, and {newest} is known");
            return Err(Refusal::new(RefusalKind::Stale, text));
        }
        Ok(())
    }

    /// Takes a new link in, or refuses it: who `decide`s keeps the link there
    /// is, unless the peer was started anew or has lost it. Returns the link
    /// that was replaced; its end has been told to it.
    pub fn admit(&mut self, link: &Rc<Link>, lost: u64, decide: bool) -> Result<Option<Rc<Link>>, Refusal> {
        self.check(link.host, link.incarnation)?;
        let peer = self.0.entry(link.host).or_default();
        let replaced = match &peer.link {
            None => None,
            // It knows its own end, and has only not told it yet.
            Some(old) if old.is_dead() => Some(old.clone()),
            Some(old) if old.incarnation < link.incarnation => {
                old.replace(Ended::Restarted);
                Some(old.clone())
            }
            Some(old) if decide && old.number != lost => {
                let text = format!("host {} is connected already", link.host);
                return Err(Refusal::new(RefusalKind::Duplicate, text));
            }
            Some(old) => {
                old.replace(Ended::Lost("the peer lost the connection and made a new one".into()));
                Some(old.clone())
            }
        };
        peer.newest = link.incarnation;
        peer.link = Some(link.clone());
        let known = peer.session.take().filter(|session| {
            let same = session.incarnation == link.incarnation;
            if !same {
                session.end();
            }
            same && !session.is_over()
        });
        let session = known.unwrap_or_else(|| Session::new(link.host, link.incarnation, link.number));
        link.carry(session.clone());
        peer.session = Some(session);
        Ok(replaced)
    }

    /// The link has ended.
    pub fn remove(&mut self, link: &Rc<Link>) {
        if let Some(peer) = self.0.get_mut(&link.host)
            && peer.link.as_ref().is_some_and(|held| Rc::ptr_eq(held, link))
        {
            peer.link = None;
            peer.lost = link.number;
        }
    }
}
