/* Messages of layouts with many holes: each layout to each other, in lengths below and above every bound, by each way of sending and of
 * receiving; cut, cancelled, to oneself. Neighbours 0 and 1, 2 and 3, ... are pairs. With the word `dies` rank 1 is killed in the midst. */
#include "mpi_check.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { LAYOUTS = 6, GAP = -7 };

/* Where the element lies, counted in ints from the first byte of the memory. */
static long place(int layout, long at, long count)
{
    switch (layout) {
    case 0: return at;
    case 1: return 2 * at;
    case 2: return 32 * at;
    case 3: return 3 * (count - 1 - at);            /* backwards */
    case 4: return at / 3 * 5 + at % 3;             /* blocks of three */
    default: return 4 * at + at * at % 3;           /* at no even distances */
    }
}

static long span(int layout, long count)
{
    return (layout == 2 ? 32 : 5) * (count + 1);
}

static MPI_Datatype typed(int layout, long count)
{
    MPI_Datatype type;
    int n = (int)count;
    if (layout == 0)
        MPI_Type_contiguous(n, MPI_INT, &type);
    else if (layout == 1 || layout == 2)
        MPI_Type_vector(n, 1, layout == 1 ? 2 : 32, MPI_INT, &type);
    else if (layout == 3)
        MPI_Type_create_hvector(n, 1, -3 * (MPI_Aint)sizeof(int), MPI_INT, &type);
    else if (layout == 4)
        MPI_Type_vector(n / 3, 3, 5, MPI_INT, &type);
    else {
        int *places = malloc(sizeof(int) * (n + 1));
        for (int at = 0; at < n; at++)
            places[at] = (int)place(layout, at, count);
        MPI_Type_create_indexed_block(n, 1, places, MPI_INT, &type);
        free(places);
    }
    MPI_Type_commit(&type);
    return type;
}

struct area {
    int *memory, *start;
    MPI_Datatype type;
    int layout;
    long count;
};

static struct area area(int layout, long count)
{
    struct area area = {.layout = layout, .count = count, .type = typed(layout, count)};
    area.memory = malloc(sizeof(int) * span(layout, count));
    area.start = area.memory + (layout == 3 && count > 0 ? 3 * (count - 1) : 0);
    for (long at = 0; at < span(layout, count); at++)
        area.memory[at] = GAP;
    return area;
}

static void fill(struct area *area, int seed)
{
    for (long at = 0; at < area->count; at++)
        area->memory[place(area->layout, at, area->count)] = (int)(at * 7 + seed);
}

/* Whether the first elements came and nothing else was touched; then forgets them. */
static int came(struct area *area, int seed, long elements)
{
    for (long at = 0; at < elements; at++) {
        int *found = &area->memory[place(area->layout, at, area->count)];
        if (*found != (int)(at * 7 + seed))
            return 0;
        *found = GAP;
    }
    for (long at = 0; at < span(area->layout, area->count); at++)
        if (area->memory[at] != GAP)
            return 0;
    return 1;
}

static void done(struct area *area)
{
    free(area->memory);
    MPI_Type_free(&area->type);
}

enum { WAYS = 6 };

static void give(struct area *area, int way, int to, MPI_Comm comm)
{
    MPI_Request request;
    switch (way) {
    case 0: MPI_Send(area->start, 1, area->type, to, way, comm); return;
    case 1: MPI_Ssend(area->start, 1, area->type, to, way, comm); return;
    case 2: MPI_Isend(area->start, 1, area->type, to, way, comm, &request); break;
    case 3: MPI_Issend(area->start, 1, area->type, to, way, comm, &request); break;
    case 4: MPI_Send_init(area->start, 1, area->type, to, way, comm, &request); MPI_Start(&request); break;
    default: MPI_Rsend(area->start, 1, area->type, to, way, comm); return;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (way == 4)
        MPI_Request_free(&request);
}

static int take(struct area *area, int way, int from, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    MPI_Message message;
    int code, is_there = 0;
    switch (way) {
    case 1: MPI_Irecv(area->start, 1, area->type, MPI_ANY_SOURCE, way, comm, &request); break;
    case 2: MPI_Mprobe(from, way, comm, &message, status); return MPI_Mrecv(area->start, 1, area->type, &message, status);
    case 3:
        while (!is_there)
            MPI_Iprobe(from, way, comm, &is_there, status);
        return MPI_Recv(area->start, 1, area->type, from, MPI_ANY_TAG, comm, status);
    case 4: MPI_Recv_init(area->start, 1, area->type, from, way, comm, &request); MPI_Start(&request); break;
    default: return MPI_Recv(area->start, 1, area->type, from, way, comm, status);
    }
    code = MPI_Wait(&request, status);
    if (way == 4)
        MPI_Request_free(&request);
    return code;
}

static void pairs(int other, long count, MPI_Comm comm)
{
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int behind = 0; behind < LAYOUTS; behind++) {
            struct area mine = area(rank % 2 == 0 ? layout : behind, count);
            int way = (layout + 2 * behind) % WAYS, seed = 100 * layout + behind;
            MPI_Status status;
            if (rank % 2 == 0) {
                fill(&mine, seed);
                give(&mine, way, other, comm);
                CHECK(came(&mine, seed, count));
                CHECK(take(&mine, WAYS - 1 - way, other, comm, &status) == MPI_SUCCESS);
            } else {
                CHECK(take(&mine, way, other, comm, &status) == MPI_SUCCESS);
                CHECK(came(&mine, seed, count));
                fill(&mine, seed + 1);
                give(&mine, WAYS - 1 - way, other, comm);
            }
            CHECK(rank % 2 == 1 || (came(&mine, seed + 1, count) && count_of(&status, mine.type) == (count > 0)));
            done(&mine);
        }
}

