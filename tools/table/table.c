/* Short messages and collectives of MPI, timed without the lab: an independent check of its figures. Prints `name microseconds` lines.
 * Every figure is the median of its samples on rank 0; a round trip counts half. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 31, MOST = 1 << 20, WINDOW_MOST = 1024 };
static char give[MOST], get[2 * MOST];
static int rank, size, other;
/* Keeps the compiler from leaving out what is read. */
static volatile long seen_last;

static int by_value(const void *one, const void *two)
{
    double a = *(const double *)one, b = *(const double *)two;
    return a < b ? -1 : a > b;
}

typedef void operation(int bytes);

static void ping(int bytes)
{
    if (rank == 0) {
        MPI_Send(give, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(get, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(get, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(give, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

/* The sender has just written the data, and the receiver reads the data. */
static void ping_fresh(int bytes)
{
    static int turn;
    for (int way = 0; way < 2; way++)
        if (rank == way) {
            memset(give, ++turn, (size_t)bytes);
            MPI_Send(give, bytes, MPI_BYTE, 1 - way, 0, MPI_COMM_WORLD);
        } else if (rank == 1 - way) {
            MPI_Recv(get, bytes, MPI_BYTE, way, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            long seen = 0;
            for (int at = 0; at + 8 <= bytes; at += 8) seen += *(const long *)(get + at);
            seen_last = seen;
        }
}

static void itself(int bytes)
{
    MPI_Sendrecv(give, bytes, MPI_BYTE, rank, 1, get, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The same in three calls. */
static void itself_apart(int bytes)
{
    MPI_Request request;
    MPI_Irecv(get, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(give, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Many messages at once, and one answer: the time of one message. */
static void window(int bytes, int count, int blocking)
{
    static MPI_Request requests[WINDOW_MOST];
    for (int turn = 0; turn < count; turn++)
        if (rank == 0 && blocking)
            MPI_Send(give, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        else if (rank == 0)
            MPI_Isend(give, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[turn]);
        else if (rank == 1 && blocking)
            MPI_Recv(get, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Irecv(get + turn * bytes, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[turn]);
    MPI_Status statuses[WINDOW_MOST];
    if (!blocking && rank < 2) MPI_Waitall(count, requests, statuses);
    if (rank == 0) MPI_Recv(get, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(give, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
}

static void window_64(int bytes) { window(bytes, 64, 0); }
static void window_1024(int bytes) { window(bytes, WINDOW_MOST, 0); }
static void stream_64(int bytes) { window(bytes, 64, 1); }
static void stream_1024(int bytes) { window(bytes, WINDOW_MOST, 1); }

static void exchange(int bytes)
{
    if (other < size)
        MPI_Sendrecv(give, bytes, MPI_BYTE, other, 1, get, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(int bytes)
{
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void broadcast(int bytes) { MPI_Bcast(give, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void reduce(int bytes) { MPI_Reduce(give, get, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void allreduce(int bytes) { MPI_Allreduce(give, get, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void scan(int bytes) { MPI_Scan(give, get, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void share(int bytes) { MPI_Reduce_scatter_block(give, get, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void gather(int bytes) { MPI_Gather(give, bytes, MPI_BYTE, get, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void scatter(int bytes) { MPI_Scatter(get, bytes, MPI_BYTE, give, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void allgather(int bytes) { MPI_Allgather(give, bytes, MPI_BYTE, get, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void alltoall(int bytes) { MPI_Alltoall(give, bytes, MPI_BYTE, get, bytes, MPI_BYTE, MPI_COMM_WORLD); }

static const struct row {
    const char *name;
    operation *does;
    /* How often the operation counts: the halves of a round trip, or the messages of a window. */
    int bytes, halves;
} rows[] = {
    {"send-8", ping, 8, 2}, {"send-1K", ping, 1024, 2}, {"send-64K", ping, 65536, 2}, {"send-1M", ping, MOST, 2},
    {"fresh-64K", ping_fresh, 65536, 2}, {"fresh-1M", ping_fresh, MOST, 2}, {"itself-8", itself, 8, 1}, {"exchange-8", exchange, 8, 1},
    {"itself-apart-8", itself_apart, 8, 1}, {"window-64-8", window_64, 8, 64}, {"window-1024-8", window_1024, 8, WINDOW_MOST},
    {"stream-64-8", stream_64, 8, 64}, {"stream-1024-8", stream_1024, 8, WINDOW_MOST},
    {"barrier", barrier, 0, 1}, {"broadcast-8", broadcast, 8, 1}, {"reduce-8", reduce, 8, 1}, {"allreduce-8", allreduce, 8, 1},
    {"scan-8", scan, 8, 1}, {"reduce-scatter-8", share, 8, 1}, {"gather-8", gather, 8, 1}, {"scatter-8", scatter, 8, 1},
    {"allgather-8", allgather, 8, 1}, {"alltoall-8", alltoall, 8, 1}, {"broadcast-1K", broadcast, 1024, 1},
    {"allreduce-1K", allreduce, 1024, 1}, {"allgather-1K", allgather, 1024, 1}, {"alltoall-1K", alltoall, 1024, 1},
};

int main(int argc, char **argv)
{
    /* `multiple`: several threads may call MPI. Other words name the rows to time. */
    int level, is_multiple = argc > 1 && !strcmp(argv[1], "multiple");
    MPI_Init_thread(&argc, &argv, is_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = rank ^ 1;
    memset(give, 1, sizeof give);
    memset(get, 1, sizeof get);
    for (unsigned at = 0; at < sizeof rows / sizeof *rows; at++) {
        const struct row *row = &rows[at];
        int is_named = argc == 1 + is_multiple;
        for (int word = 1 + is_multiple; word < argc; word++) is_named |= !strcmp(argv[word], row->name);
        if (!is_named) continue;
        double samples[SAMPLES];
        /* About a millisecond a sample with two ranks on cores of their own. */
        int times = row->bytes >= MOST ? 10 : row->bytes >= 65536 ? 100 : size > 2 ? 300 : 3000;
        if (row->halves > 2) times = times / row->halves + 3;
        for (int sample = -2; sample < SAMPLES; sample++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double began = MPI_Wtime();
            for (int turn = 0; turn < times; turn++) row->does(row->bytes);
            if (sample >= 0) samples[sample] = (MPI_Wtime() - began) * 1e6 / times / row->halves;
        }
        qsort(samples, SAMPLES, sizeof *samples, by_value);
        if (rank == 0) printf("%s %.4f\n", row->name, samples[SAMPLES / 2]);
    }
    MPI_Finalize();
    return 0;
}
