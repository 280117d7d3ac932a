/* Communicators and what their members do together, as the standard promises it; by two to nine ranks. */
#include "mpi_check.h"
#include <pthread.h>

/* Five collective operations that are under way at once and finished out of order; receives from anyone see none of their messages. */
static void begun_together(void)
{
    int data[5] = {rank, rank == 0 ? 40 : 0, rank, 1, 0}, sum = 0, last = -1, all[9], scan = 0, anybody = -1;
    MPI_Request requests[5], wild;
    MPI_Status status;
    MPI_Irecv(&anybody, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &wild);
    MPI_Iallreduce(&data[0], &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&data[1], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallgather(&data[2], 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
    MPI_Iscan(&data[3], &scan, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
    MPI_Ireduce(&data[0], &last, 1, MPI_INT, MPI_MAX, size - 1, MPI_COMM_WORLD, &requests[4]);
    for (int at = 4; at >= 0; at--) {
        int which = rank % 2 ? at : 4 - at;
        MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
    }
    CHECK(sum == size * (size - 1) / 2 && data[1] == 40 && scan == rank + 1);
    CHECK(last == (rank == size - 1 ? size - 1 : -1));
    for (int at = 0; at < size; at++)
        CHECK(all[at] == at);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
    MPI_Wait(&wild, &status);
    CHECK(anybody == (rank + size - 1) % size && status.MPI_TAG == 5);
}

/* Two groups that give each other their data; then one, the high behind the low. */
static void between_two(void)
{
    MPI_Comm side, both, merged;
    int high = rank % 2, there, data = -1, sum = 0, place, all[9], counts[9];
    MPI_Comm_split(MPI_COMM_WORLD, high, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - high, 12, &both);
    MPI_Comm_remote_size(both, &there);
    CHECK(there == (high ? (size + 1) / 2 : size / 2));
    int root = rank == 0 ? MPI_ROOT : high ? 0 : MPI_PROC_NULL;
    if (rank == 0)
        data = 123;
    MPI_Bcast(&data, 1, MPI_INT, root, both);
    CHECK(data == (high || rank == 0 ? 123 : -1));
    /* Everybody gives as many as its rank on its side, and one. */
    int own = rank / 2 + 1, given[9], room = 0, places[9];
    for (int at = 0; at < own; at++)
        given[at] = rank;
    for (int at = 0; at < there; at++) {
        counts[at] = at + 1;
        places[at] = room;
        room += at + 1;
    }
    int *got = malloc((room + 1) * sizeof(int));
    MPI_Allgatherv(given, own, MPI_INT, got, counts, places, MPI_INT, both);
    for (int at = 0; at < there; at++)
        CHECK(got[places[at]] == 2 * at + (1 - high) && got[places[at] + at] == 2 * at + (1 - high));
    free(got);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
    int theirs = 0;
    for (int at = 1 - high; at < size; at += 2)
        theirs += at;
    CHECK(sum == theirs);
    MPI_Barrier(both);
    MPI_Intercomm_merge(both, high, &merged);
    MPI_Comm_rank(merged, &place);
    CHECK(place == (high ? (size + 1) / 2 + rank / 2 : rank / 2));
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, merged);
    CHECK(all[0] == 0 && all[size - 1] == (size % 2 ? size - 2 : size - 1));
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
    MPI_Comm_free(&side);
}

/* A ring of one and of two: what went to the left arrives as from the right. A graph whose edges are there twice, and lead to oneself. */
static void neighbours(void)
{
    MPI_Comm ring, pair, graph, half;
    int period = 1, dims, out[2], in[2], me;
    dims = 1;
    MPI_Cart_create(MPI_COMM_SELF, 1, &dims, &period, 0, &ring);
    out[0] = 10, out[1] = 20;
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    CHECK(in[0] == 20 && in[1] == 10);
    MPI_Comm_free(&ring);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &half);
    if (half != MPI_COMM_NULL) {
        dims = 2;
        MPI_Cart_create(half, 1, &dims, &period, 0, &pair);
        MPI_Comm_rank(pair, &me);
        out[0] = me * 100 + 1, out[1] = me * 100 + 2;
        MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, pair);
        CHECK(in[0] == (1 - me) * 100 + 2 && in[1] == (1 - me) * 100 + 1);
        MPI_Comm_free(&pair);
        MPI_Comm_free(&half);
    }
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int sources[4] = {last, last, rank, rank}, targets[4] = {next, next, rank, rank}, four[4], got[4];
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, sources, MPI_UNWEIGHTED, 4, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    for (int at = 0; at < 4; at++)
        four[at] = rank * 10 + at;
    MPI_Neighbor_alltoall(four, 1, MPI_INT, got, 1, MPI_INT, graph);
    CHECK(got[0] == last * 10 && got[1] == last * 10 + 1 && got[2] == rank * 10 + 2 && got[3] == rank * 10 + 3);
    MPI_Comm_free(&graph);
}

/* By colour and key: none, equal, negative. Many are made and freed. */
static void splitting(void)
{
    MPI_Comm part;
    int place;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, -rank, &part);
    if (rank == 0) {
        CHECK(part == MPI_COMM_NULL);
    } else {
        MPI_Comm_rank(part, &place);
        CHECK(place == size - 1 - rank);
        MPI_Comm_free(&part);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, 3, &part);
    MPI_Comm_rank(part, &place);
    CHECK(place == rank);
    MPI_Comm_free(&part);
    for (int turn = 0; turn < 500; turn++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &part);
        MPI_Comm_free(&part);
    }
}

