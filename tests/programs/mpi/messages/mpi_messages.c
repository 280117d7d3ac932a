/* Messages and requests, as the standard promises them; by two ranks or more, of which the even ones and the next do it in pairs. */
#include "mpi_check.h"
#include <pthread.h>

static MPI_Comm pair;
static int me, other;

/* Buffered sends to the documented size return with no receiver, one more does not fit, and what was sent is there after the detach. */
static void buffered(void)
{
    enum { MESSAGES = 5, LENGTH = 100 };
    int one, size_of_all, got[LENGTH], data[LENGTH];
    void *was;
    MPI_Pack_size(LENGTH, MPI_INT, pair, &one);
    size_of_all = MESSAGES * (one + MPI_BSEND_OVERHEAD);
    char *room = malloc(size_of_all);
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    if (me == 0) {
        MPI_Buffer_attach(room, size_of_all);
        for (int turn = 0; turn < MESSAGES; turn++) {
            for (int at = 0; at < LENGTH; at++)
                data[at] = turn * LENGTH + at;
            CHECK(MPI_Bsend(data, LENGTH, MPI_INT, other, turn, pair) == MPI_SUCCESS);
        }
        char *large = calloc(1, size_of_all + 1);
        CHECK(class_of(MPI_Bsend(large, size_of_all + 1, MPI_CHAR, other, 99, pair)) == MPI_ERR_BUFFER);
        free(large);
        MPI_Buffer_detach(&was, &one);
        CHECK(was == room && one == size_of_all);
    } else {
        for (int turn = MESSAGES - 1; turn >= 0; turn--) {
            MPI_Recv(got, LENGTH, MPI_INT, other, turn, pair, MPI_STATUS_IGNORE);
            CHECK(got[0] == turn * LENGTH && got[LENGTH - 1] == turn * LENGTH + LENGTH - 1);
        }
    }
    free(room);
    /* The communicator's own buffer, and one that grows by itself. */
    if (me == 0) {
        char own[1 << 14];
        MPI_Comm_attach_buffer(pair, own, sizeof own);
        MPI_Bsend(data, LENGTH, MPI_INT, other, 1, pair);
        MPI_Comm_detach_buffer(pair, &was, &one);
        CHECK(was == own && one == sizeof own);
        MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
        for (int turn = 0; turn < 100; turn++)
            MPI_Bsend(data, LENGTH, MPI_INT, other, 2, pair);
        MPI_Buffer_detach(&was, &one);
    } else {
        MPI_Recv(got, LENGTH, MPI_INT, other, 1, pair, MPI_STATUS_IGNORE);
        for (int turn = 0; turn < 100; turn++)
            MPI_Recv(got, LENGTH, MPI_INT, other, 2, pair, MPI_STATUS_IGNORE);
        CHECK(got[3] == 403);
    }
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_ARE_FATAL);
}

enum { PROBED = 2000, PROBERS = 4 };
static int seen[PROBED];

static void *prober(void *own)
{
    for (int turn = 0; turn < PROBED / PROBERS; turn++) {
        MPI_Message message;
        MPI_Status status;
        int data = -1;
        MPI_Mprobe(other, MPI_ANY_TAG, pair, &message, &status);
        MPI_Mrecv(&data, 1, MPI_INT, &message, &status);
        /* The tag says which it is, and so does the data, unless another thread had it. */
        if (data == status.MPI_TAG && data >= 0 && data < PROBED)
            __atomic_fetch_add(&seen[data], 1, __ATOMIC_RELAXED);
    }
    return own;
}

/* Each of many messages is received once, by the thread that found it. */
static void matched_probes(void)
{
    if (me == 0) {
        for (int turn = 0; turn < PROBED; turn++)
            MPI_Send(&turn, 1, MPI_INT, other, turn, pair);
        return;
    }
    pthread_t threads[PROBERS];
    for (int at = 0; at < PROBERS; at++)
        pthread_create(&threads[at], NULL, prober, NULL);
    for (int at = 0; at < PROBERS; at++)
        pthread_join(threads[at], NULL);
    for (int at = 0; at < PROBED; at++)
        CHECK(seen[at] == 1);
}

