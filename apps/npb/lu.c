/* LU: one iteration of symmetric successive over-relaxation, by skew hyper-planes over blocks in x and y.

   All points with the same l = i + j + k are independent of each other, so a block takes them together, plane behind plane, as soon as
   it has what its neighbours found on the plane before. The blocks of the matrices are never built: what they do to a vector takes
   fewer operations, and the one on the diagonal is lower triangular. */
#include "npb.h"
#include "layer.h"

#define OMEGA 1.2

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Points of a plane are worked on four at a time; the compiler makes of these what the processor has. */
enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Four points. Where a row has fewer left, the last one stands for those that are missing. */
struct four {
    size_t cell[LANES];
    int count;
};

#define OF_EACH(four, of) { of((four)->cell[0]), of((four)->cell[1]), of((four)->cell[2]), of((four)->cell[3]) }

/* What is known of the four cells that lie `away` from these. */
struct known {
    lanes inverse, v[3], q, phi, r[5];
};

static inline void known_at(const struct field *field, const struct four *four, ptrdiff_t away, struct known *known)
{
    const struct seen *seen = field->seen + away;
    const five *r = field->r + away;
#define INVERSE(at) seen[at].inverse
#define Q(at) seen[at].q
#define PHI(at) seen[at].phi
#define V(at) seen[at].v[e]
#define R(at) r[at][m]
    known->inverse = (lanes)OF_EACH(four, INVERSE);
    known->q = (lanes)OF_EACH(four, Q);
    known->phi = (lanes)OF_EACH(four, PHI);
    for (int e = 0; e < 3; e++) known->v[e] = (lanes)OF_EACH(four, V);
    for (int m = 0; m < 5; m++) known->r[m] = (lanes)OF_EACH(four, R);
}

/* sum += (sign dt t2 A_d - dt t1 (N_d + D_d I)) v, with v and the matrices' state as known there. */
static inline void apply(const struct known *known, int d, double sign_t2, double dt_t1, lanes *sum)
{
    const lanes *u = known->v, *v = known->r;
    lanes c = u[d], along = v[d + 1], part[3], inner = { 0 }, work = { 0 };
    for (int e = 0; e < 3; e++) {
        part[e] = v[e + 1] - u[e] * v[0];
        inner += u[e] * v[e + 1];
        work += (C34 * (e == d ? 4.0 / 3 : 1) - C1345) * u[e] * part[e];
    }
    lanes viscous = dt_t1 * known->inverse, enthalpy = C1 * known->phi - C2 * known->q;
    double spread = dt_t1 * SPREAD[d];
    sum[0] += sign_t2 * along - spread * v[0];
    for (int e = 0; e < 3; e++) {
        lanes flux = u[e] * (along - c * v[0]) + c * v[e + 1];
        if (e == d) flux += C2 * (known->q * v[0] - inner + v[4]);
        sum[e + 1] += sign_t2 * flux - viscous * (C34 * (e == d ? 4.0 / 3 : 1)) * part[e] - spread * v[e + 1];
    }
    lanes flux = c * ((C2 * known->q - enthalpy) * v[0] - C2 * inner + C1 * v[4]) + enthalpy * along;
    sum[4] += sign_t2 * flux - viscous * (work + C1345 * (v[4] - known->phi * v[0])) - spread * v[4];
}

/* x = Dg^-1 b */
static inline void divide(const struct known *known, double dt_t1, const lanes *b, lanes *x)
{
    double base = 1 + 2 * dt_t1 * (SPREAD[0] + SPREAD[1] + SPREAD[2]);
    lanes scale = 2 * dt_t1 * known->inverse, viscous = scale * (C34 * 10 / 3), heat = scale * (3 * C1345);
    lanes inverse = 1 / (base + viscous), work = { 0 };
    x[0] = b[0] / base;
    for (int e = 0; e < 3; e++) {
        x[e + 1] = (b[e + 1] + viscous * known->v[e] * x[0]) * inverse;
        work += known->v[e] * (x[e + 1] - known->v[e] * x[0]);
    }
    x[4] = (b[4] - (viscous - heat) * work + heat * known->phi * x[0]) / (base + heat);
}

/* One direction of a sweep over the whole cube: up is +1 for the lower sweep, -1 for the upper one. */
struct sweep {
    struct field *field;
    int up;
    double sign_t2, dt_t1;
};

enum move { COUNT, TAKE, PUT };

