/* Doubles that lie apart, every second or every sixteenth: a vector type goes to and fro between two tasks, from memory
   to memory as the library sees fit. */
#include "../common/series.h"

#include <mpi.h>
#include <stdlib.h>

/* Two, so that what is sent next is not what has just come. */
enum { BUFFERS = 2, STRIDES = 2 };

static const int strides[STRIDES] = { 2, 16 };
static const char *const forms[STRIDES] = { "second", "sixteenth" };

/* Lies between the elements, where no message may write. */
static const double gap = -1;

struct vector {
    const struct team *team;
    double *buffer[BUFFERS];
    MPI_Datatype type[STRIDES];
    size_t count;       /* elements of a message                                       */
    int64_t passed;     /* messages since the beginning: the number that each carries  */
};

static void spread(double *data, size_t count, int stride, uint64_t seed)
{
    for (size_t i = 0; i < count * (size_t)stride; i++) data[i] = gap;
    for (size_t i = 0; i < count; i++) data[i * (size_t)stride] = content(seed, i);
}

static void expect_spread(const double *data, size_t count, int stride, uint64_t seed)
{
    for (size_t i = 1; i < count * (size_t)stride; i++) {
        double wanted = i % (size_t)stride == 0 ? content(seed, i / (size_t)stride) : gap;
        if (data[i] != wanted) fail("verification failed: double %zu is %g, not %g", i, data[i], wanted);
    }
}

static void pass(struct vector *vector, MPI_Datatype type)
{
    double *data = vector->buffer[vector->passed % BUFFERS];
    double number = (double)vector->passed++;
    if (vector->team->task == 0) {
        data[0] = number;
        MPI_Send(data, 1, type, 1, TAG_DATA, MPI_COMM_WORLD);
    }
    MPI_Recv(data, 1, type, 1 - vector->team->task, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (data[0] != number) fail("verification failed: message %.0f came as number %.0f", number, data[0]);
    if (vector->team->task == 1) MPI_Send(data, 1, type, 0, TAG_DATA, MPI_COMM_WORLD);
}

static void run(struct vector *vector, const struct block *block, int64_t *samples)
{
    int which = (int)block->operation;
    for (int i = 0; i < BUFFERS; i++) spread(vector->buffer[i], vector->count, strides[which], (uint64_t)block->seed);
    for (int i = 0; i < BUFFERS; i++) pass(vector, vector->type[which]);
    int64_t before = now_ns();
    for (int64_t sample = 0; sample < block->samples; sample++) {
        pass(vector, vector->type[which]);
        int64_t after = now_ns();
        if (samples != NULL) samples[sample] = after - before;
        before = after;
    }
    for (int i = 0; i < BUFFERS; i++) expect_spread(vector->buffer[i], vector->count, strides[which], (uint64_t)block->seed);
}

static void measure(void *context, struct block block, int64_t *samples)
{
    struct vector *vector = context;
    block_announce(vector->team, block);
    run(vector, &block, samples);
}

static void lead(struct vector *vector, const struct options *options)
{
    FILE *out = samples_open(options);
    for (int which = 0; which < STRIDES; which++) {
        struct block block = { .operation = which, .count = (int64_t)vector->count, .rounds = 1, .seed = 1000 * which };
        struct heading heading = { .program = "vector", .form = forms[which], .bytes = options->sizes[0], .hops = 2 };
        series_run(out, vector->team, options, heading, block, measure, vector);
    }
    block_announce(vector->team, (struct block){ 0 });
    samples_close(out);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2) fail("needs exactly 2 tasks");
    if (options.size_count != 1 || options.sizes[0] == 0 || options.sizes[0] % sizeof(double) != 0)
        fail("needs one size, a multiple of %zu bytes", sizeof(double));
    struct vector vector = { .team = &team, .count = options.sizes[0] / sizeof(double) };
    for (int i = 0; i < BUFFERS; i++) vector.buffer[i] = doubles(vector.count * (size_t)strides[STRIDES - 1]);
    for (int which = 0; which < STRIDES; which++) {
        MPI_Type_vector((int)vector.count, 1, strides[which], MPI_DOUBLE, &vector.type[which]);
        MPI_Type_commit(&vector.type[which]);
    }
    if (team.task == 0) lead(&vector, &options);
    else
        for (struct block block = block_hear(); block.samples > 0; block = block_hear()) run(&vector, &block, NULL);
    for (int which = 0; which < STRIDES; which++) MPI_Type_free(&vector.type[which]);
    for (int i = 0; i < BUFFERS; i++) free(vector.buffer[i]);
    team_close();
    return 0;
}
