! What a program that uses the module mpi_f08 takes from the C library: handles and statuses as types, sections of arrays as they are,
! places that stand for something, error codes that may be left out. Compiled by MPICH's own compiler, for ./x drop-in.
program mpi_fortran08
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, before, got, length, number = 0, i
  integer :: numbers(10), others(10)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half
  type(MPI_Datatype) :: every_second
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)

  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 3, got, 1, MPI_INTEGER, before, MPI_ANY_TAG, MPI_COMM_WORLD, status)
  call expect('a ring', got == before .and. status%MPI_SOURCE == before .and. status%MPI_TAG == 3)
  call MPI_Get_count(status, MPI_INTEGER, length)
  call expect('how much it is', length == 1)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 4, got, 1, MPI_INTEGER, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call expect('a status that is not wanted', got == before)

  call MPI_Irecv(got, 1, MPI_INTEGER, next, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, before, 5, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call expect('statuses', got == next .and. statuses(1)%MPI_SOURCE == next .and. requests(1) == MPI_REQUEST_NULL)
  call MPI_Irecv(got, 1, MPI_INTEGER, before, 6, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, next, 6, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect('statuses that are not wanted', got == before)

  got = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect('a sum in place', got == ranks * (ranks + 1) / 2)

  numbers = [(i + 100 * rank, i = 1, 10)]
  others = 0
  call MPI_Sendrecv(numbers(1:9:2), 5, MPI_INTEGER, next, 7, others(2:10:2), 5, MPI_INTEGER, before, 7, MPI_COMM_WORLD, status)
  call expect('a section of an array', all(others == [(merge(0, i - 1 + 100 * before, mod(i, 2) == 1), i = 1, 10)]))
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, every_second)
  call MPI_Type_commit(every_second)
  call MPI_Bcast(numbers, 1, every_second, 0, MPI_COMM_WORLD)
  call expect('every second', all(numbers(1:5:2) == [1, 3, 5]) .and. numbers(2) == 2 + 100 * rank)
  call MPI_Type_free(every_second)

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
  call MPI_Comm_size(half, length)
  call MPI_Comm_rank(half, got)
  call expect('the last is first', length == (ranks + 1 - mod(rank, 2)) / 2 .and. got == length - 1 - rank / 2)
  call MPI_Comm_free(half)
  print '(a,i0,a,i0,a)', 'rank ', rank, ': ', number, ' checks'
  call MPI_Finalize()
contains
  subroutine expect(what, holds)
    character(*), intent(in) :: what
    logical, intent(in) :: holds
    number = number + 1
    if (holds) return
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
