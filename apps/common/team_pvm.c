/* PVM programs start each other: the first task, started by hand, spawns the rest from its own file, so the same
   command works on any PVM. On several hosts they are placed in blocks of neighbours, as mpirun places them. */
#define _GNU_SOURCE
#include "team_pvm.h"

#include <pvm3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int team_tids[64];
int team_encoding;
int team_psend;

int pvm_ok(int result, const char *call)
{
    if (result < 0) fail("%s failed with code %d", call, result);
    return result;
}

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

/* As many on each host as fill all of them, the first of them here. */
static void spawn_on(const struct pvmhostinfo *hosts, int count, int tasks, char *path, char **arguments)
{
    int own = pvm_tidtohost(team_tids[0]), me = 0;
    for (int at = 0; at < count; at++)
        if (hosts[at].hi_tid == own) me = at;
    int each = (tasks + count - 1) / count;
    for (int task = 1; task < tasks; task++) {
        char *host = hosts[(me + task / each) % count].hi_name;
        if (pvm_spawn(path, arguments, PvmTaskHost, host, 1, team_tids + task) != 1)
            fail("pvm_spawn did not start task %d of %s on %s (code %d)", task, path, host, team_tids[task]);
    }
}

/* Starts the tasks 1.. from this program's own file, with this program's own arguments. */
static void spawn_others(int tasks, int argc, char **argv)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) fail("cannot find this program's own file");
    path[length] = '\0';

    char **arguments = calloc((size_t)argc + 1, sizeof *arguments);
    if (arguments == NULL) fail("no memory for arguments");
    for (int i = 1; i < argc; i++) arguments[i - 1] = argv[i];
    arguments[argc - 1] = "--child";
    struct pvmhostinfo *hosts;
    int count, unused;
    pvm_ok(pvm_config(&count, &unused, &hosts), "pvm_config");
    if (count > 1) {
        spawn_on(hosts, count, tasks, path, arguments);
    } else {
        int started = pvm_spawn(path, arguments, PvmTaskDefault, "", tasks - 1, team_tids + 1);
        if (started != tasks - 1) fail("pvm_spawn started %d of %d tasks of %s (code %d)", started, tasks - 1, path, team_tids[1]);
    }
    free(arguments);
}

void team_open(struct team *team, struct options *options, int *argc, char ***argv)
{
    options_read(options, *argc, *argv);
    int mytid = pvm_ok(pvm_mytid(), "pvm_mytid");
    choose_route(options->route);
    team_encoding = encoding(options->encoding);
    team_psend = strcmp(options->encoding, "psend") == 0;
    team->face = "pvm";
    team->tasks = options->tasks;

    if (options->child) {
        pvm_ok(pvm_recv(pvm_parent(), TAG_TEAM), "pvm_recv");
        pvm_ok(pvm_upkint(team_tids, team->tasks, 1), "pvm_upkint");
        for (team->task = 1; team->task < team->tasks && team_tids[team->task] != mytid;) team->task++;
        if (team->task == team->tasks) fail("task t%x is not in the table its parent sent", (unsigned)mytid);
    } else {
        team->task = 0;
        team_tids[0] = mytid;
        if (team->tasks > 1) {
            spawn_others(team->tasks, *argc, *argv);
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
