! Every name of point to point that Fortran has: two nodes.
program nx_names
  implicit none
  include 'fnx.h'
  integer :: me, other, number, answer, id, id2, info(8), i, total
  integer :: nodes(1), lengths(2)
  double precision :: d(2), dwork(2), began
  integer :: x(2), work(2), all(4)
  external :: handler
  integer :: entered
  common /seen/ entered

  me = mynode()
  other = 1 - me
  if (numnodes() /= 2 .or. nodedim() /= 1 .or. myhost() /= 2) stop 1
  if (myptype() /= 0 .or. mypid() /= 0) stop 2
  began = dclock()
  i = mclock()
  number = 100 + me
  call csend(1, number, 4, other, 0)
  call cprobe(1)
  if (infocount() /= 4) stop 3
  call crecv(1, answer, 4)
  if (answer /= 100 + other .or. infonode() /= other .or. infotype() /= 1) stop 4
  if (infoptype() /= 0 .or. infopid() /= 0) stop 5
  call csend(2, number, 4, -1, 0)
  call crecvx(2, answer, 4, other, -1, info)
  if (info(1) /= 2 .or. info(2) /= 4 .or. info(3) /= other .or. info(4) /= 0) stop 6
  id = irecv(3, answer, 4)
  id2 = isend(3, number, 4, other, 0)
  call msgwait(id2)
  call msgwait(id)
  if (answer /= 100 + other) stop 7
  id = irecvx(4, answer, 4, other, 0, info)
  nodes(1) = other
  call gsendx(4, number, 4, nodes, 1)
  do while (msgdone(id) == 0)
    call flick()
  end do
  if (info(1) /= 4) stop 8
  call gsync()
  if (me == 0) then
    if (csendrecv(5, number, 4, other, 0, 6, answer, 4) /= 4) stop 9
    if (answer /= 101) stop 10
  else
    call crecv(5, answer, 4)
    call csend(6, number, 4, 0, 0)
  end if
  id = isendrecv(7, number, 4, other, 0, 7, answer, 4)
  id2 = irecv(8, x, 8)
  call msgcancel(id2)
  call msgwait(msgmerge(-1, id))
  id = irecv(9, x, 4)
  call msgignore(id)
  call csend(9, number, 4, other, 0)
  call gsync()
  if (iprobe(-1) /= 0 .or. iprobex(-1, other, -1, info) /= 0) stop 11
  call csend(10, number, 4, me, 0)
  call cprobex(10, me, -1, info)
  if (info(2) /= 4) stop 12
  call crecv(10, answer, 4)

  x = (/ me + 1, 5 /)
  call gisum(x, 2, work)
  if (x(1) /= 3 .or. x(2) /= 10) stop 13
  d = (/ 0.5d0, dble(me) /)
  call gdsum(d, 2, dwork)
  if (d(1) /= 1 .or. d(2) /= 1) stop 14
  x = (/ me, -me /)
  call gihigh(x, 2, work)
  if (x(1) /= 1 .or. x(2) /= 0) stop 15
  x = (/ me, me /)
  total = 0
  call gcol(x, 4 * me + 4, all, 16, total)
  if (total /= 12 .or. all(1) /= 0 .or. all(3) /= 1) stop 16
  lengths = (/ 4, 8 /)
  call gcolx(x, lengths, all)
  if (all(2) /= 1) stop 17
  do i = 0, 100
    if (ginv(gray(i)) /= i) stop 18
  end do

  entered = 0
  call hrecv(11, answer, 4, handler)
  call gsync()
  call csend(11, number, 4, other, 0)
  do while (entered == 0)
    call flick()
  end do
  if (answer /= 100 + other .or. entered /= 11) stop 19
  if (masktrap(1) /= 0 .or. masktrap(0) /= 1) stop 20
  call gsync()
  if (dclock() < began) stop 21
  print *, 'all well'
end program

subroutine handler(kind, count, node, ptype)
  integer :: kind, count, node, ptype, entered
  common /seen/ entered
  if (count /= 4 .or. ptype /= 0 .or. node > 1) stop 30
  entered = kind
end subroutine