static int is_nobodys(MPI_Status *status)
{
    return status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count_of(status, MPI_INT) == 0;
}

/* Nobody is a peer like any other, at once. */
static void nobody(void)
{
    int data = 5, flag = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 3, pair);
    MPI_Ssend(&data, 1, MPI_INT, MPI_PROC_NULL, 3, pair);
    MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 3, pair, &status);
    CHECK(is_nobodys(&status) && data == 5);
    MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, pair, &status);
    CHECK(is_nobodys(&status));
    MPI_Iprobe(MPI_PROC_NULL, 7, pair, &flag, &status);
    CHECK(flag && is_nobodys(&status));
    MPI_Mprobe(MPI_PROC_NULL, 7, pair, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC && is_nobodys(&status));
    MPI_Mrecv(&data, 1, MPI_INT, &message, &status);
    CHECK(is_nobodys(&status) && message == MPI_MESSAGE_NULL && data == 5);
    MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 3, pair, &request);
    MPI_Wait(&request, &status);
    CHECK(is_nobodys(&status) && request == MPI_REQUEST_NULL);
    MPI_Sendrecv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, &flag, 1, MPI_INT, MPI_PROC_NULL, 1, pair, &status);
    CHECK(is_nobodys(&status));
}

/* A receive that nothing has matched can be taken back, one that was matched cannot, and a persistent one can be started again. */
static void cancelling(void)
{
    int data = 0, flag;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&data, 1, MPI_INT, other, 77, pair, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Irecv(&data, 1, MPI_INT, me, 78, pair, &request);
    flag = 42;
    MPI_Ssend(&flag, 1, MPI_INT, me, 78, pair);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag && data == 42);
    MPI_Recv_init(&data, 1, MPI_INT, me, 79, pair, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && request != MPI_REQUEST_NULL);
    MPI_Start(&request);
    flag = 43;
    MPI_Send(&flag, 1, MPI_INT, me, 79, pair);
    MPI_Wait(&request, &status);
    CHECK(data == 43);
    MPI_Request_free(&request);
}

