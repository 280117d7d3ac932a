/* Water as in the TreadMarks literature (after SPLASH's Water-Nsquared): molecules attract and repel each other within half a box.
 * Each process has a part of them and computes each pair once. Forces on other processes' molecules are summed
 * privately first, and then added to the shared forces, one process's part after the other; each part has a lock.
 *
 *     cc -O2 examples/water.c -o water -lTmk -lm
 *     parvum run -n 4 ./water [MOLECULES STEPS]
 *
 * Molecules here are points with a Lennard-Jones potential, in a periodic box. At the end process 0 repeats the whole computation
 * alone: only the last bits may differ, because sums have another order.
 */
#include <Tmk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORCES = 10 }; /* locks: one for each process's molecules */

struct molecule {
    double place[3], speed[3], force[3];
};

static struct molecule *water;
static double *energy; /* shared: the energy of the last step */
static int molecules = 343, steps = 6;
static const double step = 0.0008;

static double side(void) { return cbrt(molecules * 1.3); }

/* A slightly irregular lattice. */
static void fill(struct molecule *of)
{
    int edge = (int)ceil(cbrt(molecules));
    unsigned long state = 12345;
    for (int m = 0; m < molecules; m++) {
        int at[3] = { m % edge, m / edge % edge, m / edge / edge };
        for (int d = 0; d < 3; d++) {
            state = state * 6364136223846793005UL + 1442695040888963407UL;
            double noise = (double)(state >> 40) / (1 << 24) - 0.5;
            of[m].place[d] = (at[d] + 0.5 + 0.1 * noise) * side() / edge;
            of[m].speed[d] = noise;
            of[m].force[d] = 0;
        }
    }
}

/* Adds the forces between molecule `a` and the following ones to `forces`; returns their energy. Half of the pairs are enough: each
 * molecule interacts with the next half of all, cyclically. */
static double interact(const struct molecule *all, int a, double (*forces)[3])
{
    double potential = 0, box = side();
    int half = molecules / 2;
    for (int k = 1; k <= half; k++) {
        if (molecules % 2 == 0 && k == half && a >= half) break;
        int b = (a + k) % molecules;
        double apart[3], square = 0;
        for (int d = 0; d < 3; d++) {
            apart[d] = all[a].place[d] - all[b].place[d];
            apart[d] -= box * rint(apart[d] / box);
            square += apart[d] * apart[d];
        }
        if (square > box * box / 4) continue;
        double near = 1 / square, six = near * near * near;
        double pull = 24 * near * six * (2 * six - 1);
        potential += 4 * six * (six - 1);
        for (int d = 0; d < 3; d++) {
            forces[a][d] += pull * apart[d];
            forces[b][d] -= pull * apart[d];
        }
    }
    return potential;
}

/* Moves the molecules from `from` to `to`; returns their kinetic energy. */
static double move(struct molecule *all, int from, int to)
{
    double motion = 0, box = side();
    for (int m = from; m < to; m++)
        for (int d = 0; d < 3; d++) {
            all[m].speed[d] += step * all[m].force[d];
            all[m].place[d] += step * all[m].speed[d];
            all[m].place[d] -= box * floor(all[m].place[d] / box);
            all[m].force[d] = 0;
            motion += all[m].speed[d] * all[m].speed[d] / 2;
        }
    return motion;
}

static int first_of(int process, int processes) { return (int)((long)molecules * process / processes); }

static void run(int me, int n, double (*forces)[3])
{
    int from = first_of(me, n), to = first_of(me + 1, n);
    for (int round = 0; round < steps; round++) {
        double own = 0;
        memset(forces, 0, sizeof *forces * molecules);
        for (int a = from; a < to; a++) own += interact(water, a, forces);
        if (me == 0) *energy = 0;
        Tmk_barrier(1);
        /* Each process starts with another part, so that not all wait for one lock. */
        for (int k = 0; k < n; k++) {
            int whose = (me + k) % n;
            Tmk_lock_acquire(FORCES + whose);
            for (int m = first_of(whose, n); m < first_of(whose + 1, n); m++)
                for (int d = 0; d < 3; d++) water[m].force[d] += forces[m][d];
            Tmk_lock_release(FORCES + whose);
        }
        Tmk_barrier(1);
        own += move(water, from, to);
        Tmk_lock_acquire(0);
        *energy += own;
        Tmk_lock_release(0);
        Tmk_barrier(1);
    }
}

static void check(double (*forces)[3])
{
    struct molecule *alone = malloc(sizeof *alone * molecules);
    double total = 0, far = 0;
    fill(alone);
    for (int round = 0; round < steps; round++) {
        total = 0;
        memset(forces, 0, sizeof *forces * molecules);
        for (int a = 0; a < molecules; a++) total += interact(alone, a, forces);
        for (int m = 0; m < molecules; m++) memcpy(alone[m].force, forces[m], sizeof forces[m]);
        total += move(alone, 0, molecules);
    }
    for (int m = 0; m < molecules; m++)
        for (int d = 0; d < 3; d++) far = fmax(far, fabs(alone[m].place[d] - water[m].place[d]));
    if (far > 1e-9 || fabs(total - *energy) > 1e-9 * fabs(total))
        Tmk_errexit("%g from where one process alone has them, energy %.12g and not %.12g", far, *energy, total);
    free(alone);
}

int main(int argc, char **argv)
{
    if (argc > 2) molecules = atoi(argv[1]), steps = atoi(argv[2]);
    if (molecules < 2 || steps < 1) {
        fprintf(stderr, "water: at least 2 molecules, and 1 step\n");
        return 2;
    }
    Tmk_startup(argc, argv);
    if (Tmk_proc_id == 0) {
        water = (struct molecule *)Tmk_malloc(sizeof *water * molecules);
        energy = (double *)Tmk_malloc(sizeof *energy);
        if (water == NULL || energy == NULL) Tmk_errexit("no room for %d molecules", molecules);
        fill(water);
        Tmk_distribute((char *)&water, sizeof water);
        Tmk_distribute((char *)&energy, sizeof energy);
    }
    double(*forces)[3] = malloc(sizeof *forces * molecules);
    if (forces == NULL) Tmk_errexit("no memory");
    Tmk_barrier(0);
    run((int)Tmk_proc_id, (int)Tmk_nprocs, forces);
    if (Tmk_proc_id == 0) {
        check(forces);
        printf("%d processes: %d molecules, %d steps, energy %.6f, all well\n", (int)Tmk_nprocs, molecules, steps, *energy);
    }
    free(forces);
    Tmk_exit(0);
}
