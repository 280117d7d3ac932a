//! MPI as its users have it: the header, the compilers' wrapper, the launcher, and programs in C.

// How the makers of headers and Fortran read the description.
#[allow(dead_code, reason = "not every maker looks at all")]
#[path = "../../../interfaces/mpi/description.rs"]
mod description;

mod calls;
mod ending;
mod programs;
mod slurm;
mod why;

// The maker of the Fortran module asks the maker of `mpif.h` by this path.
use programs::fortran;
