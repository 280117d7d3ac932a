//! Rules that other people's programs rely on. Each was broken once.

use crate::calls::core::{said_killed, said_with};

/// All ranks have checked something, and found nothing wrong; by either binary interface.
fn hold(word: &str, ranks: u32) {
    for name in ["mpi_rules", "mpi_rules_abi"] {
        let lines = said_with(ranks, name, &[word], false);
        assert_eq!(lines.len(), ranks as usize, "{name} {word}: {lines:?}");
        let has_checked = |line: &String| line.ends_with(" checks") && !line.ends_with(": 0 checks");
        assert!(lines.iter().all(has_checked), "{name} {word}: {lines:?}");
    }
}

macro_rules! rules {
    ($($test:ident $word:literal $ranks:literal;)*) => {$(
        #[test]
        fn $test() {
            hold($word, $ranks);
        }
    )*};
}

rules! {
    slot_of_missing_neighbour_is_not_written "slots" 3;
    partitioned_requests_match_in_creation_order "partitions" 2;
    comm_idup_of_intercommunicator_does_not_block "copies" 4;
    errors_go_to_handler_set_by_program "handlers" 1;
    failed_call_returns_null_handle "nulls" 2;
    freed_key_stays_valid_for_its_attributes "keys" 1;
    reductions_accept_f90_types_and_float_logicals "types" 3;
    mpi_1_markers_set_bounds "marks" 1;
    envelope_reports_large_counts "envelopes" 1;
    invalid_local_arguments_are_refused "local" 1;
    append_keeps_data_and_shared_pointer_leaves_no_file "shared" 4;
    file_offsets_beyond_64_bits_are_refused "places" 2;
    names_and_hints_outside_utf_8_return_unchanged "bytes" 1;
    buffered_send_uses_buffer_of_its_session "buffers" 2;
    sessions_outlive_and_follow_the_world "sessions" 2;
    adjacent_dynamic_memory_joins_and_values_are_not_torn "pieces" 3;
}

#[test]
fn sendrecv_with_failed_send_leaves_no_receive() {
    for name in ["mpi_rules", "mpi_rules_abi"] {
        let lines = said_killed(3, name, "halves");
        assert_eq!(lines, ["rank 0: 4 checks", "rank 1: 1 checks"], "{name}");
    }
}

/// By one binary interface: each round makes more than a hundred thousand communicators.
#[test]
fn comm_idup_reports_exhausted_contexts() {
    let lines = said_with(2, "mpi_rules", &["exhausted"], false);
    assert_eq!(lines, ["rank 0: 4 checks", "rank 1: 4 checks"]);
}
