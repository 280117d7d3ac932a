/* What the checking programs of MPI have in common: one line `rank R: N checks` each, or what is wrong. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
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

static inline int class_of(int code)
{
    int found = -1;
    MPI_Error_class(code, &found);
    return found;
}

static inline int count_of(MPI_Status *status, MPI_Datatype type)
{
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}

#endif
