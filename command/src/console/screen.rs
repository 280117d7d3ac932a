//! Where the console's words go.

use crate::shown::shown;
use std::io::Write;
use std::sync::mpsc::Sender;

/// Standard output, and beside it standard error.
pub struct Screen {
    waiting: Vec<u8>,
    /// What prints above the line that a person is typing.
    printer: Option<Sender<String>>,
    closed: bool,
}

impl Screen {
    pub fn new(printer: Option<Sender<String>>) -> Screen {
        Screen { waiting: Vec::new(), printer, closed: false }
    }

    /// Whether a person sits there and types.
    pub fn is_terminal(&self) -> bool {
        self.printer.is_some()
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn line(&mut self, text: &str) {
        self.text(text);
        self.bytes(b"\n");
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// What a job says, which may be while a line is being typed.
    pub fn background(&mut self, text: &[u8]) {
        match &self.printer {
            _ if text.is_empty() => {}
            Some(printer) => drop(printer.send(shown(text).into_owned())),
            None => self.bytes(text),
        }
    }

    /// For the person only.
    pub fn aside(&mut self, text: &str) {
        self.flush();
        let _ = writeln!(std::io::stderr(), "pvm: {text}");
    }

    /// Brings it out; false when nobody takes it any more.
    pub fn flush(&mut self) -> bool {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(&self.waiting).and_then(|()| out.flush());
        self.waiting.clear();
        self.closed |= written.is_err();
        !self.closed
    }
}
