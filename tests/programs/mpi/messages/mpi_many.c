/* Many of everything: messages matched by four threads, requests started again and again, threads and communicators at once, messages that
 * nobody expects, communicators made and freed. The even ranks and the next do it in pairs. */
#define _GNU_SOURCE
#include "mpi_check.h"
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static MPI_Comm pair;
static int me, other;

/* --- Each of 10,000 messages is received once, by who has found it --- */

enum { MESSAGES = 10000, FINDERS = 4 };
static unsigned char received[MESSAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left;

static void *find(void *unused)
{
    (void)unused;
    for (;;) {
        MPI_Message message;
        MPI_Status status;
        int data[64], found;
        pthread_mutex_lock(&lock);
        int go_on = left > 0;
        left -= go_on;
        pthread_mutex_unlock(&lock);
        if (!go_on)
            return NULL;
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, pair, &message, &status);
        MPI_Get_count(&status, MPI_INT, &found);
        CHECK(found == 1 + status.MPI_TAG % 64 && message != MPI_MESSAGE_NULL);
        MPI_Mrecv(data, found, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK(message == MPI_MESSAGE_NULL && data[0] == status.MPI_TAG);
        pthread_mutex_lock(&lock);
        CHECK(received[data[0]]++ == 0);
        pthread_mutex_unlock(&lock);
    }
}

static void found_by_threads(void)
{
    if (me == 0) {
        int data[64] = {0};
        for (int at = 0; at < MESSAGES; at++) {
            data[0] = at;
            MPI_Send(data, 1 + at % 64, MPI_INT, other, at, pair);
        }
    } else {
        pthread_t finders[FINDERS];
        left = MESSAGES;
        for (int at = 0; at < FINDERS; at++)
            pthread_create(&finders[at], NULL, find, NULL);
        for (int at = 0; at < FINDERS; at++)
            pthread_join(finders[at], NULL);
        for (int at = 0; at < MESSAGES; at++)
            CHECK(received[at] == 1);
    }
    MPI_Barrier(pair);
}

/* --- Started 10,000 times, in four modes; and a send that is freed while it is on its way --- */

static void started(void)
{
    enum { TURNS = 2500, MODES = 4 };
    MPI_Request requests[MODES];
    int data[MODES], room_for, long_data = 300000;
    char *room = NULL;
    if (me == 0) {
        MPI_Pack_size(1, MPI_INT, pair, &room_for);
        room = malloc(4 * (room_for + MPI_BSEND_OVERHEAD));
        MPI_Buffer_attach(room, 4 * (room_for + MPI_BSEND_OVERHEAD));
        MPI_Send_init(&data[0], 1, MPI_INT, other, 0, pair, &requests[0]);
        MPI_Ssend_init(&data[1], 1, MPI_INT, other, 1, pair, &requests[1]);
        MPI_Bsend_init(&data[2], 1, MPI_INT, other, 2, pair, &requests[2]);
        MPI_Rsend_init(&data[3], 1, MPI_INT, other, 3, pair, &requests[3]);
    } else {
        for (int mode = 0; mode < MODES; mode++)
            MPI_Recv_init(&data[mode], 1, MPI_INT, other, mode, pair, &requests[mode]);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        if (me == 1) {
            MPI_Startall(MODES, requests);
            /* Now the receive of the ready send is there. */
            MPI_Send(&turn, 1, MPI_INT, other, 9, pair);
        } else {
            int go;
            MPI_Recv(&go, 1, MPI_INT, other, 9, pair, MPI_STATUS_IGNORE);
            for (int mode = 0; mode < MODES; mode++)
                data[mode] = 10 * turn + mode;
            for (int mode = 0; mode < MODES; mode++)
                MPI_Start(&requests[mode]);
        }
        MPI_Waitall(MODES, requests, MPI_STATUSES_IGNORE);
        for (int mode = 0; me == 1 && mode < MODES; mode++)
            CHECK(data[mode] == 10 * turn + mode && requests[mode] != MPI_REQUEST_NULL);
    }
    for (int mode = 0; mode < MODES; mode++)
        MPI_Request_free(&requests[mode]);
    int *much = calloc(long_data, sizeof *much);
    if (me == 0) {
        void *was;
        int length;
        MPI_Buffer_detach(&was, &length);
        CHECK(was == room);
        free(room);
        for (int at = 0; at < long_data; at++)
            much[at] = at;
        MPI_Request request;
        MPI_Isend(much, long_data, MPI_INT, other, 4, pair, &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL);
        MPI_Recv(&length, 1, MPI_INT, other, 5, pair, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(much, long_data, MPI_INT, other, 4, pair, MPI_STATUS_IGNORE);
        CHECK(much[0] == 0 && much[long_data - 1] == long_data - 1);
        MPI_Send(&me, 1, MPI_INT, other, 5, pair);
    }
    free(much);
}

/* --- Eight threads with a communicator each, and one asleep in a receive from anyone --- */

enum { THREADS = 8 };
static MPI_Comm comms[THREADS];
static long asleep_cpu;

static void *talk(void *which)
{
    MPI_Comm comm = *(MPI_Comm *)which;
    int seed = (int)((MPI_Comm *)which - comms);
    for (int turn = 0; turn < 50; turn++) {
        int sum = 0, data = seed + turn, got;
        MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == 2 * (seed + turn));
        MPI_Sendrecv(&data, 1, MPI_INT, other, turn, &got, 1, MPI_INT, other, turn, comm, MPI_STATUS_IGNORE);
        CHECK(got == data);
        MPI_Barrier(comm);
    }
    return NULL;
}

static void *sleep_in_receive(void *comm)
{
    struct rusage before, after;
    int data;
    MPI_Status status;
    getrusage(RUSAGE_THREAD, &before);
    MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, *(MPI_Comm *)comm, &status);
    getrusage(RUSAGE_THREAD, &after);
    CHECK(data == 77 && status.MPI_TAG == 7);
    /* As often as it was woken for others: it gave its core away in between. */
    asleep_cpu = after.ru_nvcsw - before.ru_nvcsw;
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS], sleeper;
    MPI_Comm apart;
    MPI_Comm_dup(pair, &apart);
    for (int at = 0; at < THREADS; at++)
        MPI_Comm_dup(pair, &comms[at]);
    pthread_create(&sleeper, NULL, sleep_in_receive, &apart);
    for (int at = 0; at < THREADS; at++)
        pthread_create(&all[at], NULL, talk, &comms[at]);
    for (int at = 0; at < THREADS; at++)
        pthread_join(all[at], NULL);
    int end = 77;
    MPI_Send(&end, 1, MPI_INT, other, 7, apart);
    pthread_join(sleeper, NULL);
    CHECK(asleep_cpu > 0);
    for (int at = 0; at < THREADS; at++)
        MPI_Comm_free(&comms[at]);
    MPI_Comm_free(&apart);
}

