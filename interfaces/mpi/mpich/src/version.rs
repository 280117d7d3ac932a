//! What Debian's `mpichversion` reads of the library. It copies as many bytes as MPICH 4.0.2 has, so ours are no longer than those.

/// A string of C's, of whole length.
type Text<const LENGTH: usize> = [u8; LENGTH];

/// As `MPI_Get_library_version` says it.
#[unsafe(no_mangle)]
pub static MPII_Version_string: Text<4> = *b"4.1\0";
/// Nobody's: a release has a number.
#[unsafe(no_mangle)]
pub static MPII_Version_date: Text<8> = *b"unknown\0";
/// Of the binary interface, as libtool counts.
#[unsafe(no_mangle)]
pub static MPII_Version_ABI: Text<7> = *b"14:2:2\0";
/// Whose library this is.
#[unsafe(no_mangle)]
pub static MPII_Version_device: Text<7> = *b"parvum\0";
/// There is no configure script; the release stands here.
#[unsafe(no_mangle)]
pub static MPII_Version_configure: Text<{ RELEASE.len() }> = text(RELEASE);
/// What `mpicc` calls.
#[unsafe(no_mangle)]
pub static MPII_Version_CC: Text<3> = *b"cc\0";
/// What `mpicxx` calls.
#[unsafe(no_mangle)]
pub static MPII_Version_CXX: Text<4> = *b"c++\0";
/// What `mpif77` calls.
#[unsafe(no_mangle)]
pub static MPII_Version_F77: Text<9> = *b"gfortran\0";
/// What `mpifort` calls.
#[unsafe(no_mangle)]
pub static MPII_Version_FC: Text<9> = *b"gfortran\0";
/// Nothing.
#[unsafe(no_mangle)]
pub static MPII_Version_custom: Text<1> = *b"\0";

const RELEASE: &str = concat!("Parvum ", env!("CARGO_PKG_VERSION"), "\0");

const fn text<const LENGTH: usize>(words: &str) -> Text<LENGTH> {
    let mut bytes = [0; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        bytes[at] = words.as_bytes()[at];
        at += 1;
    }
    bytes
}