/* The calls that wait for one, some or all, over requests that are null, inactive, persistent and under way. */
static void families(void)
{
    int data[4] = {0}, index, flag, count, places[4], out = me + 10;
    MPI_Request all[4], none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[4], status;
    MPI_Waitany(3, none, &index, &status);
    CHECK(index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE && count_of(&status, MPI_INT) == 0);
    MPI_Testany(3, none, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Testall(3, none, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
    MPI_Waitsome(3, none, &count, places, statuses);
    CHECK(count == MPI_UNDEFINED);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);

    all[0] = MPI_REQUEST_NULL;
    MPI_Recv_init(&data[1], 1, MPI_INT, other, 1, pair, &all[1]);
    MPI_Recv_init(&data[2], 1, MPI_INT, other, 2, pair, &all[2]);
    MPI_Irecv(&data[3], 1, MPI_INT, other, 3, pair, &all[3]);
    MPI_Start(&all[2]);
    MPI_Testany(4, all, &index, &flag, &status);
    CHECK(!flag);
    MPI_Barrier(pair);
    MPI_Send(&out, 1, MPI_INT, other, 3, pair);
    MPI_Waitany(4, all, &index, &status);
    CHECK(index == 3 && all[3] == MPI_REQUEST_NULL && data[3] == 11 - me && status.MPI_TAG == 3);
    MPI_Barrier(pair);
    MPI_Send(&out, 1, MPI_INT, other, 2, pair);
    MPI_Waitsome(4, all, &count, places, statuses);
    CHECK(count == 1 && places[0] == 2 && all[2] != MPI_REQUEST_NULL && statuses[0].MPI_TAG == 2);
    MPI_Waitall(4, all, statuses);
    CHECK(statuses[2].MPI_SOURCE == MPI_ANY_SOURCE && statuses[0].MPI_TAG == MPI_ANY_TAG);
    MPI_Request_free(&all[1]);
    MPI_Request_free(&all[2]);
    CHECK(all[1] == MPI_REQUEST_NULL);
}

/* Started again and again, in each mode; and a send whose request is freed arrives all the same. */
static void persistent(void)
{
    enum { TURNS = 500 };
    int out[4] = {0}, in[4] = {0}, data = 9;
    char room[4096];
    void *was;
    MPI_Request all[8];
    MPI_Buffer_attach(room, sizeof room);
    MPI_Send_init(&out[0], 1, MPI_INT, other, 0, pair, &all[0]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, other, 1, pair, &all[1]);
    MPI_Bsend_init(&out[2], 1, MPI_INT, other, 2, pair, &all[2]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, other, 3, pair, &all[3]);
    for (int at = 0; at < 4; at++)
        MPI_Recv_init(&in[at], 1, MPI_INT, other, at, pair, &all[4 + at]);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int at = 0; at < 4; at++)
            out[at] = turn * 4 + at;
        MPI_Startall(4, all + 4);
        MPI_Barrier(pair);
        MPI_Startall(4, all);
        MPI_Waitall(8, all, MPI_STATUSES_IGNORE);
        CHECK(in[0] == turn * 4 && in[1] == turn * 4 + 1 && in[2] == turn * 4 + 2 && in[3] == turn * 4 + 3);
    }
    for (int at = 0; at < 8; at++)
        MPI_Request_free(&all[at]);
    MPI_Buffer_detach(&was, &data);
    MPI_Request request;
    data = 9;
    MPI_Isend(&data, 1, MPI_INT, other, 5, pair, &request);
    MPI_Request_free(&request);
    MPI_Recv(in, 1, MPI_INT, other, 5, pair, MPI_STATUS_IGNORE);
    CHECK(in[0] == 9);
    MPI_Barrier(pair);
}

/* Round the ring of all, and to oneself, in the same memory, with a type that has holes. */
static void replacing(void)
{
    int data[9];
    MPI_Datatype every_second;
    MPI_Status status;
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int at = 0; at < 9; at++)
        data[at] = rank * 100 + at;
    int left = (rank + size - 1) % size;
    MPI_Sendrecv_replace(data, 1, every_second, (rank + 1) % size, 4, left, 4, MPI_COMM_WORLD, &status);
    for (int at = 0; at < 9; at++)
        CHECK(data[at] == (at % 2 == 0 && at < 8 ? left : rank) * 100 + at);
    CHECK(status.MPI_SOURCE == left && count_of(&status, every_second) == 1);
    MPI_Sendrecv_replace(data, 1, every_second, rank, 4, rank, 4, MPI_COMM_WORLD, &status);
    CHECK(data[2] == left * 100 + 2);
    MPI_Type_free(&every_second);
}

