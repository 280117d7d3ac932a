//! MPI_T: what a tool asks, before MPI begins, while it runs and after it has ended.

use crate::calls::core::said;

#[test]
fn tool_variables_count_and_options_are_set_before_init() {
    for program in ["mpi_tools", "mpi_tools_abi"] {
        for ranks in [1, 2, 3, 8] {
            let lines = said(ranks, program, false);
            assert_eq!(lines.len(), ranks as usize, "{lines:?}");
            assert!(lines.iter().all(|line| line.ends_with("checks")), "{lines:?}");
        }
    }
}