/* A face of points (fixed, j, l - fixed - j), or the same with i: those that are inside. `axis` is the one that does not change. */
static size_t face(const struct sweep *sweep, int axis, int fixed, int l, double *values, enum move move)
{
    struct field *field = sweep->field;
    const struct grid *grid = &field->grid;
    int other = 1 - axis;
    int from = most(grid->low[other], l - fixed - (grid->n - 2)), to = least(grid->high[other], l - fixed - 1);
    size_t count = 0;
    for (int g = from; g <= to; g++) {
        size_t cell = axis == 0 ? cell_at(grid, fixed, g, l - fixed - g) : cell_at(grid, g, fixed, l - fixed - g);
        for (int m = 0; m < 5; m++, count++) {
            if (move == TAKE) values[count] = field->r[cell][m];
            else if (move == PUT) field->r[cell][m] = values[count];
        }
    }
    return count;
}

/* What the neighbour behind found on the plane before. */
static void receive(const struct sweep *sweep, int axis, int l)
{
    struct field *field = sweep->field;
    const struct grid *grid = &field->grid;
    int from = grid_neighbour(grid, axis, -sweep->up);
    if (from < 0) return;
    int fixed = sweep->up > 0 ? grid->low[axis] - 1 : grid->high[axis] + 1;
    size_t count = face(sweep, axis, fixed, l - sweep->up, field->in, COUNT);
    if (count == 0) return;
    layer_recv(from, TAG_SWEEP, field->in, count);
    face(sweep, axis, fixed, l - sweep->up, field->in, PUT);
}

static void send(const struct sweep *sweep, int axis, int l)
{
    struct field *field = sweep->field;
    const struct grid *grid = &field->grid;
    int to = grid_neighbour(grid, axis, sweep->up);
    if (to < 0) return;
    int fixed = sweep->up > 0 ? grid->high[axis] : grid->low[axis];
    size_t count = face(sweep, axis, fixed, l, field->out, TAKE);
    if (count > 0) layer_send(to, TAG_SWEEP, field->out, count);
}

/* v of four points, behind which all is final. */
static inline void solve(struct field *field, const struct sweep *sweep, const struct four *four)
{
    const struct grid *grid = &field->grid;
    struct known known;
    lanes sum[5] = { { 0 } }, x[5];
    for (int d = 0; d < 3; d++) {
        known_at(field, four, -sweep->up * (ptrdiff_t)grid->step[d], &known);
        apply(&known, d, sweep->sign_t2, sweep->dt_t1, sum);
    }
    known_at(field, four, 0, &known);
    if (sweep->up > 0) {
        for (int m = 0; m < 5; m++) sum[m] = field->class->dt * known.r[m] - OMEGA * sum[m];
        divide(&known, sweep->dt_t1, sum, x);
    } else {
        divide(&known, sweep->dt_t1, sum, x);
        for (int m = 0; m < 5; m++) x[m] = known.r[m] - OMEGA * x[m];
    }
    for (int at = 0; at < four->count; at++)
        for (int m = 0; m < 5; m++) field->r[four->cell[at]][m] = x[m][at];
}

static void plane(const struct sweep *sweep, int l)
{
    struct field *field = sweep->field;
    const struct grid *grid = &field->grid;
    ptrdiff_t next = 1 - (ptrdiff_t)grid->step[2];
    for (int j = grid->low[1]; j <= grid->high[1]; j++) {
        int from = most(grid->low[0], l - j - (grid->n - 2)), to = least(grid->high[0], l - j - 1);
        if (from > to) continue;
        ptrdiff_t first = (ptrdiff_t)cell_at(grid, from, j, l - j - from);
        for (int i = from; i <= to; i += LANES) {
            struct four four = { .count = least(LANES, to - i + 1) };
            for (int at = 0; at < LANES; at++) four.cell[at] = (size_t)(first + least(i - from + at, to - from) * next);
            solve(field, sweep, &four);
        }
    }
}

static void run(const struct sweep *sweep)
{
    const struct grid *grid = &sweep->field->grid;
    int first = grid->low[0] + grid->low[1] + 1, last = grid->high[0] + grid->high[1] + grid->n - 2;
    for (int at = 0; at <= last - first; at++) {
        int l = sweep->up > 0 ? first + at : last - at;
        receive(sweep, 0, l);
        receive(sweep, 1, l);
        plane(sweep, l);
        send(sweep, 0, l);
        send(sweep, 1, l);
    }
}

void lu_step(struct field *field)
{
    const struct grid *grid = &field->grid;
    double dt = field->class->dt;
    struct sweep sweep = { field, 1, -dt * field->t2, dt * field->t1 };
    run(&sweep);
    sweep.up = -1;
    sweep.sign_t2 = dt * field->t2;
    run(&sweep);
    for (int k = grid->low[2]; k <= grid->high[2]; k++)
        for (int j = grid->low[1]; j <= grid->high[1]; j++) {
            size_t cell = cell_at(grid, grid->low[0], j, k);
            for (int i = grid->low[0]; i <= grid->high[0]; i++, cell++)
                for (int m = 0; m < 5; m++) field->u[cell][m] += field->r[cell][m] / (OMEGA * (2 - OMEGA));
        }
    refresh(field);
}
