/* Each call of MPI that waits, in one thread; a second thread sends to itself meanwhile and must not stand still.
 *
 * mpi_beside SITUATION CALL, two ranks. Rank 0 has the two threads; rank 1 is the partner:
 *   silent    makes the call half a second late
 *   stopped   is stopped by a signal for a second, before the call or in the midst of it
 *   daemon    makes the call while the daemon is stopped
 *   long      sends or takes 256 MiB
 *   credit    takes nothing for half a second, and rank 0 has no credit any more */
#define _GNU_SOURCE 1
#include "mpi_check.h"
#include "beside.h"

#define LONG ((size_t)256 << 20)
#define TAG 7

static MPI_Comm self;

/* A short message, and one that its sender keeps until the receive is there: that one takes several steps. */
static void beside_round(void)
{
    static char kept[100000], room[100000];
    MPI_Request request;
    int out = 1, in = 0;

    MPI_Sendrecv(&out, 1, MPI_INT, 0, 9, &in, 1, MPI_INT, 0, 9, self, MPI_STATUS_IGNORE);
    MPI_Isend(kept, sizeof kept, MPI_BYTE, 0, 8, self, &request);
    MPI_Recv(room, sizeof room, MPI_BYTE, 0, 8, self, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static size_t length = 1;
static char *buffer, *other;

static void receive(void)
{
    MPI_Recv(buffer, (int)length, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void its_send(void)
{
    MPI_Send(buffer, (int)length, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
}
static void wait_for_receive(void)
{
    MPI_Request request;

    MPI_Irecv(buffer, (int)length, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void probe(void)
{
    MPI_Status status;

    MPI_Probe(1, TAG, MPI_COMM_WORLD, &status);
    receive();
}
static void matched_probe(void)
{
    MPI_Status status;
    MPI_Message message;

    MPI_Mprobe(1, TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(buffer, (int)length, MPI_BYTE, &message, &status);
}
static void synchronous_send(void)
{
    MPI_Ssend(buffer, (int)length, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
}
static void standard_send(void)
{
    MPI_Send(buffer, (int)length, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
}
static void its_receive(void)
{
    MPI_Recv(buffer, (int)length, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void exchange(void)
{
    int to = 1 - rank;

    MPI_Sendrecv(buffer, (int)length, MPI_BYTE, to, TAG, other, (int)length, MPI_BYTE, to, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void strided(void)
{
    MPI_Datatype type;

    MPI_Type_vector((int)(length / 64), 32, 64, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    if (rank == 0)
        MPI_Recv(buffer, 1, type, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(buffer, 1, type, 0, TAG, MPI_COMM_WORLD);
    MPI_Type_free(&type);
}
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void broadcast(void) { MPI_Bcast(buffer, (int)length, MPI_BYTE, 1, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(buffer, other, (int)length, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD); }
static void all_reduce(void) { MPI_Allreduce(buffer, other, (int)length, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD); }
static void all_gather(void)
{
    int half = (int)((length + 1) / 2);

    MPI_Allgather(buffer, half, MPI_BYTE, other, half, MPI_BYTE, MPI_COMM_WORLD);
}
static void all_to_all(void)
{
    int half = (int)((length + 1) / 2);

    MPI_Alltoall(buffer, half, MPI_BYTE, other, half, MPI_BYTE, MPI_COMM_WORLD);
}
static void duplicate(void)
{
    MPI_Comm copy;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
}
static void window(void)
{
    MPI_Win win;
    char *memory;

    MPI_Win_allocate((MPI_Aint)length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(buffer, (int)length, MPI_BYTE, 1 - rank, 0, (int)length, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void scan(void) { MPI_Scan(buffer, other, (int)length, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD); }
static void begun_barrier(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void any_of_several(void)
{
    MPI_Request requests[3];
    int which, flag;

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&flag, 0, MPI_BYTE, 1, TAG + 1 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Irecv(buffer, (int)length, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitany(3, requests, &which, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}
static int is_silent(void);
/* The partner has the window's lock. */
static void lock_window(void)
{
    MPI_Win win;
    char *memory;

    MPI_Win_allocate((MPI_Aint)length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_silent())
            usleep(500000);
        MPI_Win_unlock(1, win);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Get(buffer, (int)length, MPI_BYTE, 1, 0, (int)length, MPI_BYTE, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
}
static char path[200];
static void write_file(void)
{
    MPI_File file;
    int count = length < 16 << 20 ? (int)length : 16 << 20;

    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)rank * count, buffer, count, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, (MPI_Offset)rank * count, other, count, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}
static char *self_path;
static void spawn(void)
{
    MPI_Comm children;

    MPI_Comm_spawn(self_path, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&children);
}
static void accept_caller(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm caller;

    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &caller);
        MPI_Close_port(port);
    } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (is_silent())
            usleep(500000);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &caller);
    }
    MPI_Comm_disconnect(&caller);
}
/* Nobody is waited for: these only work for long. */
static void pack(void)
{
    MPI_Datatype type;
    int at = 0;

    MPI_Type_vector((int)(length / 64), 32, 64, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Pack(buffer, 1, type, other, (int)length, &at, MPI_COMM_WORLD);
    at = 0;
    MPI_Unpack(other, (int)length, &at, buffer, 1, type, MPI_COMM_WORLD);
    MPI_Type_free(&type);
}
static void reduce_here(void) { MPI_Reduce_local(buffer, other, (int)length, MPI_BYTE, MPI_BOR); }

static const struct beside_call calls[] = {
    { "MPI_Recv", receive, its_send },
    { "MPI_Wait", wait_for_receive, its_send },
    { "MPI_Probe", probe, its_send },
    { "MPI_Mrecv", matched_probe, its_send },
    { "MPI_Ssend", synchronous_send, its_receive },
    { "MPI_Send", standard_send, its_receive },
    { "MPI_Sendrecv", exchange, exchange },
    { "MPI_Recv-strided", strided, strided },
    { "MPI_Barrier", barrier, barrier },
    { "MPI_Bcast", broadcast, broadcast },
    { "MPI_Reduce", reduce, reduce },
    { "MPI_Allreduce", all_reduce, all_reduce },
    { "MPI_Allgather", all_gather, all_gather },
    { "MPI_Alltoall", all_to_all, all_to_all },
    { "MPI_Comm_dup", duplicate, duplicate },
    { "MPI_Win_fence", window, window },
    { "MPI_Win_lock", lock_window, lock_window },
    { "MPI_Scan", scan, scan },
    { "MPI_Ibarrier", begun_barrier, begun_barrier },
    { "MPI_Waitany", any_of_several, its_send },
    { "MPI_File_write_at_all", write_file, write_file },
    { "MPI_Comm_spawn", spawn, spawn },
    { "MPI_Comm_accept", accept_caller, accept_caller },
    { "MPI_Pack", pack, pack },
    { "MPI_Reduce_local", reduce_here, reduce_here },
};
#define CALLS (sizeof calls / sizeof calls[0])

static const char *situation = "silent";
static int partner, repeat = 1;

static int is_silent(void) { return !strcmp(situation, "silent"); }
static int is_late(void) { return is_silent() || !strcmp(situation, "credit"); }

/* Before the worker begins: while the kernel copies the tables of 512 MiB for a child, no thread of this process gets memory. */
static void tell_partner(int at)
{
    MPI_Bcast(&at, 1, MPI_INT, 0, MPI_COMM_WORLD);
    beside_disturb(situation, partner, 500);
}

static void make_calls(int at)
{
    for (int i = 0; i < repeat; i++)
        calls[at].mine();
    beside_calm();
}

static void serve(void)
{
    int at = 0;

    for (;;) {
        MPI_Bcast(&at, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (at < 0)
            return;
        if (is_late())
            usleep(500000);
        for (int i = 0; i < repeat; i++)
            calls[at].its();
    }
}

int main(int argc, char **argv)
{
    int provided, bad = 0, over = -1;
    long alone;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&self);
    if (self != MPI_COMM_NULL) {
        /* A child. */
        MPI_Comm_disconnect(&self);
        MPI_Finalize();
        return 0;
    }
    self_path = argv[0];
    CHECK(size == 2 && provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    partner = getpid();
    MPI_Bcast(&partner, 1, MPI_INT, 1, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/tmp/beside-%d", partner);
    if (argc > 1)
        situation = argv[1];
    if (!strcmp(situation, "long") || !strcmp(situation, "stopped")) {
        length = LONG;
        repeat = 4;
    }
    if (!strcmp(situation, "credit")) {
        length = 3000;
        repeat = 200;
    }
    buffer = malloc(length);
    other = malloc(length + 1);
    memset(buffer, rank + 1, length);
    memset(other, 0, length + 1);
    if (rank) {
        serve();
    } else {
        alone = beside_alone(500);
        for (int at = 0; at < (int)CALLS; at++)
            if (argc < 3 || !strcmp(argv[2], calls[at].name))
                bad += !beside_measure(calls[at].name, alone, at, tell_partner, make_calls);
        MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return bad != 0;
}
