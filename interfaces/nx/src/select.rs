//! The meaning of types and selectors.

use crate::errors::{Nx, NxError};
use parvum_api::{ANY_TASK, Buffering, Pattern, TagKind};

/// The highest ordinary type.
pub(crate) const LAST_ORDINARY: i64 = 999_999_999;
/// The force types.
const FIRST_FORCE: i64 = 0x4000_0000;
const LAST_FORCE: i64 = 1_999_999_999;

/// The context of NX's messages: the first context of PVM programs.
pub(crate) const CONTEXT: u32 = 0;

/// The engine's tag and the buffering for a type to send.
#[inline]
pub(crate) fn outgoing(kind: i64) -> Nx<(i32, Buffering)> {
    match kind {
        0..=LAST_ORDINARY => Ok((kind as i32, Buffering::AtReceiver)),
        FIRST_FORCE..=LAST_FORCE => Ok((kind as i32, Buffering::OrDiscard)),
        _ => Err(NxError::Type),
    }
}

/// The messages that a type selector takes, from a task or any.
#[inline]
pub(crate) fn wanted(typesel: i64, from: Option<i32>) -> Nx<Pattern> {
    let last = LAST_ORDINARY as i32;
    let (tags, tag, other) = match typesel {
        0..=LAST_ORDINARY | FIRST_FORCE..=LAST_FORCE => (TagKind::Exactly, typesel as i32, 0),
        -1 => (TagKind::Within, 0, last),
        // A mask: the sign bit marks it, and the other bits name types. Bits above 31 must be the sign's.
        _ if typesel < 0 && i32::try_from(typesel).is_ok() => {
            (TagKind::Among, typesel as i32 & i32::MAX, last)
        }
        _ => return Err(NxError::Type),
    };
    Ok(Pattern { from: from.unwrap_or(ANY_TASK), tags, tag, other, context: CONTEXT.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_types_are_ordinary_forced_or_refused() {
        assert_eq!(outgoing(0), Ok((0, Buffering::AtReceiver)));
        assert_eq!(outgoing(999_999_999), Ok((999_999_999, Buffering::AtReceiver)));
        assert_eq!(outgoing(0x4000_0000), Ok((0x4000_0000, Buffering::OrDiscard)));
        assert_eq!(outgoing(1_999_999_999), Ok((1_999_999_999, Buffering::OrDiscard)));
        for bad in [-1, 1_000_000_000, 0x3fff_ffff, 2_000_000_000, i64::MAX, i64::MIN] {
            assert_eq!(outgoing(bad), Err(NxError::Type), "{bad}");
        }
    }

    #[test]
    fn selectors_match_one_type_all_or_a_set() {
        let any = wanted(-1, None).expect("all");
        assert_eq!((any.tags, any.tag, any.other), (TagKind::Within, 0, 999_999_999));
        let one = wanted(0x4000_0001, Some(0x40001)).expect("a force type");
        assert_eq!((one.tags, one.tag, one.from), (TagKind::Exactly, 0x4000_0001, 0x40001));
        let set = wanted(i64::from(i32::MIN | 5), None).expect("types 0 and 2");
        assert_eq!((set.tags, set.tag), (TagKind::Among, 5));
        for bad in [1_000_000_000, 2_000_000_000, i64::from(i32::MIN) - 1] {
            assert_eq!(wanted(bad, None).err(), Some(NxError::Type), "{bad}");
        }
    }
}
