//! Takes in the streams that a peer opens.

use super::READER_GONE;
use super::incoming::Incoming;
use super::reader::StreamReader;
use crate::errors::StreamError;
use crate::events::MeshEvent;
use crate::inner::Inner;
use crate::session::{Arrival, Session};
use crate::wire::header;
use bytes::{Bytes, BytesMut};
use quinn::RecvStream;
use std::rc::Rc;

/// Takes in a stream that the peer has opened: a new one becomes an event, another goes to its reader.
pub(crate) async fn accept(mesh: &Rc<Inner>, session: &Rc<Session>, mut stream: RecvStream) {
    // A stream that was given up before its header is nobody's.
    let Ok((begin, said)) = read_beginning(&mut stream).await else { return };
    let number = begin.number;
    match session.arrival(number) {
        Arrival::Known(incoming) => return incoming.go_on(stream, begin.at),
        // Its sender has not heard of the end.
        Arrival::Over => return session.owe(number, READER_GONE, true),
        Arrival::New if begin.at > 0 => return,
        Arrival::New => {}
    }
    // What follows is not cut short when the connection ends.
    let Some(room) = mesh.room_for_event().await else { return };
    let incoming = Rc::<Incoming>::default();
    session.admit(number, incoming.clone());
    let reader = StreamReader::new(session.clone(), number, incoming, stream);
    room.send((MeshEvent::Stream { host: session.host, header: said, reader }, None));
}

async fn read_beginning(stream: &mut RecvStream) -> Result<(header::Beginning, Bytes), StreamError> {
    let mut bytes = [0; header::BEGINNING];
    stream.read_exact(&mut bytes).await.map_err(|_| StreamError::Abandoned)?;
    let begin = header::Beginning::decode(bytes)?;
    let length = begin.length as usize;
    let mut said = BytesMut::new();
    while said.len() < length {
        let piece = stream
            .read_chunk(length.saturating_sub(said.len()), true)
            .await
            .map_err(|_| StreamError::Abandoned)?;
        said.extend_from_slice(&piece.ok_or(StreamError::Abandoned)?.bytes);
    }
    Ok((begin, said.freeze()))
}
