/* Group operations in NX. What it has for a result of all nodes gives it to all nodes: there is a sum for everybody (gdsum) and a
   concatenation for everybody (gcolx), and none for one node alone. */
#include "group.h"

#include <nx.h>
#include <stdlib.h>
#include <string.h>

const char group_operations[] = "barrier,broadcast,allreduce,allgather,alltoall";

static double *work;      /* scratch of a sum    */
static long *lengths;     /* bytes of every node */
static long *requests;

void group_open(const struct team *team)
{
    (void)team;
    lengths = malloc((size_t)numnodes() * sizeof *lengths);
    requests = malloc((size_t)numnodes() * sizeof *requests);
    if (lengths == NULL || requests == NULL) fail("no memory");
}

void group_close(const struct team *team)
{
    (void)team;
    gsync();
    free(work);
    free(lengths);
    free(requests);
}

void group_barrier(const struct team *team)
{
    (void)team;
    gsync();
}

void group_broadcast(const struct team *team, double *data, int count, int root)
{
    long bytes = (long)count * (long)sizeof *data, info[8];
    if (team->task == root) csend(TAG_DATA, data, bytes, -1, 0);
    else crecvx(TAG_DATA, data, bytes, root, -1, info);
}

void group_reduce(const struct team *team, const double *mine, double *sum, int count, int root)
{
    (void)team, (void)mine, (void)sum, (void)count, (void)root;
    fail("NX has no reduction to one node");
}

void group_gather(const struct team *team, const double *mine, double *all, int count, int root)
{
    (void)team, (void)mine, (void)all, (void)count, (void)root;
    fail("NX gathers on all nodes");
}

/* The sum takes the place of the data. */
void group_allreduce(const struct team *team, const double *mine, double *sum, int count)
{
    static int room;
    (void)team;
    if (count > room) {
        free(work);
        work = doubles((size_t)count);
        room = count;
    }
    memcpy(sum, mine, (size_t)count * sizeof *sum);
    gdsum(sum, count, work);
}

void group_allgather(const struct team *team, const double *mine, double *all, int count)
{
    for (int node = 0; node < team->tasks; node++) lengths[node] = (long)count * (long)sizeof *all;
    gcolx((void *)mine, lengths, all);
}

/* All receives are posted before anything is sent: each message lies where it shall when it has come. */
void group_alltoall(const struct team *team, const double *mine, double *all, int count)
{
    long bytes = (long)count * (long)sizeof *all, info[8];
    memcpy(all + team->task * count, mine + team->task * count, (size_t)bytes);
    for (int step = 1; step < team->tasks; step++) {
        int from = (team->task + team->tasks - step) % team->tasks;
        requests[step] = irecvx(TAG_DATA, all + from * count, bytes, from, -1, info);
    }
    for (int step = 1; step < team->tasks; step++) {
        int to = (team->task + step) % team->tasks;
        csend(TAG_DATA, (void *)(mine + to * count), bytes, to, 0);
    }
    for (int step = 1; step < team->tasks; step++) msgwait(requests[step]);
}
