/* Every operation of a group, from every root, with nothing, one, an odd number and much of data, which ranks describe in different ways;
 * what does not commute, in the order of ranks; and sums of floats with the same bits on all ranks, every time. All of it by calls that
 * wait, or with the word `begun` by those that are begun and waited for, or with `prepared` by those that are prepared and started. */
#include "mpi_check.h"

static enum { WAITED, BEGUN, PREPARED } form;

/* One operation in the form that is asked for. */
#define DO(Name, name, ...)                                                                                                       \
    do {                                                                                                                          \
        MPI_Request request;                                                                                                      \
        if (form == WAITED) {                                                                                                     \
            MPI_##Name(__VA_ARGS__);                                                                                              \
            break;                                                                                                                \
        }                                                                                                                         \
        if (form == BEGUN) {                                                                                                      \
            MPI_I##name(__VA_ARGS__, &request);                                                                                   \
        } else {                                                                                                                  \
            MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                                                              \
            MPI_Start(&request);                                                                                                  \
        }                                                                                                                         \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                                    \
        CHECK((request == MPI_REQUEST_NULL) == (form == BEGUN));                                                                  \
        if (form == PREPARED)                                                                                                     \
            MPI_Request_free(&request);                                                                                           \
    } while (0)

enum { COUNTS = 4 };
static int counts[COUNTS] = {0, 1, 7, 4096};

/* What rank `of` has at a place. */
static int item(int of, int at)
{
    return of * 100003 + at * 7 + 1;
}

static int *filled(int of, int count)
{
    int *data = malloc((count + 1) * sizeof *data);
    for (int at = 0; at < count; at++)
        data[at] = item(of, at);
    data[count] = -77;
    return data;
}

/* Odd ranks say INTs, even ones one element that has them all: the signature is the same. */
static MPI_Datatype described(int count, int *elements)
{
    MPI_Datatype type;
    if (rank % 2 == 1 || count == 0) {
        MPI_Type_dup(MPI_INT, &type);
        *elements = count;
    } else {
        MPI_Type_contiguous(count, MPI_INT, &type);
        *elements = 1;
    }
    MPI_Type_commit(&type);
    return type;
}

static void moved(int root, int count)
{
    int elements;
    MPI_Datatype type = described(count, &elements);
    int *own = filled(rank, count), *all = calloc(size * (count + 1) + 1, sizeof *all), *back = calloc(count + 1, sizeof *back);

    int *data = rank == root ? filled(root, count) : calloc(count + 1, sizeof *data);
    DO(Bcast, bcast, data, elements, type, root, MPI_COMM_WORLD);
    for (int at = 0; at < count; at++)
        CHECK(data[at] == item(root, at));
    free(data);

    DO(Gather, gather, own, elements, type, all, count, MPI_INT, root, MPI_COMM_WORLD);
    for (int of = 0; rank == root && of < size; of++)
        for (int at = 0; at < count; at++)
            CHECK(all[of * count + at] == item(of, at));
    DO(Scatter, scatter, all, count, MPI_INT, back, elements, type, root, MPI_COMM_WORLD);
    for (int at = 0; at < count; at++)
        CHECK(back[at] == item(rank, at));

    /* Lengths that grow with the rank, each behind a gap. */
    int *lengths = malloc(size * sizeof *lengths), *places = malloc(size * sizeof *places), total = 0;
    for (int of = 0; of < size; of++) {
        lengths[of] = count * (of + 1) / size;
        places[of] = total;
        total += lengths[of] + 1;
    }
    int *ragged = malloc((total + 1) * sizeof *ragged);
    for (int at = 0; at <= total; at++)
        ragged[at] = -5;
    DO(Gatherv, gatherv, own, lengths[rank], MPI_INT, ragged, lengths, places, MPI_INT, root, MPI_COMM_WORLD);
    for (int of = 0; rank == root && of < size; of++) {
        for (int at = 0; at < lengths[of]; at++)
            CHECK(ragged[places[of] + at] == item(of, at));
        CHECK(ragged[places[of] + lengths[of]] == -5);
    }
    memset(back, 0, (count + 1) * sizeof *back);
    DO(Scatterv, scatterv, ragged, lengths, places, MPI_INT, back, lengths[rank], MPI_INT, root, MPI_COMM_WORLD);
    for (int at = 0; at < lengths[rank]; at++)
        CHECK(back[at] == item(rank, at));
    CHECK(back[lengths[rank]] == 0);
    for (int at = 0; at <= total; at++)
        ragged[at] = -5;
    DO(Allgatherv, allgatherv, own, lengths[rank], MPI_INT, ragged, lengths, places, MPI_INT, MPI_COMM_WORLD);
    for (int of = 0; of < size; of++)
        for (int at = 0; at < lengths[of]; at++)
            CHECK(ragged[places[of] + at] == item(of, at));
    free(ragged);
    free(lengths);
    free(places);

    memset(all, 0, size * count * sizeof *all);
    DO(Allgather, allgather, own, elements, type, all, count, MPI_INT, MPI_COMM_WORLD);
    for (int of = 0; of < size; of++)
        for (int at = 0; at < count; at++)
            CHECK(all[of * count + at] == item(of, at));
    free(own);
    free(all);
    free(back);
    MPI_Type_free(&type);
}

