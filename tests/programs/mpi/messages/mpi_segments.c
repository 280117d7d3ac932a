/* Blocking collective calls of a communicator that lives long enough for a board: what is done there, what goes by messages between, what
 * is under way meanwhile, and what becomes of communicators by the hundred. `dies`: rank 1 is killed while the others wait at the board;
 * `revokes`: rank 1 revokes the communicator instead; with a rank behind it that one broadcasts meanwhile, which waits for nobody. */
#include "mpi_check.h"

#include <signal.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 40000, ROUNDS = 400 };

static int mine[LONGEST * 8], got[LONGEST * 8], again[LONGEST * 8];

static unsigned next(unsigned *state)
{
    return (*state = *state * 1664525u + 1013904223u) >> 8;
}

/* The first operand is what came before: a * 10 + b in no other order. */
static void digits(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int at = 0; at < *count; at++) {
        long long before = ((long long *)in)[at], here = ((long long *)inout)[at];
        ((long long *)inout)[at] = before * 10 + here;
    }
}

static void sums(MPI_Comm comm, int count, int in_place)
{
    for (int at = 0; at < count; at++)
        mine[at] = rank + at, got[at] = in_place ? mine[at] : -1;
    MPI_Allreduce(in_place ? MPI_IN_PLACE : mine, got, count, MPI_INT, MPI_SUM, comm);
    for (int at = 0; at < count; at++)
        CHECK(got[at] == size * at + size * (size - 1) / 2);
}

static void collections(MPI_Comm comm, int count, int in_place)
{
    for (int at = 0; at < count; at++) {
        mine[at] = rank * 100000 + at;
        if (in_place)
            got[rank * count + at] = mine[at];
    }
    MPI_Allgather(in_place ? MPI_IN_PLACE : mine, count, MPI_INT, got, count, MPI_INT, comm);
    for (int from = 0; from < size; from++)
        CHECK(count == 0 || (got[from * count] == from * 100000 && got[from * count + count - 1] == from * 100000 + count - 1));
    for (int to = 0; to < size; to++)
        for (int at = 0; at < count; at++)
            mine[to * count + at] = rank * 1000 + to * 10 + at % 10;
    MPI_Alltoall(mine, count, MPI_INT, again, count, MPI_INT, comm);
    for (int from = 0; from < size; from++)
        CHECK(count == 0 || again[from * count + count - 1] == from * 1000 + rank * 10 + (count - 1) % 10);
}

static void rooted(MPI_Comm comm, int count, int root)
{
    for (int at = 0; at < count; at++)
        mine[at] = rank == root ? root + at : -1;
    MPI_Bcast(mine, count, MPI_INT, root, comm);
    CHECK(count == 0 || mine[count - 1] == root + count - 1);
    MPI_Reduce(mine, got, count, MPI_INT, MPI_MAX, root, comm);
    CHECK(rank != root || count == 0 || got[count - 1] == root + count - 1);
}

/* Data with holes, and an operation of the program's that keeps its order. */
static void special(MPI_Comm comm, MPI_Op in_order)
{
    MPI_Datatype every_second;
    long long value = rank % 9 + 1, result = 0, expected = 0;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    int holed[6] = {rank, -1, rank + 1, -1, rank + 2, -1};
    MPI_Allgather(holed, 1, every_second, got, 3, MPI_INT, comm);
    for (int from = 0; from < size; from++)
        CHECK(got[3 * from] == from && got[3 * from + 2] == from + 2);
    MPI_Allgather(mine, 0, MPI_INT, got, 0, MPI_INT, comm);
    /* Holes here, and none there. */
    for (int root = 0; root < size; root++) {
        int *place = rank % 2 ? holed : mine, step = rank % 2 ? 2 : 1;
        for (int at = 0; at < 3; at++)
            place[at * step] = rank == root ? 10 * root + at : -1;
        rank % 2 ? MPI_Bcast(holed, 1, every_second, root, comm) : MPI_Bcast(mine, 3, MPI_INT, root, comm);
        CHECK(place[0] == 10 * root && place[step] == 10 * root + 1 && place[2 * step] == 10 * root + 2);
    }
    MPI_Type_free(&every_second);
    for (int from = 0; from < size; from++)
        expected = expected * 10 + from % 9 + 1;
    MPI_Allreduce(&value, &result, 1, MPI_LONG_LONG, in_order, comm);
    CHECK(result == expected);
}

/* A root that waits for nobody, and others that are late, asleep or early. */
static void broadcasts(MPI_Comm comm, unsigned *state)
{
    int last = -1;
    for (int round = 0; round < 300; round++) {
        unsigned what = next(state);
        int root = what / 8 % size, count = what % 8 == 0 ? what / 64 % 300 : what / 64 % 12;
        if (what % 16 == 1 && what / 16 % size == (unsigned)rank)
            thrd_sleep(&(struct timespec){.tv_nsec = what / 256 % 2000 * 1000}, NULL);
        for (int at = 0; at < count; at++)
            mine[at] = rank == root ? round * 1000 + at : -1;
        MPI_Bcast(mine, count, MPI_INT, root, comm);
        CHECK(count == 0 || (mine[0] == round * 1000 && mine[count - 1] == round * 1000 + count - 1));
        /* Others may meet in between. */
        if (what % 32 == 2)
            MPI_Allreduce(&round, &last, 1, MPI_INT, MPI_MAX, comm);
        CHECK(what % 32 != 2 || last == round);
    }
}