/* Six parts are sent and four received; none has arrived before what it is made of is ready. */
static void parts(void)
{
    int data[24], flag;
    MPI_Request request;
    if (me == 0) {
        MPI_Psend_init(data, 6, 4, MPI_INT, other, 6, pair, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int part = 5; part >= 0; part--) {
            for (int at = 0; at < 4; at++)
                data[part * 4 + at] = part * 4 + at;
            MPI_Pready(part, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        memset(data, 0xff, sizeof data);
        MPI_Precv_init(data, 4, 6, MPI_INT, other, 6, pair, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int left = 4; left > 0;) {
            left = 4;
            for (int part = 0; part < 4; part++) {
                MPI_Parrived(request, part, &flag);
                if (!flag)
                    continue;
                left--;
                for (int at = 0; at < 6; at++)
                    CHECK(data[part * 6 + at] == part * 6 + at);
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

/* The same with holes, of other widths on either side, and again and again. */
static void parts_with_holes(void)
{
    enum { TURNS = 5, ITEMS = 12 };
    int data[3 * ITEMS], flag, step = me == 0 ? 2 : 3;
    MPI_Request request;
    MPI_Datatype holed;
    MPI_Type_create_resized(MPI_INT, 0, step * (MPI_Aint)sizeof(int), &holed);
    MPI_Type_commit(&holed);
    if (me == 0)
        MPI_Psend_init(data, 6, 2, holed, other, 6, pair, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, 4, 3, holed, other, 6, pair, MPI_INFO_NULL, &request);
    MPI_Type_free(&holed);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int at = 0; at < 3 * ITEMS; at++)
            data[at] = -1;
        MPI_Start(&request);
        for (int part = 5; me == 0 && part >= 0; part--) {
            for (int at = 0; at < 2; at++)
                data[(part * 2 + at) * step] = turn * 100 + part * 2 + at;
            MPI_Pready(part, request);
            /* What is ready was packed, or is left alone: the holes are the program's. */
            data[part * 4 + 1] = -7;
        }
        for (flag = 0; me == 1 && !flag;) {
            MPI_Parrived(request, 3, &flag);
            for (int at = 9; flag && at < ITEMS; at++)
                CHECK(data[at * step] == turn * 100 + at);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int at = 0; me == 1 && at < 3 * ITEMS; at++)
            CHECK(data[at] == (at % 3 == 0 ? turn * 100 + at / 3 : -1));
    }
    MPI_Request_free(&request);
}

/* Many that nobody has asked for are taken from the last to the first. */
static void backwards(void)
{
    enum { MANY = 20000 };
    int data;
    if (me == 0) {
        for (int turn = 0; turn < MANY; turn++)
            MPI_Send(&turn, 1, MPI_INT, other, turn, pair);
    } else {
        for (int turn = MANY - 1; turn >= 0; turn--) {
            MPI_Recv(&data, 1, MPI_INT, other, turn, pair, MPI_STATUS_IGNORE);
            if (data != turn)
                CHECK(data == turn);
        }
        checks++;
    }
}

static int queried, freed;

static int query(void *extra, MPI_Status *status)
{
    queried += *(int *)extra;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 4;
    status->MPI_TAG = 5;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    freed += *(int *)extra;
    return MPI_SUCCESS;
}

static int give_up(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static MPI_Request own;

static void *finisher(void *nothing)
{
    int go;
    MPI_Recv(&go, 1, MPI_INT, other, 9, pair, MPI_STATUS_IGNORE);
    MPI_Grequest_complete(own);
    return nothing;
}

/* A request that another thread of the program completes wakes a wait that holds a receive too. */
static void generalised(void)
{
    int extra = 1, data = 0, out = 6;
    MPI_Status statuses[2];
    MPI_Request both[2];
    pthread_t thread;
    MPI_Grequest_start(query, release, give_up, &extra, &own);
    pthread_create(&thread, NULL, finisher, NULL);
    both[0] = own;
    MPI_Irecv(&data, 1, MPI_INT, other, 8, pair, &both[1]);
    MPI_Send(&out, 1, MPI_INT, other, 8, pair);
    MPI_Send(&out, 1, MPI_INT, other, 9, pair);
    MPI_Waitall(2, both, statuses);
    CHECK(data == 6 && queried == 1 && freed == 1 && count_of(&statuses[0], MPI_INT) == 3 && statuses[0].MPI_TAG == 5);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE && size % 2 == 0);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Comm_rank(pair, &me);
    other = 1 - me;
    buffered();
    matched_probes();
    nobody();
    cancelling();
    families();
    persistent();
    replacing();
    parts();
    parts_with_holes();
    backwards();
    generalised();
    MPI_Comm_free(&pair);
    MPI_Finalize();
    printf("rank %d: %d checks\n", rank, checks);
    return 0;
}
