/* BT: block tridiagonal systems of one line, by elimination without pivoting; the blocks are 5 by 5. */
#include "npb.h"

typedef double block[5][5];

/* Lo, I + Di and Up of a direction, from the state at one point. */
static inline void blocks_of(const struct field *field, int d, const double *u, block low, block middle, block up)
{
    double dt_t1 = field->class->dt * field->t1, dt_t2 = field->class->dt * field->t2;
    double inverse = 1 / u[0], v[3] = { u[1] * inverse, u[2] * inverse, u[3] * inverse };
    double q = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), phi = u[4] * inverse, c = v[d], work = 0;
    block a = { { 0 } }, viscous = { { 0 } };
    double enthalpy = C1 * phi - C2 * q;
    a[0][d + 1] = 1;
    a[4][0] = (C2 * q - enthalpy) * c;
    a[4][4] = C1 * c;
    for (int e = 0; e < 3; e++) {
        double s = e == d ? 4.0 / 3 : 1;
        a[e + 1][0] = -v[e] * c + (e == d ? C2 * q : 0);
        for (int f = 0; f < 3; f++) a[e + 1][f + 1] = (e == f ? c : 0) + (f == d ? v[e] : 0) - (e == d ? C2 * v[f] : 0);
        a[e + 1][4] = e == d ? C2 : 0;
        a[4][e + 1] = -C2 * v[e] * c + (e == d ? enthalpy : 0);
        viscous[e + 1][0] = -C34 * s * v[e] * inverse;
        viscous[e + 1][e + 1] = C34 * s * inverse;
        viscous[4][e + 1] = (C34 * s - C1345) * v[e] * inverse;
        work += (C34 * s - C1345) * v[e] * v[e];
    }
    viscous[4][0] = -(work + C1345 * phi) * inverse;
    viscous[4][4] = C1345 * inverse;
    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 5; column++) {
            double spread = dt_t1 * (viscous[row][column] + (row == column ? SPREAD[d] : 0));
            low[row][column] = -dt_t2 * a[row][column] - spread;
            middle[row][column] = 2 * spread + (row == column);
            up[row][column] = dt_t2 * a[row][column] - spread;
        }
}

/* c and x become middle^-1 c and middle^-1 x. */
static inline void divide(block middle, block c, double *x)
{
    for (int pivot = 0; pivot < 5; pivot++) {
        double inverse = 1 / middle[pivot][pivot];
        for (int column = pivot + 1; column < 5; column++) middle[pivot][column] *= inverse;
        for (int column = 0; column < 5; column++) c[pivot][column] *= inverse;
        x[pivot] *= inverse;
        for (int row = 0; row < 5; row++) {
            if (row == pivot) continue;
            double factor = middle[row][pivot];
            for (int column = pivot + 1; column < 5; column++) middle[row][column] -= factor * middle[pivot][column];
            for (int column = 0; column < 5; column++) c[row][column] -= factor * c[pivot][column];
            x[row] -= factor * x[pivot];
        }
    }
}

void bt_line(const struct field *field, int axis, const five *u, five *x)
{
    int n = field->grid.n;
    block *c = (block *)field->scratch;
    block low[3], middle[3], up[3];
    blocks_of(field, axis, u[0], low[0], middle[0], up[0]);
    blocks_of(field, axis, u[1], low[1], middle[1], up[1]);
    /* On the faces X is nothing, and so is what stands before it. */
    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 5; column++) c[0][row][column] = 0;
    for (int g = 1; g < n - 1; g++) {
        int here = g % 3, before = (g - 1) % 3, after = (g + 1) % 3;
        blocks_of(field, axis, u[g + 1], low[after], middle[after], up[after]);
        for (int row = 0; row < 5; row++) {
            for (int inner = 0; inner < 5; inner++) {
                double factor = low[before][row][inner];
                for (int column = 0; column < 5; column++) middle[here][row][column] -= factor * c[g - 1][inner][column];
                x[g][row] -= factor * x[g - 1][inner];
            }
            for (int column = 0; column < 5; column++) c[g][row][column] = up[after][row][column];
        }
        divide(middle[here], c[g], x[g]);
    }
    for (int g = n - 3; g >= 1; g--)
        for (int row = 0; row < 5; row++)
            for (int column = 0; column < 5; column++) x[g][row] -= c[g][row][column] * x[g + 1][column];
}
