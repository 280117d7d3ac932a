/* NX's nodes are started together: `parvum run -n N`. */
#include "team.h"

#include <nx.h>

void team_open(struct team *team, struct options *options, int *argc, char ***argv)
{
    options_read(options, *argc, *argv);
    team->task = (int)mynode();
    team->tasks = (int)numnodes();
    team->face = "nx";
    if (team->tasks != options->tasks) fail("%d nodes were started, --tasks says %d", team->tasks, options->tasks);
    pin_task(options, team->task);
}

void team_close(void) { }

void team_send(int to, int tag, const int64_t *values, int count)
{
    csend(tag, (void *)values, (long)count * (long)sizeof *values, to, 0);
}

void team_recv(int from, int tag, int64_t *values, int count)
{
    long info[8];
    crecvx(tag, values, (long)count * (long)sizeof *values, from, -1, info);
}
