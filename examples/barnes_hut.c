/* Barnes-Hut as in the TreadMarks literature: bodies attract each other, and a tree of cells combines distant bodies. Each process
 * reads all positions, builds its own tree, and moves its own bodies. In the literature private trees were the fastest if memory is
 * shared over a network.
 *
 *     cc -O2 examples/barnes_hut.c -o barnes_hut -lTmk -lm
 *     parvum run -n 4 ./barnes_hut [BODIES STEPS]
 *
 * All processes build the same tree. At the end process 0 repeats the whole computation alone, and compares every bit.
 */
#include <Tmk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct body {
    double place[3], speed[3], mass;
};

/* A cube of space: one body, or eight smaller cubes. */
struct cell {
    double middle[3], half; /* center and half side of the cube */
    double centre[3], mass; /* center and mass of its bodies */
    int body;               /* -1: several bodies or an empty cube */
    int parts[8];           /* -1: empty */
};

static struct body *bodies; /* shared */
static int count = 600, steps = 4;
static struct cell *cells;
static int used, room;

static const double step = 0.01, far = 0.7, soft = 0.05;

static void fill(struct body *of)
{
    unsigned long state = 777;
    for (int b = 0; b < count; b++) {
        for (int d = 0; d < 6; d++) {
            state = state * 6364136223846793005UL + 1442695040888963407UL;
            double random = (double)(state >> 40) / (1 << 24) - 0.5;
            if (d < 3) of[b].place[d] = 2 * random * fabs(random);
            else of[b].speed[d - 3] = 0.1 * random;
        }
        of[b].mass = 1.0 / count;
    }
}

static int new_cell(const double *middle, double half)
{
    if (used == room) {
        room = 2 * room + 64;
        cells = realloc(cells, sizeof *cells * room);
        if (cells == NULL) Tmk_errexit("no memory for %d cells", room);
    }
    struct cell *cell = &cells[used];
    *cell = (struct cell){ .half = half, .body = -1, .parts = { -1, -1, -1, -1, -1, -1, -1, -1 } };
    memcpy(cell->middle, middle, sizeof cell->middle);
    return used++;
}

/* The index of the eighth of the cell that contains the place. */
static int eighth(const struct cell *cell, const double *place)
{
    return (place[0] > cell->middle[0]) + 2 * (place[1] > cell->middle[1]) + 4 * (place[2] > cell->middle[2]);
}

static void put(const struct body *all, int in, int body)
{
    for (;;) {
        int part = eighth(&cells[in], all[body].place), below = cells[in].parts[part];
        double half = cells[in].half / 2, middle[3];
        for (int d = 0; d < 3; d++) middle[d] = cells[in].middle[d] + (part >> d & 1 ? half : -half);
        if (below < 0) {
            int leaf = new_cell(middle, half);
            cells[leaf].body = body;
            cells[in].parts[part] = leaf;
            return;
        }
        if (cells[below].body >= 0 && half > 1e-9) {
            /* The body that was alone here moves to a smaller cell. */
            int other = cells[below].body;
            cells[below].body = -1;
            put(all, below, other);
        } else if (cells[below].body >= 0) {
            return; /* at the same place: one body stands for both */
        }
        in = below;
    }
}

static void weigh(const struct body *all, int of)
{
    double mass = 0, centre[3] = { 0, 0, 0 };
    if (cells[of].body >= 0) {
        mass = all[cells[of].body].mass;
        memcpy(centre, all[cells[of].body].place, sizeof centre);
    } else {
        for (int part = 0; part < 8; part++) {
            int below = cells[of].parts[part];
            if (below < 0) continue;
            weigh(all, below);
            mass += cells[below].mass;
            for (int d = 0; d < 3; d++) centre[d] += cells[below].mass * cells[below].centre[d];
        }
        for (int d = 0; d < 3; d++) centre[d] /= mass;
    }
    cells[of].mass = mass;
    memcpy(cells[of].centre, centre, sizeof centre);
}

static void build(const struct body *all)
{
    double half = 0, middle[3] = { 0, 0, 0 };
    for (int b = 0; b < count; b++)
        for (int d = 0; d < 3; d++) half = fmax(half, fabs(all[b].place[d]));
    used = 0;
    new_cell(middle, half * 1.001);
    for (int b = 0; b < count; b++) put(all, 0, b);
    weigh(all, 0);
}

static void pull(const double *place, int of, int self, double *force)
{
    const struct cell *cell = &cells[of];
    if (cell->body == self) return;
    double apart[3], square = soft * soft;
    for (int d = 0; d < 3; d++) {
        apart[d] = cell->centre[d] - place[d];
        square += apart[d] * apart[d];
    }
    if (cell->body < 0 && 4 * cell->half * cell->half > far * far * square) {
        for (int part = 0; part < 8; part++)
            if (cell->parts[part] >= 0) pull(place, cell->parts[part], self, force);
        return;
    }
    double strength = cell->mass / (square * sqrt(square));
    for (int d = 0; d < 3; d++) force[d] += strength * apart[d];
}

/* The forces on the bodies from `from` to `to` at this moment. */
static void feel(const struct body *all, int from, int to, double (*forces)[3])
{
    build(all);
    for (int b = from; b < to; b++) {
        memset(forces[b], 0, sizeof forces[b]);
        pull(all[b].place, 0, b, forces[b]);
    }
}

static void move(struct body *all, int from, int to, double (*forces)[3])
{
    for (int b = from; b < to; b++)
        for (int d = 0; d < 3; d++) {
            all[b].speed[d] += step * forces[b][d];
            all[b].place[d] += step * all[b].speed[d];
        }
}

int main(int argc, char **argv)
{
    if (argc > 2) count = atoi(argv[1]), steps = atoi(argv[2]);
    if (count < 2 || steps < 1) {
        fprintf(stderr, "barnes_hut: at least 2 bodies, and 1 step\n");
        return 2;
    }
    Tmk_startup(argc, argv);
    size_t bytes = sizeof *bodies * count;
    if (Tmk_proc_id == 0) {
        bodies = (struct body *)Tmk_malloc(bytes);
        if (bodies == NULL) Tmk_errexit("no room for %d bodies", count);
        fill(bodies);
        Tmk_distribute((char *)&bodies, sizeof bodies);
    }
    double(*forces)[3] = malloc(sizeof *forces * count);
    if (forces == NULL) Tmk_errexit("no memory");
    int n = (int)Tmk_nprocs, me = (int)Tmk_proc_id;
    int from = (int)((long)count * me / n), to = (int)((long)count * (me + 1) / n);
    Tmk_barrier(0);
    for (int round = 0; round < steps; round++) {
        feel(bodies, from, to, forces);
        Tmk_barrier(1); /* all processes have read the positions */
        move(bodies, from, to, forces);
        Tmk_barrier(1);
    }
    if (me == 0) {
        struct body *alone = malloc(bytes);
        if (alone == NULL) Tmk_errexit("no memory");
        memset(alone, 0, bytes);
        fill(alone);
        for (int round = 0; round < steps; round++) {
            feel(alone, 0, count, forces);
            move(alone, 0, count, forces);
        }
        if (memcmp(alone, bodies, bytes) != 0) Tmk_errexit("not what one process computes alone");
        printf("%d processes: %d bodies, %d steps, %d cells, all well\n", n, count, steps, used);
        free(alone);
    }
    free(cells);
    free(forces);
    Tmk_exit(0);
}
