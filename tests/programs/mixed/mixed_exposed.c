/* Long blocking collective calls of ranks that read each other's memory: what comes out, of plain data, of data with holes and in place;
 * and when a rank's memory is protected, so that the kernel does not read it for others, but the program's handler would mend a fault.
 * Each rank says whether the kernel copied for it: `read`, or `not read`. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include "mpi_check.h"

#include <parvum_engine.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST = 160000, WARM = 20, PAGE = 4096 }; /* more than 1 MiB, which is shown at the board */

static double mine[LONGEST * 8], got[LONGEST * 8], holed[LONGEST * 2];
static char *guarded;
static volatile sig_atomic_t mended;

/* The memory is the program's: it makes a page usable when it is touched, as a memory shared over the network does. */
static void mend(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    char *page = (char *)((unsigned long)info->si_addr & ~(PAGE - 1UL));
    if (page < guarded || page >= guarded + LONGEST * 16 * sizeof(double))
        _exit(70);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    mended++;
}

static void guard(void)
{
    CHECK(mprotect(guarded, LONGEST * 16 * sizeof(double), PROT_NONE) == 0);
}

static double value(int from, int at)
{
    return from * 1000000.0 + at;
}

static void fill(double *data, int from, int count)
{
    for (int at = 0; at < count; at++)
        data[at] = value(from, at);
}

static void check_sum(const double *sum, int count)
{
    for (int at = 0; at < count; at += 7)
        CHECK(sum[at] == 1000000.0 * (size * (size - 1) / 2) + (double)size * at);
    CHECK(sum[count - 1] == 1000000.0 * (size * (size - 1) / 2) + (double)size * (count - 1));
}

static void check_blocks(const double *blocks, int count)
{
    for (int from = 0; from < size; from++)
        CHECK(blocks[from * count] == value(from, 0) && blocks[from * count + count - 1] == value(from, count - 1));
}

/* All operations, with this memory to give and to get. */
static void operations(double *give, double *get, int count, int root)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    fill(give, rank, count);
    MPI_Allreduce(give, get, count, MPI_DOUBLE, MPI_SUM, comm);
    check_sum(get, count);
    MPI_Reduce(give, get, count, MPI_DOUBLE, MPI_SUM, root, comm);
    if (rank == root)
        check_sum(get, count);
    MPI_Allgather(give, count, MPI_DOUBLE, get, count, MPI_DOUBLE, comm);
    check_blocks(get, count);
    fill(get + (long)rank * count, rank, count);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, get, count, MPI_DOUBLE, comm);
    check_blocks(get, count);
    fill(get, rank, count);
    MPI_Allreduce(MPI_IN_PLACE, get, count, MPI_DOUBLE, MPI_SUM, comm);
    check_sum(get, count);
    fill(get, rank, count);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : get, get, count, MPI_DOUBLE, MPI_SUM, root, comm);
    if (rank == root)
        check_sum(get, count);
    fill(get, rank == root ? root : 77, count);
    MPI_Bcast(get, count, MPI_DOUBLE, root, comm);
    CHECK(get[0] == value(root, 0) && get[count - 1] == value(root, count - 1));
    int each = count / size;
    for (int to = 0; to < size; to++)
        for (int at = 0; at < each; at++)
            give[to * each + at] = value(rank, to * 1000 + at);
    MPI_Alltoall(give, each, MPI_DOUBLE, get, each, MPI_DOUBLE, comm);
    for (int from = 0; from < size; from++)
        CHECK(get[from * each + each - 1] == value(from, rank * 1000 + each - 1));
}

/* Ranks may have the same data in other layouts, and go the same way all the same. */
static void layouts(int count, int root)
{
    MPI_Datatype every_second;
    MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &every_second);
    MPI_Type_commit(&every_second);
    for (int at = 0; at < 2 * count; at++)
        holed[at] = at % 2 ? -1 : rank == root ? value(root, at / 2) : 0;
    MPI_Bcast(rank % 2 ? (void *)holed : (void *)mine, 0, MPI_DOUBLE, root, MPI_COMM_WORLD);
    fill(mine, rank == root ? root : 77, count);
    if (rank % 2)
        MPI_Bcast(holed, 1, every_second, root, MPI_COMM_WORLD);
    else
        MPI_Bcast(mine, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    CHECK(rank % 2 ? holed[2 * count - 2] == value(root, count - 1) && holed[1] == -1 : mine[count - 1] == value(root, count - 1));
    MPI_Type_free(&every_second);
}

int main(int argc, char **argv)
{
    uint64_t before[32], after[32];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    guarded = mmap(NULL, LONGEST * 16 * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(guarded != MAP_FAILED);
    struct sigaction action = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    for (int turn = 0; turn < WARM; turn++)
        MPI_Barrier(MPI_COMM_WORLD);
    parvum_table()->counters(before, 32);
    for (int round = 0; round < 3; round++) {
        static const int counts[] = {LONGEST, 8200, 140001};
        operations(mine, got, counts[round], round % size);
        layouts(counts[round], (round + 1) % size);
    }
    parvum_table()->counters(after, 32);
    /* Bytes that the kernel copied out of another's memory; and there were hardly any messages. */
    int has_read = after[7] - before[7] > 100000 && after[0] - before[0] < 8 * (uint64_t)size;
    for (int who = 0; who < 2; who++) {
        /* What one rank gives, and what another gets. */
        double *give = rank == who ? (double *)guarded : mine, *get = rank == size - 1 ? (double *)guarded + LONGEST * 8 : got;
        guard();
        operations(give, get, LONGEST, who);
        CHECK(mended > 0 || (rank != who && rank != size - 1));
    }
    printf("rank %d: %s\n", rank, has_read ? "read" : "not read");
    MPI_Finalize();
    return 0;
}
