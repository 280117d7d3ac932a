//! The functions of MPI that communicate or wait.

#![allow(unsafe_code)]

use crate::counts::{Call, Counter, message};
use crate::next::{Next, Words};
use std::ffi::c_int;

static TYPE_SIZE: Next = Next::new(c"PMPI_Type_size");

/// Counts what a call sends: its count and its datatype are those arguments. Datatypes are ints in one ABI and pointers in another.
unsafe fn count_message(words: &Words, count: usize, datatype: usize, is_large: bool) {
    let mut size: c_int = 0;
    let asked = [words[datatype], &raw mut size as usize, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: the program's own datatype, and the place of an int.
    if unsafe { TYPE_SIZE.try_call(asked) } == Some(0) {
        // If a count is an int, the upper half of its register is anything.
        let count =
            if is_large { words[count] as i64 } else { i64::from(words[count] as c_int) }.max(0) as u64;
        message(count.saturating_mul(size.max(0) as u64));
    }
}

macro_rules! wrapped {
    ($($kind:ident $name:ident $(($count:literal, $datatype:literal))?;)*) => {
        /// All of them.
        pub static COUNTERS: [&Counter; [$(stringify!($name)),*].len()] = [$(&$name::COUNTER),*];
        $(
            #[allow(non_snake_case, reason = "MPI's name")]
            mod $name {
                use super::*;

                pub static COUNTER: Counter = Counter::new(stringify!($name), wrapped!(@waits $kind));
                #[allow(dead_code, reason = "functions without a message have no count")]
                const IS_LARGE: bool = matches!(stringify!($name).as_bytes(), [.., b'_', b'c']);
                static NEXT: Next = Next::new(
                    match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a name has no zero inside"),
                    },
                );

                /// # Safety
                /// As MPI says of the function.
                #[unsafe(no_mangle)]
                #[allow(clippy::too_many_arguments, reason = "as many as any function of MPI has")]
                unsafe extern "C" fn $name(
                    a: usize, b: usize, c: usize, d: usize, e: usize, f: usize,
                    g: usize, h: usize, i: usize, j: usize, k: usize, l: usize,
                ) -> usize {
                    let words = [a, b, c, d, e, f, g, h, i, j, k, l];
                    let call = Call::begin(&COUNTER);
                    $(if call.is_outermost() {
                        // SAFETY: the caller's arguments.
                        unsafe { count_message(&words, $count, $datatype, IS_LARGE) };
                    })?
                    let _call = call;
                    // SAFETY: the caller's arguments go on as they came.
                    unsafe { NEXT.call(words) }
                }
            }
        )*
    };
    (@waits waits) => { true };
    (@waits sends) => { false };
}

wrapped! {
    sends MPI_Send (1, 2);
    sends MPI_Bsend (1, 2);
    sends MPI_Rsend (1, 2);
    waits MPI_Ssend (1, 2);
    sends MPI_Isend (1, 2);
    sends MPI_Ibsend (1, 2);
    sends MPI_Irsend (1, 2);
    sends MPI_Issend (1, 2);
    waits MPI_Sendrecv (1, 2);
    waits MPI_Sendrecv_replace (1, 2);
    waits MPI_Recv;
    sends MPI_Irecv;
    waits MPI_Mrecv;
    waits MPI_Probe;
    waits MPI_Mprobe;
    sends MPI_Iprobe;
    sends MPI_Start;
    sends MPI_Startall;
    waits MPI_Wait;
    waits MPI_Waitall;
    waits MPI_Waitany;
    waits MPI_Waitsome;
    sends MPI_Test;
    sends MPI_Testall;
    sends MPI_Testany;
    sends MPI_Testsome;
    waits MPI_Barrier;
    waits MPI_Bcast (1, 2);
    waits MPI_Gather (1, 2);
    waits MPI_Gatherv (1, 2);
    waits MPI_Scatter (1, 2);
    waits MPI_Scatterv;
    waits MPI_Allgather (1, 2);
    waits MPI_Allgatherv (1, 2);
    waits MPI_Alltoall (1, 2);
    waits MPI_Alltoallv;
    waits MPI_Alltoallw;
    waits MPI_Reduce (2, 3);
    waits MPI_Allreduce (2, 3);
    waits MPI_Reduce_scatter;
    waits MPI_Reduce_scatter_block (2, 3);
    waits MPI_Scan (2, 3);
    waits MPI_Exscan (2, 3);
    sends MPI_Ibarrier;
    sends MPI_Ibcast (1, 2);
    sends MPI_Igather (1, 2);
    sends MPI_Iscatter (1, 2);
    sends MPI_Iallgather (1, 2);
    sends MPI_Ialltoall (1, 2);
    sends MPI_Ireduce (2, 3);
    sends MPI_Iallreduce (2, 3);
    waits MPI_Neighbor_allgather (1, 2);
    waits MPI_Neighbor_alltoall (1, 2);
    waits MPI_Win_fence;
    waits MPI_Win_lock;
    waits MPI_Win_unlock;
    waits MPI_Win_flush;
    waits MPI_Win_start;
    waits MPI_Win_complete;
    waits MPI_Win_wait;
    sends MPI_Put (1, 2);
    sends MPI_Get (1, 2);
    sends MPI_Accumulate (1, 2);
    waits MPI_Comm_dup;
    waits MPI_Comm_split;
    waits MPI_Comm_create;
    waits MPI_Comm_spawn;
    waits MPI_File_read_all;
    waits MPI_File_write_all;
    waits MPI_Init;
    waits MPI_Init_thread;
    waits MPI_Finalize;
    // Counts of 64 bits, as mpi4py calls them. Functions with arrays of counts are missing: an MPI without large counts cannot do them.
    sends MPI_Send_c (1, 2);
    sends MPI_Bsend_c (1, 2);
    sends MPI_Rsend_c (1, 2);
    waits MPI_Ssend_c (1, 2);
    sends MPI_Isend_c (1, 2);
    sends MPI_Ibsend_c (1, 2);
    sends MPI_Irsend_c (1, 2);
    sends MPI_Issend_c (1, 2);
    waits MPI_Sendrecv_c (1, 2);
    waits MPI_Sendrecv_replace_c (1, 2);
    waits MPI_Recv_c;
    sends MPI_Irecv_c;
    waits MPI_Mrecv_c;
    waits MPI_Bcast_c (1, 2);
    waits MPI_Gather_c (1, 2);
    waits MPI_Scatter_c (1, 2);
    waits MPI_Allgather_c (1, 2);
    waits MPI_Alltoall_c (1, 2);
    waits MPI_Reduce_c (2, 3);
    waits MPI_Allreduce_c (2, 3);
    waits MPI_Reduce_scatter_block_c (2, 3);
    waits MPI_Scan_c (2, 3);
    waits MPI_Exscan_c (2, 3);
    sends MPI_Ibcast_c (1, 2);
    sends MPI_Igather_c (1, 2);
    sends MPI_Iscatter_c (1, 2);
    sends MPI_Iallgather_c (1, 2);
    sends MPI_Ialltoall_c (1, 2);
    sends MPI_Ireduce_c (2, 3);
    sends MPI_Iallreduce_c (2, 3);
    waits MPI_Neighbor_allgather_c (1, 2);
    waits MPI_Neighbor_alltoall_c (1, 2);
    sends MPI_Put_c (1, 2);
    sends MPI_Get_c (1, 2);
    sends MPI_Accumulate_c (1, 2);
    waits MPI_File_read_all_c;
    waits MPI_File_write_all_c;
}
