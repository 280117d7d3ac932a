/* Group operations in PVM. Instances of the group are the numbers of the tasks: they join one after the other. */
#include "common/group.h"
#include "common/team_pvm.h"

#include <pvm3.h>
#include <string.h>

static char name[32];

/* Each operation has a tag of its own: PVM's reduce and gather take their parts from anybody, and who is early may
   be an operation ahead. */
static int next_tag(void)
{
    static int done;
    return TAG_RESULT + 1 + done++ % 10000;
}

void group_open(const struct team *team)
{
    int64_t token = 0;
    snprintf(name, sizeof name, "group.%x", (unsigned)team_tids[0]);
    if (team->task > 0) team_recv(team->task - 1, TAG_TEAM, &token, 1);
    if (pvm_ok(pvm_joingroup(name), "pvm_joingroup") != team->task) fail("the group's instances are not the tasks");
    if (team->task + 1 < team->tasks) team_send(team->task + 1, TAG_TEAM, &token, 1);
    pvm_ok(pvm_freezegroup(name, team->tasks), "pvm_freezegroup");
}

void group_close(const struct team *team)
{
    pvm_ok(pvm_barrier(name, team->tasks), "pvm_barrier");
    pvm_ok(pvm_lvgroup(name), "pvm_lvgroup");
}

void group_barrier(const struct team *team)
{
    pvm_ok(pvm_barrier(name, team->tasks), "pvm_barrier");
}

void group_broadcast(const struct team *team, double *data, int count, int root)
{
    if (team->task == root) {
        pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
        pvm_ok(pvm_pkdouble(data, count, 1), "pvm_pkdouble");
        pvm_ok(pvm_bcast(name, TAG_DATA), "pvm_bcast");
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
    pvm_ok(pvm_reduce(PvmSum, sum, count, PVM_DOUBLE, next_tag(), name, root), "pvm_reduce");
}

void group_gather(const struct team *team, const double *mine, double *all, int count, int root)
{
    (void)team;
    pvm_ok(pvm_gather(all, (void *)mine, count, PVM_DOUBLE, next_tag(), name, root), "pvm_gather");
}

/* PVM has no call for it: each sends to its next neighbour first, and hears from the one before. */
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

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    int code = group_run(&team, &options);
    team_close();
    return code;
}
