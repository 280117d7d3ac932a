! What the interfaces of the module mpi are for: names chosen by only:, arguments by their names, implicit none for external procedures,
! data of any type and rank, a C pointer for memory. Each rank says how much it has checked.
module exchanging
  use mpi, only: MPI_COMM_WORLD, MPI_INTEGER, MPI_SUM, MPI_Allreduce
  implicit none (type, external)
contains
  integer function total(number)
    integer, intent(in) :: number
    integer :: code
    call MPI_Allreduce(number, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror=code)
  end function
end module

program modules
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi
  use exchanging
  implicit none (type, external)
  integer :: code, rank, ranks, checks, window, status(MPI_STATUS_SIZE), requests(2)
  integer :: square(2, 2), gives(4)
  integer, pointer :: memory(:)
  double precision :: scalar
  character(len=MPI_MAX_OBJECT_NAME) :: name
  integer :: length
  logical :: flag
  type(c_ptr) :: base
  checks = 0
  call MPI_Init(ierror=code)
  call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=rank, ierror=code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call check(total(rank + 1) == ranks * (ranks + 1) / 2)
  scalar = rank + 0.5d0
  call MPI_Bcast(scalar, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, code)
  call check(scalar == 0.5d0)
  square = 0
  call MPI_Irecv(square, 4, MPI_INTEGER, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, requests(1), code)
  gives = [rank, 1, 2, 3]
  call MPI_Isend(gives, 4, MPI_INTEGER, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, requests(2), code)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  call check(square(1, 1) == mod(rank + ranks - 1, ranks) .and. square(2, 2) == 3)
  call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, code)
  call c_f_pointer(base, memory, [4])
  memory = rank
  call check(all(memory == rank))
  call MPI_Win_free(window, code)
  call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, code)
  call check(name(:length) == 'MPI_COMM_WORLD')
  call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, status, code)
  call check(.not. flag)
  print '(a, i0, a, i0, a)', 'rank ', rank, ': ', checks, ' checks'
  call MPI_Finalize(code)
contains
  subroutine check(holds)
    logical, intent(in) :: holds
    checks = checks + 1
    if (.not. holds) then
      print '(a, i0, a, i0, a)', 'rank ', rank, ': check ', checks, ' does not hold'
      call MPI_Abort(MPI_COMM_WORLD, 9, code)
    end if
  end subroutine
end program
