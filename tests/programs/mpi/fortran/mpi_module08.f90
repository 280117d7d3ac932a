! What is our own module mpi_f08's: sections of arrays in every way of using data, functions of the program's, large counts, attributes,
! texts, MPI_Sizeof, and names with PMPI_.
module called
  use mpi_f08
  implicit none
  integer :: deleted = 0, errors = 0
contains
  ! Not commutative: matrices of 2 times 2, column by column.
  subroutine multiply(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: one(:, :, :), other(:, :, :)
    integer :: i
    call c_f_pointer(invec, one, [2, 2, len])
    call c_f_pointer(inoutvec, other, [2, 2, len])
    do i = 1, len
      other(:, :, i) = matmul(one(:, :, i), other(:, :, i))
    end do
    if (datatype == MPI_DATATYPE_NULL) errors = errors + 100
  end subroutine
  subroutine deletes(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (comm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID) deleted = deleted + int(attribute_val + extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine handles(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    integer :: kind
    call MPI_Error_class(error_code, kind)
    if (comm /= MPI_COMM_NULL .and. (kind == MPI_ERR_TAG .or. kind == MPI_ERR_BUFFER)) errors = errors + 1
  end subroutine
end module

program mpi_module08
  use mpi_f08
  use called
  implicit none
  integer :: rank, ranks, next, before, i, length, number = 0, code, key, bytes, product(2, 2), matrix(2, 2)
  integer :: grid(6, 4), other(6, 4), sums(8), line(8)
  integer, allocatable :: every(:, :)
  integer(kind=MPI_ADDRESS_KIND) :: value
  integer(kind=MPI_COUNT_KIND) :: large
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  type(MPI_Comm) :: own
  type(MPI_Op) :: op
  type(MPI_Errhandler) :: handler
  type(MPI_Group) :: group
  type(MPI_Info) :: hints
  type(MPI_Datatype) :: four
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call PMPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)

  ! A part of a matrix, not begun and ended in one call, and a part of that part.
  grid = reshape([(i + 100 * rank, i = 1, 24)], [6, 4])
  other = 0
  call MPI_Irecv(other(2:6:2, 1:4:3), 6, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(grid(1:5:2, 2:3), 6, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call expect('a section of a matrix', all_equal(other(2:6:2, 1), [7, 9, 11] + 100 * before) .and. &
              all_equal(other(2:6:2, 4), [13, 15, 17] + 100 * before) .and. count(other /= 0) == 6)
  other = 0
  call MPI_Sendrecv(grid(6:1:-1, 1), 4, MPI_INTEGER, next, 2, other(1:5:2, :), 5, MPI_INTEGER, before, 2, MPI_COMM_WORLD, status)
  call expect('backwards, and not all', all_equal(other(1:5:2, 1), [6, 5, 4] + 100 * before) .and. other(1, 2) == 3 + 100 * before &
              .and. count(other /= 0) == 4)
  call MPI_Get_count(status, MPI_INTEGER, large)
  call expect('a large count', large == 4)
  call MPI_Send(grid(1:6:5, 1), 2_MPI_COUNT_KIND, MPI_INTEGER, MPI_PROC_NULL, 2, MPI_COMM_WORLD)

  ! Sums of sections, copied for the call; and begun, which is refused.
  line = [(i * (rank + 1), i = 1, 8)]
  sums = -1
  call MPI_Allreduce(line(1:8:2), sums(2:8:2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect('sums of a section', all_equal(sums(2:8:2), [1, 3, 5, 7] * (ranks * (ranks + 1) / 2)) .and. all(sums(1:7:2) == -1))
  allocate(every(2 * ranks, 3))
  every = 0
  call MPI_Allgather(line(1), 3, MPI_INTEGER, every(2:2 * ranks:2, :), 3, MPI_INTEGER, MPI_COMM_WORLD)
  call expect('collected in a section', sum(every) == 6 * (ranks * (ranks + 1) / 2) .and. sum(every(1:2 * ranks:2, :)) == 0)
  call MPI_Comm_dup(MPI_COMM_WORLD, own)
  call MPI_Comm_create_errhandler(handles, handler)
  call MPI_Comm_set_errhandler(own, handler)
  call MPI_Iallreduce(line(1:8:2), sums(2:8:2), 4, MPI_INTEGER, MPI_SUM, own, requests(1), code)
  call MPI_Error_class(code, i)
  call expect('a sum of a section that is begun', i == MPI_ERR_BUFFER .and. errors == 1)
  call MPI_Send(line, 1, MPI_INTEGER, next, -5, own, code)
  call expect('an error handler', code /= MPI_SUCCESS .and. errors == 2)
  call MPI_Errhandler_free(handler)

  ! Functions of the program's.
  call MPI_Op_create(multiply, .false., op)
  matrix = reshape([1, 0, rank + 1, 1], [2, 2])
  call MPI_Type_contiguous(4, MPI_INTEGER, four)
  call MPI_Type_commit(four)
  call MPI_Allreduce(matrix, product, 1, four, op, MPI_COMM_WORLD)
  call expect('a product of matrices', all(product == reshape([1, 0, ranks * (ranks + 1) / 2, 1], [2, 2])) .and. errors == 2)
  call MPI_Op_commutative(op, flag)
  call expect('it does not commute', .not. flag)
  call MPI_Op_free(op)
  call MPI_Type_free(four)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, deletes, key, 1000_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(own, key, 7_MPI_ADDRESS_KIND)
  call MPI_Comm_get_attr(own, key, value, flag)
  call expect('an attribute', flag .and. value == 7)

  ! Texts, hints, sizes.
  call MPI_Comm_set_name(own, 'our own  ')
  call MPI_Comm_get_name(own, name, length)
  call expect('a name', name == 'our own' .and. length == 7)
  call MPI_Comm_free(own)
  call expect('its attribute was deleted', deleted == 1007)
  call MPI_Info_create(hints)
  call MPI_Info_set(hints, 'key', 'a value')
  length = 20
  call MPI_Info_get_string(hints, 'key', length, name, flag)
  call expect('a hint', flag .and. name == 'a value' .and. length == 7)
  call MPI_Info_free(hints)
  call expect('freed', hints == MPI_INFO_NULL)
  call MPI_Sizeof(value, bytes)
  call MPI_Sizeof(grid, i)
  call expect('sizes', bytes == 8 .and. i == 4)
  call MPI_Comm_group(MPI_COMM_WORLD, group)
  call MPI_Group_rank(group, i)
  call expect('a group', i == rank .and. group /= MPI_GROUP_NULL)
  call MPI_Group_free(group)
  call MPI_Barrier(MPI_COMM_WORLD)
  print '(a,i0,a,i0,a)', 'rank ', rank, ': ', number, ' checks'
  call MPI_Finalize(code)
contains
  logical function all_equal(one, two)
    integer, intent(in) :: one(:), two(:)
    all_equal = all(one == two)
  end function
  subroutine expect(what, holds)
    character(*), intent(in) :: what
    logical, intent(in) :: holds
    number = number + 1
    if (holds) return
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
