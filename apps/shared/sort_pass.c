/* Mergesort by messages: task 0 deals the numbers out, each sorts its part, and pairs merge until task 0 has all. */
#include "share.h"

#include <stdlib.h>
#include <string.h>

const char share_name[] = "sort";
static int32_t *data, *spare;

static void *room(size_t count)
{
    void *memory = malloc(count * sizeof(int32_t) + 1);
    if (memory == NULL) fail("no memory for %zu numbers", count);
    return memory;
}

void share_run(const struct options *options, const struct team *team, size_t size)
{
    (void)options;
    size_t first = part_of(size, team->task, team->tasks), mine = part_of(size, team->task + 1, team->tasks) - first;
    data = room(size);
    spare = room(size);
    if (team->task == 0) {
        sort_fill(data, size, 0);
        for (int task = 1; task < team->tasks; task++) {
            size_t at = part_of(size, task, team->tasks), end = part_of(size, task + 1, team->tasks);
            share_send(task, TAG_DATA, data + at, (end - at) * sizeof *data);
        }
    } else {
        share_recv(0, TAG_DATA, data, mine * sizeof *data);
    }
    sort_part(data, spare, mine);
    for (int span = 1; span < team->tasks; span *= 2) {
        if (team->task % (2 * span) != 0) {
            share_send(team->task - span, TAG_RESULT, data, mine * sizeof *data);
            break;
        }
        if (team->task + span >= team->tasks) continue;
        int end = team->task + 2 * span < team->tasks ? team->task + 2 * span : team->tasks;
        size_t theirs = part_of(size, end, team->tasks) - part_of(size, team->task + span, team->tasks);
        share_recv(team->task + span, TAG_RESULT, data + mine, theirs * sizeof *data);
        sort_merge(data, mine, data + mine, theirs, spare);
        mine += theirs;
        int32_t *other = data;
        data = spare;
        spare = other;
    }
    if (team->task != 0) {
        free(data);
        free(spare);
    }
}

void share_check(const struct options *options, const struct team *team, size_t size)
{
    (void)options;
    (void)team;
    sort_check(data, size);
    free(data);
    free(spare);
}
