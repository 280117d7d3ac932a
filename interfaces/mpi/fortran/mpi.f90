! `use mpi`: the constants of mpif.h, and the functions that are no subroutines. The subroutines have no interfaces here: their
! buffers are of any type and rank, which no interface of Fortran 90's says.
module mpi
  implicit none
  public
  include 'mpif.h'
end module
