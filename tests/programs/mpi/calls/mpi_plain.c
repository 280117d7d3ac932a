/* Short collectives whose ranks describe the same data in different ways: some take the short path for plain data, some the path for any
 * layout. All must take part in the same exchange. */
#include "mpi_check.h"

enum { MOST = 300, RANKS = 16 };
static int give[RANKS * MOST], get[RANKS * MOST], wanted[RANKS * MOST];
static MPI_Datatype twos, sparse;

/* The element `at` of what `from` gives `to`. */
static int element(int from, int to, int at)
{
    return 100000 * from + 1000 * to + at;
}

/* How this rank describes `count` ints, which is even: 0 as ints, 1 as pairs of ints, 2 as bytes. */
static MPI_Datatype described(int way, int *count)
{
    if (way == 1) {
        *count /= 2;
        return twos;
    }
    if (way == 2) {
        *count *= (int)sizeof(int);
        return MPI_BYTE;
    }
    return MPI_INT;
}

static void check(int count, const char *what)
{
    for (int at = 0; at < count; at++)
        if (get[at] != wanted[at]) {
            fprintf(stderr, "rank %d, %s: element %d is %d, not %d\n", rank, what, at, get[at], wanted[at]);
            MPI_Abort(MPI_COMM_WORLD, 9);
        }
    checks++;
}

