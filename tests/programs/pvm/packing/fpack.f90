! Fortran: every type, strides and texts, each encoding; buffers, what is known of messages, options and contexts.
program fpack
  implicit none
  include 'fpvm3.h'
  integer, parameter :: encodings(3) = [PVMDATADEFAULT, PVMDATARAW, PVMDATAINPLACE]
  integer :: me, info, i

  call pvmfmytid(me)
  call good('pvmfmytid', me)
  do i = 1, 3
    call pass(encodings(i))
  end do
  call buffers
  call known
  call nested
  call settings
  call wrong
  call pvmfexit(info)
  call gives('pvmfexit', PvmOk, info)
  print *, 'all well'

contains

  ! To itself: three items of each type, two places apart.
  subroutine pass(encoding)
    integer, intent(in) :: encoding
    integer*1 :: bytes(6), bytes2(6)
    integer*2 :: shorts(6), shorts2(6)
    integer*4 :: ints(6), ints2(6)
    integer*8 :: longs(6), longs2(6)
    real*4 :: reals(6), reals2(6)
    real*8 :: doubles(6), doubles2(6)
    complex*8 :: pairs(6), pairs2(6)
    complex*16 :: wide(6), wide2(6)
    character*12 :: words, words2
    integer :: bufid, k

    do k = 1, 6
      bytes(k) = int(-k, 1)
      shorts(k) = int(300 * k, 2)
      ints(k) = -70000 * k
      longs(k) = 5000000000_8 * k
      reals(k) = 0.5 * k
      doubles(k) = 0.1d0 * k
      pairs(k) = cmplx(k, -k)
      wide(k) = dcmplx(0.1d0 * k, -k)
    end do
    words = 'in the text '
    call pvmfinitsend(encoding, bufid)
    call good('pvmfinitsend', bufid)
    call put(bytes, shorts, ints, longs, reals, doubles, pairs, wide)
    call pvmfpack(STRING, words, len(words), 1, info)
    call gives('pack STRING', PvmOk, info)
    call pvmfsend(me, 7, info)
    call gives('pvmfsend', PvmOk, info)

    bytes2 = 0; shorts2 = 0; ints2 = 0; longs2 = 0; reals2 = 0; doubles2 = 0; pairs2 = 0; wide2 = 0
    call pvmfrecv(-1, 7, bufid)
    call good('pvmfrecv', bufid)
    call take(bytes2, shorts2, ints2, longs2, reals2, doubles2, pairs2, wide2)
    words2 = '????????????'
    call pvmfunpack(STRING, words2, len(words2), 1, info)
    call gives('unpack STRING', PvmOk, info)
    call holds('text', words2 == words)
    do k = 1, 6
      if (mod(k, 2) == 1) then
        call holds('items', bytes2(k) == bytes(k) .and. shorts2(k) == shorts(k) .and. ints2(k) == ints(k) &
          .and. longs2(k) == longs(k) .and. reals2(k) == reals(k) .and. doubles2(k) == doubles(k) &
          .and. pairs2(k) == pairs(k) .and. wide2(k) == wide(k))
      else
        call holds('between', bytes2(k) == 0 .and. shorts2(k) == 0 .and. ints2(k) == 0 .and. longs2(k) == 0 &
          .and. reals2(k) == 0 .and. doubles2(k) == 0 .and. pairs2(k) == 0 .and. wide2(k) == 0)
      end if
    end do
    call pvmfunpack(INTEGER4, ints2, 1, 1, info)
    call gives('unpack at the end', PvmNoData, info)
  end subroutine

  subroutine put(b, s, i, l, r, d, c, w)
    integer*1 :: b(*)
    integer*2 :: s(*)
    integer*4 :: i(*)
    integer*8 :: l(*)
    real*4 :: r(*)
    real*8 :: d(*)
    complex*8 :: c(*)
    complex*16 :: w(*)
    call pvmfpack(BYTE1, b, 3, 2, info)
    call gives('pack BYTE1', PvmOk, info)
    call pvmfpack(INTEGER2, s, 3, 2, info)
    call gives('pack INTEGER2', PvmOk, info)
    call pvmfpack(INTEGER4, i, 3, 2, info)
    call gives('pack INTEGER4', PvmOk, info)
    call pvmfpack(INTEGER8, l, 3, 2, info)
    call gives('pack INTEGER8', PvmOk, info)
    call pvmfpack(REAL4, r, 3, 2, info)
    call gives('pack REAL4', PvmOk, info)
    call pvmfpack(REAL8, d, 3, 2, info)
    call gives('pack REAL8', PvmOk, info)
    call pvmfpack(COMPLEX8, c, 3, 2, info)
    call gives('pack COMPLEX8', PvmOk, info)
    call pvmfpack(COMPLEX16, w, 3, 2, info)
    call gives('pack COMPLEX16', PvmOk, info)
  end subroutine

  subroutine take(b, s, i, l, r, d, c, w)
    integer*1 :: b(*)
    integer*2 :: s(*)
    integer*4 :: i(*)
    integer*8 :: l(*)
    real*4 :: r(*)
    real*8 :: d(*)
    complex*8 :: c(*)
    complex*16 :: w(*)
    call pvmfunpack(BYTE1, b, 3, 2, info)
    call gives('unpack BYTE1', PvmOk, info)
    call pvmfunpack(INTEGER2, s, 3, 2, info)
    call gives('unpack INTEGER2', PvmOk, info)
    call pvmfunpack(INTEGER4, i, 3, 2, info)
    call gives('unpack INTEGER4', PvmOk, info)
    call pvmfunpack(INTEGER8, l, 3, 2, info)
    call gives('unpack INTEGER8', PvmOk, info)
    call pvmfunpack(REAL4, r, 3, 2, info)
    call gives('unpack REAL4', PvmOk, info)
    call pvmfunpack(REAL8, d, 3, 2, info)
    call gives('unpack REAL8', PvmOk, info)
    call pvmfunpack(COMPLEX8, c, 3, 2, info)
    call gives('unpack COMPLEX8', PvmOk, info)
    call pvmfunpack(COMPLEX16, w, 3, 2, info)
    call gives('unpack COMPLEX16', PvmOk, info)
  end subroutine

  subroutine buffers
    integer :: first, second, got
    call pvmfmkbuf(PVMRAW, first)
    call good('pvmfmkbuf', first)
    call pvmfmkbuf(PVMDEFAULT, second)
    call pvmfsetsbuf(first, got)
    call good('pvmfsetsbuf', got)
    call pvmfsetsbuf(second, got)
    call gives('pvmfsetsbuf', first, got)
    call pvmfgetsbuf(got)
    call gives('pvmfgetsbuf', second, got)
    call pvmfsend(me, 8, info)
    call pvmfrecv(me, 8, second)
    call pvmfgetrbuf(got)
    call gives('pvmfgetrbuf', second, got)
    call pvmfsetrbuf(0, got)
    call gives('pvmfsetrbuf', second, got)
    call pvmffreebuf(first, info)
    call gives('pvmffreebuf', PvmOk, info)
    call pvmffreebuf(first, info)
    call gives('pvmffreebuf twice', PvmNoSuchBuf, info)
  end subroutine

  subroutine known
    integer :: bufid, bytes, tag, tid, length, context, wait_id, encoding, crc, source, target
    call pvmfinitsend(PVMRAW, bufid)
    call pvmfpack(INTEGER4, [1, 2, 3], 3, 1, info)
    call pvmfsend(me, 44, info)
    call pvmfprobe(me, 45, bufid)
    call gives('pvmfprobe', 0, bufid)
    call pvmfnrecv(me, 44, bufid)
    call good('pvmfnrecv', bufid)
    call pvmfbufinfo(bufid, bytes, tag, tid, info)
    call gives('pvmfbufinfo', PvmOk, info)
    call holds('bufinfo', bytes == 12 .and. tag == 44 .and. tid == me)
    call pvmfsetminfo(bufid, 0, 99, 5, 1234, 4321, info)
    call gives('pvmfsetminfo', PvmOk, info)
    call pvmfgetminfo(bufid, length, context, tag, wait_id, encoding, crc, source, target, info)
    call gives('pvmfgetminfo', PvmOk, info)
    call holds('minfo', length == 12 .and. context == 0 .and. tag == 99 .and. wait_id == 5)
    call holds('minfo ends', source == 1234 .and. target == 4321)
  end subroutine

  ! A message within a message, and the items of one within another.
  subroutine nested
    integer :: inner, outer, bufid, old, one
    one = 17
    call pvmfmkbuf(PVMDEFAULT, inner)
    call pvmfsetsbuf(inner, old)
    call pvmfpack(INTEGER4, one, 1, 1, info)
    call pvmfinitsend(PVMDEFAULT, outer)
    call pvmfmkbuf(PVMDEFAULT, outer)
    call pvmfsetsbuf(outer, old)
    call pvmfpack(INTEGER4, 18, 1, 1, info)
    call pvmfmkbuf(PVMDEFAULT, inner)
    call pvmfsetsbuf(inner, old)
    call pvmfpack(INTEGER4, one, 1, 1, info)
    call pvmfsetsbuf(outer, old)
    call pvmfpkmesg(inner, info)
    call gives('pvmfpkmesg', PvmOk, info)
    call pvmfpkmesgbody(inner, info)
    call gives('pvmfpkmesgbody', PvmOk, info)
    call pvmfsend(me, 50, info)
    call pvmfrecv(me, 50, bufid)
    call pvmfunpack(INTEGER4, one, 1, 1, info)
    call gives('before', 18, one)
    call pvmfupkmesg(bufid, inner)
    call good('pvmfupkmesg', inner)
    call pvmfsetrbuf(inner, old)
    call gives('still there', bufid, old)
    call pvmfunpack(INTEGER4, one, 1, 1, info)
    call gives('inside', 17, one)
    call pvmfsetrbuf(bufid, old)
    one = 0
    call pvmfunpack(INTEGER4, one, 1, 1, info)
    call gives('its items', 17, one)
  end subroutine

  subroutine settings
    integer :: val, old, mine, code
    call pvmfsetopt(PVMFRAGSIZE, 8192, old)
    call good('pvmfsetopt', old)
    call pvmfgetopt(PVMFRAGSIZE, val)
    call gives('pvmfgetopt', 8192, val)
    call pvmfnewcontext(mine)
    call good('pvmfnewcontext', mine)
    call pvmfsetcontext(mine, old)
    call gives('pvmfsetcontext', 0, old)
    call pvmfgetcontext(val)
    call gives('pvmfgetcontext', mine, val)
    call pvmfsetcontext(0, old)
    call pvmffreecontext(mine, info)
    call gives('pvmffreecontext', PvmOk, info)
    call pvmfarchcode('LINUX64   ', code)
    call good('pvmfarchcode', code)
    call pvmfarchcode('NOSUCH', val)
    call gives('pvmfarchcode of none', PvmNotFound, val)
    call pvmfsleep(0)
  end subroutine

  subroutine wrong
    integer :: old
    call pvmfsetopt(PVMAUTOERR, 0, old)
    call pvmfpack(99, info, 1, 1, info)
    call gives('a type that is none', PvmBadParam, info)
    call pvmfpack(INTEGER4, old, -1, 1, info)
    call gives('a count that is none', PvmBadParam, info)
    call pvmfsend(me, -5, info)
    call gives('a tag that is none', PvmBadParam, info)
    call pvmfrecv(-5, 1, info)
    call gives('a task that is none', PvmBadParam, info)
    call pvmfperror('words of one''s own', info)
    call gives('pvmfperror', PvmOk, info)
  end subroutine
end program

include 'fcheck.inc'
