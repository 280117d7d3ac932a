/* A serial program that is linked with MPI. It needs no machine for what it does, but with the word `send` one for messages to itself. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define NEED(condition)                                                                                                           \
    do {                                                                                                                          \
        if (!(condition)) {                                                                                                       \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                                \
            return 9;                                                                                                             \
        }                                                                                                                         \
    } while (0)

int main(int argc, char **argv)
{
    int rank, size, data = 3, sum = 0, flag, *limit;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm copy;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    NEED(rank == 0 && size == 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &flag);
    NEED(flag && *limit >= 32767);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &flag);
    NEED(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    NEED(sum == 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Reduce(&data, &sum, 1, MPI_INT, MPI_MAX, 0, copy);
    MPI_Comm_group(copy, &group);
    MPI_Group_size(group, &size);
    NEED(size == 1);
    MPI_Group_free(&group);
    if (argc > 1 && strcmp(argv[1], "send") == 0) {
        /* From here on it is part of a machine, and what it had goes on. */
        MPI_Sendrecv(&data, 1, MPI_INT, 0, 1, &sum, 1, MPI_INT, 0, 1, copy, MPI_STATUS_IGNORE);
        NEED(sum == data);
        MPI_Comm other;
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &other);
        MPI_Comm_compare(other, MPI_COMM_WORLD, &flag);
        NEED(flag == MPI_CONGRUENT);
        MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, other);
        MPI_Comm_free(&other);
    }
    MPI_Comm_free(&copy);
    MPI_Finalize();
    printf("all is well\n");
    return 0;
}
