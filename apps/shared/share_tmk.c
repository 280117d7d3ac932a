/* By shared memory, under TreadMarks' calls. With HYBRID its tasks are PVM's as well. */
#include "share_tmk.h"

#ifdef HYBRID
#include "../teams/team_pvm.h"

#include <pvm3.h>

int team_tids[64];

int pvm_ok(int result, const char *call)
{
    if (result < 0) fail("%s failed with code %d", call, result);
    return result;
}

/* PVM's ids of all, by way of shared memory. */
static void meet(const struct team *team)
{
    int *ids = share_make(sizeof team_tids);
    ids[team->task] = pvm_ok(pvm_mytid(), "pvm_mytid");
    Tmk_barrier(0);
    for (int task = 0; task < team->tasks; task++) team_tids[task] = ids[task];
    share_forget(ids);
}
#endif

void *share_make(size_t bytes)
{
    static char *shared;
    char *mine;
    if (Tmk_proc_id == 0) {
        shared = Tmk_malloc((unsigned)bytes);
        if (shared == NULL) fail("the shared heap has no room for %zu bytes", bytes);
        Tmk_distribute((char *)&shared, sizeof shared);
    }
    Tmk_barrier(0);
    mine = shared;
    Tmk_barrier(0);   /* before the next is made */
    return mine;
}

void share_forget(void *memory)
{
    Tmk_barrier(0);
    if (Tmk_proc_id == 0) Tmk_free(memory);
}

void team_open(struct team *team, struct options *options, int *argc, char ***argv)
{
    options_read(options, *argc, *argv);
    Tmk_startup(*argc, *argv);
    team->task = (int)Tmk_proc_id;
    team->tasks = (int)Tmk_nprocs;
    if (team->tasks != options->tasks) fail("%d processes were started, --tasks says %d", team->tasks, options->tasks);
    pin_task(options, team->task);
#ifdef HYBRID
    team->face = "hybrid";
    meet(team);
#else
    team->face = "tmk";
#endif
}

void team_close(void)
{
    Tmk_exit(0);
}

void share_together(const struct team *team)
{
    (void)team;
    Tmk_barrier(0);
}

/* What consistency costs is counted apart from the messages of other interfaces. */
struct traffic traffic_of_memory(void)
{
    struct Tmk_stat stat;
    if (Tmk_statistics(&stat) != 0) fail("no statistics");
    return (struct traffic){ 1, (int64_t)stat.messages, (int64_t)stat.bytes };
}

struct traffic share_sum(const struct team *team, struct traffic mine)
{
    long words[2] = { mine.messages, mine.bytes };
    (void)team;
    Tmk_reduce(words, 2, TMK_LONG, TMK_SUM);
    return (struct traffic){ mine.known, words[0], words[1] };
}
