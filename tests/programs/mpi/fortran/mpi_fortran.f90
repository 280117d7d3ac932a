! What a Fortran program that includes mpif.h may expect, on two ranks or more: a ring, reductions, types, statuses, attributes that C has
! set, and functions of the program that MPI calls. Each rank says how many things it has looked at; the first that is wrong ends it.
module looked_at
  implicit none
  integer :: number = 0, rank = -1, deleted = 0, freed = 0, handled = 0
contains
  subroutine expect(what, holds)
    character(*), intent(in) :: what
    logical, intent(in) :: holds
    number = number + 1
    if (holds) return
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    flush(6)
    call exit(1)
  end subroutine
end module

! inout := in + inout, and as it comes from the left.
subroutine add_up(in, inout, length, datatype)
  implicit none
  integer :: length, datatype, in(length), inout(length)
  inout = in + inout
end subroutine

subroutine copy_attribute(comm, keyval, extra, old, new, flag, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, keyval, ierror
  integer(kind=MPI_ADDRESS_KIND) :: extra, old, new
  logical :: flag
  new = old + extra
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine

subroutine delete_attribute(comm, keyval, value, extra, ierror)
  use looked_at
  implicit none
  include 'mpif.h'
  integer :: comm, keyval, ierror
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  deleted = deleted + 1
  ierror = MPI_SUCCESS
end subroutine

! MPI-1's, whose values are INTEGERs.
subroutine copy_integer(comm, keyval, extra, old, new, flag, ierror)
  implicit none
  integer :: comm, keyval, extra, old, new, ierror
  logical :: flag
  new = 2 * old + extra
  flag = .true.
  ierror = 0
end subroutine

subroutine query_request(extra, status, ierror)
  implicit none
  include 'mpif.h'
  integer(kind=MPI_ADDRESS_KIND) :: extra
  integer :: status(MPI_STATUS_SIZE), ierror
  call MPI_STATUS_SET_ELEMENTS(status, MPI_INTEGER, 3, ierror)
  call MPI_STATUS_SET_CANCELLED(status, .false., ierror)
  status(MPI_SOURCE) = int(extra)
  status(MPI_TAG) = 9
  ierror = MPI_SUCCESS
end subroutine

subroutine free_request(extra, ierror)
  use looked_at
  implicit none
  include 'mpif.h'
  integer(kind=MPI_ADDRESS_KIND) :: extra
  integer :: ierror
  freed = freed + 1
  ierror = MPI_SUCCESS
end subroutine

subroutine cancel_request(extra, complete, ierror)
  implicit none
  include 'mpif.h'
  integer(kind=MPI_ADDRESS_KIND) :: extra
  logical :: complete
  integer :: ierror
  ierror = MPI_SUCCESS
end subroutine

subroutine handle_error(comm, code)
  use looked_at
  implicit none
  integer :: comm, code
  handled = handled + 1
end subroutine

program mpi_fortran
  use looked_at
  implicit none
  include 'mpif.h'
  integer :: ranks, next, before, ierror
  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  call ring
  call requests
  call reductions
  call datatypes
  call attributes
  call of_c
  call generalised
  call texts
  call errors
  call spread
  call of_mpi_1
  call windows
  call files
  call MPI_BARRIER(MPI_COMM_WORLD, ierror)
  print '(a,i0,a,i0,a)', 'rank ', rank, ': ', number, ' checks'
  call MPI_FINALIZE(ierror)
contains
  subroutine ring
    integer :: status(MPI_STATUS_SIZE), got, length
    call MPI_SENDRECV(rank, 1, MPI_INTEGER, next, 3, got, 1, MPI_INTEGER, before, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
    call expect('what came round the ring', got == before .and. ierror == MPI_SUCCESS)
    call expect('whose it is', status(MPI_SOURCE) == before .and. status(MPI_TAG) == 3)
    call MPI_GET_COUNT(status, MPI_INTEGER, length, ierror)
    call expect('how much it is', length == 1)
    call MPI_SENDRECV(rank, 1, MPI_INTEGER, next, 4, got, 1, MPI_INTEGER, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call expect('a status that is not wanted', got == before)
  end subroutine

  subroutine requests
    integer :: request(2), statuses(MPI_STATUS_SIZE, 2), got, index
    logical :: flag
    call MPI_IRECV(got, 1, MPI_INTEGER, next, 5, MPI_COMM_WORLD, request(1), ierror)
    call MPI_ISEND(rank, 1, MPI_INTEGER, before, 5, MPI_COMM_WORLD, request(2), ierror)
    call MPI_WAITALL(2, request, statuses, ierror)
    call expect('what came back', got == next .and. statuses(MPI_SOURCE, 1) == next)
    call expect('requests that are over', all(request == MPI_REQUEST_NULL))
    call MPI_IRECV(got, 1, MPI_INTEGER, before, 6, MPI_COMM_WORLD, request(1), ierror)
    call MPI_ISEND(rank, 1, MPI_INTEGER, next, 6, MPI_COMM_WORLD, request(2), ierror)
    call MPI_WAITALL(2, request, MPI_STATUSES_IGNORE, ierror)
    call expect('statuses that are not wanted', got == before)
    request(2) = MPI_REQUEST_NULL
    call MPI_IRECV(got, 1, MPI_INTEGER, MPI_PROC_NULL, 6, MPI_COMM_WORLD, request(1), ierror)
    call MPI_WAITANY(2, request, index, MPI_STATUS_IGNORE, ierror)
    call expect('the first is 1', index == 1)
    call MPI_TESTANY(2, request, index, flag, MPI_STATUS_IGNORE, ierror)
    ! The index is MPI_UNDEFINED; Debian's library adds 1 to that.
    call expect('no request is under way', flag .and. index < 0)
  end subroutine

  subroutine reductions
    external add_up
    integer :: op, sum
    double precision :: pair(2), most(2)
    logical :: one
    call MPI_OP_CREATE(add_up, .true., op, ierror)
    sum = rank + 1
    call MPI_ALLREDUCE(MPI_IN_PLACE, sum, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
    call expect('a sum of the program''s own, in place', sum == ranks * (ranks + 1) / 2)
    call MPI_OP_FREE(op, ierror)
    call expect('an operation that is gone', op == MPI_OP_NULL)
    pair = [dble(mod(rank * 7, ranks)), dble(rank)]
    call MPI_ALLREDUCE(pair, most, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    call expect('where the greatest is', most(1) == dble(mod(int(most(2)) * 7, ranks)))
    call MPI_ALLREDUCE(rank == 1, one, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
    call expect('one of them says yes', one)
  end subroutine

  subroutine datatypes
    integer :: column, row, matrix(3, 4), line(4), i, status(MPI_STATUS_SIZE), bytes, resized
    integer(kind=MPI_ADDRESS_KIND) :: low, extent, here, there
    call MPI_TYPE_VECTOR(4, 1, 3, MPI_INTEGER, row, ierror)
    call MPI_TYPE_COMMIT(row, ierror)
    matrix = reshape([(i + 100 * rank, i = 1, 12)], [3, 4])
    call MPI_SENDRECV(matrix(2, 1), 1, row, next, 7, line, 4, MPI_INTEGER, before, 7, MPI_COMM_WORLD, status, ierror)
    call expect('a row', all(line == [2, 5, 8, 11] + 100 * before))
    call MPI_TYPE_SIZE(row, bytes, ierror)
    call expect('its size', bytes == 16)
    call MPI_TYPE_CREATE_RESIZED(row, 0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, resized, ierror)
    call MPI_TYPE_GET_EXTENT(resized, low, extent, ierror)
    call expect('its extent', low == 0 .and. extent == 4)
    call MPI_TYPE_CONTIGUOUS(3, MPI_INTEGER, column, ierror)
    call MPI_GET_ADDRESS(matrix(1, 1), here, ierror)
    call MPI_GET_ADDRESS(matrix(1, 2), there, ierror)
    call expect('how far columns are apart', there - here == 12)
    call MPI_TYPE_FREE(row, ierror)
    call MPI_TYPE_FREE(resized, ierror)
    call MPI_TYPE_FREE(column, ierror)
    call expect('types that are gone', row == MPI_DATATYPE_NULL)
  end subroutine

  subroutine attributes
    external copy_attribute, delete_attribute
    integer(kind=MPI_ADDRESS_KIND) :: value, found
    integer :: keyval, copy
    logical :: flag
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    call expect('the greatest tag', flag .and. value >= 32767)
    call MPI_COMM_CREATE_KEYVAL(copy_attribute, delete_attribute, keyval, 77_MPI_ADDRESS_KIND, ierror)
    call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, keyval, 12345678901_MPI_ADDRESS_KIND, ierror)
    call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierror)
    call MPI_COMM_GET_ATTR(copy, keyval, found, flag, ierror)
    call expect('a copied attribute', flag .and. found == 12345678978_MPI_ADDRESS_KIND)
    call MPI_COMM_FREE(copy, ierror)
    call expect('a deleted copy', deleted == 1)
    call MPI_COMM_DELETE_ATTR(MPI_COMM_WORLD, keyval, ierror)
    call expect('a deleted attribute', deleted == 2)
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, keyval, found, flag, ierror)
    call expect('none is left', .not. flag)
  end subroutine

  ! C's own functions: what C sets is a pointer, and Fortran finds its bits; what Fortran sets C finds by a pointer.
  subroutine of_c
    use, intrinsic :: iso_c_binding
    interface
      integer(c_int) function c_create(copy, delete, keyval, extra) bind(C, name='PMPI_Comm_create_keyval')
        import
        integer(c_intptr_t), value :: copy, delete, extra
        integer(c_int) :: keyval
      end function
      integer(c_int) function c_set(comm, keyval, value) bind(C, name='PMPI_Comm_set_attr')
        import
        integer(c_int), value :: comm, keyval
        integer(c_intptr_t), value :: value
      end function
      integer(c_int) function c_get(comm, keyval, value, flag) bind(C, name='PMPI_Comm_get_attr')
        import
        integer(c_int), value :: comm, keyval
        type(c_ptr) :: value
        integer(c_int) :: flag
      end function
    end interface
    integer(c_int) :: keyval, flag
    integer(kind=MPI_ADDRESS_KIND) :: found
    integer(c_intptr_t), pointer :: behind
    type(c_ptr) :: place
    logical :: is_there
    call expect('C makes a key', c_create(0_c_intptr_t, 0_c_intptr_t, keyval, 0_c_intptr_t) == MPI_SUCCESS)
    call expect('C sets it', c_set(MPI_COMM_WORLD, keyval, 9876543210_c_intptr_t) == MPI_SUCCESS)
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, keyval, found, is_there, ierror)
    call expect('Fortran finds what C has set', is_there .and. found == 9876543210_MPI_ADDRESS_KIND)
    call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, keyval, 4242424242_MPI_ADDRESS_KIND, ierror)
    call expect('C asks for it', c_get(MPI_COMM_WORLD, keyval, place, flag) == MPI_SUCCESS .and. flag == 1)
    call c_f_pointer(place, behind)
    call expect('C finds what Fortran has set', behind == 4242424242_c_intptr_t)
    call MPI_COMM_DELETE_ATTR(MPI_COMM_WORLD, keyval, ierror)
    call MPI_COMM_FREE_KEYVAL(keyval, ierror)
    call expect('a key that is gone', keyval == MPI_KEYVAL_INVALID)
  end subroutine

  subroutine generalised
    external query_request, free_request, cancel_request
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: request, status(MPI_STATUS_SIZE), length
    extra = 5
    call MPI_GREQUEST_START(query_request, free_request, cancel_request, extra, request, ierror)
    call MPI_GREQUEST_COMPLETE(request, ierror)
    call MPI_WAIT(request, status, ierror)
    call MPI_GET_COUNT(status, MPI_INTEGER, length, ierror)
    call expect('its status', status(MPI_SOURCE) == 5 .and. status(MPI_TAG) == 9 .and. length == 3)
    call expect('it is freed', freed == 1)
  end subroutine

  subroutine texts
    character(MPI_MAX_PROCESSOR_NAME) :: host
    character(MPI_MAX_OBJECT_NAME) :: name
    character(MPI_MAX_ERROR_STRING) :: text
    character(20) :: short
    integer :: length, info, keys
    logical :: flag
    host = repeat('#', len(host))
    call MPI_GET_PROCESSOR_NAME(host, length, ierror)
    call expect('the host', length > 0 .and. host(length + 1:) == ' ' .and. index(host, '#') == 0)
    call MPI_COMM_SET_NAME(MPI_COMM_WORLD, 'all of us   ', ierror)
    call MPI_COMM_GET_NAME(MPI_COMM_WORLD, name, length, ierror)
    call expect('a name without the blanks at its end', name == 'all of us' .and. length == 9)
    call MPI_ERROR_STRING(MPI_ERR_RANK, text, length, ierror)
    call expect('an error''s text', length > 0 .and. len_trim(text) == length)
    call MPI_INFO_CREATE(info, ierror)
    call MPI_INFO_SET(info, 'fruit ', ' apple and pear', ierror)
    call MPI_INFO_GET(info, 'fruit', 20, short, flag, ierror)
    call expect('a hint', flag .and. short == 'apple and pear')
    call MPI_INFO_GET_NKEYS(info, keys, ierror)
    call expect('one of them', keys == 1)
    call MPI_INFO_FREE(info, ierror)
  end subroutine

  subroutine errors
    external handle_error
    integer :: handler, class, code
    call MPI_COMM_CREATE_ERRHANDLER(handle_error, handler, ierror)
    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, handler, ierror)
    call MPI_SEND(rank, 1, MPI_INTEGER, ranks + 4, 0, MPI_COMM_WORLD, code)
    call MPI_ERROR_CLASS(code, class, ierror)
    call expect('a rank that is none', class == MPI_ERR_RANK)
    call expect('the program''s handler', handled == 1)
    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)
    call MPI_ERRHANDLER_FREE(handler, ierror)
  end subroutine

  ! Arrays of logicals and counts, and choices by address.
  subroutine spread
    integer :: cart, dims(2), coords(2), i, counts(ranks), places(ranks), all_of(ranks * (ranks + 1) / 2), mine(ranks)
    logical :: periods(2), found(2)
    real(8) :: began
    dims = 0
    call MPI_DIMS_CREATE(ranks, 2, dims, ierror)
    periods = [.true., .false.]
    call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .false., cart, ierror)
    call MPI_CART_GET(cart, 2, dims, found, coords, ierror)
    call expect('which dimensions are rings', all(found .eqv. periods))
    call MPI_COMM_FREE(cart, ierror)
    counts = [(i, i = 1, ranks)]
    places = [(i * (i - 1) / 2, i = 1, ranks)]
    mine = rank
    call MPI_ALLGATHERV(mine, rank + 1, MPI_INTEGER, all_of, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call expect('parts of unlike length', all([(all_of(places(i) + 1:places(i) + i) == i - 1, i = 1, ranks)]))
    call MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, before, MPI_UNWEIGHTED, 1, next, MPI_UNWEIGHTED, MPI_INFO_NULL, &
      .false., cart, ierror)
    call MPI_DIST_GRAPH_NEIGHBORS_COUNT(cart, dims(1), dims(2), found(1), ierror)
    call expect('a graph without weights', all(dims == 1) .and. .not. found(1))
    call MPI_COMM_FREE(cart, ierror)
    began = MPI_WTIME()
    call expect('time goes on', MPI_WTIME() >= began .and. MPI_WTICK() > 0)
  end subroutine

  subroutine of_mpi_1
    external copy_integer, MPI_NULL_DELETE_FN
    integer :: keyval, copy, found, pair, extent, numbers(2)
    logical :: flag
    call MPI_KEYVAL_CREATE(copy_integer, MPI_NULL_DELETE_FN, keyval, 5, ierror)
    call MPI_ATTR_PUT(MPI_COMM_WORLD, keyval, -40, ierror)
    call MPI_ATTR_GET(MPI_COMM_WORLD, keyval, found, flag, ierror)
    call expect('an INTEGER', flag .and. found == -40)
    call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierror)
    call MPI_ATTR_GET(copy, keyval, found, flag, ierror)
    call expect('a copied INTEGER', flag .and. found == -75)
    call MPI_COMM_FREE(copy, ierror)
    call MPI_ATTR_DELETE(MPI_COMM_WORLD, keyval, ierror)
    call MPI_KEYVAL_FREE(keyval, ierror)
    call MPI_TYPE_STRUCT(2, [1, 1], [0, 8], [MPI_INTEGER, MPI_REAL], pair, ierror)
    call MPI_TYPE_EXTENT(pair, extent, ierror)
    call expect('an extent', extent == 12)
    call MPI_TYPE_FREE(pair, ierror)
    call MPI_TYPE_HINDEXED(2, [1, 1], [4, 0], MPI_INTEGER, pair, ierror)
    call MPI_TYPE_COMMIT(pair, ierror)
    numbers = 0
    call MPI_SENDRECV([7, 8], 2, MPI_INTEGER, rank, 8, numbers, 1, pair, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call expect('the other way round', all(numbers == [8, 7]))
    call MPI_TYPE_FREE(pair, ierror)
  end subroutine

  subroutine windows
    integer :: exposed(2), win
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    logical :: flag
    exposed = -1
    call MPI_WIN_CREATE(exposed, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_WIN_GET_ATTR(win, MPI_WIN_SIZE, bytes, flag, ierror)
    call expect('how long a window is', flag .and. bytes == 8)
    call MPI_WIN_FENCE(0, win, ierror)
    call MPI_PUT(rank, 1, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
    call MPI_WIN_FENCE(0, win, ierror)
    call expect('what was put', all(exposed == [-1, before]))
    call MPI_WIN_FREE(win, ierror)
    call expect('a window that is gone', win == MPI_WIN_NULL)
  end subroutine

  subroutine files
    integer :: file, got(2), status(MPI_STATUS_SIZE), length
    integer(kind=MPI_OFFSET_KIND) :: bytes, at
    character(40) :: name
    name = 'mpi_fortran.data'
    call MPI_FILE_OPEN(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, ierror)
    call expect('a file', ierror == MPI_SUCCESS .and. file /= MPI_FILE_NULL)
    at = 8 * rank
    call MPI_FILE_WRITE_AT_ALL(file, at, [rank, -rank], 2, MPI_INTEGER, status, ierror)
    call MPI_GET_COUNT(status, MPI_INTEGER, length, ierror)
    call expect('what was written', length == 2)
    call MPI_FILE_SYNC(file, ierror)
    call MPI_BARRIER(MPI_COMM_WORLD, ierror)
    call MPI_FILE_GET_SIZE(file, bytes, ierror)
    call expect('how long it is', bytes == 8 * ranks)
    at = 8 * next
    call MPI_FILE_READ_AT(file, at, got, 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call expect('what was read', all(got == [next, -next]))
    call MPI_FILE_CLOSE(file, ierror)
    call expect('a file that is closed', file == MPI_FILE_NULL)
    call MPI_BARRIER(MPI_COMM_WORLD, ierror)
    if (rank == 0) call MPI_FILE_DELETE(name, MPI_INFO_NULL, ierror)
    call expect('a file that is gone', ierror == MPI_SUCCESS)
  end subroutine
end program
