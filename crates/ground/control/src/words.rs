//! The words of the interfaces that a task uses: a text that the task writes into its control block and its recording, for
//! whoever looks. `parvum_wire::calls` says what stands in it.

use crate::text::load_text;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Room for the text and its length.
pub const WORDS_BYTES: usize = 8192;

/// The text, in UTF-8.
#[repr(C, align(64))]
pub(crate) struct WordCells {
    /// So many bytes are written.
    length: AtomicU32,
    text: [AtomicU8; WORDS_BYTES - size_of::<AtomicU32>()],
}

impl WordCells {
    /// Writes a text that begins with the one that stands there. Lines for which there is no room are left out.
    pub(crate) fn write(&self, text: &str) {
        let fits = match text.get(..self.text.len()) {
            Some(part) => part.rfind('\n').map_or(0, |end| end + 1),
            None => text.len(),
        };
        for (cell, byte) in self.text.iter().zip(text.as_bytes().iter().take(fits)) {
            cell.store(*byte, Ordering::Relaxed);
        }
        // Release: partner of the acquire in `read`. The greatest length: of two threads the one with less may be later.
        self.length.fetch_max(fits as u32, Ordering::Release);
    }

    pub(crate) fn read(&self) -> String {
        let length = self.length.load(Ordering::Acquire) as usize;
        let cells = &self.text[..length.min(self.text.len())];
        // A task may write into its control block what it likes, and the words end in terminals.
        let lines = cells.split(|cell| cell.load(Ordering::Relaxed) == b'\n');
        lines.map(load_text).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use crate::{ControlBlock, CounterBook, Recording, WORDS_BYTES};

    #[test]
    fn observers_read_words_that_task_wrote() {
        let (_control_block, file) = ControlBlock::create().expect("memory");
        let (task, daemon) = [(); 2].map(|()| CounterBook::open(&file).expect("the same file")).into();
        task.write_words("interface nx\ncall csend\n");
        task.write_words("interface nx\ncall csend\ncall \x1b[31mred\n");
        task.write_words("interface nx\n");
        assert_eq!(daemon.words(), "interface nx\ncall csend\ncall ?[31mred\n");
        let (recording, file) = Recording::create(5000, false).expect("a recording");
        recording.write_words("call csend\n");
        assert_eq!(Recording::open(&file).expect("the same").words(), "call csend\n");
    }

    #[test]
    fn lines_without_room_are_omitted_whole() {
        let (_control_block, file) = ControlBlock::create().expect("memory");
        let book = CounterBook::open(&file).expect("the same file");
        let line = format!("call {}\n", "x".repeat(94));
        book.write_words(&line.repeat(2 * WORDS_BYTES / line.len()));
        assert_eq!(book.words(), line.repeat((WORDS_BYTES - 4) / line.len()));
    }
}
