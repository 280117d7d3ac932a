//! What both ends say to each other before anything else counts.
//!
//! ```text
//! dialler                                  listener
//!    Hello (nonce a)          ------------>
//!                             <------------   Hello (nonce b, echo a)
//!    confirmation (echo b)    ------------>
//! ```
//!
//! Each Hello must agree with the certificate that was shown. The echoes prove
//! that both were said now and to each other.

use crate::handshake::refusal::{Refusal, RefusalKind};
use crate::handshake::tls;
use crate::inner::Inner;
use crate::keys::HostName;
use crate::link::Link;
use crate::serving::run;
use crate::wire::hello::{Body, Hello, MAX_HELLO, Nonce, link_number};
use crate::{Host, keys};
use quinn::{Connection, RecvStream, SendStream};
use rustls::pki_types::CertificateDer;
use std::rc::Rc;
use tokio::task::spawn_local;

/// Why there is no link.
#[derive(Debug)]
pub(crate) enum NoLink {
    /// One end refuses the other.
    Refused(Refusal),
    /// The connection broke.
    Broken(String),
}

impl From<Refusal> for NoLink {
    fn from(refusal: Refusal) -> NoLink {
        NoLink::Refused(refusal)
    }
}

/// The dialler's part.
pub(crate) async fn dial(mesh: &Rc<Inner>, connection: Connection, host: Host) -> Result<Rc<Link>, NoLink> {
    let said = say_to(mesh, &connection, host).await;
    told(&connection, said)
}

async fn say_to(mesh: &Rc<Inner>, connection: &Connection, host: Host) -> Result<Rc<Link>, NoLink> {
    let (mut send, mut recv) = connection.open_bi().await.map_err(|_| broken(connection))?;
    let nonce = nonce()?;
    write(mesh, connection, &mut send, host, nonce, [0; 16]).await?;
    let (name, body) = judge(mesh, connection, read(mesh, connection, &mut recv).await?)?;
    if name.host != host {
        let text = format!("host {host} was dialled and host {} answered", name.host);
        return Err(Refusal::new(RefusalKind::WrongHost, text).into());
    }
    check_echo(nonce, body.echo)?;
    let decide = mesh.host() < host;
    let number = link_number(if decide { &nonce } else { &body.nonce });
    let link = Link::new((host, name.incarnation, body.name), number, connection.clone());
    let before = mesh.table.borrow_mut().admit(&link, body.lost, decide)?;
    // No waiting between admission and service: a dialler may be cancelled.
    spawn_local(run(mesh.clone(), link.clone(), before, (send, recv), body.nonce.to_vec()));
    Ok(link)
}

/// The listener's part.
pub(crate) async fn listen(mesh: &Rc<Inner>, connection: Connection) -> Result<(), NoLink> {
    let heard = hear(mesh, &connection).await;
    told(&connection, heard)
}

async fn hear(mesh: &Rc<Inner>, connection: &Connection) -> Result<(), NoLink> {
    let (mut send, mut recv) = connection.accept_bi().await.map_err(|_| broken(connection))?;
    let (name, body) = judge(mesh, connection, read(mesh, connection, &mut recv).await?)?;
    let nonce = nonce()?;
    let decide = mesh.host() < name.host;
    let number = link_number(if decide { &nonce } else { &body.nonce });
    let link = Link::new((name.host, name.incarnation, body.name), number, connection.clone());
    let mut pending = Pending { mesh, link: &link, admitted: false };
    // Who decides does so before it answers, the other when it was confirmed.
    let mut before = None;
    if decide {
        before = mesh.table.borrow_mut().admit(&link, body.lost, true)?;
        pending.admitted = true;
    }
    write(mesh, connection, &mut send, name.host, nonce, body.nonce).await?;
    let mut echo = Nonce::default();
    recv.read_exact(&mut echo).await.map_err(|_| broken(connection))?;
    check_echo(nonce, echo)?;
    if !decide {
        before = mesh.table.borrow_mut().admit(&link, body.lost, false)?;
    }
    pending.admitted = false;
    spawn_local(run(mesh.clone(), link.clone(), before, (send, recv), Vec::new()));
    Ok(())
}

/// Takes a link back out that was admitted and never confirmed.
struct Pending<'a> {
    mesh: &'a Rc<Inner>,
    link: &'a Rc<Link>,
    admitted: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.admitted {
            self.mesh.table.borrow_mut().remove(self.link);
            self.link.set_over();
            self.mesh.changed.notify_waiters();
        }
    }
}

