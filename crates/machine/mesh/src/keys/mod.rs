//! Who is who in a machine: the authority, the hosts' keys, the certificates.
//!
//! The first daemon makes an [`Authority`]. Each host makes its own
//! [`HostKeys`]; the private one never leaves it. Whoever adds the host has
//! the authority sign the public one ([`Authority::sign`]); the host puts
//! both together as its [`Identity`]. Any host may add others once it was
//! handed the authority ([`Authority::to_bytes`], over a link of the mesh and
//! nothing else).
//!
//! A certificate names its host in two ways: `h7.MACHINE.parvum`, which the
//! dialler expects, and `i3.h7.MACHINE.parvum`, which adds the incarnation.
//! It has no end of its own: keys end with the machine, and who is out of it is
//! known by the incarnation. So clocks that are wrong keep nobody out.

mod authority;
mod file;
mod host;
mod name;
mod sealed;
mod token;

pub use authority::{Authority, SignRequest};
pub(crate) use host::named;
pub use host::{HostCertificate, HostKeys, Identity, PublicKey};
pub use name::{HostName, MachineId};
pub use sealed::{Seal, Sealed, Side};
pub use token::Token;

use std::io;
use std::path::PathBuf;

/// Why keys cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Others can read or change them.
    #[error(
        "E-KEYS: {path} {fault}: the machine's keys may be known to others; help: stop the machine, \
             remove {path} and start the machine again"
    )]
    Open {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// Not what was written.
    #[error("E-KEYS: {path} is damaged ({fault}); help: remove it and add this host again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// The system's refusal.
    #[error(
        "E-KEYS: {path} cannot be used: {error}; help: see that its directory is there, yours and has room"
    )]
    System {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// Bytes that are no keys, or keys that do not belong together.
    #[error("E-KEYS: {0}; help: add this host again")]
    Unfit(String),
}
