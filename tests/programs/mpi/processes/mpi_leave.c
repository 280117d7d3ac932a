/* A rank that only gives runs ahead of the others. It leaves while they are still in the operation: it frees the communicator and calls
 * MPI_Finalize, or it dies (`mpi_leave dies`). At least three ranks. */
#include "mpi_check.h"
#include <signal.h>
#include <time.h>

static void pause_ms(int milliseconds)
{
    struct timespec moment = {0, milliseconds * 1000000};
    nanosleep(&moment, NULL);
}

/* Rank 0 gives first, the others later and later; the last rank gets all. */
static void late(void)
{
    if (rank < size - 1)
        pause_ms(100 * rank);
}

static void gathered(MPI_Comm comm)
{
    int mine = 10 + rank, all[64] = {0};
    late();
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, size - 1, comm);
    if (rank == size - 1)
        for (int from = 0; from < size; from++)
            CHECK(all[from] == 10 + from);
}

static void reduced(MPI_Comm comm)
{
    int mine = 1, sum = 0;
    late();
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, size - 1, comm);
    CHECK(rank != size - 1 || sum == size);
}

static void scanned(MPI_Comm comm)
{
    int mine = 1, sum = 0;
    late();
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == rank + 1);
}

static void met(MPI_Comm comm)
{
    for (int at = 0; at < 12; at++)
        MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void (*operations[])(MPI_Comm) = {gathered, reduced, scanned};
    for (unsigned at = 0; at < sizeof operations / sizeof *operations; at++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        met(comm);
        operations[at](comm);
        MPI_Comm_free(&comm);
    }
    met(MPI_COMM_WORLD);
    if (argc > 1) {
        int mine = 1, sum = 0, root = size - 1;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (rank == 0)
            raise(SIGKILL);
        int code = MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        CHECK(rank == root ? class_of(code) == MPIX_ERR_PROC_FAILED : code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED);
        /* All learn of the death at the latest when each waits for each. */
        code = MPI_Barrier(MPI_COMM_WORLD);
        CHECK(class_of(code) == MPIX_ERR_PROC_FAILED);
        MPI_Comm alive;
        CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &alive) == MPI_SUCCESS);
        int left;
        MPI_Comm_size(alive, &left);
        CHECK(left == size - 1);
        MPI_Comm_free(&alive);
        printf("rank %d: %d checks\n", rank, checks);
        fflush(stdout);
        MPI_Finalize();
        return 0;
    }
    /* The world ends for rank 0 before the others have given. */
    reduced(MPI_COMM_WORLD);
    printf("rank %d: %d checks\n", rank, checks);
    MPI_Finalize();
    return 0;
}
