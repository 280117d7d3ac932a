//! Bytes as people are shown them.

use std::borrow::Cow;

/// A text for people: bytes that are no UTF-8 become signs of replacement. It names nothing any more.
#[expect(clippy::disallowed_methods, reason = "for people, who cannot read such bytes")]
pub(crate) fn shown(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
