//! The names of the routes that a task knows by number: the task writes them once, into its control block and its recording, so that no
//! onlooker has a list of its own.

use crate::text::{load_text, store_text};
use std::sync::atomic::AtomicU8;

/// Numbers of routes are below this; the transports' `Route::BOUND`.
pub const ROUTES: usize = 8;
/// Room for the name of one, in ASCII, at least one zero behind it.
pub const ROUTE_NAME_BYTES: usize = 16;

/// Names by number; an empty one is of a number not in use.
#[repr(C)]
pub(crate) struct RouteNames([[AtomicU8; ROUTE_NAME_BYTES]; ROUTES]);

impl RouteNames {
    pub(crate) fn write(&self, names: &[(u8, &str)]) {
        for &(number, name) in names {
            if let Some(room) = self.0.get(usize::from(number)) {
                store_text(&room[..ROUTE_NAME_BYTES - 1], name);
            }
        }
    }

    pub(crate) fn read(&self) -> Vec<String> {
        // A task may write into its control block what it likes, and names end in terminals.
        let is_name = |text: &String| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        self.0.iter().map(|room| Some(load_text(room)).filter(is_name).unwrap_or_default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{ControlBlock, Recording};

    #[test]
    fn observers_read_route_names_that_task_wrote() {
        let (control_block, file) = ControlBlock::create().expect("memory");
        control_block.name_routes(&[(1, "shm"), (7, "a-name-of-16-let"), (8, "beyond"), (3, "\x1b[31mred")]);
        let names = ControlBlock::open(&file).expect("the same page").routes();
        assert_eq!(names, ["", "shm", "", "", "", "", "", "a-name-of-16-le"]);
        let (recording, file) = Recording::create(5000, false).expect("a recording");
        recording.name_routes(&[(0, "itself")]);
        assert_eq!(Recording::open(&file).expect("the same").routes()[0], "itself");
    }
}
