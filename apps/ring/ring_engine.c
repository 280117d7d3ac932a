/* The ring over the engine's own interface. PVM starts the team; the messages are the engine's. */
#include "../teams/engine.h"
#include "ring.h"

void ring_send(int to, double *data, int count)
{
    engine_send(to, TAG_DATA, data, (size_t)count * sizeof *data);
}

void ring_recv(int from, double *data, int count)
{
    engine_recv(from, TAG_DATA, data, (size_t)count * sizeof *data);
}
