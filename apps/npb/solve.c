/* SP: pentadiagonal systems along one axis, whose rows lie in several blocks, by elimination from both ends.

   Blocks 0 to M go up, the others down; so the two ends of every line are worked on at once. Where they meet, four rows of four
   unknowns are left. An eliminated row is Y[g] + al Y[g +- 1] + be Y[g +- 2] = ga; al and be are kept for three systems (the
   components 1 to 3 share one), ga where X was. The lines of a block go in groups: while one is under way, the next is worked on.
   The two rows of a neighbour that a block needs lie in its ghosts. */
#include "npb.h"
#include "layer.h"

enum { SYSTEMS = 3, KEPT = 2 * SYSTEMS };

static const int system_of[5] = { 0, 0, 0, 1, 2 };
static const double sigma[SYSTEMS] = { 0, 1, -1 };

/* The solves along one axis. */
struct solve {
    struct field *field;
    int axis, rows;         /* of mine in a line                                           */
    size_t step;            /* cells from row to row                                       */
    int across[2];          /* the other two axes                                          */
    int lines;              /* inside                                                      */
    int up;                 /* +1: my rows are eliminated from the lower end, -1: from the upper */
    int outer, inner;       /* tasks on the way to my end and to the middle, or -1          */
    int meets;              /* the middle is between my block and `inner`, and I solve it  */
    int alone;              /* the whole line is mine                                      */
};

/* The cell of a line's first row. */
static size_t line_cell(const struct solve *solve, int line)
{
    const struct grid *grid = &solve->field->grid;
    int a = solve->across[0], b = solve->across[1], width = grid->high[a] - grid->low[a] + 1, at[3];
    at[solve->axis] = grid->first[solve->axis];
    at[a] = grid->low[a] + line % width;
    at[b] = grid->low[b] + line / width;
    return cell_at(grid, at[0], at[1], at[2]);
}

/* What is kept of a line's row; rows -2, -1 and those after the last are the neighbours'. */
static double *kept(const struct solve *solve, int line, int row)
{
    size_t place = solve->alone ? 0 : (size_t)line * (size_t)(solve->rows + 2 * GHOSTS);
    return solve->field->scratch + (place + (size_t)(row + GHOSTS)) * KEPT;
}

static int nth(const struct solve *solve, int place)
{
    return solve->up > 0 ? place : solve->rows - 1 - place;
}

static double spread(const struct seen *seen, int axis)
{
    return SPREAD[axis] + C1345 * seen->inverse;
}

static void eliminate(const struct solve *solve, int line)
{
    const struct field *field = solve->field;
    int n = field->grid.n, axis = solve->axis;
    ptrdiff_t step = (ptrdiff_t)solve->step, back = solve->up > 0 ? -step : step;
    double dt = field->class->dt, t1 = dt * field->t1, t2 = dt * field->t2, smooth = dt * DISSIPATION;
    size_t first = line_cell(solve, line);
    for (int place = 0; place < solve->rows; place++) {
        int row = nth(solve, place), g = field->grid.first[axis] + row;
        size_t cell = first + (size_t)row * solve->step;
        double *own = kept(solve, line, row), *r = field->r[cell];
        if (g == 0 || g == n - 1) {
            /* Nothing but Y = 0. */
            for (int at = 0; at < KEPT; at++) own[at] = 0;
            continue;
        }
        const struct seen *seen = &field->seen[cell], *below = seen - step, *above = seen + step;
        const double *smoothed = dissipation_row(g, n), *one = kept(solve, line, row - solve->up), *two = kept(solve, line, row - 2 * solve->up);
        double under = t1 * spread(below, axis), over = t1 * spread(above, axis), middle = 1 + 2 * t1 * spread(seen, axis) + smooth * smoothed[2];
        double factors[SYSTEMS][3];
        for (int s = 0; s < SYSTEMS; s++) {
            double low = smooth * smoothed[1] - under - t2 * (below->v[axis] + sigma[s] * below->sound);
            double high = smooth * smoothed[3] - over + t2 * (above->v[axis] + sigma[s] * above->sound);
            double l1 = smooth * smoothed[solve->up > 0 ? 0 : 4], l5 = smooth * smoothed[solve->up > 0 ? 4 : 0];
            double l2 = solve->up > 0 ? low : high, l4 = solve->up > 0 ? high : low;
            l2 -= l1 * two[2 * s];
            double pivot = 1 / (middle - l1 * two[2 * s + 1] - l2 * one[2 * s]);
            own[2 * s] = (l4 - l2 * one[2 * s + 1]) * pivot;
            own[2 * s + 1] = l5 * pivot;
            factors[s][0] = l1, factors[s][1] = l2, factors[s][2] = pivot;
        }
        const double *r1 = field->r[(ptrdiff_t)cell + back], *r2 = field->r[(ptrdiff_t)cell + 2 * back];
        for (int m = 0; m < 5; m++) {
            const double *f = factors[system_of[m]];
            r[m] = (r[m] - f[0] * r2[m] - f[1] * r1[m]) * f[2];
        }
    }
}

