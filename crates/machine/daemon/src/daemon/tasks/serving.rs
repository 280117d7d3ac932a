//! Serves one control connection: reads its requests, and turns away connections that are not welcome.

use crate::daemon::shell::Shell;
use crate::daemon::tasks::client::ClientIo;
use crate::daemon::tasks::relay;
use crate::state::Input;
use parvum_socket::{Filled, Inbox, InboxError, send};
use parvum_wire::control::{Call, CodecError, ErrorKind, Failure, FromDaemon, Reply, Request, frame};
use std::os::fd::AsFd;
use std::rc::Rc;

/// Serves a connection from its first byte to its last.
pub(crate) async fn handle(shell: Rc<Shell>, client: Rc<ClientIo>) {
    let writer = tokio::task::spawn_local({
        let client = client.clone();
        async move { client.write().await }
    });
    let mut inbox = Inbox::default();
    let outcome = read(&shell, &client, &mut inbox).await;
    if let Ok(Some(data)) = outcome {
        // The answer to DataHello may still wait: frames must come after it.
        while !client.is_flushed() {
            client.room.notified().await;
        }
        writer.abort();
        let _ = writer.await;
        shell.forget(client.id);
        if let Some(client) = Rc::into_inner(client) {
            relay::relay(shell, data, client.fd, inbox.leftover()).await;
        }
        return;
    }
    if let Err(error) = outcome {
        refuse(&shell, &client, &error);
    }
    shell.closing(client.id);
    hand_on_data(&client).await;
    client.broken.set(true);
    client.room.notify_waiters();
    shell.input(Input::Closed(client.id));
    shell.forget(client.id);
    writer.abort();
}

/// What the task sent on its data connection before it went comes first.
async fn hand_on_data(client: &ClientIo) {
    let data = client.data.borrow_mut().take();
    if let Some(data) = data {
        data.finish().await;
    }
}

/// Reads requests. Returns at the end, or with the task whose data connection
/// this turned out to be.
async fn read(
    shell: &Rc<Shell>,
    client: &Rc<ClientIo>,
    inbox: &mut Inbox,
) -> Result<Option<parvum_wire::Tid>, InboxError> {
    loop {
        let mut guard = tokio::select! {
            guard = client.fd.readable() => guard?,
            _ = client.end.notified() => return Ok(None),
        };
        match inbox.fill(&client.fd)? {
            Filled::Empty => {
                guard.clear_ready();
                continue;
            }
            Filled::Closed => return Ok(None),
            Filled::Bytes(_) => {}
        }
        while let Some((call, fds)) = inbox.take::<Call>()? {
            match call.request {
                Request::DataHello { tid, secret } => {
                    if shell.tid_of(client.id).is_none() && shell.may_carry(tid, secret) {
                        client.post(&FromDaemon::Reply(call.id, Ok(Reply::Done)), Vec::new())?;
                        return Ok(Some(tid));
                    }
                    let why = Failure::new(ErrorKind::Denied, "that data connection");
                    client.post(&FromDaemon::Reply(call.id, Err(why)), Vec::new())?;
                }
                request => {
                    if matches!(request, Request::Depart) {
                        hand_on_data(client).await;
                    }
                    shell.call(client, Call { request, ..call }, fds);
                }
            }
            // A client that asks without reading the answers waits for itself.
            while client.is_full() {
                client.room.notified().await;
            }
        }
    }
}

fn refuse(shell: &Shell, client: &ClientIo, error: &InboxError) {
    let (kind, failure) = match error {
        InboxError::Codec(CodecError::Protocol { .. }) => ("another version", ErrorKind::Version),
        InboxError::System(_) => return,
        _ => ("not a request", ErrorKind::Protocol),
    };
    shell.log.refusal(kind, &format!("process {}: {error}", client.pid));
    let failure = Failure::new(failure, error.to_string());
    let _ = client.post(&FromDaemon::Reply(0, Err(failure)), Vec::new());
}

/// Tells a connection that it is not welcome, as far as its socket takes it.
pub(crate) fn turn_away(socket: impl AsFd, why: Failure) {
    if let Ok(bytes) = frame(&FromDaemon::Reply(0, Err(why)), 0) {
        let _ = send(socket, &bytes, &[]);
    }
}
