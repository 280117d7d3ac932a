! `use mpi`: the constants of mpif.h, the functions that are no subroutines, and MPI_SIZEOF. The other subroutines have no interfaces
! here: their buffers are of any type and rank, which the interfaces of Fortran 90 cannot say; the module mpi_f08 has them.
module mpi
  implicit none
  public
  include 'mpif.h'
end module
