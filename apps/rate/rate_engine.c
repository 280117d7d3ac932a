/* The rate over the engine's own interface. */
#include "../teams/engine.h"
#include "rate.h"

void rate_send(int to, double *data, int count, int messages)
{
    for (int i = 0; i < messages; i++) engine_send(to, TAG_DATA, data + i * count, (size_t)count * sizeof *data);
}

void rate_recv(int from, double *data, int count, int messages)
{
    for (int i = 0; i < messages; i++) engine_recv(from, TAG_DATA, data + i * count, (size_t)count * sizeof *data);
}

void rate_answer(int to)
{
    engine_send(to, TAG_RESULT, NULL, 0);
}

void rate_await(int from)
{
    engine_recv(from, TAG_RESULT, NULL, 0);
}
