/* Group operations over the engine's own interface, which has messages: trees of them. PVM starts the team. */
#include "common/engine.h"
#include "common/group.h"

#include <stdlib.h>
#include <string.h>

static double *part;      /* what a child of the tree sends; kept until the end */
static int room;

static double *part_of(int count)
{
    if (count > room) {
        free(part);
        part = doubles((size_t)count);
        room = count;
    }
    return part;
}

/* Short data goes straight between the root and everybody: a message is quicker than a turn of a task that waits for its
 * core, and each step of a tree may cost one. */
static int goes_straight(const struct team *team, size_t bytes)
{
    return team->tasks <= 2 || bytes <= 4096;
}

/* A binomial tree of tasks counted from the root: the parent of a task is the task without its lowest bit. */
void group_broadcast(const struct team *team, double *data, int count, int root)
{
    int tasks = team->tasks, me = (team->task + tasks - root) % tasks, bit = 1;
    size_t bytes = (size_t)count * sizeof *data;
    if (goes_straight(team, bytes)) {
        if (me != 0) engine_recv(root, TAG_DATA, data, bytes);
        else for (int step = 1; step < tasks; step++) engine_send((root + step) % tasks, TAG_DATA, data, bytes);
        return;
    }
    while (bit < tasks && !(me & bit)) bit *= 2;
    if (me != 0) engine_recv((me - bit + root) % tasks, TAG_DATA, data, bytes);
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < tasks) engine_send((me + bit + root) % tasks, TAG_DATA, data, bytes);
}

void group_reduce(const struct team *team, const double *mine, double *sum, int count, int root)
{
    int tasks = team->tasks, me = (team->task + tasks - root) % tasks;
    size_t bytes = (size_t)count * sizeof *sum;
    const double *result = mine;
    if (goes_straight(team, bytes)) {
        if (me != 0) {
            engine_send(root, TAG_DATA, mine, bytes);
            return;
        }
        for (int step = 1; step < tasks; step++) {
            double *other = part_of(count);
            engine_recv((root + step) % tasks, TAG_DATA, other, bytes);
            for (int i = 0; i < count; i++) sum[i] = result[i] + other[i];
            result = sum;
        }
        return;
    }
    for (int bit = 1; bit < tasks; bit *= 2) {
        if (me & bit) {
            engine_send((me - bit + root) % tasks, TAG_DATA, result, bytes);
            return;
        }
        if (me + bit >= tasks) continue;
        double *child = part_of(count);
        engine_recv((me + bit + root) % tasks, TAG_DATA, child, bytes);
        for (int i = 0; i < count; i++) sum[i] = result[i] + child[i];
        result = sum;
    }
}

void group_gather(const struct team *team, const double *mine, double *all, int count, int root)
{
    size_t bytes = (size_t)count * sizeof *all;
    if (team->task != root) {
        engine_send(root, TAG_DATA, mine, bytes);
        return;
    }
    memcpy(all + team->task * count, mine, bytes);
    for (int step = 1; step < team->tasks; step++) {
        int from = (root + step) % team->tasks;
        engine_recv(from, TAG_DATA, all + from * count, bytes);
    }
}

/* All sends are begun before anything is received, so that nobody waits for somebody who waits. */
void group_alltoall(const struct team *team, const double *mine, double *all, int count)
{
    uint64_t requests[64];
    size_t bytes = (size_t)count * sizeof *all;
    memcpy(all + team->task * count, mine + team->task * count, bytes);
    for (int step = 1; step < team->tasks; step++) {
        int to = (team->task + step) % team->tasks;
        requests[step] = engine_begin_send(to, TAG_DATA, mine + to * count, bytes);
    }
    for (int step = 1; step < team->tasks; step++) {
        int from = (team->task + team->tasks - step) % team->tasks;
        engine_recv(from, TAG_DATA, all + from * count, bytes);
    }
    for (int step = 1; step < team->tasks; step++) engine_end_send(requests[step]);
}