/* --- 100,000 messages that nobody expects, taken by tags that go down --- */

static void unexpected(void)
{
    enum { MANY = 100000 };
    if (me == 0) {
        for (int tag = 0; tag < MANY; tag++)
            MPI_Send(&tag, 1, MPI_INT, other, tag, pair);
        MPI_Send(NULL, 0, MPI_INT, other, MANY, pair);
    } else {
        struct rusage usage;
        MPI_Recv(NULL, 0, MPI_INT, other, MANY, pair, MPI_STATUS_IGNORE);
        for (int tag = MANY - 1; tag >= 0; tag--) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, other, tag, pair, MPI_STATUS_IGNORE);
            CHECK(got == tag);
        }
        getrusage(RUSAGE_SELF, &usage);
        /* Some hundred bytes for each, not some thousand. */
        CHECK(usage.ru_maxrss < 512 * 1024);
    }
    MPI_Barrier(pair);
}

/* --- 20,000 communicators made and freed --- */

static void communicators(void)
{
    MPI_Comm copy;
    for (int turn = 0; turn < 20000; turn++) {
        MPI_Comm_dup(pair, &copy);
        CHECK(copy != MPI_COMM_NULL);
        MPI_Comm_free(&copy);
    }
    CHECK(copy == MPI_COMM_NULL);
    /* Colour UNDEFINED, equal keys, negative keys. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : 4, 0, &copy);
    CHECK((copy == MPI_COMM_NULL) == (rank % 2 == 1));
    if (copy != MPI_COMM_NULL) {
        int place;
        MPI_Comm_rank(copy, &place);
        CHECK(place == rank / 2);
        MPI_Comm_free(&copy);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &copy);
    int place;
    MPI_Comm_rank(copy, &place);
    CHECK(place == size - 1 - rank);
    MPI_Comm_free(&copy);
}

int main(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE && size % 2 == 0);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Comm_rank(pair, &me);
    other = 1 - me;
    found_by_threads();
    started();
    threads();
    unexpected();
    communicators();
    MPI_Comm_free(&pair);
    MPI_Finalize();
    printf("rank %d: %d checks\n", rank, checks);
    return 0;
}
