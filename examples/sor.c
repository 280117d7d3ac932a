/* Red-black successive over-relaxation in shared memory: each process has a band of rows, and reads one row of each neighbour's.
 *
 *     cc -O2 examples/sor.c -o sor -lTmk
 *     parvum run -n 4 ./sor [ROWS COLUMNS ROUNDS]          or  TMK_NODES=4 ./sor
 *
 * At the end process 0 repeats the whole computation alone, and compares every bit.
 */
#include <Tmk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *grid; /* shared: process 0 sends its address to all */
static int rows = 250, columns = 250, rounds = 30;

static void relax(double *g, int from, int to, int colour)
{
    for (int r = from; r < to; r++)
        for (int c = 1 + (r + colour) % 2; c < columns - 1; c += 2) {
            double *here = &g[(long)r * columns + c];
            *here += 1.2 * ((here[-1] + here[1] + here[-columns] + here[columns]) / 4 - *here);
        }
}

static void fill(double *g)
{
    memset(g, 0, sizeof *g * rows * columns);
    for (int c = 0; c < columns; c++) g[c] = 100;
    for (int r = 0; r < rows; r++) g[(long)r * columns] = r;
}

int main(int argc, char **argv)
{
    if (argc > 3) rows = atoi(argv[1]), columns = atoi(argv[2]), rounds = atoi(argv[3]);
    Tmk_startup(argc, argv);
    size_t bytes = sizeof *grid * rows * columns;
    if (Tmk_proc_id == 0) {
        grid = (double *)Tmk_malloc(bytes);
        if (grid == NULL) Tmk_errexit("no room for %zu bytes", bytes);
        fill(grid);
        Tmk_distribute((char *)&grid, sizeof grid);
    }
    Tmk_barrier(0);

    int inner = rows - 2, n = (int)Tmk_nprocs, me = (int)Tmk_proc_id;
    int from = 1 + inner * me / n, to = 1 + inner * (me + 1) / n;
    for (int round = 0; round < rounds; round++)
        for (int colour = 0; colour < 2; colour++) {
            relax(grid, from, to, colour);
            Tmk_barrier(1);
        }

    if (me == 0) {
        double *alone = malloc(bytes);
        fill(alone);
        for (int round = 0; round < rounds; round++) {
            relax(alone, 1, rows - 1, 0);
            relax(alone, 1, rows - 1, 1);
        }
        if (memcmp(alone, grid, bytes) != 0) Tmk_errexit("not what one process computes alone");
        printf("%d processes: %d rounds of %d x %d, all well\n", n, rounds, rows, columns);
        free(alone);
    }
    Tmk_exit(0);
}
