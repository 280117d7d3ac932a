/* The token ring in PVM. It has no receives to post: one that waits when its message comes is as good. */
#include "../teams/pass_pvm.h"
#include "token.h"

#include <pvm3.h>

static struct { int from; double *data; int count; } posted;

void token_post(int from, double *data, int count)
{
    posted.from = from;
    posted.data = data;
    posted.count = count;
}

void token_wait(void)
{
    pass_recv(posted.from, posted.data, posted.count);
}

void token_take(int from, double *data, int count)
{
    pass_await(from);
    pass_recv(from, data, count);
}

void token_send(int to, double *data, int count)
{
    pass_send(to, data, count);
}

int64_t token_copy_send(int to, double *data, int count)
{
    token_send(to, data, count);
    return 0;
}

/* What comes out of PVM's buffer comes by unpacking. */
int64_t token_copy_take(int from, double *data, int count)
{
    pass_await(from);
    int64_t begun = now_ns();
    pass_recv(from, data, count);
    return now_ns() - begun;
}
