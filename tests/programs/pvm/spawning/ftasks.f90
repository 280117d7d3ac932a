! Fortran: tasks, hosts, every way to send and receive, the mailbox, handlers; at the end the machine is halted.
module handled
  use iso_c_binding, only: c_int
  implicit none
  integer :: heard = 0
contains
  ! PVM passes the buffer on as C does: by value.
  integer(c_int) function on_message(bufid) bind(c)
    integer(c_int), value :: bufid
    include 'fpvm3.h'
    integer :: info
    call pvmfunpack(INTEGER4, heard, 1, 1, info)
    on_message = min(bufid, 0)
  end function
end module

program ftasks
  use handled
  implicit none
  include 'fpvm3.h'
  integer :: me, parent, info

  call pvmfmytid(me)
  call pvmfparent(parent)
  if (parent /= PvmNoParent) then
    call worker
  else
    call master
  end if

contains

  subroutine worker
    integer :: bufid, count, sibling, mine, i
    real*8 :: items(5)
    integer :: from, tag, length

    call pvmfsiblings(count, -1, sibling)
    call gives('of no place', PvmNoTask, sibling)
    mine = -1
    do i = 0, count - 1
      call pvmfsiblings(count, i, sibling)
      if (sibling == me) mine = i
    end do
    call holds('one of them', mine >= 0)
    call pvmfrecv(parent, 1, bufid)
    call pvmfprecv(parent, 2, items, 5, REAL8, from, tag, length, info)
    call gives('pvmfprecv', PvmOk, info)
    call holds('what came', from == parent .and. tag == 2 .and. length == 40 .and. items(5) == 2.5d0)
    print *, 'worker', mine
    call pvmfinitsend(PVMDEFAULT, bufid)
    call pvmfpack(INTEGER4, count, 1, 1, info)
    call pvmfsend(parent, 3, info)
    call pvmfrecv(parent, 4, bufid)
    call pvmfexit(info)
  end subroutine

  subroutine master
    integer, parameter :: crew = 3
    integer :: tids(crew), numt, bufid, i, got, from, tag, length, old, status
    character*256 :: self
    real*8 :: items(5)

    call get_command_argument(0, self)
    call pvmfspawn('no such program at all', PVMTASKDEFAULT, ' ', 1, tids, numt)
    call gives('a program that is none', 0, numt)
    call gives('why', PvmNoFile, tids(1))
    call pvmfcatchout(1, info)
    call gives('pvmfcatchout', PvmOk, info)
    call pvmfspawn(self, PVMTASKARCH, 'LINUX64', crew, tids, numt)
    call gives('pvmfspawn', crew, numt)
    call pvmfnotify(PVMTASKEXIT, 9, crew, tids, info)
    call gives('pvmfnotify', PvmOk, info)
    call hosts(tids(1))
    call tasks(tids)
    call pvmfpstat(tids(1), status)
    call gives('pvmfpstat', PvmOk, status)

    call pvmfinitsend(PVMDEFAULT, bufid)
    call pvmfmcast(crew, tids, 1, info)
    call gives('pvmfmcast', PvmOk, info)
    items = 0.5d0
    items(5) = 2.5d0
    do i = 1, crew
      call pvmfpsend(tids(i), 2, items, 5, REAL8, info)
      call gives('pvmfpsend', PvmOk, info)
    end do
    do i = 1, crew
      call pvmftrecv(-1, 3, -1, 0, bufid)
      call pvmfbufinfo(bufid, length, tag, from, info)
      call holds('from one of them', any(tids == from) .and. tag == 3)
      call pvmfunpack(INTEGER4, got, 1, 1, info)
      call gives('siblings', crew, got)
    end do
    call pvmftrecv(-1, 3, 0, 1000, bufid)
    call gives('pvmftrecv of nothing', 0, bufid)
    call pvmfprobe(-1, 9, bufid)
    call gives('pvmfprobe of nothing', 0, bufid)

    ! One is killed, one gets a signal, one ends by itself.
    call pvmfkill(tids(1), info)
    call gives('pvmfkill', PvmOk, info)
    call pvmfsendsig(tids(2), 9, info)
    call gives('pvmfsendsig', PvmOk, info)
    call pvmfinitsend(PVMDEFAULT, bufid)
    call pvmfsend(tids(3), 4, info)
    do i = 1, crew
      call pvmfrecv(-1, 9, bufid)
    end do
    call pvmfcatchout(0, info)
    call pvmfsetopt(PVMAUTOERR, 0, old)
    ! What is told is the end of its connection; its process ends a moment later.
    do i = 1, 100000
      call pvmfpstat(tids(1), status)
      if (status /= PvmOk) exit
    end do
    call gives('pvmfpstat of the dead', PvmNoTask, status)

    call mailbox
    call handlers
    print *, 'all well'
    flush 6
    call pvmfhalt(info)
    call gives('pvmfhalt', PvmSysErr, info)
  end subroutine

  subroutine hosts(task)
    integer, intent(in) :: task
    integer :: nhost, narch, dtid, speed, got, also, clock(2), ahead(2)
    character*64 :: name
    character*8 :: arch
    nhost = -1
    call pvmfconfig(nhost, narch, dtid, name, arch, speed, info)
    call gives('pvmfconfig', 1, info)
    call holds('one host', nhost == 1 .and. narch == 1 .and. speed > 0 .and. arch == 'LINUX64 ')
    call pvmftidtohost(task, got)
    call gives('pvmftidtohost', dtid, got)
    call pvmftidtoh(task, also)
    call gives('pvmftidtoh', dtid, also)
    call pvmfmstat(name, got)
    call gives('pvmfmstat', PvmOk, got)
    call pvmfmstat('nowhere.invalid', got)
    call gives('pvmfmstat of none', PvmNoHost, got)
    call pvmfaddhost(name, info)
    call gives('pvmfaddhost', PvmDupHost, info)
    call pvmfdelhost('nowhere.invalid', info)
    call gives('pvmfdelhost', PvmNoHost, info)
    call pvmfhostsync(dtid, clock(1), clock(2), ahead(1), ahead(2), info)
    call gives('pvmfhostsync', PvmOk, info)
    call holds('the clock goes', clock(1) > 0 .and. abs(ahead(1)) <= 1)
    call pvmfstartpvmd('  -n one ', 0, info)
    call gives('pvmfstartpvmd', PvmDupHost, info)
  end subroutine

  subroutine tasks(wanted)
    integer, intent(in) :: wanted(:)
    integer :: ntask, tid, ptid, dtid, flag, i, found
    character*16 :: aout
    ntask = -1
    found = 0
    i = 0
    do
      call pvmftasks(0, ntask, tid, ptid, dtid, flag, aout, info)
      call gives('pvmftasks', 1, info)
      call gives('parent of it', merge(me, ptid, any(wanted == tid)), ptid)
      if (any(wanted == tid)) found = found + 1
      i = i + 1
      if (i == ntask) exit
    end do
    call gives('all of them', size(wanted), found)
    call pvmftasks(wanted(2), ntask, tid, ptid, dtid, flag, aout, info)
    call holds('only one', ntask == 1 .and. tid == wanted(2) .and. aout /= ' ')
  end subroutine

  subroutine mailbox
    integer :: bufid, at, got, classes, entries, indices(4), owners(4), flags(4), i
    character*12 :: name
    do i = 0, 2
      call pvmfinitsend(PVMDEFAULT, bufid)
      call pvmfpack(INTEGER4, 40 + i, 1, 1, info)
      call pvmfputinfo('fortran box', bufid, PVMMBOXMULTIINSTANCE, at)
      call gives('pvmfputinfo', i, at)
    end do
    call pvmfputinfo('fortran den', bufid, PVMMBOXDEFAULT, at)
    call pvmfrecvinfo('fortran box', 1, PVMMBOXDEFAULT, bufid)
    call good('pvmfrecvinfo', bufid)
    call pvmfunpack(INTEGER4, got, 1, 1, info)
    call gives('what was put', 41, got)
    classes = -1
    do i = 1, 2
      call pvmfgetmboxinfo('fortran*', name, classes, entries, indices, owners, flags, info)
      call gives('pvmfgetmboxinfo', PvmOk, info)
      call gives('classes', 2, classes)
      if (name == 'fortran box') then
        call gives('entries', 3, entries)
        call holds('whose', all(owners(1:3) == me) .and. all(indices(1:3) == [0, 1, 2]))
      else
        call holds('the other', name == 'fortran den' .and. entries == 1)
      end if
    end do
    call pvmfgetmboxinfo('fortran*', name, classes, entries, indices, owners, flags, info)
    call gives('after the last class', PvmNotFound, info)
    call pvmfgetmboxinfo('nothing*', name, classes, entries, indices, owners, flags, info)
    call gives('none', PvmNotFound, info)
    do i = 0, 2
      call pvmfdelinfo('fortran box', i, PVMMBOXDEFAULT, info)
      call good('pvmfdelinfo', info)
    end do
    call pvmfrecvinfo('fortran box', 0, PVMMBOXDEFAULT, bufid)
    call gives('pvmfrecvinfo of none', PvmNotFound, bufid)
  end subroutine

  subroutine handlers
    integer :: mine, bufid
    call pvmfaddmhf(-1, 70, -1, 0, on_message, mine)
    call good('pvmfaddmhf', mine)
    call pvmfinitsend(PVMDEFAULT, bufid)
    call pvmfpack(INTEGER4, 1234, 1, 1, info)
    call pvmfsend(me, 70, info)
    call pvmfnrecv(-1, 70, bufid)
    call gives('handled, not received', 0, bufid)
    call gives('what the handler heard', 1234, heard)
    call pvmfdelmhf(mine, info)
    call gives('pvmfdelmhf', PvmOk, info)
    call pvmfdelmhf(mine, info)
    call gives('pvmfdelmhf twice', PvmNotFound, info)
  end subroutine
end program

include 'fcheck.inc'
