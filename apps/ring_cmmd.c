/* The ring in CMMD: blocking calls, of which none buffers. */
#include "common/ring.h"

#include <cmmd.h>

void ring_send(int to, double *data, int count)
{
    if (CMMD_send_block(to, TAG_DATA, data, count * (int)sizeof *data) != 0)
        fail("CMMD_send_block failed: error %d", CMMD_get_errno());
}

void ring_recv(int from, double *data, int count)
{
    if (CMMD_receive_block(from, TAG_DATA, data, count * (int)sizeof *data) != 0)
        fail("CMMD_receive_block failed: error %d", CMMD_get_errno());
}
