/* A job whose tasks tell how it grows with their number. Prints lines of a name and a value. `start_ms` ends with the first barrier. `task_kib`
 * is the memory of a task, and `pair_kib` of a pair of tasks that talk. At last one task is killed. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 11, NEIGHBOURS = 16, TAG = 1 };

static int rank, size;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* The private pages of a task, and its part of shared pages. */
static double memory_kib(void)
{
    char line[256];
    long long kib = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %lld", &kib) == 1) break;
    if (file) fclose(file);
    if (kib < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    return (double)kib;
}

static double sum(double own)
{
    double all = 0;
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

static int by_value(const void *one, const void *two)
{
    double a = *(const double *)one, b = *(const double *)two;
    return a < b ? -1 : a > b;
}

static void time_barrier(void)
{
    double samples[SAMPLES];
    int times = size > 8 ? 3 : size > 2 ? 100 : 2000;
    for (int sample = 0; sample < SAMPLES; sample++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        for (int turn = 0; turn < times; turn++) MPI_Barrier(MPI_COMM_WORLD);
        samples[sample] = (MPI_Wtime() - began) * 1e6 / times;
    }
    qsort(samples, SAMPLES, sizeof *samples, by_value);
    if (rank == 0) printf("barrier_us %.2f\n", samples[SAMPLES / 2]);
}

/* Each task exchanges a message with the tasks behind it, and so with those before it. */
static void meet(int neighbours)
{
    for (int step = 1; step <= neighbours; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size, give = rank, get = -1;
        MPI_Sendrecv(&give, 1, MPI_INT, to, TAG, &get, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (get != from) MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("start_ms %.1f\n", now() - atof(argv[1]));
    time_barrier();
    double before = sum(memory_kib());
    int neighbours = size <= 2 * NEIGHBOURS ? (size - 1) / 2 : NEIGHBOURS;
    meet(neighbours);
    MPI_Barrier(MPI_COMM_WORLD);
    double after = sum(memory_kib());
    if (rank == 0) {
        printf("task_kib %.0f\n", before / size);
        if (neighbours > 0) printf("pair_kib %.1f\n", (after - before) / ((double)size * neighbours));
        printf("killed_at %.1f\n", now());
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
