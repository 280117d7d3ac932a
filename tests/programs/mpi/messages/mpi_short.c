/* The short paths of messages: to oneself in one call, both ways in one call, and receives that are begun by one of several threads. */
#define _GNU_SOURCE
#include "mpi_check.h"
#include <pthread.h>

enum { TAG = 3, OTHER_TAG = 4, LONG = 16384, MANY = 400 };

/* --- To oneself --- */

static void to_oneself(MPI_Comm comm, int me)
{
    int give = 5, get = 0, early = 0, late = 0;
    MPI_Status status;
    MPI_Request request;

    MPI_Sendrecv(&give, 1, MPI_INT, me, TAG, &get, 1, MPI_INT, me, TAG, comm, &status);
    CHECK(get == 5 && status.MPI_SOURCE == me && status.MPI_TAG == TAG && count_of(&status, MPI_INT) == 1);
    MPI_Sendrecv(&give, 0, MPI_INT, me, TAG, NULL, 0, MPI_INT, me, TAG, comm, &status);
    CHECK(count_of(&status, MPI_INT) == 0);
    give = 6;
    MPI_Sendrecv(&give, 1, MPI_INT, me, OTHER_TAG, &get, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    CHECK(get == 6 && status.MPI_SOURCE == me && status.MPI_TAG == OTHER_TAG);

    /* A receive that was begun earlier gets the message. */
    MPI_Irecv(&early, 1, MPI_INT, me, TAG, comm, &request);
    give = 7;
    MPI_Send(&give, 1, MPI_INT, me, TAG, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(early == 7);
    MPI_Irecv(&early, 1, MPI_INT, me, TAG, comm, &request);
    give = 8;
    MPI_Isend(&give, 1, MPI_INT, me, OTHER_TAG, comm, &(MPI_Request){MPI_REQUEST_NULL});
    late = 9;
    MPI_Sendrecv(&late, 1, MPI_INT, me, TAG, &get, 1, MPI_INT, me, OTHER_TAG, comm, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(early == 9 && get == 8);

    /* A message that was sent earlier is received first. */
    give = 10;
    MPI_Send(&give, 1, MPI_INT, me, TAG, comm);
    late = 11;
    MPI_Sendrecv(&late, 1, MPI_INT, me, TAG, &get, 1, MPI_INT, me, TAG, comm, &status);
    CHECK(get == 10);
    MPI_Recv(&get, 1, MPI_INT, me, TAG, comm, &status);
    CHECK(get == 11);

    /* A buffer that is too short. */
    int two[2] = {12, 13};
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = MPI_Sendrecv(two, 2, MPI_INT, me, TAG, &get, 1, MPI_INT, me, TAG, comm, &status);
    CHECK(class_of(code) == MPI_ERR_TRUNCATE && get == 12);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);

    /* To and from nobody. */
    MPI_Sendrecv(&give, 1, MPI_INT, MPI_PROC_NULL, TAG, &get, 1, MPI_INT, MPI_PROC_NULL, TAG, comm, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Sendrecv(&give, 1, MPI_INT, me, TAG, &get, 1, MPI_INT, MPI_PROC_NULL, TAG, comm, &status);
    MPI_Sendrecv(&give, 1, MPI_INT, MPI_PROC_NULL, TAG, &get, 1, MPI_INT, me, TAG, comm, &status);
    CHECK(get == 10 && status.MPI_SOURCE == me);
}

/* Receives that were begun get the messages that this rank sends to itself, in the order in which they were begun. */
static void to_begun_receives(MPI_Comm comm, int me)
{
    int got[4] = {0}, give[4] = {20, 21, 22, 23};
    MPI_Request requests[4];
    MPI_Status statuses[4], status;

    for (int at = 0; at < 4; at++) MPI_Irecv(&got[at], 1, MPI_INT, me, TAG + at % 2, comm, &requests[at]);
    /* The second receive gets the first message, because the first receive wants another tag. */
    MPI_Send(&give[1], 1, MPI_INT, me, TAG + 1, comm);
    MPI_Send(&give[0], 1, MPI_INT, me, TAG, comm);
    MPI_Isend(&give[2], 1, MPI_INT, me, TAG, comm, &(MPI_Request){MPI_REQUEST_NULL});
    MPI_Rsend(&give[3], 1, MPI_INT, me, TAG + 1, comm);
    MPI_Waitall(4, requests, statuses);
    for (int at = 0; at < 4; at++)
        CHECK(got[at] == give[at] && statuses[at].MPI_TAG == TAG + at % 2 && statuses[at].MPI_SOURCE == me);

    /* Two of three have their messages when another call comes between. */
    int flag;
    for (int at = 0; at < 3; at++) MPI_Irecv(&got[at], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[at]);
    give[0] = 30, give[1] = 31, give[2] = 32;
    MPI_Send(&give[0], 1, MPI_INT, me, TAG, comm);
    MPI_Send(&give[1], 0, MPI_INT, me, TAG, comm);
    MPI_Iprobe(me, TAG, comm, &flag, &status);
    CHECK(!flag);
    MPI_Test(&requests[0], &flag, &status);
    CHECK(flag && got[0] == 30 && count_of(&status, MPI_INT) == 1);
    MPI_Send(&give[2], 1, MPI_INT, me, OTHER_TAG, comm);
    MPI_Wait(&requests[2], &status);
    CHECK(got[2] == 32 && status.MPI_TAG == OTHER_TAG);
    MPI_Wait(&requests[1], &status);
    CHECK(count_of(&status, MPI_INT) == 0 && got[1] == give[1] - 10);

    /* A receive of an earlier call comes first, and so does an earlier message. */
    MPI_Irecv(&got[0], 1, MPI_INT, me, TAG, comm, &requests[0]);
    MPI_Test(&requests[0], &flag, &status);
    MPI_Irecv(&got[1], 1, MPI_INT, me, TAG, comm, &requests[1]);
    give[0] = 40, give[1] = 41;
    MPI_Send(&give[0], 1, MPI_INT, me, TAG, comm);
    MPI_Send(&give[1], 1, MPI_INT, me, TAG, comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(!flag && got[0] == 40 && got[1] == 41);
    MPI_Send(&give[1], 1, MPI_INT, me, TAG, comm);
    MPI_Irecv(&got[0], 1, MPI_INT, me, TAG, comm, &requests[0]);
    MPI_Send(&give[0], 1, MPI_INT, me, TAG, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Recv(&got[1], 1, MPI_INT, me, TAG, comm, MPI_STATUS_IGNORE);
    CHECK(got[0] == 41 && got[1] == 40);

    /* A buffer that is too short. Then many messages: one in 64 goes through the link of this rank to itself. */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Irecv(&got[0], 1, MPI_INT, me, TAG, comm, &requests[0]);
    MPI_Send(give, 2, MPI_INT, me, TAG, comm);
    CHECK(class_of(MPI_Wait(&requests[0], &status)) == MPI_ERR_TRUNCATE && got[0] == 40);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    for (int at = 0; at < MANY; at++) {
        MPI_Irecv(&got[0], 1, MPI_INT, me, TAG, comm, &requests[0]);
        MPI_Send(&at, 1, MPI_INT, me, TAG, comm);
        MPI_Wait(&requests[0], &status);
        CHECK(got[0] == at && status.MPI_SOURCE == me && count_of(&status, MPI_INT) == 1);
    }
}

/* --- Both ways, while neither has room for more --- */

static char longs[MANY][LONG], come[LONG];

static void both_ways(void)
{
    int other = rank ^ 1;
    MPI_Status status;
    static MPI_Request sent[MANY];
    for (int at = 0; at < MANY; at++) {
        memset(longs[at], rank + at, LONG);
        MPI_Isend(longs[at], LONG, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &sent[at]);
    }
    /* Each exchange receives one of those, and sends one more. */
    for (int at = 0; at < 2 * MANY; at++) {
        char more[LONG];
        memset(more, rank + MANY + at, LONG);
        MPI_Sendrecv(more, LONG, MPI_BYTE, other, TAG, come, LONG, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &status);
        CHECK(come[0] == (char)(other + at) && come[LONG - 1] == (char)(other + at));
    }
    for (int at = 2 * MANY; at < 3 * MANY; at++) {
        MPI_Recv(come, LONG, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &status);
        CHECK(come[0] == (char)(other + at));
    }
    MPI_Waitall(MANY, sent, MPI_STATUSES_IGNORE);
}

/* --- Receives of one thread, while another waits --- */

/* Rank 1 sends what this thread waits for only after the other thread's receive has its message. */
static void *waits(void *unused)
{
    int got;
    (void)unused;
    MPI_Recv(&got, 1, MPI_INT, 1, OTHER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 21);
    return NULL;
}

/* `first`: the receive is begun before the other thread waits. */
static void beside_a_thread(int first)
{
    int got = 0, number = 20, last = 21;
    if (rank == 1) {
        MPI_Ssend(&number, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
        MPI_Send(&last, 1, MPI_INT, 0, OTHER_TAG, MPI_COMM_WORLD);
    } else if (rank == 0) {
        pthread_t thread;
        MPI_Request request;
        if (!first)
            pthread_create(&thread, NULL, waits, NULL);
        MPI_Irecv(&got, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
        if (first)
            pthread_create(&thread, NULL, waits, NULL);
        /* No call of MPI until then. */
        pthread_join(thread, NULL);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(got == 20);
    }
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = argc > 1;
    beside_a_thread(first);
    beside_a_thread(!first);
    to_oneself(MPI_COMM_WORLD, rank);
    to_begun_receives(MPI_COMM_WORLD, rank);
    to_oneself(MPI_COMM_SELF, 0);
    to_begun_receives(MPI_COMM_SELF, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if ((rank ^ 1) < size)
        both_ways();
    printf("rank %d: %d checks\n", rank, checks);
    MPI_Finalize();
    return 0;
}
