/* Guidelines that an MPI library keeps by itself: a collective must not be slower than the same result made from other
   collectives, its mock-up. The list follows the published guidelines of PGMPI. */
#ifndef GUIDELINES_H
#define GUIDELINES_H

#include <mpi.h>
#include <stddef.h>

/* The arguments of an operation. A block is what one process contributes, or gets. */
struct place {
    int tasks, rank, root;
    int count;                  /* doubles of the size at hand                               */
    int share;                  /* doubles of one of `tasks` equal parts of it, rounded up   */
    double *in, *out, *between; /* room for `tasks` blocks of twice the largest size, each   */
    int *counts, *places;       /* of blocks of `count`, for the calls that want a list      */
};

typedef void operation_fn(struct place *place);

struct guideline {
    const char *name;           /* "allreduce <= reduce + bcast"                                     */
    operation_fn *collective, *mock_up;
    /* Doubles of the result, and whether the root alone has a result. 0: there is none. */
    size_t (*result)(const struct place *place);
    int at_root;
    int one_size;               /* the size has no meaning: measured once                            */
};

/* The guidelines; the last has no name. */
extern const struct guideline guidelines[];

#endif
