/* Ranks that do not say the same in an operation of the group, in a way in which nobody need wait: who finds it says so. */
#include "mpi_check.h"

int main(int argc, char **argv)
{
    static int data[100000], all[400000];
    char text[MPI_MAX_ERROR_STRING];
    int code = MPI_SUCCESS, length, first;
    const char *way = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    first = rank == 0;
    if (strcmp(way, "more") == 0)
        code = MPI_Bcast(data, first ? 10 : 5, MPI_INT, 0, MPI_COMM_WORLD);
    else if (strcmp(way, "less") == 0)
        code = MPI_Bcast(data, first ? 5 : 10, MPI_INT, 0, MPI_COMM_WORLD);
    else if (strcmp(way, "long") == 0)
        code = MPI_Bcast(data, first ? 50000 : 40000, MPI_INT, 0, MPI_COMM_WORLD);
    else if (strcmp(way, "sum") == 0)
        code = MPI_Allreduce(data, all, first ? 5 : 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(way, "gather") == 0)
        code = MPI_Gather(data, rank == 1 ? 5 : 10, MPI_INT, all, 10, MPI_INT, 0, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) {
        CHECK(class_of(code) == MPI_ERR_TRUNCATE);
        MPI_Error_string(code, text, &length);
        printf("%s\n", text);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
