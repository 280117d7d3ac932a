//! The letters of processes: one byte for the kind, and the rest.

/// Kinds of letters.
pub(crate) mod kind {
    /// Question or answer of the protocol.
    pub(crate) const CONSISTENCY: u8 = 0;
    // Questions.
    pub(crate) const ALLOCATE: u8 = 1;
    pub(crate) const FREE: u8 = 2;
    pub(crate) const GROW: u8 = 3;
    pub(crate) const DISTRIBUTE: u8 = 4;
    pub(crate) const HOME: u8 = 5;
    /// To process 0: this one wants to leave.
    pub(crate) const LEAVING: u8 = 6;
    /// From there: all do.
    pub(crate) const OVER: u8 = 7;
    /// To there: this one knows.
    pub(crate) const KNOWN: u8 = 8;
    /// From there: all know.
    pub(crate) const GO: u8 = 9;
    /// To process 0: room for a view.
    pub(crate) const ALLOCATE_VIEW: u8 = 10;
    /// Which pages it has.
    pub(crate) const MAKE_VIEW: u8 = 11;
    /// To the first that lives: an array to be combined.
    pub(crate) const REDUCE: u8 = 12;
    /// To the first task of a host: a call of another.
    pub(crate) const TASK: u8 = 13;
    // Answers.
    pub(crate) const NUMBER: u8 = 1;
    pub(crate) const WAKE: u8 = 2;
    /// From there: what came of it.
    pub(crate) const REDUCED: u8 = 3;
    /// From the first task of a host: a call is over.
    pub(crate) const DONE: u8 = 4;
}

/// What a number answers.
pub(crate) const NOTHING: u64 = u64::MAX;

pub(crate) fn letter(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut letter = Vec::with_capacity(1 + bytes.len());
    letter.push(kind);
    letter.extend_from_slice(bytes);
    letter
}

/// A variable, as it travels.
pub(crate) fn variable(file: &str, offset: u64, data: &[u8]) -> Vec<u8> {
    let mut letter = vec![kind::DISTRIBUTE];
    letter.extend_from_slice(&offset.to_le_bytes());
    letter.extend_from_slice(&(file.len() as u32).to_le_bytes());
    letter.extend_from_slice(file.as_bytes());
    letter.extend_from_slice(data);
    letter
}
