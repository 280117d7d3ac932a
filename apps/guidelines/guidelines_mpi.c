/* Measures each guideline: the collective and its mock-up in turns, so that whatever disturbs one disturbs the other. */
#include "guidelines.h"
#include "../teams/team.h"

#include <stdlib.h>
#include <string.h>

/* A turn repeats short operations until it takes about so long: the clock and the barrier before it cost little then. */
static const double TURN_NS = 100e3;
enum { MOST_REPEATED = 64 };

/* The longest of all processes, in nanoseconds, of a number of operations that begin together. The root moves on each time, so
   that no process can run ahead. */
static int64_t turn(struct place *place, operation_fn *operation, int repeated)
{
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t before = now_ns();
    for (int i = 0; i < repeated; i++) {
        place->root = i % place->tasks;
        operation(place);
    }
    int64_t mine = now_ns() - before, longest;
    MPI_Allreduce(&mine, &longest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

/* Both make the same result from the same data, and a result that is not empty. */
static void verify(struct place *place, const struct guideline *guideline)
{
    size_t count = guideline->result(place), room = 2 * (size_t)place->count * (size_t)place->tasks;
    if (count == 0) return;
    double *result = doubles(count);
    for (place->root = 0; place->root < place->tasks; place->root++) {
        memset(place->out, 0, room * sizeof *place->out);
        guideline->collective(place);
        memcpy(result, place->out, count * sizeof *result);
        memset(place->out, 0, room * sizeof *place->out);
        guideline->mock_up(place);
        if (guideline->at_root && place->rank != place->root) continue;
        if (memcmp(result, place->out, count * sizeof *result) != 0)
            fail("verification failed: %s: the mock-up has another result", guideline->name);
        size_t zeros = 0;
        while (zeros < count && result[zeros] == 0) zeros++;
        if (zeros == count) fail("verification failed: %s: the result is empty", guideline->name);
    }
    free(result);
}

static int least(double first, double second) { return (int)(first < second ? first : second); }

/* How often a turn repeats the pair, and how many pairs there are: process 0 decides. */
static void plan(struct place *place, const struct guideline *guideline, const struct options *options, int plan[2])
{
    double shorter = 0, both = 0;
    for (int warm = 0; warm < 3; warm++) {
        double one = (double)turn(place, guideline->collective, 1), other = (double)turn(place, guideline->mock_up, 1);
        shorter = one < other ? one : other;
        both = one + other;
    }
    plan[0] = least(TURN_NS / (shorter + 1) + 1, MOST_REPEATED);
    plan[1] = least(options->time_ms * 1e6 / (both * plan[0] + 1), options->most);
    if (plan[1] < options->least) plan[1] = options->least;
    MPI_Bcast(plan, 2, MPI_INT, 0, MPI_COMM_WORLD);
}

static void measure(FILE *out, struct place *place, const struct guideline *guideline, const struct options *options)
{
    int planned[2];
    verify(place, guideline);
    plan(place, guideline, options, planned);
    int pairs = planned[1];
    int64_t *taken = malloc(2 * (size_t)pairs * sizeof *taken), *mock = taken + pairs;
    if (taken == NULL) fail("no memory for %d pairs", pairs);
    for (int i = 0; i < pairs; i++) {
        /* Every second pair in the other order: the first of a pair has other caches than the second. */
        if (i % 2 == 0) taken[i] = turn(place, guideline->collective, planned[0]);
        mock[i] = turn(place, guideline->mock_up, planned[0]);
        if (i % 2 == 1) taken[i] = turn(place, guideline->collective, planned[0]);
    }
    if (place->rank == 0) {
        size_t bytes = guideline->one_size ? 0 : (size_t)place->count * sizeof(double);
        fprintf(out, "{\"program\":\"guidelines\",\"guideline\":\"%s\",\"face\":\"mpi\",\"tasks\":%d,\"size\":%zu,\"hops\":%d,"
                "\"verified\":true,", guideline->name, place->tasks, bytes, planned[0]);
        samples_array(out, "samples_ns", taken, pairs);
        fputc(',', out);
        samples_array(out, "mock_up_ns", mock, pairs);
        fputs("}\n", out);
    }
    free(taken);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks < 2) fail("needs at least 2 tasks");
    size_t largest = largest_of_doubles(&options);
    size_t room = 2 * (largest / sizeof(double) + (size_t)team.tasks) * (size_t)team.tasks;
    int lists[2][64];
    struct place place = { .tasks = team.tasks, .rank = team.task, .in = doubles(room), .out = doubles(room),
                           .between = doubles(room), .counts = lists[0], .places = lists[1] };
    fill(place.in, room, (uint64_t)team.task);
    FILE *out = team.task == 0 ? samples_open(&options) : NULL;
    for (const struct guideline *one = guidelines; one->name != NULL; one++) {
        for (int i = 0; i < options.size_count; i++) {
            if (one->one_size && i > 0) continue;
            place.count = (int)(options.sizes[i] / sizeof(double));
            place.share = (place.count + place.tasks - 1) / place.tasks;
            for (int task = 0; task < place.tasks; task++) {
                place.counts[task] = place.count;
                place.places[task] = task * place.count;
            }
            measure(out, &place, one, &options);
        }
    }
    if (out != NULL) samples_close(out);
    free(place.in);
    free(place.out);
    free(place.between);
    team_close();
    return 0;
}
