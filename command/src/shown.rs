//! Bytes as people are shown them.

use std::borrow::Cow;

/// A text for people: bytes that are not UTF-8 become replacement characters. It names no file and no task any more.
#[expect(clippy::disallowed_methods, reason = "for people, who cannot read such bytes")]
pub fn shown(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The name of this host, for people.
pub fn host_name() -> String {
    shown(rustix::system::uname().nodename().to_bytes()).into_owned()
}
