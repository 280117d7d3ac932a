//! Jobs that outlive their shell: `parvum submit`, `jobs`, `logs`, `wait` and `cancel`.
//!
//! A job is a process of this command, the *keeper*: it is a `parvum run` without a terminal, and keeps what it prints. The
//! folder of a job has its record, its output and a lock. The keeper holds the lock until the job has ended. Other commands see by the
//! lock whether a job still runs, and wait for its end.

mod cancel;
mod keeper;
mod list;
mod logs;
mod record;
mod store;
mod submit;

pub use cancel::cancel;
pub use keeper::keep;
pub use list::{JobsArgs, list};
pub use logs::{LogsArgs, logs};
pub use submit::{SubmitArgs, submit, wait};
