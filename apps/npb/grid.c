/* How the cube is split over tasks, and what neighbours tell each other before every right-hand side. */
#include "npb.h"
#include "layer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int block_first(int n, int blocks, int at)
{
    return (int)((int64_t)n * at / blocks);
}

/* The largest divisor of `tasks` that is at most its root of this degree. */
static int divisor(int tasks, int degree)
{
    int found = 1;
    for (int d = 1; (degree == 2 ? d * d : d * d * d) <= tasks; d++)
        if (tasks % d == 0) found = d;
    return found;
}

void grid_split(struct grid *grid, enum benchmark benchmark, int n, int tasks, int task)
{
    grid->n = n;
    int z = benchmark == BT ? tasks : benchmark == SP ? divisor(tasks, 3) : 1;
    int y = divisor(tasks / z, 2);
    grid->blocks[0] = tasks / z / y;
    grid->blocks[1] = y;
    grid->blocks[2] = z;
    /* An eliminated row of SP's needs the one before it in the same block. */
    int least = benchmark == BT ? 1 : 2;
    for (int d = 0; d < 3; d++)
        if (n / grid->blocks[d] < least)
            fail("%s with %d points each way cannot be split over %d tasks: %d blocks (%d x %d x %d) along %c leave one fewer than %d; take fewer "
                 "tasks or a larger class", benchmark_names[benchmark], n, tasks, grid->blocks[d], grid->blocks[0], grid->blocks[1],
                 grid->blocks[2], "xyz"[d], least);
    grid->at[0] = task % grid->blocks[0];
    grid->at[1] = task / grid->blocks[0] % grid->blocks[1];
    grid->at[2] = task / grid->blocks[0] / grid->blocks[1];
    size_t step = 1;
    for (int d = 0; d < 3; d++) {
        grid->first[d] = block_first(n, grid->blocks[d], grid->at[d]);
        grid->count[d] = block_first(n, grid->blocks[d], grid->at[d] + 1) - grid->first[d];
        int last = grid->first[d] + grid->count[d] - 1;
        grid->low[d] = grid->first[d] > 1 ? grid->first[d] : 1;
        grid->high[d] = last < n - 2 ? last : n - 2;
        grid->step[d] = step;
        step *= (size_t)(grid->count[d] + 2 * GHOSTS);
    }
    grid->cells = step;
}

int grid_neighbour(const struct grid *grid, int axis, int by)
{
    int at[3] = { grid->at[0], grid->at[1], grid->at[2] };
    at[axis] += by;
    if (at[axis] < 0 || at[axis] >= grid->blocks[axis]) return -1;
    return at[0] + grid->blocks[0] * (at[1] + grid->blocks[1] * at[2]);
}

/* Doubles: of what one benchmark needs besides, and of a message. */
static size_t scratch_of(const struct grid *grid, enum benchmark benchmark)
{
    size_t n = (size_t)grid->n, part = n / (size_t)grid->blocks[2] + 1, most = 0;
    if (benchmark == LU) return 0;
    /* BT: blocks of a line, a line, and lines along z of a part of j. */
    if (benchmark == BT) return n * 35 + (grid->blocks[2] > 1 ? part * n * n * 10 : 0);
    /* SP: six of each row of all lines, or of one that is whole. */
    for (int d = 0; d < 3; d++) {
        size_t rows = (size_t)(grid->count[d] + 2 * GHOSTS), lines = 1;
        for (int e = 0; e < 3; e++)
            if (e != d && grid->blocks[d] > 1) lines *= (size_t)grid->count[e];
        if (6 * rows * lines > most) most = 6 * rows * lines;
    }
    return most;
}

static size_t message_of(const struct grid *grid, enum benchmark benchmark)
{
    size_t most = 5 * (size_t)grid->n;
    for (int d = 0; d < 3; d++) {
        size_t face = 1;
        for (int e = 0; e < 3; e++)
            if (e != d) face *= (size_t)grid->count[e];
        size_t needs = face * (benchmark == SP ? 22 : 10);
        if (grid->blocks[d] > 1 && needs > most) most = needs;
    }
    size_t n = (size_t)grid->n, part = n / (size_t)grid->blocks[2] + 1;
    return benchmark == BT && part * part * n * 10 > most ? part * part * n * 10 : most;
}

double grid_memory(const struct grid *grid, enum benchmark benchmark)
{
    return (double)grid->cells * (3 * sizeof(five) + sizeof(struct seen))
         + (double)sizeof(double) * (double)(scratch_of(grid, benchmark) + 2 * message_of(grid, benchmark));
}

