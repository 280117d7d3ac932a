/* The layer: what the bodies do, counted and timed; and what few calls of all tasks need no body of their own. */
#define _GNU_SOURCE
#include "layer.h"

#include <time.h>

static struct traffic traffic;

int64_t processor_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

struct traffic traffic_now(void)
{
    return traffic;
}

static int64_t begun_ns, begun_processor_ns;

static void begin(void)
{
    begun_ns = now_ns();
    begun_processor_ns = processor_ns();
}

static void end(void)
{
    traffic.ns += now_ns() - begun_ns;
    traffic.processor_ns += processor_ns() - begun_processor_ns;
}

static void count(int tag, size_t values)
{
    int64_t bytes = (int64_t)(values * sizeof(double));
    traffic.messages++;
    traffic.bytes += bytes;
    if (tag != TAG_HALO) return;
    traffic.halo_messages++;
    traffic.halo_bytes += bytes;
}

void layer_send(int to, int tag, const double *values, size_t values_count)
{
    begin();
    body_send(to, tag, values, values_count);
    end();
    count(tag, values_count);
}

void layer_recv(int from, int tag, double *values, size_t values_count)
{
    begin();
    body_recv(from, tag, values, values_count);
    end();
}

void layer_exchange(int to, const double *out, size_t outs, int from, double *in, size_t ins, int tag)
{
    begin();
    body_exchange(to, out, outs, from, in, ins, tag);
    end();
    if (to >= 0) count(tag, outs);
}

enum { MOST_VALUES = 16 };

static void gather(const struct run *run, double *values, int count, int adds)
{
    double other[MOST_VALUES];
    if (run->task != 0) {
        body_send(0, TAG_GROUP, values, (size_t)count);
        body_recv(0, TAG_GROUP, values, (size_t)count);
        return;
    }
    for (int task = 1; task < run->options.tasks; task++) {
        body_recv(task, TAG_GROUP, other, (size_t)count);
        for (int at = 0; at < count; at++)
            values[at] = adds ? values[at] + other[at] : values[at] > other[at] ? values[at] : other[at];
    }
    for (int task = 1; task < run->options.tasks; task++) body_send(task, TAG_GROUP, values, (size_t)count);
}

void layer_sum(const struct run *run, double *values, int count)
{
    gather(run, values, count, 1);
}

void layer_most(const struct run *run, double *values, int count)
{
    gather(run, values, count, 0);
}

void layer_barrier(const struct run *run)
{
    double nothing = 0;
    gather(run, &nothing, 1, 1);
}
