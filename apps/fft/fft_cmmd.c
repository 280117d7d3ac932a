/* The parallel FFT in CMMD. */
#include "fft.h"

#include <cmmd.h>

void fft_exchange(int partner, struct point *mine, struct point *theirs, int points, struct spent *spent)
{
    int bytes = points * (int)sizeof *mine;
    int64_t begun = now_ns();
    if (CMMD_send_noblock(partner, TAG_DATA, mine, bytes) != 0) fail("CMMD_send_noblock failed: error %d", CMMD_get_errno());
    int64_t sent = now_ns();
    if (CMMD_receive_block(partner, TAG_DATA, theirs, bytes) != 0)
        fail("CMMD_receive_block failed: error %d", CMMD_get_errno());
    spent->wait += now_ns() - sent;
    spent->communication += sent - begun;
}
