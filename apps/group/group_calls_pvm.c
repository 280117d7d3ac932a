/* The group of a team, and its barrier. The engine keeps barriers in its library: PVM's call goes straight there, and
   so programs of the engine use it as well. Instances are the numbers of the tasks: they join one after the other. */
#include "group_calls_pvm.h"
#include "group.h"
#include "../teams/team_pvm.h"

#include <pvm3.h>

char group_name[32];

void group_open(const struct team *team)
{
    int64_t token = 0;
    if (team_direct) tasks_connect(team_tids, team->tasks, team->task);
    snprintf(group_name, sizeof group_name, "group.%x", (unsigned)team_tids[0]);
    if (team->task > 0) team_recv(team->task - 1, TAG_TEAM, &token, 1);
    if (pvm_ok(pvm_joingroup(group_name), "pvm_joingroup") != team->task) fail("the group's instances are not the tasks");
    if (team->task + 1 < team->tasks) team_send(team->task + 1, TAG_TEAM, &token, 1);
    pvm_ok(pvm_freezegroup(group_name, team->tasks), "pvm_freezegroup");
}

void group_close(const struct team *team)
{
    pvm_ok(pvm_barrier(group_name, team->tasks), "pvm_barrier");
    pvm_ok(pvm_lvgroup(group_name), "pvm_lvgroup");
}

void group_barrier(const struct team *team)
{
    pvm_ok(pvm_barrier(group_name, team->tasks), "pvm_barrier");
}
