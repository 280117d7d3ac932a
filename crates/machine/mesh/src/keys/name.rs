//! Names in certificates.

use super::KeyError;
use crate::{Host, Incarnation, handshake::tls};
use std::fmt;
use std::str::FromStr;

/// The random name of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MachineId([u8; 16]);

impl MachineId {
    pub(super) fn make() -> Result<MachineId, KeyError> {
        tls::random().map(MachineId).map_err(|_| KeyError::Unfit("the system gives no random numbers".into()))
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for MachineId {
    type Err = ();
    fn from_str(text: &str) -> Result<MachineId, ()> {
        let bytes = super::file::from_hex(text).ok_or(())?;
        bytes.try_into().map(MachineId).map_err(drop)
    }
}

/// Whom a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostName {
    /// The machine.
    pub machine: MachineId,
    /// The host's number.
    pub host: Host,
    /// The host's incarnation.
    pub incarnation: Incarnation,
}

impl HostName {
    /// What a dialler expects: it need not know the incarnation.
    pub fn expected(machine: MachineId, host: Host) -> String {
        format!("h{host}.{machine}.parvum")
    }

    /// The name with everything in it.
    pub fn full(&self) -> String {
        format!("i{}.{}", self.incarnation, HostName::expected(self.machine, self.host))
    }

    /// Reads a full name, written exactly as [`HostName::full`] writes it.
    pub fn parse(text: &str) -> Option<HostName> {
        let mut words = text.split('.');
        let incarnation = words.next()?.strip_prefix('i')?.parse().ok()?;
        let host = words.next()?.strip_prefix('h')?.parse().ok()?;
        let name = HostName { machine: words.next()?.parse().ok()?, host, incarnation };
        (name.full() == text).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_parse_only_in_canonical_form() {
        let machine: MachineId = "00112233445566778899aabbccddeeff".parse().expect("an id");
        let name = HostName { machine, host: 7, incarnation: 3 };
        assert_eq!(name.full(), "i3.h7.00112233445566778899aabbccddeeff.parvum");
        assert_eq!(HostName::parse(&name.full()), Some(name));
        let machine = machine.to_string();
        for bad in [
            format!("i03.h7.{machine}.parvum"),
            format!("i3.h7.{machine}.parvum.org"),
            format!("i3.h7.{}.parvum", machine.to_uppercase()),
            format!("i3.h7.{}.parvum", &machine[..30]),
            format!("h7.{machine}.parvum"),
            format!("i3.h4294967296.{machine}.parvum"),
            String::new(),
        ] {
            assert_eq!(HostName::parse(&bad), None, "{bad}");
        }
    }
}
