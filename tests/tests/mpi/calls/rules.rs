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
    the_slot_of_a_missing_neighbour_is_not_written "slots" 3;
    partitioned_requests_match_in_the_order_in_which_they_were_made "partitions" 2;
    a_copy_of_an_inter_communicator_that_is_begun_waits_for_nobody "copies" 4;
    errors_go_to_the_handler_that_the_program_has_set "handlers" 1;
    a_call_that_fails_leaves_the_null_handle "nulls" 2;
    a_freed_key_is_known_to_the_attributes_that_carry_it "keys" 1;
    reductions_take_types_asked_for_by_precision_and_truth_values_that_are_floats "types" 3;
    marks_of_mpi_1_are_bounds "marks" 1;
    an_envelope_says_that_a_type_was_made_with_large_counts "envelopes" 1;
    arguments_that_only_the_own_process_sees_are_refused_or_divided_quickly "local" 1;
    appended_data_is_not_lost_and_a_shared_pointer_leaves_no_file "shared" 4;
    places_beyond_64_bits_are_refused_and_file_names_are_bytes "places" 2;
    names_and_hints_that_are_no_utf_8_come_back_as_they_were_given "bytes" 1;
    a_buffered_send_takes_its_sessions_buffer "buffers" 2;
    sessions_outlive_the_world_and_begin_after_it "sessions" 2;
    adjoining_memory_is_one_and_bytes_of_one_value_are_not_torn "pieces" 3;
}

#[test]
fn an_exchange_whose_send_fails_leaves_no_receive() {
    for name in ["mpi_rules", "mpi_rules_abi"] {
        let lines = said_killed(3, name, "halves");
        assert_eq!(lines, ["rank 0: 4 checks", "rank 1: 1 checks"], "{name}");
    }
}

/// By one binary interface: each round makes more than a hundred thousand communicators.
#[test]
fn a_copy_that_is_begun_reports_that_no_context_is_left() {
    let lines = said_with(2, "mpi_rules", &["exhausted"], false);
    assert_eq!(lines, ["rank 0: 4 checks", "rank 1: 4 checks"]);
}
