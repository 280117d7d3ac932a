//! external32: data as any machine reads it.

use crate::errors::{Error, Mpi, class};
use parvum_datatypes::{Type, pack_external, size_external, unpack_external};

/// Bytes of so many items.
pub(crate) fn size(layout: &Type, count: i64) -> Mpi<i64> {
    i64::try_from(size_external(layout, count))
        .map_err(|_| Error::new(class::COUNT, "the data would be too long"))
}

/// So many items, as bytes.
///
/// # Safety
/// They must lie there.
pub(crate) unsafe fn pack(layout: &Type, count: i64, from: *const u8) -> Mpi<Vec<u8>> {
    let mut bytes = vec![0; size(layout, count)? as usize];
    // SAFETY: the caller's promise.
    unsafe { pack_external(layout, count, from, &mut bytes)? };
    Ok(bytes)
}

/// Puts so many items where they shall lie.
///
/// # Safety
/// There must be memory for them.
pub(crate) unsafe fn unpack(layout: &Type, count: i64, to: *mut u8, bytes: &[u8]) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { unpack_external(layout, count, to, bytes)? };
    Ok(())
}