static void moved(int count, int root, int way)
{
    int given = count;
    MPI_Datatype type = described(way, &given);

    for (int at = 0; at < count; at++) {
        get[at] = rank == root ? element(root, 0, at) : -1;
        wanted[at] = element(root, 0, at);
    }
    MPI_Bcast(get, given, type, root, MPI_COMM_WORLD);
    check(count, "MPI_Bcast");

    memset(get, 255, sizeof get);
    for (int at = 0; at < count; at++)
        give[at] = element(rank, 0, at);
    MPI_Gather(give, given, type, get, given, type, root, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (int at = 0; at < count; at++)
            wanted[from * count + at] = rank == root ? element(from, 0, at) : -1;
    check(size * count, "MPI_Gather");

    memset(get, 255, sizeof get);
    MPI_Allgather(give, given, type, get, given, type, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (int at = 0; at < count; at++)
            wanted[from * count + at] = element(from, 0, at);
    check(size * count, "MPI_Allgather");

    for (int to = 0; to < size; to++)
        for (int at = 0; at < count; at++)
            give[to * count + at] = element(rank, to, at);
    memset(get, 255, sizeof get);
    MPI_Scatter(give, given, type, get, given, type, root, MPI_COMM_WORLD);
    for (int at = 0; at < count; at++)
        wanted[at] = element(root, rank, at);
    check(count, "MPI_Scatter");

    memset(get, 255, sizeof get);
    MPI_Alltoall(give, given, type, get, given, type, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (int at = 0; at < count; at++)
            wanted[from * count + at] = element(from, rank, at);
    check(size * count, "MPI_Alltoall");

    /* In place, at the root or at everybody. */
    memset(get, 255, sizeof get);
    for (int at = 0; at < count; at++)
        get[rank * count + at] = give[at] = element(rank, 0, at);
    MPI_Gather(rank == root ? MPI_IN_PLACE : give, given, type, get, given, type, root, MPI_COMM_WORLD);
    if (rank == root) {
        for (int from = 0; from < size; from++)
            for (int at = 0; at < count; at++)
                wanted[from * count + at] = element(from, 0, at);
        check(size * count, "MPI_Gather in place");
    }
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, get, given, type, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (int at = 0; at < count; at++)
            wanted[from * count + at] = element(from, 0, at);
    check(size * count, "MPI_Allgather in place");

    /* Every second int of a row. */
    for (int at = 0; at < count; at++)
        get[2 * at] = rank == root ? element(root, 1, at) : -1, get[2 * at + 1] = 7;
    if (way == 1)
        MPI_Bcast(get, count, sparse, root, MPI_COMM_WORLD);
    else {
        for (int at = 0; at < count; at++)
            give[at] = get[2 * at];
        MPI_Bcast(give, given, type, root, MPI_COMM_WORLD);
        for (int at = 0; at < count; at++)
            get[2 * at] = give[at];
    }
    for (int at = 0; at < count; at++)
        wanted[2 * at] = element(root, 1, at), wanted[2 * at + 1] = 7;
    check(2 * count, "MPI_Bcast of a sparse type");
}

/* Doubles whose sum depends on the order of the additions. */
static double part(int from, int at)
{
    return 1e13 / (1 + from + at % 5) + (from * 31 + at * 7) % 1000 * 1e-3;
}

static void reduced(int count, int root, int in_place)
{
    static double mine[MOST * RANKS], sum[MOST * RANKS], all[MOST], same[MOST];
    for (int at = 0; at < count; at++)
        mine[at] = sum[at] = part(rank, at);
    void *from = in_place ? MPI_IN_PLACE : mine;
    MPI_Allreduce(from, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int at = 0; at < count; at++) {
        all[at] = part(0, at);
        for (int other = 1; other < size; other++)
            all[at] += part(other, at);
    }
    CHECK(!memcmp(sum, all, count * sizeof *sum));

    for (int at = 0; at < count; at++)
        sum[at] = rank == root ? part(rank, at) : -1;
    MPI_Reduce(rank == root ? from : mine, rank == root ? sum : NULL, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(rank != root || !memcmp(sum, all, count * sizeof *sum));

    /* Before a communicator has its segment, scans go by messages: the bits must be the same afterwards. */
    MPI_Comm young;
    MPI_Comm_dup(MPI_COMM_WORLD, &young);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        for (int at = 0; at < count; at++)
            mine[at] = sum[at] = same[at] = part(rank, at);
        if (exclusive) {
            MPI_Exscan(from, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            MPI_Exscan(mine, same, count, MPI_DOUBLE, MPI_SUM, young);
        } else {
            MPI_Scan(from, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            MPI_Scan(mine, same, count, MPI_DOUBLE, MPI_SUM, young);
        }
        CHECK(!memcmp(sum, same, count * sizeof *sum));
    }
    MPI_Comm_free(&young);

    for (int at = 0; at < count * size; at++)
        mine[at] = part(rank, at);
    MPI_Reduce_scatter_block(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int at = 0; at < count; at++) {
        double one = part(0, rank * count + at);
        for (int other = 1; other < size; other++)
            one += part(other, rank * count + at);
        CHECK(sum[at] == one);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS);
    MPI_Type_contiguous(2, MPI_INT, &twos);
    MPI_Type_commit(&twos);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    for (int at = 0; at < 12; at++)
        MPI_Barrier(MPI_COMM_WORLD);
    int counts[] = {0, 2, 12, 14, 128, 256, 258};
    for (int root = 0; root < size; root++)
        for (unsigned at = 0; at < sizeof counts / sizeof *counts; at++) {
            int count = counts[at] > MOST / 2 && size > 8 ? MOST / 2 : counts[at];
            moved(count / 2, root, (rank + root + at) % 3 == 1 && count % 4 == 0 ? 1 : (rank + root + at) % 3 == 2 ? 2 : 0);
            reduced(count / 2, root, at % 2);
        }
    /* A root that only gives runs ahead of all others, and comes back to them. */
    for (int turn = 0; turn < 1000; turn++) {
        int root = turn / 400 % size, number = rank == root ? turn : -1, sum = 0, one = 1;
        MPI_Bcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(number == turn);
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        CHECK(rank != root || sum == size);
    }
    printf("rank %d: %d checks\n", rank, checks);
    MPI_Type_free(&twos);
    MPI_Type_free(&sparse);
    MPI_Finalize();
    return 0;
}
