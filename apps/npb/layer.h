/* Messages, by whichever system the program was built for: layer_pvm.c, layer_mpi.c, or layer_alone.c for one task without any.
   What goes through is counted and timed in traffic.c. */
#ifndef LAYER_H
#define LAYER_H

#include <stddef.h>
#include <stdint.h>

#include "../common/bench.h"

struct run {
    struct options options;     /* tasks, cores, file, route, encoding           */
    int benchmark;              /* enum benchmark, -1 where none was said        */
    char class;                 /* its letter, 0 where none was said             */
    int groups;                 /* --groups G                                    */
    double perturb;             /* --perturb X                                   */
    int task;                   /* my number                                     */
    int here;                   /* tasks on this task's host                     */
    int hosts;
    const char *face;           /* "pvm", "mpi", "alone"                         */
};

/* options.c */
void run_read(struct run *run, int argc, char **argv);

/* --- The bodies ---------------------------------------------------------------------------------------------------- */

/* Reads the arguments and joins the others. */
void body_open(struct run *run, int *argc, char ***argv);
void body_close(void);
/* May wait until the other receives. Messages of one sender with one tag come in their order. */
void body_send(int to, int tag, const double *values, size_t count);
void body_recv(int from, int tag, double *values, size_t count);
/* Both at once, in whatever way does not block; -1 for nobody. */
void body_exchange(int to, const double *out, size_t outs, int from, double *in, size_t ins, int tag);

/* --- The layer: the same, counted -------------------------------------------------------------------------------- */

enum { TAG_HALO = 10, TAG_SWEEP, TAG_SOLVE, TAG_TRANSPOSE, TAG_GROUP };

void layer_send(int to, int tag, const double *values, size_t count);
void layer_recv(int from, int tag, double *values, size_t count);
void layer_exchange(int to, const double *out, size_t outs, int from, double *in, size_t ins, int tag);

/* Of all tasks, by messages to task 0 and back. */
void layer_sum(const struct run *run, double *values, int count);
void layer_most(const struct run *run, double *values, int count);
void layer_barrier(const struct run *run);

struct traffic {
    int64_t ns;                 /* in the calls                 */
    int64_t processor_ns;       /* processor time in the calls  */
    int64_t messages, bytes;    /* sent                         */
    int64_t halo_messages, halo_bytes;
};

/* What this task has done since it began. */
struct traffic traffic_now(void);
int64_t processor_ns(void);

#endif
