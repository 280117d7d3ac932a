/* The exchange in CMMD: noblock where NX has csend, async where it has isend. Force types it has none. */
#include "exchange.h"

#include <cmmd.h>

static CMMD_mcb receiving, sending;

static int bytes_of(int count)
{
    return count * (int)sizeof(double);
}

static void ok(int result, const char *call)
{
    if (result != 0) fail("%s failed: error %d", call, CMMD_get_errno());
}

int exchange_can_post(void) { return 1; }
int exchange_can_force(void) { return 0; }

void exchange_send(int to, double *data, int count)
{
    ok(CMMD_send_noblock(to, TAG_DATA, data, bytes_of(count)), "CMMD_send_noblock");
}

void exchange_receive(int from, double *data, int count)
{
    ok(CMMD_receive_block(from, TAG_DATA, data, bytes_of(count)), "CMMD_receive_block");
}

void exchange_post(int from, double *data, int count, int forced)
{
    (void)forced;
    receiving = CMMD_receive_async(from, TAG_DATA, data, bytes_of(count), NULL, NULL);
    if (receiving < 0) fail("CMMD_receive_async failed: error %d", CMMD_get_errno());
}

void exchange_begin(int to, double *data, int count, int forced)
{
    (void)forced;
    sending = CMMD_send_async(to, TAG_DATA, data, bytes_of(count), NULL, NULL);
    if (sending < 0) fail("CMMD_send_async failed: error %d", CMMD_get_errno());
}

void exchange_finish(void)
{
    CMMD_msg_wait(sending);
    CMMD_msg_wait(receiving);
    CMMD_free_mcb(sending);
    CMMD_free_mcb(receiving);
}

void exchange_meet(int partner)
{
    (void)partner;
    CMMD_sync_with_nodes();
}
