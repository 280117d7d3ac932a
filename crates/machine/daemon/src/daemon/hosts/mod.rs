//! Daemons of other hosts: how they start, and what goes between them.

pub(crate) mod agreed;
pub(crate) mod fetch;
pub(crate) mod gate;
pub(crate) mod guest;
pub(crate) mod hosted;
pub(crate) mod invitation;
pub(crate) mod joining;
pub(crate) mod lateness;
pub(crate) mod line;
pub(crate) mod load;
pub(crate) mod network;
pub(crate) mod voice;
pub(crate) mod words;
