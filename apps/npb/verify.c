/* Norms of residual and error, LU's surface integral, and what they are held against. */
#include "npb.h"
#include "layer.h"

#include <math.h>

/* How many of the cells of a rectangle have this point as a corner. */
static double corners(int a, int low, int high, int b, int bottom, int top)
{
    if (a < low || a > high || b < bottom || b > top) return 0;
    return (a == low || a == high ? 1 : 2) * (b == bottom || b == top ? 1 : 2);
}

/* A point's part in the integral of the pressure over a box somewhat smaller than the cube; the ranges are NPB's. */
static double surface_weight(int n, int i, int j, int k)
{
    double weight = 0;
    if (k == 2 || k == n - 2) weight += corners(i, 1, n - 2, j, 1, n - 3);
    if (j == 1 || j == n - 3) weight += corners(i, 1, n - 2, k, 2, n - 2);
    if (i == 1 || i == n - 2) weight += corners(j, 1, n - 3, k, 2, n - 2);
    return weight;
}

struct outcome outcome_of(struct field *field)
{
    const struct grid *grid = &field->grid;
    int n = grid->n;
    double h = 1.0 / (n - 1);
    struct outcome sum = { .surface = 0 };
    for (int k = grid->low[2]; k <= grid->high[2]; k++)
        for (int j = grid->low[1]; j <= grid->high[1]; j++)
            for (int i = grid->low[0]; i <= grid->high[0]; i++) {
                size_t cell = cell_at(grid, i, j, k);
                five right;
                exact(i * h, j * h, k * h, right);
                for (int m = 0; m < 5; m++) {
                    double off = field->u[cell][m] - right[m];
                    sum.residual[m] += field->r[cell][m] * field->r[cell][m];
                    sum.error[m] += off * off;
                }
                sum.surface += surface_weight(n, i, j, k) * field->seen[cell].pressure;
            }
    return sum;
}

double difference(double value, double reference)
{
    return fabs(value - reference) / fabs(reference);
}

double worst_difference(const struct class *class, const struct outcome *outcome)
{
    double off[11], worst = 0;
    int count = class->benchmark == LU ? 11 : 10;
    for (int m = 0; m < 5; m++) {
        off[m] = difference(outcome->residual[m], class->residual[m]);
        off[5 + m] = difference(outcome->error[m], class->error[m]);
    }
    off[10] = difference(outcome->surface, class->surface);
    for (int at = 0; at < count; at++)
        if (!(off[at] <= worst)) worst = isnan(off[at]) ? INFINITY : off[at];
    return worst;
}