static void exchanged(int count)
{
    int *give = malloc((size * count + 1) * sizeof *give), *get = malloc((size * count + 1) * sizeof *get);
    int *lengths = malloc(size * sizeof *lengths), *places = malloc(size * sizeof *places), *bytes = malloc(size * sizeof *bytes);
    MPI_Datatype *types = malloc(size * sizeof *types);
    for (int of = 0; of < size; of++) {
        lengths[of] = count, places[of] = of * count, bytes[of] = of * count * (int)sizeof(int), types[of] = MPI_INT;
        for (int at = 0; at < count; at++)
            give[of * count + at] = item(rank, at) + of * 31;
    }
    for (int way = 0; way < 4; way++) {
        memset(get, 0, size * count * sizeof *get);
        if (way == 0)
            DO(Alltoall, alltoall, give, count, MPI_INT, get, count, MPI_INT, MPI_COMM_WORLD);
        if (way == 1)
            DO(Alltoallv, alltoallv, give, lengths, places, MPI_INT, get, lengths, places, MPI_INT, MPI_COMM_WORLD);
        if (way == 2)
            DO(Alltoallw, alltoallw, give, lengths, bytes, types, get, lengths, bytes, types, MPI_COMM_WORLD);
        if (way == 3) {
            memcpy(get, give, size * count * sizeof *get);
            DO(Alltoall, alltoall, MPI_IN_PLACE, count, MPI_INT, get, count, MPI_INT, MPI_COMM_WORLD);
        }
        for (int of = 0; of < size; of++)
            for (int at = 0; at < count; at++)
                CHECK(get[of * count + at] == item(of, at) + rank * 31);
    }
    free(give);
    free(get);
    free(lengths);
    free(places);
    free(bytes);
    free(types);
}

/* Short data of all to all, often enough for a communicator to have tried which way is the quickest; of other lengths too, and
 * beside operations that go on meanwhile. */
static void often(MPI_Comm comm)
{
    int *give = malloc(3 * size * sizeof *give), *get = malloc(3 * size * sizeof *get);
    for (int turn = 0; turn < 60; turn++) {
        int count = turn % 5 == 4 ? 3 : 1;
        MPI_Request request = MPI_REQUEST_NULL;
        int mine = item(rank, turn), *beside = malloc(size * sizeof *beside);
        if (turn % 7 == 3)
            MPI_Iallgather(&mine, 1, MPI_INT, beside, 1, MPI_INT, comm, &request);
        for (int at = 0; at < size * count; at++)
            give[at] = item(rank, turn + at);
        if (turn % 3 == 1) {
            MPI_Alltoall(give, count, MPI_INT, get, count, MPI_INT, comm);
            for (int of = 0; of < size; of++)
                CHECK(get[of * count] == item(of, turn + rank * count));
        } else {
            MPI_Allgather(give, count, MPI_INT, get, count, MPI_INT, comm);
            for (int of = 0; of < size; of++)
                CHECK(get[(of + 1) * count - 1] == item(of, turn + count - 1));
        }
        if (turn % 7 == 3) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int of = 0; of < size; of++)
                CHECK(beside[of] == item(of, turn));
        }
        free(beside);
    }
    free(give);
    free(get);
}

/* Affine maps x -> a x + b modulo a prime, by composition: it does not commute. */
typedef struct {
    unsigned a, b;
} map;
static const unsigned PRIME = 65521;
static MPI_Datatype map_type;
static MPI_Op compose;

static map after(map first, map second)
{
    return (map){second.a * first.a % PRIME, (second.a * first.b + second.b) % PRIME};
}

static void composed(void *in, void *inout, int *length, MPI_Datatype *type)
{
    map *left = in, *right = inout;
    (void)type;
    for (int at = 0; at < *length; at++)
        right[at] = after(left[at], right[at]);
}

static map of_rank(int of, int at)
{
    return (map){(unsigned)(of * 17 + at % 13 + 2) % PRIME, (unsigned)(of * 5 + at % 11 + 1) % PRIME};
}

/* All from rank `first` to `last`, one after the other. */
static map serial(int first, int last, int at)
{
    map all = of_rank(first, at);
    for (int of = first + 1; of <= last; of++)
        all = after(all, of_rank(of, at));
    return all;
}

static int is_same(map one, map other)
{
    return one.a == other.a && one.b == other.b;
}

