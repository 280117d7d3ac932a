//! Streams for task data: one way, each with back pressure of its own.

use crate::wire::{Garbled, header};
use bytes::{Bytes, BytesMut};
use quinn::{RecvStream, SendStream, VarInt, WriteError};

/// Why a stream ends before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The other end gave it up.
    #[error("the other end gave the stream up")]
    Abandoned,
    /// The connection is gone.
    #[error("the connection is gone: {0}")]
    Lost(String),
    /// The header has too many bytes.
    #[error("E-TOOLARGE: {0}; put the data into the stream itself")]
    Header(#[from] Garbled),
}

/// The sending end. Dropped before [`StreamSender::finish`], the reader sees
/// an abandoned stream, never a shorter one.
#[derive(Debug)]
pub struct StreamSender(Option<SendStream>);

/// Code of a stream that was given up.
const GIVEN_UP: VarInt = VarInt::from_u32(1);

impl StreamSender {
    pub(crate) async fn begin(mut stream: SendStream, said: Bytes) -> Result<StreamSender, StreamError> {
        let length = header::encode_length(said.len())?;
        let mut pieces = [Bytes::copy_from_slice(&length), said];
        stream.write_all_chunks(&mut pieces).await.map_err(write_error)?;
        Ok(StreamSender(Some(stream)))
    }

    /// Sends, without a copy; waits while the reader is slow.
    pub async fn send(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        self.stream()?.write_chunk(bytes).await.map_err(write_error)
    }

    /// Sends several pieces in one go.
    pub async fn send_all(&mut self, pieces: &mut [Bytes]) -> Result<(), StreamError> {
        self.stream()?.write_all_chunks(pieces).await.map_err(write_error)
    }

    /// Ends it: the reader gets everything, then the end.
    pub fn finish(mut self) {
        if let Some(mut stream) = self.0.take() {
            // An error says that it has ended some other way.
            let _ = stream.finish();
        }
    }

    /// Ends it and waits until the other end has all of it.
    pub async fn finish_and_wait(mut self) -> Result<(), StreamError> {
        let Some(mut stream) = self.0.take() else { return Err(StreamError::Abandoned) };
        stream.finish().map_err(|_| StreamError::Abandoned)?;
        match stream.stopped().await {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(StreamError::Abandoned),
            Err(error) => Err(StreamError::Lost(error.to_string())),
        }
    }

    fn stream(&mut self) -> Result<&mut SendStream, StreamError> {
        self.0.as_mut().ok_or(StreamError::Abandoned)
    }
}

impl Drop for StreamSender {
    fn drop(&mut self) {
        if let Some(stream) = &mut self.0 {
            let _ = stream.reset(GIVEN_UP);
        }
    }
}

fn write_error(error: WriteError) -> StreamError {
    match error {
        WriteError::Stopped(_) | WriteError::ClosedStream => StreamError::Abandoned,
        WriteError::ConnectionLost(error) => StreamError::Lost(error.to_string()),
        WriteError::ZeroRttRejected => StreamError::Lost(error.to_string()),
    }
}

/// The receiving end. Dropped early, the sender is told.
#[derive(Debug)]
pub struct StreamReader(RecvStream);

impl StreamReader {
    /// Reads what was said first. Its memory grows with what arrives.
    pub(crate) async fn begin(mut stream: RecvStream) -> Result<(Bytes, StreamReader), StreamError> {
        let mut length = [0; 4];
        stream.read_exact(&mut length).await.map_err(|_| StreamError::Abandoned)?;
        let length = header::decode_length(length)?;
        let mut said = BytesMut::new();
        while said.len() < length {
            let piece = stream.read_chunk(length - said.len(), true).await.map_err(read_error)?;
            said.extend_from_slice(&piece.ok_or(StreamError::Abandoned)?.bytes);
        }
        Ok((said.freeze(), StreamReader(stream)))
    }

    /// The next bytes, at most `limit`; none at the end.
    pub async fn next(&mut self, limit: usize) -> Result<Option<Bytes>, StreamError> {
        Ok(self.0.read_chunk(limit, true).await.map_err(read_error)?.map(|chunk| chunk.bytes))
    }
}

fn read_error(error: quinn::ReadError) -> StreamError {
    match error {
        quinn::ReadError::ConnectionLost(error) => StreamError::Lost(error.to_string()),
        _ => StreamError::Abandoned,
    }
}
