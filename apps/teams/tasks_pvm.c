#define _GNU_SOURCE
#include "tasks_pvm.h"
#include "../common/bench.h"

#include <limits.h>
#include <pvm3.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Of the messages by which pairs connect. */
enum { TAG_CONNECT = 1001 };

static const int *together;
static int of_them;

int pvm_ok(int result, const char *call)
{
    if (result < 0) fail("%s failed with code %d", call, result);
    return result;
}

static void end_others(void)
{
    /* Others may find the same wrong, and are to say so themselves. */
    struct timespec moment = { .tv_nsec = 300000000 };
    nanosleep(&moment, NULL);
    int me = pvm_mytid();
    for (int task = 0; task < of_them; task++)
        if (together[task] > 0 && together[task] != me) pvm_kill(together[task]);
}

void tasks_end_together(const int *tids, int tasks)
{
    together = tids;
    of_them = tasks;
    when_it_fails(end_others);
}

void tasks_spawn(int *tids, int tasks, int argc, char **argv)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) fail("cannot find this program's own file");
    path[length] = '\0';
    char **arguments = calloc((size_t)argc + 1, sizeof *arguments);
    if (arguments == NULL) fail("no memory for arguments");
    for (int at = 1; at < argc; at++) arguments[at - 1] = argv[at];
    arguments[argc - 1] = "--child";

    struct pvmhostinfo *hosts;
    int count, unused, own = pvm_tidtohost(tids[0]), here = 0;
    pvm_ok(pvm_config(&count, &unused, &hosts), "pvm_config");
    if (count == 1) {
        int started = pvm_spawn(path, arguments, PvmTaskDefault, "", tasks - 1, tids + 1);
        if (started != tasks - 1) fail("pvm_spawn started %d of %d tasks of %s (code %d)", started, tasks - 1, path, tids[1]);
    }
    for (int at = 0; at < count; at++)
        if (hosts[at].hi_tid == own) here = at;
    int each = (tasks + count - 1) / count;
    for (int task = 1; task < tasks && count > 1; task++) {
        char *host = hosts[(here + task / each) % count].hi_name;
        if (pvm_spawn(path, arguments, PvmTaskHost, host, 1, tids + task) != 1)
            fail("pvm_spawn did not start task %d of %s on %s (code %d)", task, path, host, tids[task]);
    }
    free(arguments);
}

static void call(int tid)
{
    pvm_ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
    pvm_ok(pvm_send(tid, TAG_CONNECT), "pvm_send");
}

static void hear(int tid)
{
    pvm_ok(pvm_recv(tid, TAG_CONNECT), "pvm_recv");
}

void tasks_connect(const int *tids, int tasks, int me)
{
    /* Who has answered all before it is told by the last of these that it is its turn. */
    for (int before = 0; before < me; before++) {
        hear(tids[before]);
        call(tids[before]);
    }
    if (me > 0) hear(tids[me - 1]);
    for (int other = me + 1; other < tasks; other++) {
        call(tids[other]);
        hear(tids[other]);
    }
    if (me + 1 < tasks) call(tids[me + 1]);
}
