/* The simulated applications LU, SP and BT of the NAS Parallel Benchmarks (RNR-91-02), with the algorithms by which Fatoohi ran them in
   1995: LU by skew hyper-planes over blocks in two directions, SP by two-way pipelined elimination over blocks in three, BT by
   transposes over slabs. All three solve the same equation, R(U) = R(Ue), and differ in how a step approaches its solution.

   One kernel for every message-passing system: layer.h is all it knows of them. Points are counted from 0, and by where they are in
   the whole cube; U has five components at each. */
#ifndef NPB_H
#define NPB_H

#include <stddef.h>
#include <stdint.h>

/* The constants of the equation. */
#define C1 1.4
#define C2 0.4
#define C34 0.1
#define C15 1.96
#define C1345 0.196
#define DISSIPATION 0.25
static const double SPREAD[3] = { 0.75, 0.75, 1.0 };   /* D1, D2, D3 */

typedef double five[5];

enum benchmark { LU, SP, BT };

/* A class of a benchmark: its cube, its step, and what must come out. */
struct class {
    enum benchmark benchmark;
    char name;
    int n;                  /* points each way  */
    double dt;
    int iterations;
    five residual, error;
    double surface;         /* LU alone         */
};

enum { GHOSTS = 2 };        /* layers around a block */

/* The part of the cube that a task has. */
struct grid {
    int n;
    int blocks[3];          /* along x, y, z                                          */
    int at[3];              /* which of them is mine                                  */
    int first[3], count[3]; /* my points                                              */
    int low[3], high[3];    /* those of them that are inside the cube: low .. high    */
    size_t step[3];         /* from a cell to the next one in each direction          */
    size_t cells;           /* with ghosts                                            */
};

/* What follows from U at a point. */
struct seen {
    double inverse;         /* 1 / rho                       */
    double v[3];            /* velocities                    */
    double q;               /* half their squares            */
    double pressure;
    double phi;             /* energy of a unit of mass      */
    double sound;           /* its speed                     */
};

/* The field of one task. */
struct field {
    struct grid grid;
    const struct class *class;
    double t1, t2;          /* 1 / h^2, 1 / (2 h)                         */
    int groups;             /* SP: parts of a block's lines               */
    five *u, *r, *h;        /* state, right-hand side, forcing            */
    struct seen *seen;
    double *scratch;        /* what one benchmark needs besides           */
    double *out, *in;       /* messages on their way                      */
};

static inline size_t cell_at(const struct grid *grid, int i, int j, int k)
{
    return (size_t)(i - grid->first[0] + GHOSTS) + (size_t)(j - grid->first[1] + GHOSTS) * grid->step[1]
         + (size_t)(k - grid->first[2] + GHOSTS) * grid->step[2];
}

/* --- classes.c --------------------------------------------------------------------------------------------------- */

extern const char *const benchmark_names[3];
/* By its letter, or where that is 0 by its points; NULL if there is none. */
const struct class *class_find(enum benchmark benchmark, char name, int n);

/* --- grid.c ------------------------------------------------------------------------------------------------------ */

/* The first point of a block along an axis; that of the next is its end. */
int block_first(int n, int blocks, int at);
/* Splits the cube over so many tasks as the benchmark does. Ends the program where a block would be too thin. */
void grid_split(struct grid *grid, enum benchmark benchmark, int n, int tasks, int task);
/* The task so many blocks further along an axis, or -1. */
int grid_neighbour(const struct grid *grid, int axis, int by);
/* Bytes of memory that one task needs. */
double grid_memory(const struct grid *grid, enum benchmark benchmark);
/* Takes that memory, having looked whether `here` such tasks fit this host. */
void field_open(struct field *field, int here);
void field_close(struct field *field);
/* Brings two layers of U of the blocks around. */
void halo(struct field *field);

/* --- problem.c --------------------------------------------------------------------------------------------------- */

void exact(double x, double y, double z, five u);
/* The forcing; once. */
void set_forcing(struct field *field);
/* The initial state, ghosts too. */
void set_initial(struct field *field);

/* --- rhs.c ------------------------------------------------------------------------------------------------------- */

/* The row of the fourth difference at g: coefficients of g-2 .. g+2. */
const double *dissipation_row(int g, int n);
/* What follows from U, at my points and the first layer around. */
void look(struct field *field);
/* r = R(U) + H inside, from what look() found. */
void right_hand_side(struct field *field);
/* The halo, a look, and r. */
void refresh(struct field *field);

/* --- The benchmarks: one iteration ------------------------------------------------------------------------------- */

void lu_step(struct field *field);
void sp_step(struct field *field);
void bt_step(struct field *field);

/* SP: the solves along one axis, and a line of them; the transformations between. */
void sp_solve(struct field *field, int axis);
void sp_before(struct field *field);
void sp_between(struct field *field, int axis);
void sp_after(struct field *field);
/* BT: a line of n points, X in place. */
void bt_line(const struct field *field, int axis, const five *u, five *x);

/* --- verify.c ---------------------------------------------------------------------------------------------------- */

struct outcome {
    five residual, error;
    double surface;
};

/* At task 0; r is that of the last state. */
struct outcome outcome_of(struct field *field);
/* |x - ref| / |ref| */
double difference(double value, double reference);
/* The largest of all that the class wants; a NaN counts as no agreement at all. */
double worst_difference(const struct class *class, const struct outcome *outcome);

#define AGREEMENT 1e-8

/* --- report.c ---------------------------------------------------------------------------------------------------- */

struct run;
struct taken {              /* in the measured iterations */
    double seconds;         /* the longest of all tasks                                */
    double layer;           /* in the layer's calls: the longest, and the mean         */
    double layer_mean;
    double processor;       /* processor time in the layer's calls, of all tasks       */
    double processor_all;   /* processor time, of all tasks                            */
    int cores;              /* that the tasks share                                    */
    double beyond;          /* longer than the computing alone, shared evenly by them  */
    double messages, bytes; /* of all tasks                                            */
    double halo_messages, halo_bytes;
};

void report(const struct run *run, const struct field *field, const struct outcome *outcome, const struct taken *taken);

#endif
