/* Spawning in PVM. */
#define _GNU_SOURCE
#include "spawn.h"
#include "../teams/team_pvm.h"

#include <pvm3.h>
#include <unistd.h>

enum { TAG_HERE = 10, TAG_OVER };

static int tids[64];

void spawn_tasks(int tasks)
{
    static char path[4096];
    char *arguments[] = { "--child", NULL };
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) fail("cannot find this program's own file");
    path[length] = '\0';
    int started = pvm_spawn(path, arguments, PvmTaskDefault, "", tasks, tids);
    if (started != tasks) fail("pvm_spawn started %d of %d tasks (code %d)", started, tasks, tids[tasks - 1]);
    for (int task = 0; task < tasks; task++) pvm_ok(pvm_recv(-1, TAG_HERE), "pvm_recv");
}

void spawn_end(int tasks)
{
    pvm_ok(pvm_notify(PvmTaskExit, TAG_OVER, tasks, tids), "pvm_notify");
    pvm_ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
    pvm_ok(pvm_mcast(tids, tasks, TAG_OVER), "pvm_mcast");
    for (int task = 0; task < tasks; task++) pvm_ok(pvm_recv(-1, TAG_OVER), "pvm_recv");
}

int main(int argc, char **argv)
{
    struct options options;
    options_read(&options, argc, argv);
    pvm_ok(pvm_mytid(), "pvm_mytid");
    if (options.child) {
        pvm_ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
        pvm_ok(pvm_send(pvm_parent(), TAG_HERE), "pvm_send");
        pvm_ok(pvm_recv(pvm_parent(), TAG_OVER), "pvm_recv");
    } else {
        spawn_run(&options, "pvm");
    }
    pvm_exit();
    return 0;
}
