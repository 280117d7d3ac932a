//! mpi4py's wheel from PyPI, as it is: Python on whichever MPI comes first. (Its own test suite is run by `./x mpi4py`.)

use crate::programs::launch::{mpiexec, peer};
use parvum_tests::TestMachine;
use parvum_tests::stage::stage;

const PROGRAM: &str = "
from mpi4py import MPI
import numpy

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
assert MPI.Get_library_version().startswith('MPICH Version:') and 'Parvum' in MPI.Get_library_version()
# Objects, by pickle, in a ring; and to all.
comm.send({'from': rank}, dest=(rank + 1) % size, tag=rank)
status = MPI.Status()
assert comm.recv(source=MPI.ANY_SOURCE, status=status)['from'] == (rank - 1) % size == status.source == status.tag
assert comm.allgather(str(rank)) == [str(other) for other in range(size)]
# Arrays, where they lie: sums, columns, windows.
mine, sums = numpy.arange(1000.0) * (rank + 1), numpy.empty(1000)
comm.Allreduce(mine, sums)
assert (sums == numpy.arange(1000.0) * size * (size + 1) / 2).all()
square = numpy.full((8, 8), rank, dtype='i')
column = MPI.INT.Create_vector(8, 1, 8).Commit()
comm.Sendrecv_replace([square, 1, column], dest=(rank + 1) % size, source=(rank - 1) % size)
assert (square[:, 0] == (rank - 1) % size).all() and (square[:, 1:] == rank).all()
column.Free()
win = MPI.Win.Allocate(8, 8, comm=comm)
memory = numpy.frombuffer(win, dtype='q')
memory[0] = 0
comm.Barrier()
win.Lock_all()
win.Accumulate(numpy.array([rank + 1], dtype='q'), 0)
win.Unlock_all()
comm.Barrier()
assert rank > 0 or memory[0] == size * (size + 1) // 2
win.Free()
# Python's own functions: an operation, an error as an exception.
assert comm.allreduce([rank], op=lambda one, other: one + other) == list(range(size))
try:
    comm.Send(mine, dest=size)
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RANK
else:
    raise AssertionError('it was sent to nobody')
if rank == 0:
    print('python: good')
";

#[test]
fn mpi4py_from_pypi_runs_on_parvum() {
    let Some(python) = peer("mpi4py/wheel/bin/python") else { return };
    for ranks in ["1", "3"] {
        let machine = TestMachine::up();
        let mut command = mpiexec(&machine, &["-n", ranks]);
        // It looks for the library by its name, as the loader does.
        command.env("LD_LIBRARY_PATH", &stage().lib).env("OPENBLAS_NUM_THREADS", "1");
        let done = command.arg(&python).args(["-c", PROGRAM]).output().expect("mpiexec runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(String::from_utf8_lossy(&done.stdout), "python: good\n");
    }
}
