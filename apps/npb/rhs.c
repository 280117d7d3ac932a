/* R(U): fluxes, viscous terms and fourth differences, direction by direction, at the points inside. */
#include "npb.h"

#include <math.h>

const double *dissipation_row(int g, int n)
{
    static const double rows[5][5] = {
        { 0, 0, 5, -4, 1 }, { 0, -4, 6, -4, 1 }, { 1, -4, 6, -4, 1 }, { 1, -4, 6, -4, 0 }, { 1, -4, 5, 0, 0 },
    };
    return rows[g == 1 ? 0 : g == 2 ? 1 : g == n - 3 ? 3 : g == n - 2 ? 4 : 2];
}

void look(struct field *field)
{
    const struct grid *grid = &field->grid;
    for (int k = grid->first[2] - 1; k <= grid->first[2] + grid->count[2]; k++)
        for (int j = grid->first[1] - 1; j <= grid->first[1] + grid->count[1]; j++) {
            size_t cell = cell_at(grid, grid->first[0] - 1, j, k);
            for (int i = 0; i < grid->count[0] + 2; i++, cell++) {
                const double *u = field->u[cell];
                struct seen *seen = &field->seen[cell];
                double inverse = 1 / u[0];
                double v1 = u[1] * inverse, v2 = u[2] * inverse, v3 = u[3] * inverse;
                double q = 0.5 * (v1 * v1 + v2 * v2 + v3 * v3), phi = u[4] * inverse;
                *seen = (struct seen){ inverse, { v1, v2, v3 }, q, C2 * (u[4] - u[0] * q), phi, 0 };
                if (field->class->benchmark == SP) seen->sound = sqrt(C1 * C2 * (phi - q));
            }
        }
}

/* What one direction adds at a point. */
static inline void add(const five *u, const struct seen *seen, size_t step, int d, double t1, double t2, const double *row, double *r)
{
    const double *up = u[step], *down = u[-(ptrdiff_t)step], *here = u[0];
    const struct seen *above = seen + step, *below = seen - step;
    double high = above->v[d], low = below->v[d], middle = seen->v[d];

    double flux[5];
    flux[0] = up[d + 1] - down[d + 1];
    for (int e = 1; e < 4; e++) flux[e] = up[e] * high - down[e] * low;
    flux[d + 1] += above->pressure - below->pressure;
    flux[4] = (up[4] + above->pressure) * high - (down[4] + below->pressure) * low;

    double viscous[5] = { 0 };
    for (int e = 0; e < 3; e++)
        viscous[e + 1] = C34 * (e == d ? 4.0 / 3 : 1) * (above->v[e] - 2 * seen->v[e] + below->v[e]);
    viscous[4] = C34 * ((1 - C15) * (above->q - 2 * seen->q + below->q)
                        + (high * high - 2 * middle * middle + low * low) / 6
                        + C15 * (above->phi - 2 * seen->phi + below->phi));

    const double *further = u[2 * step], *back = u[-(ptrdiff_t)(2 * step)];
    for (int m = 0; m < 5; m++)
        r[m] += -t2 * flux[m] + t1 * (viscous[m] + SPREAD[d] * (up[m] - 2 * here[m] + down[m]))
              - DISSIPATION * (row[0] * back[m] + row[1] * down[m] + row[2] * here[m] + row[3] * up[m] + row[4] * further[m]);
}

void right_hand_side(struct field *field)
{
    const struct grid *grid = &field->grid;
    double t1 = field->t1, t2 = field->t2;
    for (int k = grid->low[2]; k <= grid->high[2]; k++)
        for (int j = grid->low[1]; j <= grid->high[1]; j++) {
            size_t cell = cell_at(grid, grid->low[0], j, k);
            const double *in_y = dissipation_row(j, grid->n), *in_z = dissipation_row(k, grid->n);
            for (int i = grid->low[0]; i <= grid->high[0]; i++, cell++) {
                const five *u = &field->u[cell];
                const struct seen *seen = &field->seen[cell];
                five sum;
                for (int m = 0; m < 5; m++) sum[m] = field->h[cell][m];
                add(u, seen, 1, 0, t1, t2, dissipation_row(i, grid->n), sum);
                add(u, seen, grid->step[1], 1, t1, t2, in_y, sum);
                add(u, seen, grid->step[2], 2, t1, t2, in_z, sum);
                for (int m = 0; m < 5; m++) field->r[cell][m] = sum[m];
            }
        }
}

void refresh(struct field *field)
{
    halo(field);
    look(field);
    right_hand_side(field);
}
