/* The exact solution, the state to begin with, and the forcing that makes the one the answer. */
#include "npb.h"

/* Coefficients of the polynomials: 13 for each component. */
static const double coefficient[5][13] = {
    { 2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3 },
    { 1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5 },
    { 2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4 },
    { 2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3 },
    { 5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2 },
};

void exact(double x, double y, double z, five u)
{
    for (int m = 0; m < 5; m++) {
        const double *c = coefficient[m];
        u[m] = c[0] + x * (c[1] + x * (c[4] + x * (c[7] + x * c[10])))
             + y * (c[2] + y * (c[5] + y * (c[8] + y * c[11])))
             + z * (c[3] + z * (c[6] + z * (c[9] + z * c[12])));
    }
}

/* Blends the six faces. The products are of values, as NPB has them: it is no interpolation. */
static void initial(double x, double y, double z, five u)
{
    five low, high, blend[3];
    const double at[3] = { x, y, z };
    for (int d = 0; d < 3; d++) {
        exact(d == 0 ? 0 : x, d == 1 ? 0 : y, d == 2 ? 0 : z, low);
        exact(d == 0 ? 1 : x, d == 1 ? 1 : y, d == 2 ? 1 : z, high);
        for (int m = 0; m < 5; m++) blend[d][m] = (1 - at[d]) * low[m] + at[d] * high[m];
    }
    for (int m = 0; m < 5; m++) {
        double a = blend[0][m], b = blend[1][m], c = blend[2][m];
        u[m] = a + b + c - a * b - b * c - a * c + a * b * c;
    }
}

static int inside(int n, int g)
{
    return g > 0 && g < n - 1;
}

static int clamped(int n, int g)
{
    return g < 0 ? 0 : g > n - 1 ? n - 1 : g;
}

/* Every cell, ghosts too. Those beyond the cube are multiplied by nothing but zeros; they only have to be numbers. */
static void set(struct field *field, int to_exact)
{
    const struct grid *grid = &field->grid;
    int n = grid->n;
    double h = 1.0 / (n - 1);
    for (int c = -GHOSTS; c < grid->count[2] + GHOSTS; c++)
        for (int b = -GHOSTS; b < grid->count[1] + GHOSTS; b++)
            for (int a = -GHOSTS; a < grid->count[0] + GHOSTS; a++) {
                int i = grid->first[0] + a, j = grid->first[1] + b, k = grid->first[2] + c;
                double *u = field->u[cell_at(grid, i, j, k)];
                int is_inner = inside(n, i) && inside(n, j) && inside(n, k);
                i = clamped(n, i), j = clamped(n, j), k = clamped(n, k);
                if (to_exact || !is_inner) exact(i * h, j * h, k * h, u);
                else initial(i * h, j * h, k * h, u);
            }
}

void set_initial(struct field *field)
{
    set(field, 0);
}

void set_forcing(struct field *field)
{
    const struct grid *grid = &field->grid;
    set(field, 1);
    look(field);
    right_hand_side(field);
    for (size_t cell = 0; cell < grid->cells; cell++)
        for (int m = 0; m < 5; m++) {
            field->h[cell][m] = -field->r[cell][m];
            field->r[cell][m] = 0;
        }
}
