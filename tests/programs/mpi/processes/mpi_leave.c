/* A rank that only gives runs ahead of the others. It leaves while they are still in the operation: it frees the communicator and calls
 * MPI_Finalize, or it dies (`mpi_leave dies`). At least three ranks. */
#define _GNU_SOURCE
#include "mpi_check.h"
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { LEFT = 77 };

/* The ranks give one after the other. A rank gives only after the rank before has left. The last rank gets all, and waits. */
static void late(MPI_Comm comm)
{
    int nothing = 0;
    if (comm != MPI_COMM_WORLD && rank > 0 && rank < size - 1)
        MPI_Recv(&nothing, 1, MPI_INT, rank - 1, LEFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void left(void)
{
    int nothing = 0;
    if (rank < size - 2)
        MPI_Send(&nothing, 1, MPI_INT, rank + 1, LEFT, MPI_COMM_WORLD);
}

/* Rank 0 locks a file, and the system gives the lock back when the process has ended. */
static int lock_file(short how, int wait)
{
    int file = open("rank0-lives", O_RDWR | O_CREAT, 0600);
    struct flock whole = {.l_type = how, .l_whence = SEEK_SET};
    CHECK(file >= 0 && fcntl(file, wait ? F_SETLKW : F_SETLK, &whole) == 0);
    return file;
}

static void gathered(MPI_Comm comm)
{
    int mine = 10 + rank, all[64] = {0};
    late(comm);
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, size - 1, comm);
    if (rank == size - 1)
        for (int from = 0; from < size; from++)
            CHECK(all[from] == 10 + from);
}

static void reduced(MPI_Comm comm)
{
    int mine = 1, sum = 0;
    late(comm);
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, size - 1, comm);
    CHECK(rank != size - 1 || sum == size);
}

static void scanned(MPI_Comm comm)
{
    int mine = 1, sum = 0;
    late(comm);
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
        left();
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
    /* The process of rank 0 ends before the others have given. */
    if (rank == 0)
        lock_file(F_WRLCK, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0 && rank < size - 1)
        close(lock_file(F_RDLCK, 1));
    reduced(MPI_COMM_WORLD);
    if (rank == size - 1)
        unlink("rank0-lives");
    printf("rank %d: %d checks\n", rank, checks);
    MPI_Finalize();
    return 0;
}
