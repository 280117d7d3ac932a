//! MPI's functions in which a task may wait, by number: what onlookers call the waits of a program.

/// The names; the number is the place, counted from one.
#[rustfmt::skip]
const NAMES: [&str; 126] = [
    "MPI_Send",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Bsend",
    "MPI_Recv",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
    "MPI_Probe",
    "MPI_Mprobe",
    "MPI_Mrecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Buffer_detach",
    "MPI_Buffer_flush",
    "MPI_Comm_detach_buffer",
    "MPI_Comm_flush_buffer",
    "MPI_Session_detach_buffer",
    "MPI_Session_flush_buffer",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Neighbor_allgather",
    "MPI_Neighbor_allgatherv",
    "MPI_Neighbor_alltoall",
    "MPI_Neighbor_alltoallv",
    "MPI_Neighbor_alltoallw",
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Session_init",
    "MPI_Session_finalize",
    "MPI_Comm_dup",
    "MPI_Comm_dup_with_info",
    "MPI_Comm_create",
    "MPI_Comm_create_group",
    "MPI_Comm_create_from_group",
    "MPI_Comm_split",
    "MPI_Comm_split_type",
    "MPI_Comm_free",
    "MPI_Comm_disconnect",
    "MPI_Intercomm_create",
    "MPI_Intercomm_create_from_groups",
    "MPI_Intercomm_merge",
    "MPI_Cart_create",
    "MPI_Cart_sub",
    "MPI_Graph_create",
    "MPI_Dist_graph_create",
    "MPI_Dist_graph_create_adjacent",
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "MPI_Comm_accept",
    "MPI_Comm_connect",
    "MPI_Comm_join",
    "MPI_Lookup_name",
    "MPI_Publish_name",
    "MPI_Unpublish_name",
    "MPI_Win_create",
    "MPI_Win_allocate",
    "MPI_Win_allocate_shared",
    "MPI_Win_create_dynamic",
    "MPI_Win_free",
    "MPI_Win_fence",
    "MPI_Win_start",
    "MPI_Win_complete",
    "MPI_Win_post",
    "MPI_Win_wait",
    "MPI_Win_lock",
    "MPI_Win_unlock",
    "MPI_Win_lock_all",
    "MPI_Win_unlock_all",
    "MPI_Win_flush",
    "MPI_Win_flush_all",
    "MPI_Win_flush_local",
    "MPI_Win_flush_local_all",
    "MPI_Get",
    "MPI_Put",
    "MPI_Accumulate",
    "MPI_Get_accumulate",
    "MPI_Fetch_and_op",
    "MPI_Compare_and_swap",
    "MPI_File_open",
    "MPI_File_close",
    "MPI_File_set_size",
    "MPI_File_preallocate",
    "MPI_File_set_view",
    "MPI_File_sync",
    "MPI_File_set_atomicity",
    "MPI_File_read_all",
    "MPI_File_write_all",
    "MPI_File_read_at_all",
    "MPI_File_write_at_all",
    "MPI_File_read_ordered",
    "MPI_File_write_ordered",
    "MPI_File_read_all_begin",
    "MPI_File_read_all_end",
    "MPI_File_write_all_begin",
    "MPI_File_write_all_end",
    "MPI_File_read_at_all_begin",
    "MPI_File_read_at_all_end",
    "MPI_File_write_at_all_begin",
    "MPI_File_write_at_all_end",
    "MPI_File_read_ordered_begin",
    "MPI_File_read_ordered_end",
    "MPI_File_write_ordered_begin",
    "MPI_File_write_ordered_end",
    "MPI_File_seek_shared",
    "MPI_File_read_shared",
    "MPI_File_write_shared",
    "MPIX_Comm_agree",
    "MPIX_Comm_shrink",
];

/// The number of a function; 0 for one that never waits.
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "the loop's condition bounds the index"
)]
pub const fn number(name: &str) -> u32 {
    let mut place = 0;
    while place < NAMES.len() {
        if is_same(NAMES[place].as_bytes(), name.as_bytes()) {
            return place as u32 + 1;
        }
        place += 1;
    }
    0
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "the loop's condition bounds the index"
)]
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut place = 0;
    while place < one.len() {
        if one[place] != other[place] {
            return false;
        }
        place += 1;
    }
    true
}

/// All of them in the words of interfaces: see `parvum_wire::calls`.
pub fn words() -> String {
    let line = |name: &&str| match ONLY_MEMBERS.iter().any(|known| name.starts_with(known)) {
        true => format!("function:only-members {name}\n"),
        false => format!("function {name}\n"),
    };
    "interface MPI\n".to_owned() + &NAMES.iter().map(line).collect::<String>()
}

/// In these only members of the communicator can end a wait for a message: nobody comes to a port there.
const ONLY_MEMBERS: [&str; 5] = ["MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Sendrecv", "MPI_Wait"];

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_wire::calls;

    #[test]
    fn function_number_is_its_line() {
        let words = words();
        for (place, wanted) in NAMES.iter().enumerate() {
            assert_eq!(number(wanted), place as u32 + 1);
            assert_eq!(calls::find(&words, number(wanted)).map(|word| word.name).as_deref(), Some(*wanted));
        }
        assert_eq!((number("MPI_Comm_rank"), calls::count(&words)), (0, NAMES.len() as u32));
        assert!(words.len() < 4096, "other interfaces find room as well: {}", words.len());
        let mark = |name| calls::find(&words, number(name)).map(|word| word.mark);
        assert_eq!(mark("MPI_Waitall").as_deref(), Some("only-members"));
        assert_eq!(mark("MPI_Comm_accept").as_deref(), Some(""));
    }
}
