/* BT: one iteration on slabs of planes k. Lines along x and y are whole in a slab; for those along z the slabs change places with parts
   of j, by all to all. */
#include "npb.h"
#include "layer.h"

#include <string.h>

enum { THERE = 10, BACK = 5 };   /* doubles of a point: X and U, X */

/* A line along x or y, where it lies. */
static void solve_line(struct field *field, int axis, size_t first)
{
    int n = field->grid.n;
    size_t step = field->grid.step[axis];
    five *u = (five *)(field->scratch + (size_t)n * 25), *x = u + n;
    for (int g = 0; g < n; g++) {
        memcpy(u[g], field->u[first + (size_t)g * step], sizeof *u);
        memcpy(x[g], field->r[first + (size_t)g * step], sizeof *x);
    }
    bt_line(field, axis, u, x);
    for (int g = 1; g < n - 1; g++) memcpy(field->r[first + (size_t)g * step], x[g], sizeof *x);
}

static void solve_in_place(struct field *field, int axis)
{
    const struct grid *grid = &field->grid;
    int other = axis == 0 ? 1 : 0, last = axis == 2 ? 1 : 2, at[3];
    for (at[last] = grid->low[last]; at[last] <= grid->high[last]; at[last]++)
        for (at[other] = grid->low[other]; at[other] <= grid->high[other]; at[other]++) {
            at[axis] = grid->first[axis];
            solve_line(field, axis, cell_at(grid, at[0], at[1], at[2]));
        }
}

/* Lines along z of my part of j: for each j and i all of U, then all of X. */
static five *line_u(const struct field *field, int j, int i)
{
    const struct grid *grid = &field->grid;
    int first = block_first(grid->n, grid->blocks[2], grid->at[2]);
    five *lines = (five *)(field->scratch + (size_t)grid->n * 35);
    return lines + ((size_t)(j - first) * (size_t)grid->n + (size_t)i) * (size_t)(2 * grid->n);
}

static five *line_x(const struct field *field, int j, int i)
{
    return line_u(field, j, i) + field->grid.n;
}

/* What of my slab goes to a task: its part of j. */
static size_t pack_there(const struct field *field, int to)
{
    const struct grid *grid = &field->grid;
    double *out = field->out;
    int end = block_first(grid->n, grid->blocks[2], to + 1);
    for (int k = grid->first[2]; k < grid->first[2] + grid->count[2]; k++)
        for (int j = block_first(grid->n, grid->blocks[2], to); j < end; j++) {
            size_t cell = cell_at(grid, 0, j, k);
            for (int i = 0; i < grid->n; i++, cell++, out += THERE) {
                memcpy(out, field->u[cell], sizeof(five));
                memcpy(out + 5, field->r[cell], sizeof(five));
            }
        }
    return (size_t)(out - field->out);
}

/* The slab of a task, of my part of j. */
static void unpack_there(const struct field *field, const double *in, int from)
{
    const struct grid *grid = &field->grid;
    int parts = grid->blocks[2], me = grid->at[2], end = block_first(grid->n, parts, from + 1);
    for (int k = block_first(grid->n, parts, from); k < end; k++)
        for (int j = block_first(grid->n, parts, me); j < block_first(grid->n, parts, me + 1); j++)
            for (int i = 0; i < grid->n; i++, in += THERE) {
                memcpy(line_u(field, j, i)[k], in, sizeof(five));
                memcpy(line_x(field, j, i)[k], in + 5, sizeof(five));
            }
}

static size_t pack_back(const struct field *field, int to)
{
    const struct grid *grid = &field->grid;
    double *out = field->out;
    int parts = grid->blocks[2], me = grid->at[2], end = block_first(grid->n, parts, to + 1);
    for (int k = block_first(grid->n, parts, to); k < end; k++)
        for (int j = block_first(grid->n, parts, me); j < block_first(grid->n, parts, me + 1); j++)
            for (int i = 0; i < grid->n; i++, out += BACK) memcpy(out, line_x(field, j, i)[k], sizeof(five));
    return (size_t)(out - field->out);
}

static void unpack_back(const struct field *field, const double *in, int from)
{
    const struct grid *grid = &field->grid;
    int end = block_first(grid->n, grid->blocks[2], from + 1);
    for (int k = grid->first[2]; k < grid->first[2] + grid->count[2]; k++)
        for (int j = block_first(grid->n, grid->blocks[2], from); j < end; j++) {
            size_t cell = cell_at(grid, 0, j, k);
            for (int i = 0; i < grid->n; i++, cell++, in += BACK) memcpy(field->r[cell], in, sizeof(five));
        }
}

static size_t points(const struct grid *grid, int slab, int part)
{
    int parts = grid->blocks[2];
    size_t planes = (size_t)(block_first(grid->n, parts, slab + 1) - block_first(grid->n, parts, slab));
    return planes * (size_t)(block_first(grid->n, parts, part + 1) - block_first(grid->n, parts, part)) * (size_t)grid->n;
}

/* In round t to the task t further on, from the one t before: nobody is flooded. */
static void transpose(struct field *field, int there)
{
    const struct grid *grid = &field->grid;
    int parts = grid->blocks[2], me = grid->at[2];
    size_t each = there ? THERE : BACK;
    for (int round = 0; round < parts; round++) {
        int to = (me + round) % parts, from = (me - round + parts) % parts;
        size_t count = there ? pack_there(field, to) : pack_back(field, to);
        const double *in = round == 0 ? field->out : field->in;
        if (round > 0)
            layer_exchange(to, field->out, count, from, field->in, each * (there ? points(grid, from, me) : points(grid, me, from)),
                           TAG_TRANSPOSE);
        if (there) unpack_there(field, in, from);
        else unpack_back(field, in, from);
    }
}

static void solve_across(struct field *field)
{
    const struct grid *grid = &field->grid;
    if (grid->blocks[2] == 1) {
        solve_in_place(field, 2);
        return;
    }
    transpose(field, 1);
    int first = block_first(grid->n, grid->blocks[2], grid->at[2]), end = block_first(grid->n, grid->blocks[2], grid->at[2] + 1);
    for (int j = first > 1 ? first : 1; j < end && j < grid->n - 1; j++)
        for (int i = 1; i < grid->n - 1; i++) bt_line(field, 2, line_u(field, j, i), line_x(field, j, i));
    transpose(field, 0);
}

void bt_step(struct field *field)
{
    const struct grid *grid = &field->grid;
    refresh(field);
    for (size_t cell = 0; cell < grid->cells; cell++)
        for (int m = 0; m < 5; m++) field->r[cell][m] *= field->class->dt;
    solve_in_place(field, 0);
    solve_in_place(field, 1);
    solve_across(field);
    for (int k = grid->low[2]; k <= grid->high[2]; k++)
        for (int j = grid->low[1]; j <= grid->high[1]; j++) {
            size_t cell = cell_at(grid, grid->low[0], j, k);
            for (int i = grid->low[0]; i <= grid->high[0]; i++, cell++)
                for (int m = 0; m < 5; m++) field->u[cell][m] += field->r[cell][m];
        }
}
