/* Group operations in PVM. */
#include "group.h"
#include "group_calls_pvm.h"
#include "../teams/team_pvm.h"

#include <pvm3.h>
#include <string.h>

const char group_operations[] = "barrier,broadcast,reduce,gather,alltoall";

/* Each operation has a tag of its own: PVM's reduce and gather take their parts from anybody, and who is early may
   be an operation ahead. */
static int next_tag(void)
{
    static int done;
    return TAG_RESULT + 1 + done++ % 10000;
}

void group_broadcast(const struct team *team, double *data, int count, int root)
{
    if (team->task == root) {
        pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
        pvm_ok(pvm_pkdouble(data, count, 1), "pvm_pkdouble");
        pvm_ok(pvm_bcast(group_name, TAG_DATA), "pvm_bcast");
    } else {
        pvm_ok(pvm_recv(team_tids[root], TAG_DATA), "pvm_recv");
        pvm_ok(pvm_upkdouble(data, count, 1), "pvm_upkdouble");
    }
}

/* The sum takes the place of the data. */
void group_reduce(const struct team *team, const double *mine, double *sum, int count, int root)
{
    (void)team;
    memcpy(sum, mine, (size_t)count * sizeof *sum);
    pvm_ok(pvm_reduce(PvmSum, sum, count, PVM_DOUBLE, next_tag(), group_name, root), "pvm_reduce");
}

void group_gather(const struct team *team, const double *mine, double *all, int count, int root)
{
    (void)team;
    pvm_ok(pvm_gather(all, (void *)mine, count, PVM_DOUBLE, next_tag(), group_name, root), "pvm_gather");
}

void group_allreduce(const struct team *team, const double *mine, double *sum, int count)
{
    (void)team, (void)mine, (void)sum, (void)count;
    fail("PVM has no reduction for all");
}

void group_allgather(const struct team *team, const double *mine, double *all, int count)
{
    (void)team, (void)mine, (void)all, (void)count;
    fail("PVM gathers at one task");
}

/* PVM has no call for it either: each sends to its next neighbour first, and hears from the one before. */
void group_alltoall(const struct team *team, const double *mine, double *all, int count)
{
    size_t bytes = (size_t)count * sizeof *mine;
    memcpy(all + team->task * count, mine + team->task * count, bytes);
    for (int step = 1; step < team->tasks; step++) {
        int to = (team->task + step) % team->tasks;
        pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
        pvm_ok(pvm_pkdouble((double *)mine + to * count, count, 1), "pvm_pkdouble");
        pvm_ok(pvm_send(team_tids[to], TAG_DATA), "pvm_send");
    }
    for (int step = 1; step < team->tasks; step++) {
        int from = (team->task + team->tasks - step) % team->tasks;
        pvm_ok(pvm_recv(team_tids[from], TAG_DATA), "pvm_recv");
        pvm_ok(pvm_upkdouble(all + from * count, count, 1), "pvm_upkdouble");
    }
}
