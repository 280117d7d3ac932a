! The calls of TreadMarks by their Fortran names.
program tmk_names
  implicit none
  include 'fTmk.h'
  integer*8 where, address
  common /place/ where
  integer :: shared(1000), i, n, me, sums(2), told
  pointer (address, shared)
  integer*8 :: stat(18)

  call tmk_startup()
  n = tmk_nprocs()
  me = tmk_proc_id()
  if (me == 0) then
    where = tmk_malloc(4000)
    if (where == 0) call tmk_errexit('no room')
    call tmk_distribute(where, 8)
  end if
  call tmk_barrier(0)
  address = where
  do i = me + 1, 1000, n
    shared(i) = i
  end do
  call tmk_lock_acquire(3)
  call tmk_lock_release(3)
  call tmk_barrier(1)
  do i = 1, 1000
    if (shared(i) /= i) call tmk_errexit('a wrong element')
  end do
  sums = (/ me, 1 /)
  call tmk_reduce(sums, 2, TMK_INT, TMK_SUM)
  if (sums(1) /= n * (n - 1) / 2 .or. sums(2) /= n) call tmk_errexit('a wrong sum')
  told = tmk_statistics(stat)
  if (told /= 0 .or. stat(15) /= 2) call tmk_errexit('wrong statistics')
  if (tmk_barrier_kept(2) /= 0) call tmk_errexit('nobody has died')
  if (tmk_is_alive(me) /= 1) call tmk_errexit('nobody is dead')
  if (me == 0) then
    call tmk_free(where)
    print '(a)', 'all well'
  end if
  call tmk_exit(0)
end program tmk_names
