//! Chaos: jobs run on a bed of hosts while tasks, daemons and hosts are killed, cut off and added again;
//! then a judge compares what every task wrote down.
//!
//! Nothing of what is judged passes through Parvum: tasks write files, and the test puts up signs, files
//! as well, when all shall finish and when all shall leave.

mod damage;
mod faults;
mod jobs;
mod judge;
mod ledger;
mod plan;
mod report;
mod storm;
mod tables;

pub use damage::{Damage, Damages};
pub use judge::{HostAdded, Outside, judge};
pub use ledger::Ledger;
pub use plan::{Fault, Kind, Plan};
pub use report::Report;
pub use storm::{Settings, run};