static void combined(int count)
{
    map *give = malloc((count + 1) * sizeof *give), *get = malloc((count + 1) * sizeof *get);
    for (int at = 0; at < count; at++)
        give[at] = of_rank(rank, at);
    for (int root = 0; root < size; root++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            memcpy(get, give, count * sizeof *get);
            int here = in_place && rank == root;
            DO(Reduce, reduce, here ? MPI_IN_PLACE : give, get, count, map_type, compose, root, MPI_COMM_WORLD);
            for (int at = 0; rank == root && at < count; at++)
                CHECK(is_same(get[at], serial(0, size - 1, at)));
        }
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        memcpy(get, give, count * sizeof *get);
        DO(Allreduce, allreduce, in_place ? MPI_IN_PLACE : give, get, count, map_type, compose, MPI_COMM_WORLD);
        for (int at = 0; at < count; at++)
            CHECK(is_same(get[at], serial(0, size - 1, at)));
        memcpy(get, give, count * sizeof *get);
        DO(Scan, scan, in_place ? MPI_IN_PLACE : give, get, count, map_type, compose, MPI_COMM_WORLD);
        for (int at = 0; at < count; at++)
            CHECK(is_same(get[at], serial(0, rank, at)));
        memcpy(get, give, count * sizeof *get);
        DO(Exscan, exscan, in_place ? MPI_IN_PLACE : give, get, count, map_type, compose, MPI_COMM_WORLD);
        for (int at = 0; rank > 0 && at < count; at++)
            CHECK(is_same(get[at], serial(0, rank - 1, at)));
    }
    /* As many to each, and lengths of their own. */
    map *all = malloc((size * count + 1) * sizeof *all), *kept = malloc((size * count + 1) * sizeof *kept);
    int *lengths = malloc(size * sizeof *lengths), before = 0, total = 0;
    for (int of = 0; of < size; of++) {
        lengths[of] = of % 2 ? count : count / 2;
        total += lengths[of];
        before += of < rank ? lengths[of] : 0;
    }
    for (int at = 0; at < size * count; at++)
        all[at] = of_rank(rank, at);
    for (int in_place = 0; in_place < 2; in_place++) {
        memcpy(kept, all, size * count * sizeof *kept);
        DO(Reduce_scatter_block, reduce_scatter_block, in_place ? MPI_IN_PLACE : all, kept, count, map_type, compose, MPI_COMM_WORLD);
        for (int at = 0; at < count; at++)
            CHECK(is_same(kept[at], serial(0, size - 1, rank * count + at)));
        memcpy(kept, all, size * count * sizeof *kept);
        DO(Reduce_scatter, reduce_scatter, in_place ? MPI_IN_PLACE : all, kept, lengths, map_type, compose, MPI_COMM_WORLD);
        for (int at = 0; at < lengths[rank]; at++)
            CHECK(is_same(kept[at], serial(0, size - 1, before + at)));
    }
    free(give);
    free(get);
    free(all);
    free(kept);
    free(lengths);
}

/* Twenty times the same bits, on all ranks, while messages come that have nothing to do with it. */
static void floats(int count)
{
    float *give = malloc(count * sizeof *give), *first = malloc(count * sizeof *first), *get = malloc(count * sizeof *get);
    for (int at = 0; at < count; at++)
        give[at] = 1.0f / (float)(rank * 37 + at + 3);
    for (int turn = 0; turn < 20; turn++) {
        int noise = turn, came;
        MPI_Request request;
        MPI_Isend(&noise, 1, MPI_INT, (rank + 1 + turn) % size, 9, MPI_COMM_WORLD, &request);
        DO(Allreduce, allreduce, give, turn ? get : first, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Recv(&came, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(turn == 0 || memcmp(get, first, count * sizeof *get) == 0);
    }
    memcpy(get, first, count * sizeof *get);
    DO(Bcast, bcast, get, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    CHECK(memcmp(get, first, count * sizeof *get) == 0);
    free(give);
    free(first);
    free(get);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        form = strcmp(argv[1], "begun") == 0 ? BEGUN : PREPARED;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int at = 0; at < COUNTS; at++) {
        for (int root = 0; root < size; root++)
            moved(root, counts[at]);
        exchanged(counts[at]);
    }
    if (form == WAITED) {
        MPI_Comm another;
        often(MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &another);
        often(another);
        MPI_Comm_free(&another);
    }
    /* A megabyte, once. */
    moved(size - 1, 1 << 18);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &map_type);
    MPI_Type_commit(&map_type);
    MPI_Op_create(composed, 0, &compose);
    for (int at = 0; at < COUNTS; at++)
        combined(counts[at]);
    combined(1 << 14);
    MPI_Op_free(&compose);
    MPI_Type_free(&map_type);
    floats(1);
    floats(1000);
    floats(30000);
    MPI_Finalize();
    printf("rank %d: %d checks\n", rank, checks);
    return 0;
}
