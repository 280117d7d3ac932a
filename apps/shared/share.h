/* The programs that compare shared memory with messages (the paper "Treadmarks against PVM and MPI" of 2004 has the same three): what
   their forms have in common. Each has a kernel that knows of no other task, a form for shared memory, and one for messages. */
#ifndef SHARE_H
#define SHARE_H

#include "../teams/team.h"

/* --- The kernels ------------------------------------------------------------------------------------------------ */

/* Mergesort. */
void sort_fill(int32_t *data, size_t count, size_t first);
void sort_part(int32_t *data, int32_t *spare, size_t count);
void sort_merge(const int32_t *a, size_t as, const int32_t *b, size_t bs, int32_t *out);
void sort_check(const int32_t *data, size_t count);

/* Mandelbrot's set: a row of a picture of so many points each way, at most ITERATIONS for each. */
void mandelbrot_row(int32_t *row, size_t points, size_t number);
void mandelbrot_check(const int32_t *picture, size_t points);
size_t mandelbrot_piece(size_t points, int tasks);   /* rows that are dealt out at once */

/* A net of inputs, hidden cells and one output, trained by back propagation, and its training set. */
struct net {
    int inputs, hidden;
    int weights;            /* how many: inputs * hidden + hidden                            */
    int items;
    double *inputs_of;      /* items * inputs                                                */
    double *wanted;
};

/* 400 weights: 9 x 40 x 1; 8800: 54 x 160 x 1. The small one's items are of the file, if one is given (tools/shuttle.py writes it):
   so many of it, or all with 0. */
void network_open(struct net *net, size_t weights, int items, const char *file);
void network_start(const struct net *net, double *weights);
/* The changes that these items want, added to `change`; gives the sum of the squares of their errors. */
double network_train(const struct net *net, const double *weights, double *change, int first, int end);
void network_apply(const struct net *net, double *weights, const double *change);
/* Trains alone, in as many parts, and compares. */
void network_check(const struct net *net, const double *weights, int parts, int epochs);

/* --- What is dealt out ------------------------------------------------------------------------------------------ */

/* The first of `count` things that belong to a task; the next task's first is its end. */
size_t part_of(size_t count, int task, int tasks);

/* --- Messages of bytes ------------------------------------------------------------------------------------------ */

void share_send(int to, int tag, const void *data, size_t bytes);
void share_recv(int from, int tag, void *data, size_t bytes);
/* From anyone: who it was. Without `waits` -1 when nothing is there. */
int share_any(int tag, void *data, size_t bytes, int waits);

/* --- What is measured ------------------------------------------------------------------------------------------- */

struct traffic { int64_t known, messages, bytes; };

/* What this task has sent so far, by Parvum's ledger, which other systems do not have; and what shared memory has cost it, of which
   that ledger does not know. */
struct traffic traffic_now(void);
struct traffic traffic_of_memory(void);

/* One line of samples. */
void share_write(const struct options *options, const struct team *team, const char *program, size_t size, int64_t ns,
                 struct traffic traffic);

/* The program: measured runs of each size, called by all tasks. The result is at task 0 when it returns, and checked by
   share_check, which is not measured. */
void share_run(const struct options *options, const struct team *team, size_t size);
void share_check(const struct options *options, const struct team *team, size_t size);
extern const char share_name[];

/* The forms of a team: all start together, and the sum of what they have sent is at task 0. */
void share_together(const struct team *team);
struct traffic share_sum(const struct team *team, struct traffic mine);

#endif