/* What this host can still give: the kernel's estimate, or less where this process may have less. */
static double memory_left(void)
{
    double left = -1, kib;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1) left = kib * 1024;
    if (file != NULL) fclose(file);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && (left < 0 || (double)limit.rlim_cur < left))
        left = (double)limit.rlim_cur;
    return left;
}

void field_open(struct field *field, int here)
{
    const struct grid *grid = &field->grid;
    enum benchmark benchmark = field->class->benchmark;
    double needs = here * grid_memory(grid, benchmark), left = memory_left();
    if (left >= 0 && needs > left)
        fail("%s class %c needs %.0f MiB for the %d task%s of this host, which has %.0f MiB left; take a smaller class or more hosts",
             benchmark_names[benchmark], field->class->name, needs / 1048576, here, here == 1 ? "" : "s", left / 1048576);
    double h = 1.0 / (grid->n - 1);
    field->t1 = 1 / (h * h);
    field->t2 = 1 / (2 * h);
    field->u = calloc(grid->cells, sizeof(five));
    field->r = calloc(grid->cells, sizeof(five));
    field->h = calloc(grid->cells, sizeof(five));
    field->seen = aligned_alloc(sizeof(struct seen), grid->cells * sizeof(struct seen));
    field->scratch = calloc(scratch_of(grid, benchmark) + 1, sizeof(double));
    field->out = calloc(message_of(grid, benchmark), sizeof(double));
    field->in = calloc(message_of(grid, benchmark), sizeof(double));
    if (!field->u || !field->r || !field->h || !field->seen || !field->scratch || !field->out || !field->in)
        fail("no memory for %.0f MiB", grid_memory(grid, benchmark) / 1048576);
    memset(field->seen, 0, grid->cells * sizeof(struct seen));
}

void field_close(struct field *field)
{
    free(field->u), free(field->r), free(field->h), free(field->seen), free(field->scratch), free(field->out), free(field->in);
}

/* U of the planes from .. end-1 along an axis, at my points of the other two. */
static size_t planes(struct field *field, int axis, int from, int end, double *values, int takes)
{
    const struct grid *grid = &field->grid;
    int begin[3], stop[3];
    double *at = values;
    for (int d = 0; d < 3; d++) begin[d] = d == axis ? from : grid->first[d], stop[d] = d == axis ? end : grid->first[d] + grid->count[d];
    for (int k = begin[2]; k < stop[2]; k++)
        for (int j = begin[1]; j < stop[1]; j++) {
            size_t row = (size_t)(stop[0] - begin[0]), cell = cell_at(grid, begin[0], j, k);
            if (takes) memcpy(at, field->u[cell], row * sizeof(five));
            else memcpy(field->u[cell], at, row * sizeof(five));
            at += row * 5;
        }
    return (size_t)(at - values);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* What a block that is `by` further along an axis wants of mine, and I of the one `by` before: two layers, which reach over a block of one plane
   to the next. */
static void halo_along(struct field *field, int axis, int by)
{
    const struct grid *grid = &field->grid;
    int n = grid->n, blocks = grid->blocks[axis], at = grid->at[axis], up = by > 0;
    int to = grid_neighbour(grid, axis, by), from = grid_neighbour(grid, axis, -by);
    int first = grid->first[axis], end = first + grid->count[axis];
    size_t outs = 0, ins = 0;
    int into = 0, over = 0;
    if (to >= 0) {
        int theirs = up ? block_first(n, blocks, at + by) : block_first(n, blocks, at + by + 1);
        int begin = up ? larger(theirs - GHOSTS, first) : first, stop = up ? end : smaller(theirs + GHOSTS, end);
        if (begin < stop) outs = planes(field, axis, begin, stop, field->out, 1);
    }
    if (from >= 0) {
        int theirs = block_first(n, blocks, at - by), theirs_end = block_first(n, blocks, at - by + 1);
        into = up ? larger(first - GHOSTS, theirs) : theirs, over = up ? theirs_end : smaller(end + GHOSTS, theirs_end);
        if (into < over) ins = (size_t)(over - into) * 5;
        for (int d = 0; d < 3; d++) ins *= d == axis ? 1 : (size_t)grid->count[d];
    }
    if (outs == 0 && ins == 0) return;
    layer_exchange(outs ? to : -1, field->out, outs, ins ? from : -1, field->in, ins, TAG_HALO);
    if (ins) planes(field, axis, into, over, field->in, 0);
}

void halo(struct field *field)
{
    for (int axis = 0; axis < 3; axis++)
        for (int by = 1; by <= GHOSTS && field->grid.blocks[axis] > 1; by++) {
            halo_along(field, axis, by);
            halo_along(field, axis, -by);
        }
}
