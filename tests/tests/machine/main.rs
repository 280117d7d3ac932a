//! The machine of one host, from outside: the command, and sessions.

mod conversation;
mod faults;
mod gangs;
mod jobs;
mod life;
mod owned;
mod predict;
mod routed;
mod run;
mod submitted;
mod trace;
mod why;