/* What was begun goes on while others wait at the board. */
static void under_way(MPI_Comm comm)
{
    MPI_Request requests[3];
    int sum = 0, from = -1, to = rank;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Irecv(&from, 1, MPI_INT, (rank + 1) % size, 5, comm, &requests[1]);
    MPI_Barrier(comm);
    MPI_Issend(&to, 1, MPI_INT, (rank + size - 1) % size, 5, comm, &requests[2]);
    MPI_Barrier(comm);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == size * (size - 1) / 2 && from == (rank + 1) % size);
}

static int lines_of_maps(void)
{
    int lines = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* Communicators that had a board leave nothing behind. */
static void many(void)
{
    int before = 0;
    for (int round = 0; round < 200; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int turn = 0; turn < 12; turn++)
            sums(comm, 3, 0);
        MPI_Comm_free(&comm);
        if (round == 20)
            before = lines_of_maps();
    }
    CHECK(lines_of_maps() <= before + 8);
}

static void halves(void)
{
    MPI_Comm half;
    int own = rank, part = size, sum;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_size(half, &size);
    MPI_Comm_rank(half, &rank);
    for (int turn = 0; turn < 30; turn++) {
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_MIN, half);
        CHECK(sum == own % 2);
        sums(half, turn, turn % 2);
    }
    rank = own, size = part;
    MPI_Comm_free(&half);
}

/* All do it the same number of times, whoever ends. */
static int one_more(MPI_Comm comm, int root, int round)
{
    int sum = round, code;
    if (root < 0) {
        code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(code != MPI_SUCCESS || sum == size * (size - 1) / 2);
        return code;
    }
    if (rank != root)
        sum = -1;
    code = MPI_Bcast(&sum, 1, MPI_INT, root, comm);
    CHECK(code != MPI_SUCCESS || sum == round);
    return code;
}

static void ends(int root, int revokes)
{
    int sum, code = MPI_SUCCESS, round;
    MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (round = 0; round < 1000 && code == MPI_SUCCESS; round++) {
        if (rank == 1 && round == 100 && !revokes)
            raise(SIGKILL);
        if (rank == 1 && round == 100)
            MPIX_Comm_revoke(comm);
        code = one_more(comm, root, round);
    }
    /* Another may be farther, and have revoked it. */
    CHECK(class_of(code) == MPIX_ERR_REVOKED || (!revokes && class_of(code) == MPIX_ERR_PROC_FAILED));
    /* Who listens may be far behind when the others revoke it, and who broadcasts ahead when one dies. */
    CHECK(root < 0 ? round == 101 : round < 300 && (round > 100 || class_of(code) == MPIX_ERR_REVOKED));
    int again = class_of(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(again == MPIX_ERR_REVOKED || again == class_of(code));
    /* Who is left has a communicator, and a board, of its own. */
    MPI_Comm rest;
    MPIX_Comm_revoke(comm);
    CHECK(MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS);
    int left, place;
    MPI_Comm_size(rest, &left);
    MPI_Comm_rank(rest, &place);
    for (int turn = 0; turn < 50; turn++) {
        CHECK(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, rest) == MPI_SUCCESS);
        CHECK(sum == left * (left - 1) / 2);
    }
    printf("rank %d: %d of %d left\n", rank, left, size);
}

/* Whether the last collective call used that algorithm, as MPI_T says. */
static int was_by(const char *algorithm)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_enum names;
    int provided, index, count, state, value, length = 64;
    char name[64];
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    CHECK(MPI_T_pvar_get_index("parvum_collective_algorithm", MPI_T_PVAR_CLASS_STATE, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(session, handle, &state) == MPI_SUCCESS);
    CHECK(MPI_T_enum_get_item(names, state, &value, name, &length) == MPI_SUCCESS);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return strcmp(name, algorithm) == 0;
}

/* Ranks that have a segment use it, as `parvum algorithms` says. */
static void algorithms(void)
{
    static char data[64 << 10];
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size == 1 || was_by("shared segment"));
    MPI_Bcast(data, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(size == 1 || was_by("broadcast ring"));
    MPI_Bcast(data, sizeof data, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(size == 1 || was_by(size == 2 ? "straight messages" : "shared segment"));
    MPI_Gather(data, 8, MPI_BYTE, data + 8, 8, MPI_BYTE, 0, MPI_COMM_SELF);
    CHECK(was_by("straight messages"));
}

int main(int argc, char **argv)
{
    MPI_Op in_order;
    unsigned state = 31415;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        ends(argc > 2 ? atoi(argv[2]) : -1, strcmp(argv[1], "revokes") == 0);
        MPI_Finalize();
        return 0;
    }
    MPI_Op_create(digits, 0, &in_order);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned what = next(&state) % 6, in_place = next(&state) % 2;
        int count = round % 10 == 0 ? next(&state) % LONGEST : next(&state) % 40;
        switch (what) {
        case 0: MPI_Barrier(MPI_COMM_WORLD); break;
        case 1: sums(MPI_COMM_WORLD, count, in_place); break;
        case 2: collections(MPI_COMM_WORLD, count, in_place); break;
        case 3: rooted(MPI_COMM_WORLD, count, next(&state) % size); break;
        case 4: special(MPI_COMM_WORLD, in_order); break;
        default: under_way(MPI_COMM_WORLD);
        }
    }
    MPI_Op_free(&in_order);
    broadcasts(MPI_COMM_WORLD, &state);
    halves();
    many();
    if (getenv("PARVUM_ROUTE") == NULL)
        algorithms();
    printf("rank %d: %d checks\n", rank, checks > 1000);
    MPI_Finalize();
    return 0;
}
