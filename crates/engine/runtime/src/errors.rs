//! The errors as text, and the text of the last error.

use crate::status::remarks;
use parvum_sync::BiasedLock;
use parvum_task::SessionError;
use parvum_wire::Tid;
use parvum_wire::control::{ErrorKind, Failure};
use std::sync::Once;

static LAST_ERROR: BiasedLock<String> = BiasedLock::new(String::new());

/// Remembers a failure's text for `last_error`.
pub(crate) fn remember(why: &(impl std::fmt::Display + ?Sized)) {
    // A signal handler that has interrupted this very function leaves the text as it is.
    if let Some(mut text) = LAST_ERROR.take_unless_own() {
        *text = why.to_string();
    }
}

/// The text of the last failure, if no thread is about to change it.
pub(crate) fn last() -> Option<impl std::ops::Deref<Target = String>> {
    LAST_ERROR.take_unless_own()
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("E-OPTION: {name}={value}: {}; help: use {use_one_of}", .name.strip_suffix("ROUTE").map_or("not a valid value", |_| "not a transport"))]
    Option { name: &'static str, value: String, use_one_of: String },
    /// The reason of a transport that the user has asked for. The text begins with a code.
    #[error("{0}")]
    Transport(String),
    #[error("E-PROTOCOL: the daemon gave this task no page; help: use command and libraries of one release")]
    NoPage,
    #[error("E-PROTOCOL: {0}")]
    Page(#[from] parvum_control::ControlError),
}

/// Why the daemon gave no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The time was over; what the daemon is doing.
    Late(parvum_task::Daemon),
    /// The session is no more.
    Lost(SessionError),
}

/// Why there is no link to a task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Refused(#[from] Failure),
    #[error(transparent)]
    Lost(#[from] SessionError),
    #[error("E-DEADLINE: the daemon did not answer within a minute: {0}")]
    Late(parvum_task::Daemon),
    #[error("E-DEADLINE: {0} was to connect to this task, and has not within a minute; help: send again")]
    NoCaller(Tid),
    #[error("E-PROTOCOL: the daemon answered {0}")]
    Protocol(&'static str),
    #[error("E-NOMEMORY: {0}")]
    Memory(String),
    #[error("E-RESOURCES: {0} cannot be joined, {OUT_OF_DESCRIPTORS}")]
    Descriptors(Tid),
    #[error("E-PROTOCOL: {0}")]
    Page(#[from] parvum_control::ControlError),
    #[error(
        "E-BUSY: this thread is joining {0} already, and a signal handler has interrupted it; help: send when the handler has returned"
    )]
    Busy(Tid),
    #[error("{}", no_way(.0, .1))]
    NoWay(String, std::io::Error),
}

/// A transport that uses a library gives its own code in the text of the error.
fn no_way(address: &str, why: &std::io::Error) -> String {
    let why = why.to_string();
    if why.starts_with("E-") { why } else { format!("E-TCP: no connection to {address}: {why}") }
}

impl ConnectError {
    /// The task does not exist: its host reports this, or the host was lost before it could answer.
    pub(crate) fn says_gone(&self) -> bool {
        let gone = |why: &Failure| matches!(why.kind, ErrorKind::NoSuchTask | ErrorKind::HostLost);
        matches!(self, ConnectError::Refused(why) if gone(why))
    }
}

impl From<AskError> for ConnectError {
    fn from(error: AskError) -> ConnectError {
        match error {
            AskError::Late(daemon) => ConnectError::Late(daemon),
            AskError::Lost(why) => ConnectError::Lost(why),
        }
    }
}

/// Why descriptors do not come.
pub(crate) const OUT_OF_DESCRIPTORS: &str =
    "for this process may open no more descriptors; help: raise the limit (ulimit -n) and start it again";

/// Prints once that messages of another task do not arrive here, because no call of this task fails.
pub(crate) fn say_lost(why: &str) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| remarks::say(why));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sending::send::refused;
    use parvum_api::Status;

    #[test]
    fn connect_to_task_of_lost_host_returns_gone() {
        let answer = |kind: ErrorKind| refused(&ConnectError::Refused(Failure::new(kind, "t40001")));
        assert_eq!(answer(ErrorKind::HostLost), Status::Gone);
        assert_eq!(answer(ErrorKind::NoSuchTask), Status::Gone);
        assert_eq!(answer(ErrorKind::OutOfResources), Status::Refused);
    }
}
