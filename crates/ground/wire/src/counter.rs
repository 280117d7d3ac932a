//! What a task counts. Here, since the engine counts, the control block shows, and every interface and command reads the same numbers.

/// A counter of a task. Its number is the place of its cell in the task's control block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Messages sent.
    Sent = 0,
    /// Bytes in them.
    SentBytes = 1,
    /// Messages received.
    Received = 2,
    /// Bytes in them.
    ReceivedBytes = 3,
    /// Bytes this task copied into a transport's memory or socket.
    CopiedIn = 4,
    /// Bytes this task copied out of a transport's memory or socket.
    CopiedOut = 5,
    /// Messages fetched straight from the sender's memory.
    Pulled = 6,
    /// Bytes fetched so, in messages and in operations of groups.
    PulledBytes = 7,
    /// Messages that found a receive posted.
    Expected = 8,
    /// Messages that found none.
    Unexpected = 9,
    /// Bytes of unexpected messages buffered here, at the receiver.
    BufferedHere = 10,
    /// Bytes copied to be kept at the sender until they could leave.
    BufferedAtSender = 11,
    /// Sends that waited for credit.
    CreditStalls = 12,
    /// Messages discarded because no receive was posted, as their sender asked.
    Discarded = 13,
    /// Messages whose sender died before the data could be had.
    Lost = 14,
    /// Single copies that the system refused: the data was streamed instead.
    Refused = 15,
    /// Long messages sent that both tasks copy: through memory of the link that both map, or in several frames.
    SentCopied = 16,
    /// Messages offered where their data lies, with the program or in a copy of this task.
    SentInPlace = 17,
    /// Bytes in those.
    InPlaceBytes = 18,
    /// Bytes in the messages of both kinds.
    LongBytes = 19,
    /// Unexpected messages waiting now.
    WaitingMessages = 20,
    /// Bytes of data of messages waiting now that lie in this task's memory.
    WaitingBytes = 21,
    /// Sends not yet complete now.
    WaitingSends = 22,
    /// Bytes in messages that have arrived, received or not.
    ArrivedBytes = 23,
    /// Nanoseconds that the task slept, waiting.
    Asleep = 25,
    /// Nanoseconds that it looked for what it waited for; some waits stand for all.
    Looking = 26,
    /// Nanoseconds that it was in calls besides; some calls stand for all.
    InCalls = 27,
    /// How often it slept.
    Sleeps = 28,
    /// Bytes copied out of messages buffered here into the program's memory.
    CopiedFromHere = 29,
    /// How often other tasks have said that a note for this one's interface lies in its links; they count it, in its page.
    Nudges = 30,
}

impl Counter {
    /// How many numbers there are, named or not.
    pub const PLACES: usize = 31;

    /// What each number counts, for people; an empty name is a number not in use.
    #[expect(
        clippy::indexing_slicing,
        reason = "the compiler evaluates it, and refuses an index out of bounds"
    )]
    pub const NAMES: [&str; Counter::PLACES] = {
        let mut names = [""; Counter::PLACES];
        names[Counter::Sent as usize] = "messages sent";
        names[Counter::SentBytes as usize] = "bytes sent";
        names[Counter::Received as usize] = "messages received";
        names[Counter::ReceivedBytes as usize] = "bytes received";
        names[Counter::CopiedIn as usize] = "bytes copied into a transport";
        names[Counter::CopiedOut as usize] = "bytes copied out of a transport";
        names[Counter::Pulled as usize] = "messages fetched from their sender";
        names[Counter::PulledBytes as usize] = "bytes fetched from their sender";
        names[Counter::Expected as usize] = "messages that found a receive posted";
        names[Counter::Unexpected as usize] = "messages that found none";
        names[Counter::BufferedHere as usize] = "bytes buffered here, at the receiver";
        names[Counter::BufferedAtSender as usize] = "bytes buffered here, at the sender";
        names[Counter::CreditStalls as usize] = "sends that waited for credit";
        names[Counter::Discarded as usize] = "messages discarded as their sender asked";
        names[Counter::Lost as usize] = "messages lost with their task";
        names[Counter::Refused as usize] = "single copies the system refused";
        names[Counter::SentCopied as usize] = "long messages that both tasks copy";
        names[Counter::SentInPlace as usize] = "messages offered where they lie";
        names[Counter::InPlaceBytes as usize] = "bytes in messages offered where they lie";
        names[Counter::LongBytes as usize] = "bytes in long and offered messages";
        names[Counter::WaitingMessages as usize] = "messages waiting now";
        names[Counter::WaitingBytes as usize] = "bytes of them here";
        names[Counter::WaitingSends as usize] = "sends under way now";
        names[Counter::ArrivedBytes as usize] = "bytes in messages that arrived";
        names[Counter::Asleep as usize] = "nanoseconds asleep, waiting";
        names[Counter::Looking as usize] = "nanoseconds looking, waiting (of samples)";
        names[Counter::InCalls as usize] = "nanoseconds in calls besides (of samples)";
        names[Counter::Sleeps as usize] = "times a message was waited for asleep";
        names[Counter::CopiedFromHere as usize] = "bytes copied out of what was buffered here";
        names[Counter::Nudges as usize] = "notices by other tasks";
        names
    };
}
