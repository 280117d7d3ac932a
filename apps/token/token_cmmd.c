/* The token ring in CMMD: with the send that returns whether a receive is posted or not, as NX's does. */
#include "token.h"

#include <cmmd.h>

static CMMD_mcb posted;

static int bytes_of(int count)
{
    return count * (int)sizeof(double);
}

static void ok(int result, const char *call)
{
    if (result != 0) fail("%s failed: error %d", call, CMMD_get_errno());
}

void token_post(int from, double *data, int count)
{
    posted = CMMD_receive_async(from, TAG_DATA, data, bytes_of(count), NULL, NULL);
    if (posted < 0) fail("CMMD_receive_async failed: error %d", CMMD_get_errno());
}

void token_wait(void)
{
    CMMD_msg_wait(posted);
    CMMD_free_mcb(posted);
}

void token_take(int from, double *data, int count)
{
    while (!CMMD_msg_pending(from, TAG_DATA)) { }
    ok(CMMD_receive_block(from, TAG_DATA, data, bytes_of(count)), "CMMD_receive_block");
}

void token_send(int to, double *data, int count)
{
    ok(CMMD_send_noblock(to, TAG_DATA, data, bytes_of(count)), "CMMD_send_noblock");
}

/* The sender copies, inside this call. */
int64_t token_copy_send(int to, double *data, int count)
{
    int64_t begun = now_ns();
    token_send(to, data, count);
    return now_ns() - begun;
}

int64_t token_copy_take(int from, double *data, int count)
{
    token_take(from, data, count);
    return 0;
}
