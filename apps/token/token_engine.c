/* The token ring over the engine's own interface, with messages that nobody buffers: they wait in their sender's memory. */
#include "../teams/engine.h"
#include "token.h"

static uint64_t posted;

static size_t bytes_of(int count)
{
    return (size_t)count * sizeof(double);
}

void token_post(int from, double *data, int count)
{
    posted = engine_post(from, TAG_DATA, data, bytes_of(count));
}

void token_wait(void)
{
    engine_end_receive(posted);
}

void token_take(int from, double *data, int count)
{
    engine_probe(from, TAG_DATA);
    engine_recv(from, TAG_DATA, data, bytes_of(count));
}

void token_send(int to, double *data, int count)
{
    engine_end_send(engine_begin_unbuffered(to, TAG_DATA, data, bytes_of(count), 0));
}

int64_t token_copy_send(int to, double *data, int count)
{
    token_send(to, data, count);
    return 0;
}

int64_t token_copy_take(int from, double *data, int count)
{
    engine_probe(from, TAG_DATA);
    int64_t begun = now_ns();
    engine_recv(from, TAG_DATA, data, bytes_of(count));
    return now_ns() - begun;
}
