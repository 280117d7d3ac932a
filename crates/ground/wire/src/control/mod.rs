//! The conversation between a task and the daemon of its host.
//!
//! A task connects to the daemon's socket, sends [`Request::Enrol`] first and
//! then whatever it likes. Every request carries a [`RequestId`]; its answer
//! carries the same number, and answers may come in another order than their
//! requests (a barrier answers late). [`Event`]s come unasked, in between.
//!
//! `codec` is the framing, `message` the vocabulary, `rows` what answers are made of, `starting` what
//! is said of processes to be started, `failure` the numbered errors, `hostline` the options
//! of a host. Descriptors (control block, eventfd, segments) travel beside the bytes;
//! a frame says how many belong to it.

mod between;
mod blob;
mod codec;
mod failure;
mod folders;
mod hostline;
mod message;
mod replies;
mod requests;
mod rows;
mod starting;

pub use between::{Between, HostRecord, SpawnPart};
pub use blob::Blob;
pub use codec::{CodecError, HEADER_BYTES, Header, MAX_FRAME, PROTOCOL, decode, encode, frame, header};
pub use failure::{ErrorKind, Failure};
pub use folders::program_folders;
pub use hostline::{HostOptions, Variable};
pub use message::{Call, Directions, FromDaemon, Request, RequestId, Role};
pub use replies::{Event, Reply};
pub use requests::{
    ExitStatus, HostSettings, MailFlags, Notice, Output, OutputMessages, OutputNews, Part, Recorder,
    SpawnRequest, SpawnWhere, Spot, Stream,
};
pub use rows::{
    BarrierRow, GroupRow, HostRow, LinkRow, MailClass, MailEntry, OperationRow, OptionRow, PairRow, Recorded,
    RecordedTask, Sight, Spawned, TaskRow, TaskState, UnmatchedRow, Waits,
};
pub use starting::{Bind, Details, Each, Inherited, Limit, Program, Ticket};

/// The most payload one routed frame may carry; larger messages are cut by their
/// sender. Small enough that a relay never has to hold much.
///
/// A frame from a task has at least one byte of payload. One without comes from
/// the daemon, in the name of a task that is gone or has closed its data
/// connection: everything it sent has come before.
pub const MAX_ROUTED: usize = 256 * 1024;
/// Bytes before the payload of a routed frame: length and tid, both
/// little-endian. The length counts what follows it: the tid and the payload.
pub const ROUTED_HEADER: usize = 8;
