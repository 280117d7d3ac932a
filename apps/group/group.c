#include "group.h"
#include "../common/series.h"

#include <stdlib.h>
#include <string.h>

/* The root goes round from one operation to the next: no task can run ahead of the others for long, as the root of
   always the same broadcast could. A sample is one operation of each root, unless --rounds says how many; of fewer the
   first of a series has no other before it, and so what the tasks are apart in it. */

enum operation { BARRIER, BROADCAST, REDUCE, GATHER, ALLREDUCE, ALLGATHER, ALLTOALL, OPERATIONS };

static const char *const names[OPERATIONS] = { "barrier", "broadcast", "reduce", "gather", "allreduce", "allgather", "alltoall" };

struct group {
    const struct team *team;
    double *mine;       /* what this task gives: for each task a part, in an all-to-all */
    double *all;        /* what it gets                                                 */
    int64_t done;       /* operations until now: each message carries the number        */
};

/* The number of an operation, and who says it, in the first element of what a task gives. */
static double stamp(const struct group *group, int task)
{
    return (double)(group->done % 100000 * 64 + task);
}

static void expect(double found, double wanted, const char *operation, int task)
{
    if (found != wanted) fail("verification failed: %s brought task %d %g, not %g", operation, task, found, wanted);
}

/* Puts the number in front, and writes into every cache line: a library cannot profit from data that has not changed. */
static void renew(double *data, int count, double number)
{
    volatile double *line = data;
    data[0] = number;
    for (int i = 8; i < count; i += 8) line[i] = line[i];
}

static void broadcast(struct group *group, int count, int root)
{
    int me = group->team->task;
    double *data = me == root ? group->mine : group->all;
    if (me == root) renew(data, count, stamp(group, root));
    group_broadcast(group->team, data, count, root);
    expect(data[0], stamp(group, root), "broadcast", me);
}

static void expect_sum(const struct group *group, const char *operation)
{
    double sum = 0;
    for (int task = 0; task < group->team->tasks; task++) sum += stamp(group, task);
    expect(group->all[0], sum, operation, group->team->task);
}

static void expect_all(const struct group *group, int count, const char *operation)
{
    for (int task = 0; task < group->team->tasks; task++)
        expect(group->all[(size_t)task * (size_t)count], stamp(group, task), operation, group->team->task);
}

static void reduce(struct group *group, int count, int root)
{
    renew(group->mine, count, stamp(group, group->team->task));
    group_reduce(group->team, group->mine, group->all, count, root);
    if (group->team->task == root) expect_sum(group, "reduce");
}

static void gather(struct group *group, int count, int root)
{
    renew(group->mine, count, stamp(group, group->team->task));
    group_gather(group->team, group->mine, group->all, count, root);
    if (group->team->task == root) expect_all(group, count, "gather");
}

static void allreduce(struct group *group, int count)
{
    renew(group->mine, count, stamp(group, group->team->task));
    group_allreduce(group->team, group->mine, group->all, count);
    expect_sum(group, "allreduce");
}

static void allgather(struct group *group, int count)
{
    renew(group->mine, count, stamp(group, group->team->task));
    group_allgather(group->team, group->mine, group->all, count);
    expect_all(group, count, "allgather");
}

static void alltoall(struct group *group, int count)
{
    int me = group->team->task, tasks = group->team->tasks;
    for (int task = 0; task < tasks; task++) renew(group->mine + (size_t)task * (size_t)count, count, stamp(group, me));
    group_alltoall(group->team, group->mine, group->all, count);
    for (int task = 0; task < tasks; task++)
        expect(group->all[(size_t)task * (size_t)count], stamp(group, task), "alltoall", me);
}

static void operate(struct group *group, const struct block *block, int root)
{
    int count = (int)block->count;
    switch ((enum operation)block->operation) {
    case BARRIER: group_barrier(group->team); break;
    case BROADCAST: broadcast(group, count, root); break;
    case REDUCE: reduce(group, count, root); break;
    case GATHER: gather(group, count, root); break;
    case ALLREDUCE: allreduce(group, count); break;
    case ALLGATHER: allgather(group, count); break;
    default: alltoall(group, count); break;
    }
    group->done++;
}