/// Lets the other end know of our refusal.
fn told<T>(connection: &Connection, result: Result<T, NoLink>) -> Result<T, NoLink> {
    if let Err(NoLink::Refused(refusal)) = &result
        && connection.close_reason().is_none()
    {
        refusal.close(connection);
    }
    result
}

/// Compares what the peer says with what its certificate says.
fn judge(mesh: &Rc<Inner>, connection: &Connection, hello: Hello) -> Result<(HostName, Body), NoLink> {
    let shown =
        connection.peer_identity().and_then(|any| any.downcast::<Vec<CertificateDer<'static>>>().ok());
    let name = shown.as_deref().and_then(|chain| keys::named(chain.first()?));
    let Some(name) = name.filter(|name| name.machine == mesh.name.machine) else {
        return Err(
            Refusal::new(RefusalKind::Foreign, "the certificate names no host of this machine").into()
        );
    };
    let Some(body) = hello.body else {
        let ours = &mesh.settings;
        let text = format!(
            "host {} speaks protocol {} (release {}), host {} protocol {} (release {})",
            mesh.host(),
            ours.protocol,
            ours.release,
            name.host,
            hello.protocol,
            hello.release
        );
        return Err(Refusal::new(RefusalKind::Version, text).into());
    };
    if (body.host, body.incarnation) != (name.host, name.incarnation) {
        let text = format!(
            "it says it is incarnation {} of host {}, its certificate names incarnation {} of host {}",
            body.incarnation, body.host, name.incarnation, name.host
        );
        return Err(Refusal::new(RefusalKind::WrongHost, text).into());
    }
    if name.host == mesh.host() {
        let text = format!("both ends are host {}", name.host);
        return Err(Refusal::new(RefusalKind::Oneself, text).into());
    }
    mesh.table.borrow().check(name.host, name.incarnation)?;
    if mesh.closing.get() {
        return Err(Refusal::new(RefusalKind::GoingDown, "the daemon is being stopped").into());
    }
    Ok((name, body))
}

async fn write(
    mesh: &Rc<Inner>,
    connection: &Connection,
    stream: &mut SendStream,
    to: Host,
    nonce: Nonce,
    echo: Nonce,
) -> Result<(), NoLink> {
    let body = Body {
        host: mesh.host(),
        incarnation: mesh.name.incarnation,
        nonce,
        echo,
        lost: mesh.table.borrow().lost(to),
        name: mesh.settings.name.clone(),
    };
    let (protocol, release) = (mesh.settings.protocol, mesh.settings.release.clone());
    let hello = Hello { protocol, release, body: Some(body) }.encode();
    let mut bytes = (hello.len() as u16).to_le_bytes().to_vec();
    bytes.extend_from_slice(&hello);
    stream.write_all(&bytes).await.map_err(|_| broken(connection))
}

async fn read(mesh: &Rc<Inner>, connection: &Connection, stream: &mut RecvStream) -> Result<Hello, NoLink> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).await.map_err(|_| broken(connection))?;
    let length = usize::from(u16::from_le_bytes(length));
    let garbled = |what: String| Refusal::new(RefusalKind::Garbled, what);
    if length > MAX_HELLO {
        return Err(garbled(format!("a hello of {length} bytes")).into());
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await.map_err(|_| broken(connection))?;
    Ok(Hello::decode(&bytes, mesh.settings.protocol).map_err(|error| garbled(error.to_string()))?)
}

fn check_echo(sent: Nonce, echo: Nonce) -> Result<(), Refusal> {
    if sent == echo {
        return Ok(());
    }
    Err(Refusal::new(RefusalKind::Garbled, "the answer is not to this question"))
}

fn nonce() -> Result<Nonce, NoLink> {
    tls::random().map_err(|error| NoLink::Broken(error.to_string()))
}

/// What ended the connection under us.
pub(crate) fn broken(connection: &Connection) -> NoLink {
    match connection.close_reason() {
        Some(error) => from_quic(&error),
        None => NoLink::Broken("the peer ended the greeting".into()),
    }
}

pub(crate) fn from_quic(error: &quinn::ConnectionError) -> NoLink {
    match Refusal::from_quic(error) {
        Some(refusal) => NoLink::Refused(refusal),
        None => NoLink::Broken(error.to_string()),
    }
}
