//! The hints that communicators, windows and files have. Keys that are no hints of theirs are ignored, and so not given back: a program
//! learns from the answer which of its hints are known.

use crate::errors::Mpi;
use crate::objects::info::Info;

/// A key that the standard reserves for one kind of object.
struct Hint {
    key: &'static str,
    /// What holds if the program says nothing.
    default: Option<&'static str>,
    /// What it may be set to; empty: anything.
    values: &'static [&'static str],
}

/// Those of one kind of object.
pub(crate) struct Hints(&'static [Hint]);

const fn promise(key: &'static str) -> Hint {
    Hint { key, default: Some("false"), values: &["true", "false"] }
}

const fn free(key: &'static str) -> Hint {
    Hint { key, default: None, values: &[] }
}

/// Of a communicator.
pub(crate) static COMM: Hints = Hints(&[
    promise("mpi_assert_no_any_tag"),
    promise("mpi_assert_no_any_source"),
    promise("mpi_assert_exact_length"),
    promise("mpi_assert_allow_overtaking"),
    promise("mpi_assert_strict_persistent_collective_ordering"),
]);

/// Of a window.
pub(crate) static WIN: Hints = Hints(&[
    promise("no_locks"),
    Hint { key: "accumulate_ordering", default: Some("rar,raw,war,waw"), values: &[] },
    Hint { key: "accumulate_ops", default: Some("same_op_no_op"), values: &["same_op", "same_op_no_op"] },
    promise("same_size"),
    promise("same_disp_unit"),
    promise("alloc_shared_noncontig"),
]);

/// Of a file.
pub(crate) static FILE: Hints = Hints(&[
    free("access_style"),
    free("collective_buffering"),
    free("cb_block_size"),
    free("cb_buffer_size"),
    free("cb_nodes"),
    free("chunked"),
    free("chunked_item"),
    free("chunked_size"),
    free("filename"),
    free("file_perm"),
    free("io_node_list"),
    free("nb_proc"),
    free("num_io_nodes"),
    free("striping_factor"),
    free("striping_unit"),
]);

impl Hints {
    /// What an object keeps that is given hints: those that it had, and of the new ones those that it knows.
    pub(crate) fn merged(&self, had: &Info, given: &Info) -> Mpi<Info> {
        let kept = had.copy();
        for hint in self.0 {
            let Some(value) = given.get(hint.key)? else { continue };
            if hint.values.is_empty() || hint.values.iter().any(|known| known.as_bytes() == value) {
                kept.set(hint.key, &value)?;
            }
        }
        Ok(kept)
    }

    /// What a program is shown: the hints that are kept, and the defaults of the others.
    pub(crate) fn shown(&self, kept: &Info) -> Mpi<Info> {
        let shown = Info::default();
        for hint in self.0 {
            let value = kept.get(hint.key)?;
            if let Some(value) = value.as_deref().or(hint.default.map(str::as_bytes)) {
                shown.set(hint.key, value)?;
            }
        }
        Ok(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pairs: &[(&str, &str)]) -> Info {
        let info = Info::default();
        pairs.iter().for_each(|(key, value)| info.set(key, value).expect("a key"));
        info
    }

    #[test]
    fn unknown_hints_are_dropped() {
        let given = info(&[("nonsense", "1"), ("no_locks", "true"), ("same_size", "perhaps")]);
        let kept = WIN.merged(&Info::default(), &given).expect("kept");
        let shown = WIN.shown(&kept).expect("shown");
        assert_eq!(shown.get("nonsense"), Ok(None));
        assert_eq!(shown.get("no_locks"), Ok(Some(b"true".to_vec())));
        assert_eq!(shown.get("same_size"), Ok(Some(b"false".to_vec())));
        assert_eq!(shown.get("accumulate_ops"), Ok(Some(b"same_op_no_op".to_vec())));
    }

    #[test]
    fn new_hints_keep_the_others() {
        let had = COMM.merged(&Info::default(), &info(&[("mpi_assert_no_any_tag", "true")])).expect("kept");
        let kept = COMM.merged(&had, &info(&[("mpi_assert_exact_length", "true")])).expect("kept");
        assert_eq!(kept.get("mpi_assert_no_any_tag"), Ok(Some(b"true".to_vec())));
        assert_eq!(kept.get("mpi_assert_exact_length"), Ok(Some(b"true".to_vec())));
    }

    #[test]
    fn file_keeps_its_given_hints() {
        let kept = FILE.merged(&Info::default(), &info(&[("cb_nodes", "4")])).expect("kept");
        let shown = FILE.shown(&kept).expect("shown");
        assert_eq!((shown.count(), shown.get("cb_nodes")), (1, Ok(Some(b"4".to_vec()))));
    }
}