/* Many at a time, received in another order; the first that is received was not begun first. */
static void crowds(int other, MPI_Comm comm)
{
    enum { MANY = 24, COUNT = 9000 };
    struct area from[MANY], into[MANY];
    MPI_Request sent[MANY], got[MANY];
    for (int at = 0; at < MANY; at++) {
        from[at] = area(at % LAYOUTS, COUNT + 3 * at), into[at] = area((at + 1) % LAYOUTS, COUNT + 3 * at);
        fill(&from[at], at);
        MPI_Isend(from[at].start, 1, from[at].type, other, 100 + at, comm, &sent[at]);
    }
    for (int at = MANY - 1; at >= 0; at--)
        MPI_Irecv(into[at].start, 1, into[at].type, other, 100 + at, comm, &got[at]);
    MPI_Waitall(MANY, got, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, sent, MPI_STATUSES_IGNORE);
    for (int at = 0; at < MANY; at++) {
        CHECK(came(&into[at], at, COUNT + 3 * at));
        done(&from[at]), done(&into[at]);
    }
}

/* What is longer than its room is cut, what is shorter leaves the rest alone. */
static void unequal(int other, long count, MPI_Comm comm)
{
    for (int layout = 0; layout < LAYOUTS; layout++) {
        struct area longer = area(layout, count), shorter = area((layout + 3) % LAYOUTS, count - 30);
        MPI_Status status;
        if (rank % 2 == 0) {
            fill(&longer, 5), fill(&shorter, 6);
            give(&longer, layout, other, comm);
            give(&shorter, layout, other, comm);
        } else {
            CHECK(class_of(take(&shorter, layout, other, comm, &status)) == MPI_ERR_TRUNCATE);
            CHECK(came(&shorter, 5, count - 30));
            CHECK(take(&longer, layout, other, comm, &status) == MPI_SUCCESS);
            CHECK(count_of(&status, MPI_INT) == count - 30 && came(&longer, 6, count - 30));
        }
        done(&longer), done(&shorter);
    }
}

static void alone(long count)
{
    for (int layout = 1; layout < LAYOUTS; layout++) {
        struct area from = area(layout, count), into = area(LAYOUTS - layout, count), never = area(layout, count);
        MPI_Request request, unused;
        MPI_Status status;
        int is_cancelled = 0;
        fill(&from, layout);
        MPI_Irecv(never.start, 1, never.type, 0, 9, MPI_COMM_SELF, &unused);
        MPI_Cancel(&unused);
        MPI_Wait(&unused, &status);
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK(is_cancelled);
        MPI_Irecv(into.start, 1, into.type, 0, 9, MPI_COMM_SELF, &request);
        MPI_Send(from.start, 1, from.type, 0, 9, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(came(&into, layout, count) && came(&never, 0, 0));
        /* A receive whose request is gone is done all the same. */
        MPI_Irecv(into.start, 1, into.type, 0, 8, MPI_COMM_SELF, &request);
        MPI_Request_free(&request);
        MPI_Sendrecv(from.start, 1, from.type, 0, 8, never.start, 1, never.type, MPI_PROC_NULL, 8, MPI_COMM_SELF, &status);
        fill(&never, 3);
        MPI_Sendrecv_replace(never.start, 1, never.type, 0, 7, 0, 7, MPI_COMM_SELF, &status);
        CHECK(came(&into, layout, count) && came(&never, 3, count));
        done(&from), done(&into), done(&never);
    }
}

static void *killer(void *unused)
{
    /* In the midst of a message, mostly; what the other rank must see is the same whenever it comes. */
    struct timespec some = {.tv_nsec = 30000000};
    nanosleep(&some, NULL);
    kill(getpid(), SIGKILL);
    return unused;
}

/* Rank 1 is killed while it sends, rank 0 gets whole messages until it is told. */
static void dies(void)
{
    enum { COUNT = 600000 };
    struct area mine = area(rank == 0 ? 1 : 5, COUNT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        pthread_t thread;
        pthread_create(&thread, NULL, killer, NULL);
        fill(&mine, 4);
        for (;;)
            MPI_Send(mine.start, 1, mine.type, 0, 1, MPI_COMM_WORLD);
    }
    int code;
    while ((code = MPI_Recv(mine.start, 1, mine.type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPI_SUCCESS)
        CHECK(came(&mine, 4, COUNT));
    CHECK(class_of(code) == MPIX_ERR_PROC_FAILED);
    printf("rank 0: told\n");
}

int main(int argc, char **argv)
{
    static const long counts[] = {0, 3, 9, 300, 4095, 4098, 16383, 50001, 300003};
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "dies") == 0) {
        dies();
        MPI_Finalize();
        return 0;
    }
    /* A message that was found has lost its communicator: its errors are those of the process. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int other = rank ^ 1;
    if (other < size) {
        for (size_t at = 0; at < sizeof counts / sizeof counts[0]; at++)
            pairs(other, counts[at], comm);
        crowds(other, comm);
        unequal(other, 60, comm), unequal(other, 99999, comm);
        /* More than there is room for between the two. */
        if (rank < 2)
            for (int layout = 1; layout < 5; layout += 3) {
                struct area mine = area(layout, 9000000);
                fill(&mine, 1);
                if (rank == 0)
                    give(&mine, 0, other, comm);
                else {
                    came(&mine, 1, mine.count);
                    CHECK(take(&mine, 0, other, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && came(&mine, 1, mine.count));
                }
                done(&mine);
            }
    }
    alone(50001), alone(30), alone(3000);
    printf("rank %d: %d checks\n", rank, checks);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