/* The four rows on both sides of the middle: my last two, and two that have come into my ghosts. */
static void meet(const struct solve *solve, int line)
{
    struct field *field = solve->field;
    int up = solve->up, last = nth(solve, solve->rows - 1);
    size_t first = line_cell(solve, line);
    double *row[4], *keeps[4];
    for (int at = 0; at < 4; at++) {
        int place = last + (at - 1) * up;
        row[at] = field->r[(ptrdiff_t)first + place * (ptrdiff_t)solve->step];
        keeps[at] = kept(solve, line, place);
    }
    for (int m = 0; m < 5; m++) {
        int al = 2 * system_of[m], be = al + 1;
        double *a = row[0] + m, *b = row[1] + m, *c = row[2] + m, *d = row[3] + m;
        double bb = 1 - keeps[1][be] * keeps[3][be], bc = keeps[1][al] - keeps[1][be] * keeps[3][al];
        double cb = keeps[2][al] - keeps[2][be] * keeps[0][al], cc = 1 - keeps[2][be] * keeps[0][be];
        double to_b = *b - keeps[1][be] * *d, to_c = *c - keeps[2][be] * *a, inverse = 1 / (bb * cc - bc * cb);
        double y_b = (to_b * cc - bc * to_c) * inverse, y_c = (bb * to_c - to_b * cb) * inverse;
        *a -= keeps[0][al] * y_b + keeps[0][be] * y_c;
        *d -= keeps[3][al] * y_c + keeps[3][be] * y_b;
        *b = y_b, *c = y_c;
    }
}

static void substitute(const struct solve *solve, int line)
{
    struct field *field = solve->field;
    ptrdiff_t ahead = solve->up > 0 ? (ptrdiff_t)solve->step : -(ptrdiff_t)solve->step;
    size_t first = line_cell(solve, line);
    /* Where the ends meet, two rows are known by now. */
    for (int place = solve->rows - 1 - (solve->meets ? 2 : 0); place >= 0; place--) {
        int row = nth(solve, place);
        size_t cell = first + (size_t)row * solve->step;
        const double *own = kept(solve, line, row), *y1 = field->r[(ptrdiff_t)cell + ahead], *y2 = field->r[(ptrdiff_t)cell + 2 * ahead];
        double *r = field->r[cell];
        for (int m = 0; m < 5; m++) r[m] -= own[2 * system_of[m]] * y1[m] + own[2 * system_of[m] + 1] * y2[m];
    }
}

/* Two rows, `row` and the next towards `towards`, of lines first .. end-1; with what is kept of them, or only Y. */
static size_t pack(const struct solve *solve, int first, int end, int row, int towards, int with_kept)
{
    struct field *field = solve->field;
    double *out = field->out;
    for (int line = first; line < end; line++) {
        size_t cell = line_cell(solve, line);
        for (int at = 0; at < 2; at++) {
            int place = row + at * towards;
            const double *r = field->r[(ptrdiff_t)cell + place * (ptrdiff_t)solve->step], *own = kept(solve, line, place);
            for (int m = 0; with_kept && m < KEPT; m++) *out++ = own[m];
            for (int m = 0; m < 5; m++) *out++ = r[m];
        }
    }
    return (size_t)(out - field->out);
}

