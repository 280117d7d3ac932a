//! A sealed conversation over TCP, at the side of the adder: one line of hexadecimal digits for each message.

use crate::daemon::hosts::voice::{LINE, hex, unhex};
use parvum_mesh::keys::Sealed;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// The adder's end of the conversation.
pub(super) struct Line {
    stream: BufReader<TcpStream>,
    sealed: Sealed,
}

impl Line {
    pub(super) fn new(stream: BufReader<TcpStream>, sealed: Sealed) -> Line {
        Line { stream, sealed }
    }

    /// Sends a message.
    pub(super) async fn say(&mut self, word: &impl Serialize) -> Result<(), String> {
        let text = serde_json::to_vec(word).map_err(|error| error.to_string())?;
        let text = hex(&self.sealed.seal(&text).map_err(|error| error.to_string())?) + "\n";
        self.stream.write_all(text.as_bytes()).await.map_err(|error| error.to_string())
    }

    /// Receives the next message.
    pub(super) async fn hear<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T, String> {
        self.hear_at_most(LINE).await
    }

    /// Receives the next message, which has at most this number of bytes.
    pub(super) async fn hear_at_most<T: for<'a> Deserialize<'a>>(&mut self, most: u64) -> Result<T, String> {
        let mut text = String::new();
        let read = (&mut self.stream).take(most).read_line(&mut text).await;
        read.map_err(|error| error.to_string())?;
        let word = unhex(text.trim()).ok_or("its daemon has ended without an answer")?;
        let word = self.sealed.open(&word).map_err(|error| error.to_string())?;
        serde_json::from_slice(&word).map_err(|error| error.to_string())
    }
}
