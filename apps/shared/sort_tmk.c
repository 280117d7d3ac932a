/* Mergesort in shared memory: task 0 writes the numbers there, each sorts its part, and pairs merge what lies side by side, from one
   array to the other. With HYBRID only the numbers are shared: each sorts a copy of its part, and pairs merge by PVM. */
#include "share_tmk.h"

#include <stdlib.h>
#include <string.h>

const char share_name[] = "sort";
static int32_t *data, *sorted;

#ifdef HYBRID
static int32_t *spare;

static void *room(size_t count)
{
    void *memory = malloc(count * sizeof(int32_t) + 1);
    if (memory == NULL) fail("no memory for %zu numbers", count);
    return memory;
}

/* A message is no acquire: what others write to shared memory meanwhile is not this task's to write. */
static void sort_all(const struct team *team, size_t size)
{
    size_t first = part_of(size, team->task, team->tasks), mine = part_of(size, team->task + 1, team->tasks) - first;
    sorted = room(size);
    spare = room(size);
    memcpy(sorted, data + first, mine * sizeof *data);
    sort_part(sorted, spare, mine);
    for (int span = 1; span < team->tasks; span *= 2) {
        if (team->task % (2 * span) != 0) {
            share_send(team->task - span, TAG_RESULT, sorted, mine * sizeof *sorted);
            break;
        }
        if (team->task + span >= team->tasks) continue;
        int end = team->task + 2 * span < team->tasks ? team->task + 2 * span : team->tasks;
        size_t theirs = part_of(size, end, team->tasks) - part_of(size, team->task + span, team->tasks);
        share_recv(team->task + span, TAG_RESULT, sorted + mine, theirs * sizeof *sorted);
        sort_merge(sorted, mine, sorted + mine, theirs, spare);
        mine += theirs;
        int32_t *other = sorted;
        sorted = spare;
        spare = other;
    }
}

static void forget(int shared_too)
{
    free(sorted);
    free(spare);
    if (shared_too) Tmk_free((char *)data);
}
#else
static int32_t *other;

/* What lies there from before would be fetched for nothing, as a receive does not look at its buffer either. */
static void overwrite(int32_t *part, size_t count)
{
    Tmk_overwrite((char *)part, (unsigned)(count * sizeof *part));
}

static void sort_all(const struct team *team, size_t size)
{
    size_t first = part_of(size, team->task, team->tasks), mine = part_of(size, team->task + 1, team->tasks) - first;
    overwrite(other + first, mine);
    sort_part(data + first, other + first, mine);
    int32_t *from = data, *to = other;
    for (int span = 1; span < team->tasks; span *= 2) {
        Tmk_barrier(1);
        if (team->task % (2 * span) == 0) {
            int middle = team->task + span, end = team->task + 2 * span;
            if (middle > team->tasks) middle = team->tasks;
            if (end > team->tasks) end = team->tasks;
            size_t theirs = part_of(size, end, team->tasks) - part_of(size, middle, team->tasks);
            overwrite(to + first, mine + theirs);
            sort_merge(from + first, mine, from + first + mine, theirs, to + first);
            mine += theirs;
        }
        int32_t *was = from;
        from = to;
        to = was;
    }
    sorted = from;
}

static void forget(int shared_too)
{
    if (shared_too) {
        Tmk_free((char *)data);
        Tmk_free((char *)other);
    }
}
#endif

void share_run(const struct options *options, const struct team *team, size_t size)
{
    (void)options;
    data = share_make(size * sizeof *data);
#ifndef HYBRID
    other = share_make(size * sizeof *other);
#endif
    if (team->task == 0) sort_fill(data, size, 0);
    Tmk_barrier(1);
    sort_all(team, size);
    Tmk_barrier(1);
    if (team->task != 0) forget(0);
}

void share_check(const struct options *options, const struct team *team, size_t size)
{
    (void)options;
    (void)team;
    sort_check(sorted, size);
    forget(1);
}
