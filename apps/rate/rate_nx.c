/* The rate in NX: sends and receives are started together, and waited for in turn. */
#include "rate.h"

#include <nx.h>

void rate_send(int to, double *data, int count, int messages)
{
    long started[RATE_WINDOW];
    for (int i = 0; i < messages; i++)
        started[i] = isend(TAG_DATA, data + i * count, (long)count * (long)sizeof *data, to, 0);
    for (int i = 0; i < messages; i++) msgwait(started[i]);
}

void rate_recv(int from, double *data, int count, int messages)
{
    (void)from;
    long started[RATE_WINDOW];
    for (int i = 0; i < messages; i++)
        started[i] = irecv(TAG_DATA, data + i * count, (long)count * (long)sizeof *data);
    for (int i = 0; i < messages; i++) msgwait(started[i]);
}

void rate_answer(int to)
{
    csend(TAG_RESULT, NULL, 0, to, 0);
}

void rate_await(int from)
{
    (void)from;
    crecv(TAG_RESULT, NULL, 0);
}
