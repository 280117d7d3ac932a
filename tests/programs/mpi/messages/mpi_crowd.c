/* Many ranks on few cores: barriers and sums of all are right, and who waits in one for a rank that sleeps takes no core. */
#define _POSIX_C_SOURCE 200809L
#include "mpi_check.h"
#include <time.h>

/* Processor time of this process so far, in seconds. */
static double worked(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Rank 0 comes a second late. */
static void late(int sums)
{
    int all = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double before = worked(), begun = MPI_Wtime();
    if (rank == 0)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    if (sums)
        MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    double waited = MPI_Wtime() - begun, work = worked() - before;
    CHECK(!sums || all == size * (size - 1) / 2);
    /* Who was kept from its core until the sleeper woke has not waited. */
    CHECK(waited < 0.5 || work < 0.1 * waited);
}

int main(void)
{
    enum { TURNS = 200 };
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < TURNS; turn++) {
        int own = rank + turn, all = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all == size * (size - 1) / 2 + size * turn);
    }
    late(0);
    late(1);
    MPI_Finalize();
    printf("rank %d: %d checks\n", rank, checks);
    return 0;
}