static void unpack(const struct solve *solve, int first, int end, int row, int towards, int with_kept)
{
    struct field *field = solve->field;
    const double *in = field->in;
    for (int line = first; line < end; line++) {
        size_t cell = line_cell(solve, line);
        for (int at = 0; at < 2; at++) {
            int place = row + at * towards;
            double *r = field->r[(ptrdiff_t)cell + place * (ptrdiff_t)solve->step], *own = kept(solve, line, place);
            for (int m = 0; with_kept && m < KEPT; m++) own[m] = *in++;
            for (int m = 0; m < 5; m++) r[m] = *in++;
        }
    }
}

enum { ELIMINATED = 2 * (KEPT + 5), SOLVED = 2 * 5 };   /* doubles of a line that cross a cut */

/* From the outer end inwards, my rows, then the neighbour's; the middle gets what has come from the other end. */
static void go_in(const struct solve *solve, int first, int end)
{
    double *in = solve->field->in, *out = solve->field->out;
    int before = nth(solve, 0) - solve->up, last = nth(solve, solve->rows - 1);
    size_t lines = (size_t)(end - first);
    if (solve->outer >= 0) {
        layer_recv(solve->outer, TAG_SOLVE, in, lines * ELIMINATED);
        unpack(solve, first, end, before, -solve->up, 1);
    }
    for (int line = first; line < end; line++) {
        if (solve->outer < 0)
            for (int at = 0; at < 2 * KEPT; at++) kept(solve, line, solve->up > 0 ? -2 : solve->rows)[at] = 0;
        eliminate(solve, line);
    }
    if (solve->meets) {
        layer_recv(solve->inner, TAG_SOLVE, in, lines * ELIMINATED);
        unpack(solve, first, end, last + solve->up, solve->up, 1);
    } else if (solve->inner >= 0) {
        layer_send(solve->inner, TAG_SOLVE, out, pack(solve, first, end, last, -solve->up, 1));
    }
}

/* And out again. */
static void go_out(const struct solve *solve, int first, int end)
{
    double *in = solve->field->in, *out = solve->field->out;
    int begins = nth(solve, 0), last = nth(solve, solve->rows - 1);
    if (solve->meets) {
        for (int line = first; line < end; line++) meet(solve, line);
        layer_send(solve->inner, TAG_SOLVE, out, pack(solve, first, end, last, -solve->up, 0));
    } else if (solve->inner >= 0) {
        layer_recv(solve->inner, TAG_SOLVE, in, (size_t)(end - first) * SOLVED);
        unpack(solve, first, end, last + solve->up, solve->up, 0);
    }
    for (int line = first; line < end; line++) substitute(solve, line);
    if (solve->outer >= 0) layer_send(solve->outer, TAG_SOLVE, out, pack(solve, first, end, begins, solve->up, 0));
}

/* All groups. A group goes out so many groups behind the one that goes in as it takes to reach the middle: then nobody waits for it, and all
   tasks of a line have one order of messages, so that they get through even where each send waits for its receiver. */
static void in_groups(const struct solve *solve, int groups, int behind)
{
    for (int group = 0; group < groups + behind; group++) {
        int out = group - behind;
        if (group < groups) go_in(solve, block_first(solve->lines, groups, group), block_first(solve->lines, groups, group + 1));
        if (out >= 0) go_out(solve, block_first(solve->lines, groups, out), block_first(solve->lines, groups, out + 1));
    }
}

void sp_solve(struct field *field, int axis)
{
    const struct grid *grid = &field->grid;
    int blocks = grid->blocks[axis], at = grid->at[axis], middle = (blocks - 1) / 2;
    struct solve solve = { .field = field, .axis = axis, .rows = grid->count[axis], .step = grid->step[axis],
                           .across = { axis == 0 ? 1 : 0, axis == 2 ? 1 : 2 }, .up = at <= middle ? 1 : -1,
                           .meets = at == middle && blocks > 1, .alone = blocks == 1 };
    solve.outer = grid_neighbour(grid, axis, -solve.up);
    solve.inner = grid_neighbour(grid, axis, solve.up);
    for (int other = 0; other < 2; other++) {
        int a = solve.across[other], width = grid->high[a] - grid->low[a] + 1;
        solve.lines = (other ? solve.lines : 1) * width;
    }
    /* A line that is whole goes by itself, so that what is kept stays in the caches. */
    if (solve.alone) in_groups(&solve, solve.lines, 0);
    else in_groups(&solve, field->groups < solve.lines ? field->groups : solve.lines, (blocks + 1) / 2);
}
