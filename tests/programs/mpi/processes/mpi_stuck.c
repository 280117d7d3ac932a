/* Programs that hang, each in its own way; each rank says `ready` before it does. `parvum why` shall know why. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void ready(void)
{
    printf("ready %d\n", rank);
    fflush(stdout);
}

/* The last broadcasts, the others meet: once all have done three things together. */
static void odds(void)
{
    int data[100] = {0};
    for (int turn = 0; turn < 3; turn++)
        MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ready();
    if (rank == size - 1)
        MPI_Bcast(data, 100, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

/* The last begins what the others call and wait in. */
static void begun(void)
{
    MPI_Request request;
    ready();
    if (rank == size - 1) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Each thinks that it is the root, on a communicator with a name. */
static void roots(void)
{
    MPI_Comm rows;
    int data = 1, sum;
    MPI_Comm_dup(MPI_COMM_WORLD, &rows);
    MPI_Comm_set_name(rows, "rows");
    ready();
    MPI_Reduce(&data, &sum, 1, MPI_INT, MPI_SUM, rank, rows);
}

/* Each sends first, and waits for the other to receive: more than is kept for a receiver. */
static void sends(int synchronous)
{
    enum { LONG = 100 << 20 };
    char *data = calloc(LONG, 1);
    ready();
    if (synchronous)
        MPI_Ssend(data, 8, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD);
    else
        MPI_Send(data, LONG, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD);
    MPI_Recv(data, LONG, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(data);
}

/* Rank 0 waits for another tag than rank 1 sends, and rank 1 for an answer, in a call that waits for many. */
static void tags(void)
{
    int data = 0;
    MPI_Request request;
    ready();
    if (rank == 0) {
        MPI_Recv(&data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(&data, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Irecv(&data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    }
}

/* Nobody hangs: rank 0 computes, the others have gone on to what comes next. */
static void slow(void)
{
    ready();
    if (rank == 0)
        sleep(600);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 waits for rank 1 or for rank 2, which computes; rank 1 waits for rank 0. */
static void any(void)
{
    int data[2], which;
    MPI_Request both[2];
    ready();
    if (rank == 2)
        sleep(600);
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&data[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Irecv(&data[1], 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &both[1]);
    MPI_Waitany(2, both, &which, MPI_STATUS_IGNORE);
}

/* Ranks have a segment, and give the root their numbers there. The last waits for a message of the root, which waits for its number. */
static void gives(void)
{
    int number = rank, sum = 0;
    for (int at = 0; at < 12; at++)
        MPI_Barrier(MPI_COMM_WORLD);
    ready();
    if (rank == size - 1)
        MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *receiver(void *nothing)
{
    int data;
    MPI_Recv(&data, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return nothing;
}

/* Each has a thread that receives, and another that will send, but not yet. */
static void threads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, receiver, NULL);
    ready();
    sleep(600);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, argc > 1 && !strcmp(argv[1], "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "odds") == 0)
        odds();
    else if (strcmp(way, "begun") == 0)
        begun();
    else if (strcmp(way, "roots") == 0)
        roots();
    else if (strcmp(way, "ssend") == 0)
        sends(1);
    else if (strcmp(way, "send") == 0)
        sends(0);
    else if (strcmp(way, "tags") == 0)
        tags();
    else if (strcmp(way, "any") == 0)
        any();
    else if (strcmp(way, "gives") == 0)
        gives();
    else if (strcmp(way, "threads") == 0)
        threads();
    else
        slow();
    MPI_Finalize();
    return 0;
}
