//! The functions of MPI that communicate or wait.

#![allow(unsafe_code)]

use crate::counts::{Call, Counter, message};
use crate::next::{Next, Words};
use std::ffi::c_int;

static TYPE_SIZE: Next = Next::new(c"PMPI_Type_size");

/// Counts what a call sends: its count and its datatype are those arguments. Datatypes are ints in one ABI and pointers in another.
unsafe fn count_message(words: &Words, count: usize, datatype: usize) {
    let mut size: c_int = 0;
    let asked = [words[datatype], &raw mut size as usize, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: the program's own datatype, and the place of an int.
    if unsafe { TYPE_SIZE.try_call(asked) } == Some(0) {
        // A count is an int: the upper half of its register is anything.
        let count = (words[count] as c_int).max(0) as u64;
        message(count * size.max(0) as u64);
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
                        unsafe { count_message(&words, $count, $datatype) };
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
}
