/* The ring in CMMD: with the send that returns whether a receive is posted or not, as csend does. */
#include "ring.h"

#include <cmmd.h>

void ring_send(int to, double *data, int count)
{
    if (CMMD_send_noblock(to, TAG_DATA, data, count * (int)sizeof *data) != 0)
        fail("CMMD_send_noblock failed: error %d", CMMD_get_errno());
}

void ring_recv(int from, double *data, int count)
{
    if (CMMD_receive_block(from, TAG_DATA, data, count * (int)sizeof *data) != 0)
        fail("CMMD_receive_block failed: error %d", CMMD_get_errno());
}
