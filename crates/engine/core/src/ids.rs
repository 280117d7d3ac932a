//! Names of operations and of messages: a place, and how often that place was given to another since.

/// Names an operation that was started and has not been reported done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// Names a message that has arrived and was not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl RequestId {
    /// The id as one number that is never zero.
    pub fn number(self) -> u64 {
        number(self.index, self.generation)
    }

    /// The id of that number; a number that was never given out names nothing.
    pub fn from_number(number: u64) -> RequestId {
        let (index, generation) = parts(number);
        RequestId { index, generation }
    }
}

impl MessageId {
    /// The id as one number that is never zero.
    pub fn number(self) -> u64 {
        number(self.index, self.generation)
    }

    /// The id of that number; a number that was never given out names nothing.
    pub fn from_number(number: u64) -> MessageId {
        let (index, generation) = parts(number);
        MessageId { index, generation }
    }
}

fn number(index: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | (u64::from(index) + 1)
}

fn parts(number: u64) -> (u32, u32) {
    ((number as u32).wrapping_sub(1), (number >> 32) as u32)
}
