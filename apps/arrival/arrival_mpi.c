/* Collectives by a clock: process 0 names a moment, and each process enters at its own distance from that moment, by a
   pattern. What counts is the time from the last planned entry to the last exit. A barrier before a collective would hide
   the pattern: it lets processes go one after the other, in an order that depends on the library. */
#include "clocks.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 10, SKEW_LEAST = 5000 };
/* From the announcement to the moment; more if a process was late often, and less again later. */
static const int64_t AHEAD_NS = 100000, AHEAD_MOST_NS = 2000000;
/* If other processes take the cores, processes are late nearly each time. A series ends after this factor of its time, if this number of
   samples was late. */
enum { PATIENCE = 20, LATE_MOST = 100 };
/* An entry that is later than this after its time does not count. */
static const int64_t TOLERANCE_NS = 1000;

enum pattern { TOGETHER, LAST, RAMP, HALF, PATTERNS };
static const char *const pattern_names[PATTERNS] = { "together", "last", "ramp", "half" };

enum operation { BARRIER, BROADCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, OPERATIONS };
static const char *const operation_names[OPERATIONS] = { "barrier", "broadcast", "reduce", "allreduce", "allgather", "alltoall" };

struct arrival {
    const struct team *team;
    const struct options *options;
    double *in, *out;
    int64_t ahead;
    int64_t *taken;     /* of the samples that count */
    int counted, late;
};

static void operate(const struct arrival *arrival, enum operation operation, int count, int root)
{
    double *in = arrival->in, *out = arrival->out;
    switch (operation) {
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case BROADCAST: MPI_Bcast(arrival->team->task == root ? in : out, count, MPI_DOUBLE, root, MPI_COMM_WORLD); break;
    case REDUCE: MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD); break;
    case ALLREDUCE: MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case ALLGATHER: MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD); break;
    default: MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

/* By how much this process enters after the moment. */
static int64_t delay_of(const struct team *team, enum pattern pattern, int64_t skew)
{
    switch (pattern) {
    case LAST: return team->task == team->tasks - 1 ? skew : 0;
    case RAMP: return skew * team->task / (team->tasks - 1);
    case HALF: return team->task >= team->tasks / 2 ? skew : 0;
    default: return 0;
    }
}

