//! What lies between the hosts: networks, firewalls, interfaces, clocks, disks.

pub(crate) mod clocks;
pub(crate) mod disks;
pub(crate) mod firewall;
pub(crate) mod interfaces;
pub(crate) mod messages;
pub(crate) mod networks;
