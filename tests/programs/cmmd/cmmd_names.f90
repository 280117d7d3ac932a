! Every name of CMMD that cmmd_ring does not use: two nodes.
program cmmd_names
  implicit none
  include 'fcmmd.h'
  integer :: self, other, value, got, mcb, channel, back, all(4), i
  integer*8 :: long
  integer :: grid(2, 3), row(3)
  double precision :: busy, idle
  character*100 :: text
  integer, external :: wants_odd

  self = cmmd_self_address()
  other = 1 - self
  value = 50 + self
  call cmmd_enable_safety()
  if (cmmd_send_noblock(other, -5, value, 4) /= CMMD_ERRVAL .or. cmmd_get_errno() /= CMMD_ERR_BAD_TAG) stop 1
  text = cmmd_error_string(CMMD_ERR_BAD_TAG)
  if (index(text, 'tag') == 0 .or. text(100:100) /= ' ') stop 2
  text = cmmd_version()
  if (text(1:7) /= 'CMMD 3 ') stop 3
  call cmmd_disable_safety()
  call cmmd_enable_safety()

  ! Messages.
  if (cmmd_swap(other, got, 4, value, 4) /= 1 .or. got /= 50 + other) stop 4
  if (cmmd_send_and_receive(other, 3, got, 4, other, 3, value, 4) /= 1 .or. got /= 50 + other) stop 5
  if (self == 0) then
    if (cmmd_send(1, 6, value, 4) /= 0 .or. cmmd_bytes_sent() /= 4) stop 6
    if (cmmd_send_short(1, 7, value, 4) /= 0) stop 7
    if (cmmd_send_block(1, 8, value, 4) /= 0) stop 8
  else
    if (cmmd_receive(0, 6, got, 4) /= 0 .or. cmmd_bytes_received() /= 4 .or. cmmd_msg_sender() /= 0) stop 9
    do while (cmmd_msg_pending(CMMD_ANY_NODE, 7) == 0)
      if (cmmd_poll() < 0) stop 10
    end do
    mcb = cmmd_mcb_pending(0, 7)
    if (cmmd_mcb_tag(mcb) /= 7 .or. cmmd_mcb_len(mcb) /= 4 .or. cmmd_mcb_source(mcb) /= 0) stop 11
    if (cmmd_mcb_dest(mcb) /= 1 .or. cmmd_mcb_node(mcb) /= 0) stop 12
    call cmmd_free_mcb(mcb)
    if (cmmd_receive_block(0, 7, got, 4) /= 0) stop 13
    if (cmmd_receive_block(0, 8, got, 4) /= 0) stop 14
  end if
  grid = reshape((/ 1, 2, 3, 4, 5, 6 /), (/ 2, 3 /))
  mcb = cmmd_receive_async_v(other, 9, row(1), 4, 4, 3, cmmd_no_handler, 0)
  if (cmmd_mcb_buffer(mcb) /= loc(row(1))) stop 15
  if (cmmd_send_noblock_v(other, 9, grid(2, 1), 4, 8, 3) /= 0) stop 16
  call cmmd_all_msgs_wait()
  if (cmmd_all_msgs_done() /= 1 .or. cmmd_all_sends_done() /= 1 .or. cmmd_all_receives_done() /= 1) stop 17
  if (cmmd_msg_done(mcb) /= 1) stop 18
  call cmmd_free_mcb(mcb)
  if (row(1) /= 2 .or. row(3) /= 6) stop 19
  mcb = cmmd_send_async_v(other, 10, grid(1, 1), 4, 8, 3, cmmd_no_handler, 0)
  if (cmmd_receive_block_v(other, 10, row(1), 4, 4, 3) /= 0 .or. row(2) /= 3) stop 20
  call cmmd_msg_wait(mcb)
  call cmmd_free_mcb(mcb)
  if (cmmd_swap_v(other, row(1), 4, 4, 3, grid(2, 1), 4, 8, 3) /= 1 .or. row(1) /= 2) stop 21
  if (cmmd_send_and_receive_v(other, 11, row(1), 4, 4, 3, other, 11, grid(1, 1), 4, 8, 3) /= 1 .or. row(3) /= 5) stop 22
  if (self == 0) then
    if (cmmd_send_block_v(1, 12, grid(1, 1), 4, 8, 3) /= 0) stop 23
  else
    if (cmmd_receive_block(0, 12, row(1), 12) /= 0 .or. row(2) /= 3) stop 24
  end if
  if (cmmd_disable_interrupts() /= 1 .or. cmmd_enable_interrupts() /= 0) stop 25
  if (cmmd_available_sends() /= 512 .or. cmmd_available_receives() /= 512) stop 26
  ! A function of the program's: odd tags, whatever is asked for.
  do i = 20, 21
    if (cmmd_send_noblock(self, i, i, 4) /= 0) stop 27
  end do
  call cmmd_set_msg_matching_fcn(wants_odd)
  if (cmmd_receive_block(self, 20, got, 4) /= 0 .or. got /= 21) stop 28
  call cmmd_set_msg_matching_fcn(cmmd_no_handler)
  if (cmmd_receive_block(self, 20, got, 4) /= 0 .or. got /= 20) stop 29

  ! All nodes.
  call cmmd_sync_with_nodes_start()
  do while (cmmd_sync_with_nodes_done() == 0)
  end do
  call cmmd_sync_with_nodes_finish()
  if (cmmd_reduce_int(self + 1, CMMD_combiner_add) /= 3) stop 30
  if (cmmd_reduce_uint(self + 1, CMMD_combiner_umax) /= 2) stop 31
  long = 10000000000_8
  if (cmmd_reduce_lint(long, CMMD_combiner_add) /= 2 * long) stop 32
  if (cmmd_reduce_luint(long, CMMD_combiner_umin) /= long) stop 33
  if (cmmd_reduce_float(0.25, CMMD_combiner_fadd) /= 0.5d0) stop 34
  if (cmmd_scan_uint(1, CMMD_combiner_uadd, CMMD_upward, CMMD_none, 0, CMMD_inclusive) /= self + 1) stop 35
  if (cmmd_scan_lint(long, CMMD_combiner_add, CMMD_upward, CMMD_none, 0, CMMD_exclusive) /= self * long) stop 36
  if (cmmd_scan_luint(long, CMMD_combiner_uadd, CMMD_downward, CMMD_none, 0, CMMD_exclusive) /= other * long) stop 37
  if (cmmd_scan_float(0.5, CMMD_combiner_fadd, CMMD_upward, CMMD_none, 0, CMMD_inclusive) /= 0.5d0 * (self + 1)) stop 38
  if (cmmd_scan_double(0.5d0, CMMD_combiner_dadd, CMMD_upward, CMMD_none, 0, CMMD_inclusive) /= 0.5d0 * (self + 1)) stop 39
  row = self
  if (cmmd_reduce_v(all(1), row(1), CMMD_combiner_max, 4, 3) /= 0 .or. all(3) /= 1) stop 40
  value = 77
  if (self == 1) then
    if (cmmd_bc_to_nodes(value, 4) /= 0) stop 41
  else
    value = 0
    if (cmmd_receive_bc_from_node(value, 4) /= 0 .or. value /= 77) stop 42
  end if
  if (cmmd_set_global_or(1) /= 0 .or. cmmd_get_global_or() /= 1) stop 43
  call cmmd_sync_with_nodes()
  if (cmmd_set_global_or(0) /= 0) stop 44

  ! The host's side: there is none.
  if (cmmd_am_node() /= 0) stop 45
  if (cmmd_enable_host() /= CMMD_ERRVAL .or. cmmd_get_errno() /= CMMD_ERR_NO_HOST) stop 46
  if (cmmd_enable() /= CMMD_ERRVAL .or. cmmd_bc_from_host(value, 4) /= CMMD_ERRVAL) stop 47
  if (cmmd_receive_bc_from_host(value, 4) /= CMMD_ERRVAL) stop 48
  if (cmmd_gather_from_nodes(all(1), 4) /= CMMD_ERRVAL .or. cmmd_distrib_to_nodes(all(1), 4) /= CMMD_ERRVAL) stop 49
  if (cmmd_concat_elements_to_host(value, 4) /= CMMD_ERRVAL) stop 50
  if (cmmd_receive_element_from_host(value, 4) /= CMMD_ERRVAL) stop 51
  call cmmd_reduce_to_host_int(1, CMMD_combiner_add)
  call cmmd_reduce_to_host_uint(1, CMMD_combiner_add)
  call cmmd_reduce_to_host_lint(long, CMMD_combiner_add)
  call cmmd_reduce_to_host_luint(long, CMMD_combiner_add)
  call cmmd_reduce_to_host_float(1.0, CMMD_combiner_fadd)
  call cmmd_reduce_to_host_double(1d0, CMMD_combiner_dadd)
  if (cmmd_reduce_from_nodes_int(1, CMMD_combiner_add) /= 0) stop 52
  if (cmmd_reduce_from_nodes_uint(1, CMMD_combiner_add) /= 0) stop 53
  if (cmmd_reduce_from_nodes_lint(long, CMMD_combiner_add) /= 0) stop 54
  if (cmmd_reduce_from_nodes_luint(long, CMMD_combiner_add) /= 0) stop 55
  if (cmmd_reduce_from_nodes_float(1.0, CMMD_combiner_fadd) /= 0) stop 56
  if (cmmd_reduce_from_nodes_double(1d0, CMMD_combiner_dadd) /= 0) stop 57
  call cmmd_sync_with_host()
  call cmmd_sync_host_with_nodes()
  if (cmmd_get_errno() /= CMMD_ERR_NO_HOST) stop 58

  ! Timers, files, what is refused.
  if (cmmd_node_timer_clear(1) /= 0 .or. cmmd_node_timer_start(1) /= 0 .or. cmmd_node_timer_stop(1) /= 0) stop 60
  busy = cmmd_node_timer_busy(1)
  idle = cmmd_node_timer_idle(1)
  if (abs(cmmd_node_timer_elapsed(1) - busy - idle) > 1d-6) stop 61
  if (cmmd_fset_io_mode(6, CMMD_independent) /= 0) stop 62
  if (cmmd_fset_io_mode(6, CMMD_sync_seq) /= CMMD_ERRVAL .or. cmmd_get_errno() /= CMMD_ERR_UNSUPPORTED) stop 63
  if (cmmd_suspend() /= CMMD_ERRVAL .or. cmmd_resume() /= CMMD_ERRVAL) stop 64

  ! Channels.
  channel = cmmd_open_send_channel(other, 1, value, 4)
  back = cmmd_open_receive_channel(other, 1, got, 4)
  value = 90 + self
  do while (cmmd_is_channel_writable(channel) == 0)
  end do
  if (cmmd_write_channel(channel) /= 0) stop 70
  do while (cmmd_is_channel_readable(back) == 0)
  end do
  if (got /= 90 + other .or. cmmd_reset_channel(back) /= 0) stop 71
  call cmmd_all_channels_free_wait()
  if (cmmd_all_channels_free() /= 1) stop 72
  if (cmmd_send_channel_status(channel) /= 1 .or. cmmd_receive_channel_status(back) /= 0) stop 73
  if (cmmd_close_send_channel(channel) /= 0 .or. cmmd_close_receive_channel(back) /= 0) stop 74

  call cmmd_sync_with_nodes()
  if (cmmd_reset_partition_size(1) /= 0) stop 80
  if (cmmd_partition_size() /= 1 .or. cmmd_host_node() < -1) stop 81
  print *, 'all well'
  call cmmd_error('that is enough')
end program

integer function wants_odd(wanted_node, wanted_tag, node, tag)
  integer :: wanted_node, wanted_tag, node, tag
  wants_odd = 0
  if (wanted_tag == 20 .and. wanted_node == node .and. mod(tag, 2) == 1) wants_odd = 1
end function
