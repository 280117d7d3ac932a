/* CMMD's nodes are started together: `parvum run -n N`. */
#include "team.h"

#include <cmmd.h>

void team_open(struct team *team, struct options *options, int *argc, char ***argv)
{
    options_read(options, *argc, *argv);
    team->task = CMMD_self_address();
    team->tasks = CMMD_partition_size();
    team->face = "cmmd";
    if (team->tasks != options->tasks) fail("%d nodes were started, --tasks says %d", team->tasks, options->tasks);
    pin_task(options, team->task);
}

void team_close(void) { }

void team_send(int to, int tag, const int64_t *values, int count)
{
    if (CMMD_send_noblock(to, tag, (void *)values, count * (int)sizeof *values) != 0)
        fail("CMMD_send_noblock failed: error %d", CMMD_get_errno());
}

void team_recv(int from, int tag, int64_t *values, int count)
{
    if (CMMD_receive_block(from, tag, values, count * (int)sizeof *values) != 0)
        fail("CMMD_receive_block failed: error %d", CMMD_get_errno());
}
