//! Limits of a run, as `Tmk.h` has them.

/// `TMK_NLOCKS`.
pub(crate) const LOCKS: u32 = 4096;
/// `TMK_NBARRIERS`.
pub(crate) const BARRIERS: u32 = 256;
/// `TMK_NVIEWS`.
pub(crate) const VIEWS: u32 = 1024;
/// `TMK_NPROCS`.
pub(crate) const NODES: usize = 256;