/* One sample: when the last process left, counted from the last planned entry; negative if a process came late. Known to all. */
static int64_t sample(struct arrival *arrival, enum operation operation, int count, int root, int64_t delay, int64_t skew)
{
    int64_t moment = clock_ns() + arrival->ahead;
    MPI_Bcast(&moment, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    int64_t mine = moment + delay, entered;
    /* Without yielding: who yields a core to another program gets the core back too late, and with cold caches. */
    while ((entered = clock_ns()) < mine)
        ;
    operate(arrival, operation, count, root);
    int64_t said[2] = { clock_ns() - moment - skew, entered - mine }, most[2];
    MPI_Allreduce(said, most, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return most[1] > TOLERANCE_NS || most[0] < 0 ? -1 : most[0];
}

/* Samples until there are enough or their time is over; all processes decide alike, because process 0's time decides. */
static void series(struct arrival *arrival, enum operation operation, int count, enum pattern pattern, int64_t skew)
{
    int64_t delay = delay_of(arrival->team, pattern, skew), begun = now_ns();
    arrival->counted = arrival->late = 0;
    for (int i = 0, late_in_a_row = 0, more = 1; more; i++) {
        int64_t taken = sample(arrival, operation, count, i % arrival->team->tasks, delay, pattern == TOGETHER ? 0 : skew);
        late_in_a_row = taken < 0 ? late_in_a_row + 1 : 0;
        if (late_in_a_row == 3 && arrival->ahead < AHEAD_MOST_NS) {
            arrival->ahead *= 2;
            late_in_a_row = 0;
        }
        if (taken >= 0 && arrival->ahead > AHEAD_NS) arrival->ahead -= arrival->ahead / 8;
        if (i >= WARM) {
            if (taken < 0) arrival->late++;
            else arrival->taken[arrival->counted++] = taken;
        }
        double limits = (double)(now_ns() - begun) / (arrival->options->time_ms * 1e6 + 1);
        int is_enough = arrival->counted >= arrival->options->least && limits > 1;
        more = arrival->counted < arrival->options->most && !is_enough && !(limits > PATIENCE && arrival->late >= LATE_MOST);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (arrival->counted == 0)
        fail("one of %d processes entered late each time; help: start no more processes than cores, on an idle machine",
             arrival->team->tasks);
}

/* Every element is known: what all sum up to, or what the one with this block has. */
static void verify(struct arrival *arrival, enum operation operation, int count)
{
    if (operation == BARRIER) return;
    const struct team *team = arrival->team;
    for (int i = 0; i < count * team->tasks; i++) arrival->in[i] = (double)(team->task + 1);
    memset(arrival->out, 0, (size_t)count * (size_t)team->tasks * sizeof(double));
    operate(arrival, operation, count, 0);
    if ((operation == REDUCE && team->task != 0) || (operation == BROADCAST && team->task == 0)) return;
    int has_blocks = operation == ALLGATHER || operation == ALLTOALL;
    int all = has_blocks ? count * team->tasks : count;
    for (int i = 0; i < all; i++) {
        double wanted = operation == BROADCAST ? 1 : has_blocks ? i / count + 1 : team->tasks * (team->tasks + 1) / 2;
        if (arrival->out[i] != wanted)
            fail("verification failed: %s: element %d is %g, not %g", operation_names[operation], i, arrival->out[i], wanted);
    }
}

static void measure(FILE *out, struct arrival *arrival, enum operation operation, size_t bytes)
{
    int count = (int)(bytes / sizeof(double));
    int64_t skew = 0;
    verify(arrival, operation, count);
    for (int pattern = TOGETHER; pattern < PATTERNS; pattern++) {
        clocks_compare(arrival->team, strcmp(arrival->options->clock, "estimated") == 0);
        series(arrival, operation, count, (enum pattern)pattern, skew);
        if (arrival->team->task == 0) {
            fprintf(out, "{\"program\":\"arrival\",\"operation\":\"%s\",\"form\":\"%s\",\"face\":\"mpi\",\"tasks\":%d,\"size\":%zu,"
                    "\"late\":%d,\"skew_ns\":%lld,\"clock_error_ns\":%lld,\"verified\":true,", operation_names[operation],
                    pattern_names[pattern], arrival->team->tasks, bytes, arrival->late, (long long)skew, (long long)clock_error_ns());
            samples_array(out, "samples_ns", arrival->taken, arrival->counted);
            fputs("}\n", out);
        }
        if (pattern == TOGETHER) {
            /* The others are late by as long as the collective takes: enough to matter, and not so long that all else drowns. */
            skew = (int64_t)median_of(arrival->taken, arrival->counted);
            if (skew < SKEW_LEAST) skew = SKEW_LEAST;
            MPI_Bcast(&skew, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks < 2) fail("needs at least 2 tasks");
    if (strcmp(options.clock, "shared") != 0 && strcmp(options.clock, "estimated") != 0)
        fail("--clock is shared or estimated, not %s", options.clock);
    size_t largest = largest_of_doubles(&options);
    size_t room = largest / sizeof(double) * (size_t)team.tasks;
    struct arrival arrival = { .team = &team, .options = &options, .in = doubles(room), .out = doubles(room), .ahead = AHEAD_NS,
                               .taken = malloc((size_t)options.most * sizeof(int64_t)) };
    if (arrival.taken == NULL) fail("no memory for %d samples", options.most);
    FILE *out = team.task == 0 ? samples_open(&options) : NULL;
    for (int operation = BARRIER; operation < OPERATIONS; operation++)
        for (int i = 0; i < options.size_count; i++) {
            /* A barrier has no size. */
            if (operation == BARRIER && i > 0) continue;
            measure(out, &arrival, (enum operation)operation, operation == BARRIER ? 0 : options.sizes[i]);
        }
    if (out != NULL) samples_close(out);
    free(arrival.taken);
    free(arrival.in);
    free(arrival.out);
    team_close();
    return 0;
}
