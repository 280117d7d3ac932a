/* The ring in NX. */
#include "ring.h"

#include <nx.h>

void ring_send(int to, double *data, int count)
{
    csend(TAG_DATA, data, (long)count * (long)sizeof *data, to, 0);
}

void ring_recv(int from, double *data, int count)
{
    (void)from;
    crecv(TAG_DATA, data, (long)count * (long)sizeof *data);
}
