! CMMD from Fortran: functions in lower case, arguments by reference.
program cmmd_ring
  implicit none
  include 'fcmmd.h'
  integer :: self, nodes, value, got, mcb, status, all(64), i
  double precision :: total
  external :: done
  integer :: ran
  common /handled/ ran

  self = cmmd_self_address()
  nodes = cmmd_partition_size()
  ran = 0
  value = self * 11
  mcb = cmmd_receive_async(mod(self + nodes - 1, nodes), 4, got, 4, done, value)
  if (mcb <= 0) stop 1
  if (cmmd_send_noblock(mod(self + 1, nodes), 4, value, 4) /= 0) stop 2
  call cmmd_msg_wait(mcb)
  if (got /= mod(self + nodes - 1, nodes) * 11) stop 3
  if (ran /= 1) stop 4
  if (cmmd_mcb_bytes(mcb) /= 4) stop 5
  call cmmd_free_mcb(mcb)
  mcb = cmmd_send_async(mod(self + 1, nodes), 5, value, 4, cmmd_no_handler, value)
  if (cmmd_receive_block(CMMD_ANY_NODE, CMMD_ANY_TAG, got, 4) /= 0) stop 6
  call cmmd_msg_wait(mcb)
  call cmmd_free_mcb(mcb)
  if (cmmd_msg_tag() /= 5) stop 7
  total = cmmd_reduce_double(dble(self) + 0.5d0, CMMD_combiner_dadd)
  if (total /= dble(nodes * nodes) / 2) stop 8
  if (cmmd_scan_int(1, CMMD_combiner_add, CMMD_upward, CMMD_none, 0, CMMD_inclusive) /= self + 1) stop 9
  status = cmmd_concat_with_nodes(self, all, 4)
  do i = 1, nodes
     if (all(i) /= i - 1) stop 10
  end do
  if (cmmd_send_block(nodes + 5, 1, value, 4) /= CMMD_ERRVAL) stop 11
  if (cmmd_get_errno() /= CMMD_ERR_BAD_NODE) stop 12
  call cmmd_sync_with_nodes()
  if (self == 0) print *, 'all well'
end program

subroutine done(mcb, arg)
  implicit none
  integer :: mcb, arg, ran
  common /handled/ ran
  if (mcb > 0 .and. mod(arg, 11) == 0) ran = ran + 1
end subroutine
