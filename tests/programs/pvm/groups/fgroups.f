c     Fortran in its fixed form: groups. Started alone, it starts as many
c     as it wants; their instances come from the group.
      program fgroups
      implicit none
      include 'fpvm3.h'
      integer size
      parameter (size = 3)
      integer me, parent, numt, tids(size), info, i, got, inst
      integer ints(4), all(4 * size)
      double precision reals(2)
      integer*2 shorts(2)
      character*256 self
      character*20 group
      external largest, PvmSum, PvmProduct, PvmMax, PvmMin

      group = 'fortran group'
      call pvmfmytid(me)
      call pvmfparent(parent)
      if (parent .eq. PvmNoParent) then
         call getarg(0, self)
         call pvmfspawn(self, PVMTASKDEFAULT, '*', size - 1, tids, numt)
         call gives('pvmfspawn', size - 1, numt)
      end if
      call pvmfjoingroup(group, inst)
      call good('pvmfjoingroup', inst)
      call pvmfbarrier(group, size, info)
      call gives('pvmfbarrier', PvmOk, info)
      call pvmffreezegroup(group, size, info)
      call gives('pvmffreezegroup', size, info)
      call pvmfgsize(group, got)
      call gives('pvmfgsize', size, got)
      call pvmfgetinst(group, me, got)
      call gives('pvmfgetinst', inst, got)
      call pvmfgettid(group, inst, got)
      call gives('pvmfgettid', me, got)

c     With functions of PVM's, and one of its own.
      do 10 i = 1, 4
 10      ints(i) = (inst + 1) * i
      call pvmfreduce(PvmSum, ints, 4, INTEGER4, 11, group, 0, info)
      call gives('sum', PvmOk, info)
      if (inst .eq. 0) call gives('sum of 4', 24, ints(4))
      reals(1) = inst + 1
      reals(2) = -inst
      call pvmfreduce(PvmProduct, reals, 2, REAL8, 12, group, 1, info)
      if (inst .eq. 1) call holds('product', reals(1) .eq. 6d0)
      shorts(1) = int(inst, 2)
      call pvmfreduce(PvmMax, shorts, 1, INTEGER2, 13, group, 0, info)
      if (inst .eq. 0) call holds('max', shorts(1) .eq. size - 1)
      shorts(1) = int(inst + 5, 2)
      call pvmfreduce(PvmMin, shorts, 1, INTEGER2, 14, group, 0, info)
      if (inst .eq. 0) call holds('min', shorts(1) .eq. 5)
      ints(1) = -10 * inst
      call pvmfreduce(largest, ints, 1, INTEGER4, 15, group, 0, info)
      if (inst .eq. 0) call gives('its own', -10 * (size - 1), ints(1))

      do 20 i = 1, 4
 20      ints(i) = 100 * inst + i
      call pvmfgather(all, ints, 4, INTEGER4, 16, group, 2, info)
      call gives('pvmfgather', PvmOk, info)
      if (inst .eq. 2) then
         do 30 i = 0, size - 1
            call gives('gathered', 100 * i + 4, all(4 * i + 4))
 30         all(4 * i + 4) = 1000 * i
      end if
      call pvmfscatter(ints, all, 4, INTEGER4, 17, group, 2, info)
      call gives('pvmfscatter', PvmOk, info)
      call gives('scattered', 1000 * inst, ints(4))

      if (inst .eq. 0) then
         call pvmfinitsend(PVMDEFAULT, info)
         call pvmfpack(STRING, 'to all', 6, 1, info)
         call pvmfbcast(group, 18, info)
         call gives('pvmfbcast', PvmOk, info)
      else
         call pvmfrecv(-1, 18, got)
         self = ' '
         call pvmfunpack(STRING, self, 6, 1, info)
         call holds('the words', self .eq. 'to all')
      end if
      call pvmfbarrier(group, size, info)
      call pvmflvgroup(group, info)
      call gives('pvmflvgroup', PvmOk, info)
      call pvmfgetinst('no such group', me, got)
      call gives('of no group', PvmNoGroup, got)
      call pvmfexit(info)
      print *, 'all well'
      end

c     Keeps the item that is farther from 0.
      subroutine largest(datatype, x, y, num, info)
      integer datatype, num, info, i
      integer x(num), y(num)
      do 10 i = 1, num
 10      if (abs(y(i)) .gt. abs(x(i))) x(i) = y(i)
      info = datatype - datatype
      end

      include 'fcheck.inc'
