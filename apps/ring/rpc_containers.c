/* The ring as calls: task 0 calls task 1, which replies with what came. A round is one call, two hops. */
#include "../teams/containers.h"
#include "ring.h"

static ch_sender caller;
static double *request;

static int is_server(void)
{
    return caller.task != 0;
}

void ring_send(int to, double *data, int count)
{
    (void)to;
    if (is_server()) container_ok(ch_reply(&caller, data, (size_t)count * sizeof *data), "ch_reply");
    else request = data;
}

void ring_recv(int from, double *data, int count)
{
    size_t bytes = (size_t)count * sizeof *data;
    if (request != NULL) container_ok(ch_rpc(container_of(from), request, bytes, data, bytes, NULL), "ch_rpc");
    else container_ok(ch_receive(container_from(from), data, bytes, &caller), "ch_receive");
}
