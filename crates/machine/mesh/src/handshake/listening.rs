//! Takes in the handshakes of peers that dial this host.

use crate::handshake::greet::{self, NoLink};
use crate::inner::Inner;
use crate::socket::plain;
use quinn::Incoming;
use std::rc::Rc;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Handshakes at once before an address must prove that it is its own.
const TRUSTING: usize = 32;
/// Handshakes at once at all.
const MAX_HANDSHAKES: usize = 1024;

/// Takes in handshakes until the endpoint is closed.
pub(crate) async fn listen(mesh: Rc<Inner>) {
    let mut handshakes = JoinSet::new();
    loop {
        tokio::select! {
            incoming = mesh.endpoint.accept() => {
                let Some(incoming) = incoming else { return };
                if handshakes.len() >= MAX_HANDSHAKES {
                    incoming.refuse();
                } else if handshakes.len() >= TRUSTING && incoming.may_retry() {
                    // Under a flood, only who can be answered costs us a handshake.
                    let _ = incoming.retry();
                } else {
                    let (inner, limit) = (mesh.clone(), mesh.settings.deadline);
                    handshakes.spawn_local(async move { timeout(limit, receive(inner, incoming)).await });
                }
            }
            Some(_) = handshakes.join_next() => {}
        }
    }
}

async fn receive(mesh: Rc<Inner>, incoming: Incoming) {
    let from = plain(incoming.remote_address());
    let heard = async {
        let connecting = incoming.accept().map_err(|error| greet::from_quic(&error))?;
        let connection = connecting.await.map_err(|error| greet::from_quic(&error))?;
        let greeting = timeout(mesh.settings.detect, greet::listen(&mesh, connection));
        greeting.await.unwrap_or_else(|_| Err(NoLink::Broken("the greeting was not continued".into())))
    };
    if let Err(NoLink::Refused(why)) = heard.await {
        mesh.report(from, why);
    }
}
