/* The layer's calls by PVM: the same program on PVM 3.4.6 and on Parvum. The first task, started by hand, spawns the others from its own
   file: on several hosts in blocks of neighbours, as mpirun places them. */
#include "../layer.h"
#include "../../teams/tasks_pvm.h"

#include <limits.h>
#include <pvm3.h>
#include <string.h>

enum { TASKS_MOST = 64, TAG_TEAM = 1 };

static int tids[TASKS_MOST];
static int encoding;

static void choose(const struct options *options)
{
    const char *name = options->encoding;
    if (strcmp(name, "default") == 0) encoding = PvmDataDefault;
    else if (strcmp(name, "raw") == 0) encoding = PvmDataRaw;
    else if (strcmp(name, "inplace") == 0) encoding = PvmDataInPlace;
    else fail("--encoding is default, raw or inplace, not %s", name);
    if (strcmp(options->route, "direct") == 0) pvm_ok(pvm_setopt(PvmRoute, PvmRouteDirect), "pvm_setopt");
    else if (strcmp(options->route, "dont") == 0) pvm_ok(pvm_setopt(PvmRoute, PvmDontRoute), "pvm_setopt");
    else if (strcmp(options->route, "default") != 0) fail("--route is default, direct or dont, not %s", options->route);
}

static void look_around(struct run *run)
{
    int own = pvm_tidtohost(tids[run->task]);
    run->here = run->hosts = 0;
    for (int task = 0; task < run->options.tasks; task++) {
        int host = pvm_tidtohost(tids[task]), is_new = 1;
        run->here += host == own;
        for (int before = 0; before < task; before++) is_new &= pvm_tidtohost(tids[before]) != host;
        run->hosts += is_new;
    }
}

void body_open(struct run *run, int *argc, char ***argv)
{
    run_read(run, *argc, *argv);
    int mytid = pvm_ok(pvm_mytid(), "pvm_mytid"), tasks = run->options.tasks;
    choose(&run->options);
    run->face = "pvm";
    tasks_end_together(tids, tasks);
    if (run->options.child) {
        pvm_ok(pvm_recv(pvm_parent(), TAG_TEAM), "pvm_recv");
        pvm_ok(pvm_upkint(tids, tasks, 1), "pvm_upkint");
        for (run->task = 1; run->task < tasks && tids[run->task] != mytid;) run->task++;
        if (run->task == tasks) fail("task t%x is not in the table its parent sent", (unsigned)mytid);
    } else {
        run->task = 0;
        tids[0] = mytid;
        if (tasks > 1) {
            tasks_spawn(tids, tasks, *argc, *argv);
            pvm_ok(pvm_initsend(PvmDataDefault), "pvm_initsend");
            pvm_ok(pvm_pkint(tids, tasks, 1), "pvm_pkint");
            pvm_ok(pvm_mcast(tids + 1, tasks - 1, TAG_TEAM), "pvm_mcast");
        }
    }
    if (strcmp(run->options.route, "direct") == 0) tasks_connect(tids, tasks, run->task);
    look_around(run);
}

void body_close(void)
{
    pvm_exit();
}

void body_send(int to, int tag, const double *values, size_t count)
{
    if (count > INT_MAX) fail("a message of %zu values is longer than PVM takes", count);
    pvm_ok(pvm_initsend(encoding), "pvm_initsend");
    pvm_ok(pvm_pkdouble((double *)values, (int)count, 1), "pvm_pkdouble");
    pvm_ok(pvm_send(tids[to], tag), "pvm_send");
}

void body_recv(int from, int tag, double *values, size_t count)
{
    pvm_ok(pvm_recv(tids[from], tag), "pvm_recv");
    pvm_ok(pvm_upkdouble(values, (int)count, 1), "pvm_upkdouble");
}

/* A send does not wait for the receiver. */
void body_exchange(int to, const double *out, size_t outs, int from, double *in, size_t ins, int tag)
{
    if (to >= 0) body_send(to, tag, out, outs);
    if (from >= 0) body_recv(from, tag, in, ins);
}
