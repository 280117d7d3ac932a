/* One-sided: task 0 puts into, gets from and counts in the memory of task 1, which waits for a message meanwhile. Each
   operation is complete at the other side before the next one begins. */
#include "../common/series.h"

#include <mpi.h>
#include <string.h>

enum operation { PUT, GET, FETCH, OPERATIONS };

static const char *const forms[OPERATIONS] = { "put", "get", "fetch" };

/* Short operations are timed many at a time, since reading the clock costs a noticeable part of one. */
static int rounds_per_sample(size_t bytes) { return bytes <= 1024 ? 64 : 1; }

struct window {
    const struct team *team;
    MPI_Win handle;
    double *memory;     /* what others reach                     */
    double *data;       /* what task 0 puts, and what it gets    */
    int64_t counted;    /* what the counter has reached          */
};

static void operate(struct window *window, const struct block *block)
{
    int count = (int)block->count;
    int64_t one = 1, before = -1;
    switch ((enum operation)block->operation) {
    case PUT: MPI_Put(window->data, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, window->handle); break;
    case GET: MPI_Get(window->data, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, window->handle); break;
    default: MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 1, 0, MPI_SUM, window->handle);
    }
    MPI_Win_flush(1, window->handle);
    if (block->operation == FETCH && before != window->counted++)
        fail("verification failed: the counter was %lld, not %lld", (long long)before, (long long)window->counted - 1);
}

/* What the window holds before a block: what is to be got, else what a put must replace and a counter begins with. */
static void prepare(struct window *window, const struct block *block)
{
    size_t count = (size_t)block->count;
    if (block->operation == GET) fill(window->memory, count, (uint64_t)block->seed);
    else memset(window->memory, 0, count * sizeof(double));
    MPI_Win_sync(window->handle);
}

/* The target's part of a block: its memory is ready, then it waits, then it looks. */
static void serve(struct window *window, const struct block *block)
{
    int64_t word = 1;
    prepare(window, block);
    team_send(0, TAG_CONTROL, &word, 1);
    team_recv(0, TAG_DATA, &word, 1);
    MPI_Win_sync(window->handle);
    if (block->operation == PUT) check(window->memory, (size_t)block->count, (uint64_t)block->seed, "in the window");
    team_send(0, TAG_CONTROL, &word, 1);
}

static void measure(void *context, struct block block, int64_t *samples)
{
    struct window *window = context;
    int64_t word;
    block_announce(window->team, block);
    team_recv(1, TAG_CONTROL, &word, 1);
    window->counted = 0;
    if (block.operation == PUT) fill(window->data, (size_t)block.count, (uint64_t)block.seed);
    else memset(window->data, 0, (size_t)block.count * sizeof(double));
    operate(window, &block);
    int64_t before = now_ns();
    for (int64_t sample = 0; sample < block.samples; sample++) {
        for (int64_t round = 0; round < block.rounds; round++) operate(window, &block);
        int64_t after = now_ns();
        samples[sample] = after - before;
        before = after;
    }
    if (block.operation == GET) check(window->data, (size_t)block.count, (uint64_t)block.seed, "after it was got");
    team_send(1, TAG_DATA, &word, 1);
    team_recv(1, TAG_CONTROL, &word, 1);
}

static void lead(struct window *window, const struct options *options)
{
    FILE *out = samples_open(options);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        for (int i = 0; i < options->size_count; i++) {
            size_t bytes = options->sizes[i];
            if (operation == FETCH && bytes != sizeof(int64_t)) continue;
            struct block block = { .operation = operation, .count = (int64_t)(bytes / sizeof(double)),
                                   .rounds = rounds_per_sample(bytes), .seed = 1000 * (i + 1) };
            struct heading heading = { .program = "window", .form = forms[operation], .bytes = bytes, .hops = block.rounds };
            series_run(out, window->team, options, heading, block, measure, window);
        }
    }
    block_announce(window->team, (struct block){ 0 });
    samples_close(out);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2) fail("needs exactly 2 tasks");
    size_t largest = sizeof(double);
    for (int i = 0; i < options.size_count; i++) {
        if (options.sizes[i] < sizeof(double) || options.sizes[i] % sizeof(double) != 0)
            fail("sizes must be multiples of %zu bytes, and not 0", sizeof(double));
        if (options.sizes[i] > largest) largest = options.sizes[i];
    }
    struct window window = { .team = &team, .data = doubles(largest / sizeof(double)) };
    MPI_Win_allocate((MPI_Aint)largest, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window.memory, &window.handle);
    MPI_Win_lock_all(0, window.handle);
    if (team.task == 0) lead(&window, &options);
    else
        for (struct block block = block_hear(); block.samples > 0; block = block_hear()) serve(&window, &block);
    MPI_Win_unlock_all(window.handle);
    MPI_Win_free(&window.handle);
    team_close();
    return 0;
}
