/* What the checks of MPI's programs have in common: a check that fails says where, and ends the job. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, checks;

#define CHECK(condition)                                                                                                          \
    do {                                                                                                                          \
        checks++;                                                                                                                 \
        if (!(condition)) {                                                                                                       \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition);                                                 \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                                         \
        }                                                                                                                         \
    } while (0)

static int class_of(int code)
{
    int found = -1;
    MPI_Error_class(code, &found);
    return found;
}

#endif
