/* More tasks than cores, each waiting half of its time: of every pair one computes while the other waits for its message.
   A sample is done when the last pair is; beside it stands what the computing alone took of the cores. */
#define _POSIX_C_SOURCE 200809L
#include "../teams/team.h"

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

/* Turns of each task in a sample, and what one takes, roughly. */
enum { TURNS = 40, TURN_NS = 1000000 };

static int64_t processor_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* So many steps that nothing can leave out. */
static void compute(int64_t steps)
{
    static volatile double kept = 1;
    double value = kept;
    for (int64_t i = 0; i < steps; i++) value = value * 0.999999 + 1e-6;
    kept = value;
}

/* The steps of a turn, found by the shortest of a few trials. */
static int64_t steps_of_a_turn(void)
{
    int64_t steps = 100000, shortest = INT64_MAX;
    for (int trial = 0; trial < 5; trial++) {
        int64_t before = processor_ns();
        compute(steps);
        int64_t taken = processor_ns() - before;
        if (taken < shortest) shortest = taken;
    }
    return steps * TURN_NS / (shortest > 0 ? shortest : 1);
}

/* One sample's turns; returns the processor time of the computing. */
static int64_t take_turns(const struct team *team, int64_t steps, int64_t *token)
{
    int mate = team->task ^ 1;
    int64_t work = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        int64_t wanted = *token + 1;
        if (team->task % 2 == 1 || turn > 0) team_recv(mate, TAG_DATA, token, 1);
        if (team->task % 2 == 1 && *token != wanted) fail("verification failed: turn %lld came as %lld", (long long)wanted, (long long)*token);
        int64_t before = processor_ns();
        compute(steps);
        work += processor_ns() - before;
        if (team->task % 2 == 0) ++*token;
        team_send(mate, TAG_DATA, token, 1);
    }
    if (team->task % 2 == 0) team_recv(mate, TAG_DATA, token, 1);
    return work;
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks % 2 != 0) fail("needs pairs of tasks");
    if (options.cpu_count == 0) fail("needs --cpus, the cores that are shared");
    pin_to_all(&options);
    int64_t steps = 0, token = 0, work = 0, all = 0;
    int64_t *samples = malloc((size_t)options.least * sizeof *samples);
    if (samples == NULL) fail("no memory for %d samples", options.least);
    if (team.task == 0) steps = steps_of_a_turn();
    MPI_Bcast(&steps, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int sample = 0; sample < options.least; sample++) {
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t before = now_ns();
        work += take_turns(&team, steps, &token);
        MPI_Barrier(MPI_COMM_WORLD);
        samples[sample] = now_ns() - before;
    }
    MPI_Reduce(&work, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (team.task == 0) {
        FILE *out = samples_open(&options);
        fprintf(out, "{\"program\":\"halves\",\"face\":\"%s\",\"tasks\":%d,\"size\":0,\"work_ns\":%lld,", team.face,
                team.tasks, (long long)(all / options.least / options.cpu_count));
        samples_array(out, "samples_ns", samples, options.least);
        fputs("}\n", out);
        samples_close(out);
    }
    free(samples);
    team_close();
    return 0;
}
