//! Requests to a service, and their form in a message.
//!
//! A question is [`HEAD`] bytes and, of a put, an atomic operation or a request, its data. An answer is a status of
//! [`STATUS`] bytes and the data. Numbers are little-endian. Nothing that comes is trusted.

use parvum_collectives::operators::{Kind, Operator};

/// Bytes of a question before its data.
pub(crate) const HEAD: usize = 24;
/// Bytes of an answer before its data.
pub(crate) const STATUS: usize = 8;
/// Longer puts and gets consist of parts of this size, so that a server never holds more than this of each.
pub const PART: usize = 1 << 20;

/// Memory that a task lets others use; a number that is never used again by that task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window(pub u32);

/// The change of each element in an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: it reads.
    Nothing,
    /// It is replaced.
    Replace,
    /// It becomes itself and the operand, combined.
    Combine(Operator),
    /// It is replaced by the second half of the operands where it equals the first.
    CompareAndSwap,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Data goes to a place in a window.
    Put { window: Window, offset: u64 },
    /// Reads this number of bytes of a window.
    Get { window: Window, offset: u64, length: u64 },
    /// Elements are changed, and what they were is the answer. For a read, `length` is the number of bytes.
    Atomic { window: Window, offset: u64, length: u64, change: Change, kind: Kind },
    /// A request that the target's interface handles.
    Request,
    /// The address of a window, for tasks that can access it without a message.
    Describe { window: Window },
    /// To a server by its own process: end.
    Stop,
}

/// Why a question came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The target, or its host, is gone.
    #[error("E-GONE: the task that was asked is gone; help: go on without it")]
    Gone,
    /// The window does not exist, or no longer exists.
    #[error("E-WINDOW: the task has no such window; help: keep a window until all tasks have used it")]
    NoWindow,
    /// It would reach beyond the window.
    #[error(
        "E-RANGE: the access reaches beyond the end of the window; help: offset and length are bytes from the window's start"
    )]
    OutOfRange,
    /// The memory is protected, or not there.
    #[error("E-PROTECTED: the memory of the window is protected, or was unmapped")]
    Protected,
    /// The operation is invalid for elements of this type, or the data is not a whole number of elements.
    #[error(
        "E-OPERATION: there is no such operation on elements of that type, or the operands are no whole elements"
    )]
    NoSuchOperation,
    /// The target's interface accepts no requests, or could not answer this request.
    #[error("E-REQUEST: the task could not answer the request")]
    NoAnswer,
    /// The answer is longer than the memory for it.
    #[error("E-LONG: the answer is longer than the memory for it")]
    TooLong,
    /// The message is not a valid question or answer.
    #[error(
        "E-PROTOCOL: the other side sent what this process cannot read; help: use libraries of one release"
    )]
    Malformed,
    /// The time was over.
    #[error("E-UNANSWERED: no answer came in time")]
    Late,
    /// This process has no service: it left the machine, or is a forked child.
    #[error(
        "E-NOSERVICE: this process has no service, because it has left the machine or was forked; help: open a service in this process"
    )]
    NoService,
}

const OUTCOMES: [Trouble; 7] = [
    Trouble::NoWindow,
    Trouble::OutOfRange,
    Trouble::Protected,
    Trouble::NoSuchOperation,
    Trouble::NoAnswer,
    Trouble::TooLong,
    Trouble::Malformed,
];

/// The status of an answer.
pub(crate) fn status(outcome: Result<(), Trouble>) -> [u8; STATUS] {
    let number = match outcome {
        Ok(()) => 0,
        Err(why) => 1 + OUTCOMES.iter().position(|other| *other == why).unwrap_or(OUTCOMES.len() - 1),
    };
    (number as u64).to_le_bytes()
}

/// The outcome for the status of an answer.
pub(crate) fn outcome(status: [u8; STATUS]) -> Result<(), Trouble> {
    match u64::from_le_bytes(status) {
        0 => Ok(()),
        number => Err(OUTCOMES.get(number as usize - 1).copied().unwrap_or(Trouble::Malformed)),
    }
}

impl Question {
    pub(crate) fn encode(&self) -> [u8; HEAD] {
        let (code, [change, kind], window, offset, length) = match *self {
            Question::Put { window, offset } => (1, [0; 2], window, offset, 0),
            Question::Get { window, offset, length } => (2, [0; 2], window, offset, length),
            Question::Atomic { window, offset, length, change, kind } => {
                (3, [number_of(change), place_of(&Kind::ALL, kind)], window, offset, length)
            }
            Question::Request => (4, [0; 2], Window(0), 0, 0),
            Question::Describe { window } => (5, [0; 2], window, 0, 0),
            Question::Stop => (6, [0; 2], Window(0), 0, 0),
        };
        let mut head = [0; HEAD];
        head[..3].copy_from_slice(&[code, change, kind]);
        head[4..8].copy_from_slice(&window.0.to_le_bytes());
        head[8..16].copy_from_slice(&offset.to_le_bytes());
        head[16..].copy_from_slice(&length.to_le_bytes());
        head
    }

    /// The question at the start of a message, and what lies behind it.
    pub(crate) fn decode(message: &[u8]) -> Result<(Question, &[u8]), Trouble> {
        let (head, data) = message.split_first_chunk::<HEAD>().ok_or(Trouble::Malformed)?;
        let &[code, change, kind, 0, ref rest @ ..] = head else { return Err(Trouble::Malformed) };
        let (window, rest) = rest.split_first_chunk().ok_or(Trouble::Malformed)?;
        let (offset, rest) = rest.split_first_chunk().ok_or(Trouble::Malformed)?;
        let (length, _) = rest.split_first_chunk().ok_or(Trouble::Malformed)?;
        let (window, offset) = (Window(u32::from_le_bytes(*window)), u64::from_le_bytes(*offset));
        let length = u64::from_le_bytes(*length);
        let question = match code {
            1 => Question::Put { window, offset },
            2 => Question::Get { window, offset, length },
            3 => {
                let change = change_of(change).ok_or(Trouble::NoSuchOperation)?;
                let kind = *Kind::ALL.get(usize::from(kind)).ok_or(Trouble::NoSuchOperation)?;
                Question::Atomic { window, offset, length, change, kind }
            }
            4 => Question::Request,
            5 => Question::Describe { window },
            6 => Question::Stop,
            _ => return Err(Trouble::Malformed),
        };
        Ok((question, data))
    }
}

/// Behind the numbers of the operators.
const OTHERS: [Change; 3] = [Change::Nothing, Change::Replace, Change::CompareAndSwap];

fn number_of(change: Change) -> u8 {
    let operators = Operator::ALL.len() as u8;
    match change {
        Change::Combine(operator) => place_of(&Operator::ALL, operator),
        other => operators + place_of(&OTHERS, other),
    }
}

fn change_of(number: u8) -> Option<Change> {
    let number = usize::from(number);
    let operator = Operator::ALL.get(number).map(|operator| Change::Combine(*operator));
    operator.or_else(|| OTHERS.get(number.checked_sub(Operator::ALL.len())?).copied())
}

fn place_of<T: PartialEq>(all: &[T], one: T) -> u8 {
    all.iter().position(|other| *other == one).expect("all are listed") as u8
}
