/* The ring through message containers. PVM starts the team. */
#include "common/containers.h"
#include "common/ring.h"

/* The own container is bound before anything is sent: whoever answers looks it up. */
void ring_send(int to, double *data, int count)
{
    container_own();
    container_ok(ch_send(container_of(to), data, (size_t)count * sizeof *data, NULL), "ch_send");
}

void ring_recv(int from, double *data, int count)
{
    (void)from;
    container_ok(ch_receive(container_own(), data, (size_t)count * sizeof *data, NULL), "ch_receive");
}
