/* PVM programs start each other: the first task, started by hand, spawns the rest from its own file, so the same command works on any PVM. */
#include "team_pvm.h"

#include <pvm3.h>
#include <string.h>

int team_tids[64];
int team_encoding;
int team_psend;
int team_direct;

static int encoding(const char *name)
{
    if (strcmp(name, "default") == 0) return PvmDataDefault;
    if (strcmp(name, "raw") == 0) return PvmDataRaw;
    if (strcmp(name, "inplace") == 0) return PvmDataInPlace;
    if (strcmp(name, "psend") == 0) return PvmDataRaw;
    fail("--encoding is default, raw, inplace or psend, not %s", name);
}

static void choose_route(const char *name)
{
    if (strcmp(name, "default") == 0) return;
    if (strcmp(name, "direct") == 0) pvm_ok(pvm_setopt(PvmRoute, PvmRouteDirect), "pvm_setopt");
    else if (strcmp(name, "dont") == 0) pvm_ok(pvm_setopt(PvmRoute, PvmDontRoute), "pvm_setopt");
    else fail("--route is default, direct or dont, not %s", name);
}

void team_open(struct team *team, struct options *options, int *argc, char ***argv)
{
    options_read(options, *argc, *argv);
    int mytid = pvm_ok(pvm_mytid(), "pvm_mytid");
    choose_route(options->route);
    team_encoding = encoding(options->encoding);
    team_psend = strcmp(options->encoding, "psend") == 0;
    team_direct = strcmp(options->route, "direct") == 0;
    team->face = "pvm";
    team->tasks = options->tasks;
    tasks_end_together(team_tids, team->tasks);

    if (options->child) {
        pvm_ok(pvm_recv(pvm_parent(), TAG_TEAM), "pvm_recv");
        pvm_ok(pvm_upkint(team_tids, team->tasks, 1), "pvm_upkint");
        for (team->task = 1; team->task < team->tasks && team_tids[team->task] != mytid;) team->task++;
        if (team->task == team->tasks) fail("task t%x is not in the table its parent sent", (unsigned)mytid);
    } else {
        team->task = 0;
        team_tids[0] = mytid;
        if (team->tasks > 1) {
            tasks_spawn(team_tids, team->tasks, *argc, *argv);
            pvm_ok(pvm_initsend(PvmDataDefault), "pvm_initsend");
            pvm_ok(pvm_pkint(team_tids, team->tasks, 1), "pvm_pkint");
            pvm_ok(pvm_mcast(team_tids + 1, team->tasks - 1, TAG_TEAM), "pvm_mcast");
        }
    }
    pin_task(options, team->task);
}

void team_close(void)
{
    pvm_exit();
}

void team_send(int to, int tag, const int64_t *values, int count)
{
    pvm_ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
    pvm_ok(pvm_pklong((long *)values, count, 1), "pvm_pklong");
    pvm_ok(pvm_send(team_tids[to], tag), "pvm_send");
}

void team_recv(int from, int tag, int64_t *values, int count)
{
    pvm_ok(pvm_recv(team_tids[from], tag), "pvm_recv");
    pvm_ok(pvm_upklong((long *)values, count, 1), "pvm_upklong");
}
