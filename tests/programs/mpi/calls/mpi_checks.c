/* What MPI promises of messages, requests, communicators and collective operations, checked by as many ranks as are started (2 to 9):
 * one line `rank R: N checks` each, or what is wrong. */
#include "mpi_check.h"

#include <stdlib.h>

/* A megabyte, then a byte under the same tag arrive in that order, by wildcard too, with another communicator's traffic between. */
static void order(void)
{
    enum { LONG = 1 << 20 };
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    char *data = malloc(LONG), one = 7;
    MPI_Status status;
    if (rank == 0) {
        MPI_Request requests[3];
        memset(data, 3, LONG);
        MPI_Isend(data, LONG, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&one, 1, MPI_CHAR, 1, 5, other, &requests[1]);
        MPI_Isend(&one, 1, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        int count;
        MPI_Recv(data, LONG, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(count == LONG && data[0] == 3 && data[LONG - 1] == 3 && status.MPI_SOURCE == 0 && status.MPI_TAG == 5);
        MPI_Recv(data, LONG, MPI_CHAR, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(count == 1 && data[0] == 7);
        MPI_Recv(data, LONG, MPI_CHAR, 0, 5, other, MPI_STATUS_IGNORE);
        CHECK(data[0] == 7);
    }
    free(data);
    MPI_Comm_free(&other);
    CHECK(other == MPI_COMM_NULL);
}

/* A receive that is too short says so, and touches nothing behind its buffer. A synchronous send is over when it is matched. */
static void modes(void)
{
    int room[2] = {0, 77}, data[2] = {1, 2}, flag;
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Send(data, 2, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Issend(data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Send(data, 0, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(request == MPI_REQUEST_NULL);
    } else if (rank == 1) {
        CHECK(class_of(MPI_Recv(room, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
        CHECK(room[0] == 1 && room[1] == 77);
        MPI_Recv(room, 0, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(room, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(class_of(MPI_Send(data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(data, 1, MPI_INT, size, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(data, 1, MPI_INT, 0, -3, MPI_COMM_WORLD)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Bcast(data, 1, MPI_INT, size, MPI_COMM_WORLD)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Allreduce(data, room, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD)) == MPI_ERR_OP);
    /* Errors without a communicator are MPI_COMM_SELF's. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Comm_rank(MPI_COMM_NULL, &flag)) == MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Every second double goes in a ring, in place; a matched probe takes a message that nobody else finds. */
static void shapes(void)
{
    double data[64];
    MPI_Datatype every_second;
    MPI_Type_vector(32, 1, 2, MPI_DOUBLE, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 64; i++)
        data[i] = i % 2 ? -1 : rank;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Sendrecv_replace(data, 1, every_second, to, 4, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++)
        CHECK(data[i] == (i % 2 ? -1 : from));
    MPI_Type_free(&every_second);
    MPI_Message message;
    MPI_Status status;
    int flag, got = -1;
    MPI_Request request;
    MPI_Isend(&rank, 1, MPI_INT, to, 6, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, &status);
    MPI_Iprobe(status.MPI_SOURCE, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag && status.MPI_SOURCE == from);
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(got == from && message == MPI_MESSAGE_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Two-by-two matrices do not commute: their product shows the order. */
static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++) {
        double *a = (double *)in + 4 * i, *b = (double *)inout + 4 * i;
        double c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        memcpy(b, c, sizeof c);
    }
}

static void groups(void)
{
    MPI_Datatype matrix;
    MPI_Op product;
    MPI_Type_contiguous(4, MPI_DOUBLE, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &product);
    double own[4] = {1, rank + 1, 0, 1 + rank % 2}, all[4], serial[4] = {1, 0, 0, 1}, before[4];
    int one = 1;
    for (int other = 0; other < size; other++) {
        double next[4] = {1, other + 1, 0, 1 + other % 2};
        if (other == rank)
            memcpy(before, serial, sizeof before);
        multiply(serial, next, &one, NULL);
        memcpy(serial, next, sizeof serial);
    }
    MPI_Allreduce(own, all, 1, matrix, product, MPI_COMM_WORLD);
    CHECK(memcmp(all, serial, sizeof all) == 0);
    for (int root = 0; root < size; root++) {
        memset(all, 0, sizeof all);
        MPI_Reduce(own, all, 1, matrix, product, root, MPI_COMM_WORLD);
        CHECK(rank != root || memcmp(all, serial, sizeof all) == 0);
    }
    MPI_Exscan(own, all, 1, matrix, product, MPI_COMM_WORLD);
    CHECK(rank == 0 || memcmp(all, before, sizeof all) == 0);
    MPI_Op_free(&product);
    MPI_Type_free(&matrix);

    /* Five nonblocking operations, waited for from behind, beside a wildcard receive that never sees them. */
    int sums[5], wild = -1;
    MPI_Request requests[5], receive;
    MPI_Irecv(&wild, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive);
    for (int i = 0; i < 5; i++) {
        sums[i] = rank + i;
        MPI_Iallreduce(MPI_IN_PLACE, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 4; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        CHECK(sums[i] == size * (size - 1) / 2 + size * i);
    }
    CHECK(wild == -1);
    MPI_Send(&rank, 1, MPI_INT, rank, 8, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK(wild == rank);

    /* Unequal parts to all. */
    int *give = calloc(size * size, sizeof *give), *get = calloc(size * size, sizeof *get);
    int *counts = calloc(size, sizeof *counts), *places = calloc(size, sizeof *places);
    int *come = calloc(size, sizeof *come);
    for (int other = 0; other < size; other++) {
        counts[other] = (rank + other) % 3;
        come[other] = counts[other];
        places[other] = other * size;
        for (int i = 0; i < size; i++)
            give[other * size + i] = 100 * rank + 10 * other + i;
    }
    if (size > 2) {
        MPI_Alltoallv(give, counts, places, MPI_INT, get, come, places, MPI_INT, MPI_COMM_WORLD);
        for (int other = 0; other < size; other++)
            for (int i = 0; i < come[other]; i++)
                CHECK(get[other * size + i] == 100 * other + 10 * rank + i);
    }
    free(give), free(get), free(counts), free(places), free(come);
}

/* Halves split off, and speak with each other; keys turn the order round. */
static void communicators(void)
{
    MPI_Comm half, between, both, turned;
    int low, place, sum;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 12, &between);
    MPI_Comm_remote_size(between, &low);
    CHECK(low == (rank % 2 ? (size + 1) / 2 : size / 2));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between);
    int expected = 0;
    for (int other = 1 - rank % 2; other < size; other += 2)
        expected += other;
    CHECK(sum == expected);
    MPI_Intercomm_merge(between, rank % 2, &both);
    MPI_Comm_rank(both, &place);
    CHECK(place == (rank % 2 ? (size + 1) / 2 : 0) + rank / 2);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    MPI_Comm_rank(turned, &place);
    CHECK(place == size - 1 - rank);
    MPI_Comm_free(&turned), MPI_Comm_free(&both), MPI_Comm_free(&between), MPI_Comm_free(&half);
    for (int i = 0; i < 300; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_free(&copy);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    order();
    modes();
    shapes();
    groups();
    communicators();
    printf("rank %d: %d checks\n", rank, checks);
    MPI_Finalize();
    return 0;
}
