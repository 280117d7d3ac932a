/* SP: one iteration. The equations are turned into five scalar ones for each direction, solved (solve.c), and turned back. All that
   the transformations take is of the state before. */
#include "npb.h"

static const double bt = 0.70710678118654752440;

/* Inside, cell by cell. */
#define EACH_INSIDE(field, cell)                                                                                                \
    for (int k = (field)->grid.low[2]; k <= (field)->grid.high[2]; k++)                                                          \
        for (int j = (field)->grid.low[1]; j <= (field)->grid.high[1]; j++)                                                      \
            for (size_t cell = cell_at(&(field)->grid, (field)->grid.low[0], j, k), end = cell + (size_t)((field)->grid.high[0]  \
                     - (field)->grid.low[0] + 1); cell < end; cell++)

/* Before the solves along x; with the factor dt. */
void sp_before(struct field *field)
{
    double dt = field->class->dt;
    EACH_INSIDE(field, cell) {
        const struct seen *seen = &field->seen[cell];
        double *r = field->r[cell], u = seen->v[0], v = seen->v[1], w = seen->v[2];
        double r1 = dt * r[0], r2 = dt * r[1], r3 = dt * r[2], r4 = dt * r[3], r5 = dt * r[4];
        double s = C2 / (seen->sound * seen->sound) * (seen->q * r1 - u * r2 - v * r3 - w * r4 + r5);
        double t = bt * seen->inverse * (u * r1 - r2), m = bt * seen->sound * seen->inverse * s;
        r[0] = r1 - s;
        r[1] = -(w * r1 - r4) * seen->inverse;
        r[2] = (v * r1 - r3) * seen->inverse;
        r[3] = m - t;
        r[4] = m + t;
    }
}

/* After those along x (0) or y (1). */
void sp_between(struct field *field, int axis)
{
    EACH_INSIDE(field, cell) {
        double *r = field->r[cell], r1 = r[0], r2 = r[1], r3 = r[2], r4 = r[3], r5 = r[4];
        double m = 0.5 * (r4 + r5), t = bt * (axis == 0 ? r3 : r1);
        if (axis == 0) {
            r[0] = -r2, r[1] = r1, r[2] = bt * (r4 - r5);
        } else {
            r[0] = bt * (r4 - r5), r[1] = -r3, r[2] = r2;
        }
        r[3] = m - t;
        r[4] = m + t;
    }
}

/* After those along z. */
void sp_after(struct field *field)
{
    EACH_INSIDE(field, cell) {
        const struct seen *seen = &field->seen[cell];
        double *r = field->r[cell], u = seen->v[0], v = seen->v[1], w = seen->v[2], rho = field->u[cell][0], a = seen->sound;
        double r1 = r[0], r2 = r[1], r4 = r[3], r5 = r[4], t = bt * rho / a * (r4 + r5), y2 = r[2] + t, m = bt * rho * (r4 - r5);
        r[0] = y2;
        r[1] = -rho * r2 + u * y2;
        r[2] = rho * r1 + v * y2;
        r[3] = w * y2 + m;
        r[4] = rho * (v * r1 - u * r2) + seen->q * y2 + a * a * t / C2 + w * m;
    }
}

void sp_step(struct field *field)
{
    refresh(field);
    sp_before(field);
    sp_solve(field, 0);
    sp_between(field, 0);
    sp_solve(field, 1);
    sp_between(field, 1);
    sp_solve(field, 2);
    sp_after(field);
    EACH_INSIDE(field, cell)
        for (int m = 0; m < 5; m++) field->u[cell][m] += field->r[cell][m];
}