/* What element `place` of the result must be on this task. */
static double wanted(const struct group *group, const struct block *block, int root, size_t place)
{
    size_t count = (size_t)block->count;
    uint64_t seed = (uint64_t)block->seed;
    double sum = 0;
    switch ((enum operation)block->operation) {
    case BROADCAST: return content(seed + (uint64_t)root, place);
    case GATHER:
    case ALLGATHER: return content(seed + place / count, place % count);
    case ALLTOALL: return content(seed + place / count, (size_t)group->team->task * count + place % count);
    default:
        for (int task = 0; task < group->team->tasks; task++) sum += content(seed + (uint64_t)task, place);
        return sum;
    }
}

/* After timing, one operation more, of which everything is looked at but what carries the number. */
static void verify(struct group *group, const struct block *block)
{
    int me = group->team->task, tasks = group->team->tasks, root = (int)(block->seed % tasks);
    size_t count = (size_t)block->count, length = count;
    if (block->operation == BARRIER) return;
    fill(group->mine, block->operation == ALLTOALL ? (size_t)tasks * count : count, (uint64_t)(block->seed + me));
    operate(group, block, root);
    switch ((enum operation)block->operation) {
    case BROADCAST: length = me == root ? 0 : count; break;
    case REDUCE: length = me == root ? count : 0; break;
    case GATHER: length = me == root ? (size_t)tasks * count : 0; break;
    case ALLREDUCE: length = count; break;
    default: length = (size_t)tasks * count;
    }
    for (size_t i = 0; i < length; i++)
        if (i % count != 0 && group->all[i] != wanted(group, block, root, i))
            fail("verification failed: element %zu of %zu after %s is %g, not %g", i, length, names[block->operation],
                 group->all[i], wanted(group, block, root, i));
}

static void run(struct group *group, const struct block *block, int64_t *samples)
{
    int tasks = group->team->tasks;
    /* The first of its kind is to be just that, and on a slow network each operation takes seconds. */
    for (int root = 0; root < tasks && block->rounds > 1; root++) operate(group, block, root);
    int64_t before = now_ns();
    for (int64_t sample = 0; sample < block->samples; sample++) {
        for (int64_t round = 0; round < block->rounds; round++) operate(group, block, (int)(round % tasks));
        int64_t after = now_ns();
        if (samples != NULL) samples[sample] = after - before;
        before = after;
    }
    verify(group, block);
}

static void measure(void *context, struct block block, int64_t *samples)
{
    struct group *group = context;
    block_announce(group->team, block);
    run(group, &block, samples);
}

/* Whether a list of names with commas between them has this one. */
static int is_among(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
    return 0;
}

static void lead(struct group *group, const struct options *options)
{
    FILE *out = samples_open(options);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        if (!is_among(options->operations, names[operation]) || !is_among(group_operations, names[operation])) continue;
        for (int i = 0; i < (operation == BARRIER ? 1 : options->size_count); i++) {
            size_t bytes = operation == BARRIER ? 0 : options->sizes[i];
            struct block block = { .operation = operation, .count = (int64_t)(bytes / sizeof(double)),
                                   .rounds = options->rounds > 0 ? options->rounds : group->team->tasks, .seed = 1000 * (i + 1) };
            struct heading heading = { .program = "group", .operation = names[operation], .bytes = bytes,
                                       .hops = block.rounds };
            series_run(out, group->team, options, heading, block, measure, group);
        }
    }
    block_announce(group->team, (struct block){ 0 });
    samples_close(out);
}

static int group_run(const struct team *team, const struct options *options)
{
    size_t largest = sizeof(double);
    for (int i = 0; i < options->size_count; i++) {
        if (options->sizes[i] < sizeof(double) || options->sizes[i] % sizeof(double) != 0)
            fail("sizes must be multiples of %zu bytes, and not 0", sizeof(double));
        if (options->sizes[i] > largest) largest = options->sizes[i];
    }
    size_t elements = (size_t)team->tasks * largest / sizeof(double);
    struct group group = { .team = team, .mine = doubles(elements), .all = doubles(elements) };
    group_open(team);
    if (team->task == 0) {
        lead(&group, options);
    } else {
        for (struct block block = block_hear(); block.samples > 0; block = block_hear()) run(&group, &block, NULL);
    }
    group_close(team);
    free(group.mine);
    free(group.all);
    return 0;
}

/* The same for every face. */
int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    int code = group_run(&team, &options);
    team_close();
    return code;
}