/* Both halves make a communicator at once, and one is copied while it is used. */
static void halves(void)
{
    MPI_Group world, half;
    MPI_Comm own, copy;
    MPI_Request request;
    int members[9], count = 0, sum = 0, wanted = 0, data = rank, got = -1;
    for (int at = rank % 2; at < size; at += 2) {
        members[count++] = at;
        wanted += at;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, members, &half);
    MPI_Comm_create_group(MPI_COMM_WORLD, half, 3, &own);
    MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, own);
    CHECK(sum == wanted);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    for (int turn = 0; turn < 10; turn++) {
        MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv(&data, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    CHECK(sum == size * (size - 1) / 2 && got == (rank + size - 1) % size);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_MAX, copy);
    CHECK(sum == size - 1);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&own);
    MPI_Group_free(&half);
    MPI_Group_free(&world);
}

static char order[16];
static int fails;

static int copying(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    *flag = extra != NULL;
    *(void **)out = (char *)in + 1;
    return MPI_SUCCESS;
}

static int deleting(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    char letter[2] = {(char)(size_t)value, 0};
    strcat(order, letter);
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int at_the_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int number = -1;
    (void)comm, (void)keyval, (void)value, (void)extra;
    /* MPI can still be used then. */
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    CHECK(number == rank);
    printf("rank %d: %d checks\n", rank, checks);
    return MPI_SUCCESS;
}

/* Attributes are copied when their function says so, and deleted last first; a deletion that fails fails the call. */
static void attributes(void)
{
    MPI_Comm one, two;
    int copied, kept, flag;
    void *value;
    MPI_Comm_create_keyval(copying, deleting, &copied, &copied);
    MPI_Comm_create_keyval(copying, deleting, &kept, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_set_attr(one, copied, (void *)(size_t)'a');
    MPI_Comm_set_attr(one, kept, (void *)(size_t)'k');
    MPI_Comm_dup(one, &two);
    MPI_Comm_get_attr(two, copied, &value, &flag);
    CHECK(flag && value == (void *)(size_t)'b');
    MPI_Comm_get_attr(two, kept, &value, &flag);
    CHECK(!flag);
    MPI_Comm_free(&two);
    CHECK(strcmp(order, "b") == 0);
    MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    fails = 1;
    CHECK(MPI_Comm_delete_attr(one, kept) != MPI_SUCCESS);
    CHECK(MPI_Comm_free(&one) != MPI_SUCCESS);
    fails = 0;
    order[0] = 0;
    CHECK(MPI_Comm_free(&one) == MPI_SUCCESS);
    CHECK(strcmp(order, "ka") == 0 || strcmp(order, "a") == 0);
    MPI_Comm_free_keyval(&copied);
    MPI_Comm_free_keyval(&kept);
    CHECK(copied == MPI_KEYVAL_INVALID);
}

/* The same bits on all ranks, and each time. */
static void same_bits(void)
{
    enum { LONG = 3000 };
    static double data[LONG], first[LONG], sum[LONG], theirs[LONG];
    for (int at = 0; at < LONG; at++)
        data[at] = 1.0 / (rank + 1.1 + at) * (at % 2 ? 1e10 : -1e-10);
    for (int turn = 0; turn < 10; turn++) {
        MPI_Allreduce(data, sum, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (turn == 0)
            memcpy(first, sum, sizeof sum);
        CHECK(memcmp(first, sum, sizeof sum) == 0);
    }
    memcpy(theirs, sum, sizeof sum);
    MPI_Bcast(theirs, LONG, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    CHECK(memcmp(theirs, sum, sizeof sum) == 0);
}

enum { THREADS = 4, TURNS = 50 };
static MPI_Comm comms[THREADS];

static void *busy(void *place)
{
    int which = (int)((MPI_Comm *)place - comms), sum, data;
    for (int turn = 0; turn < TURNS; turn++) {
        data = rank + which + turn;
        MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, comms[which]);
        if (sum != size * (size - 1) / 2 + size * (which + turn))
            return NULL;
        data = which * 1000 + turn;
        MPI_Sendrecv(&data, 1, MPI_INT, (rank + 1) % size, which, &sum, 1, MPI_INT, (rank + size - 1) % size, which, comms[which],
                     MPI_STATUS_IGNORE);
        if (sum != data)
            return NULL;
    }
    return place;
}

static void *sleeper(void *nothing)
{
    int data;
    MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return nothing;
}

/* Threads with communicators of their own go on while one more sleeps in a receive from anyone. */
static void threads(void)
{
    pthread_t all[THREADS], last;
    void *done;
    for (int at = 0; at < THREADS; at++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
    pthread_create(&last, NULL, sleeper, NULL);
    for (int at = 0; at < THREADS; at++)
        pthread_create(&all[at], NULL, busy, &comms[at]);
    for (int at = 0; at < THREADS; at++) {
        pthread_join(all[at], &done);
        CHECK(done == &comms[at]);
    }
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD);
    pthread_join(last, NULL);
    for (int at = 0; at < THREADS; at++)
        MPI_Comm_free(&comms[at]);
}

int main(int argc, char **argv)
{
    int provided, end;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begun_together();
    between_two();
    neighbours();
    splitting();
    halves();
    attributes();
    same_bits();
    threads();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &end, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, end, &end);
    MPI_Finalize();
    return 0;
}
