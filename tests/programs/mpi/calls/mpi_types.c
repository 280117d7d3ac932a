/* Datatypes as the standard defines them, against maps of bytes made by hand; arrays that are distributed and put together again; how a
 * type was made; data that is unpacked in other portions; external32. Each rank checks alone, and in pairs over messages. */
#include "mpi_check.h"

/* Sends one element to oneself as bytes: what it has, and in which order. */
static int seen_as(MPI_Datatype type, int count, const void *from, const unsigned char *bytes, int length)
{
    unsigned char got[256];
    MPI_Status status;
    MPI_Sendrecv(from, count, type, rank, 1, got, sizeof got, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &status);
    return count_of(&status, MPI_BYTE) == length && memcmp(got, bytes, length) == 0;
}

static unsigned char memory[256];

static void maps(void)
{
    MPI_Datatype type, other, pair;
    MPI_Aint low, extent;
    int size_of;
    for (int at = 0; at < 256; at++)
        memory[at] = (unsigned char)at;
    /* A double and a char: padded to 16. */
    MPI_Aint places[2] = {0, 8};
    int lengths[2] = {1, 1};
    MPI_Datatype both[2] = {MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(2, lengths, places, both, &pair);
    MPI_Type_get_extent(pair, &low, &extent);
    MPI_Type_size(pair, &size_of);
    CHECK(low == 0 && extent == 16 && size_of == 9);
    MPI_Type_commit(&pair);
    CHECK(seen_as(pair, 2, memory, (unsigned char[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 19, 20, 21, 22, 23, 24}, 18));
    /* Resized, a vector of that, and backwards. */
    MPI_Type_create_resized(MPI_SHORT, -1, 5, &other);
    MPI_Type_vector(2, 2, 3, other, &type);
    MPI_Type_commit(&type);
    CHECK(seen_as(type, 1, memory, (unsigned char[]){0, 1, 5, 6, 15, 16, 20, 21}, 8));
    MPI_Type_get_extent(type, &low, &extent);
    CHECK(low == -1 && extent == 25);
    MPI_Type_get_true_extent(type, &low, &extent);
    CHECK(low == 0 && extent == 22);
    MPI_Type_free(&type);
    MPI_Type_free(&other);
    MPI_Type_create_hvector(3, 1, -4, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    CHECK(seen_as(type, 1, memory + 100, (unsigned char[]){100, 96, 92}, 3));
    MPI_Type_get_extent(type, &low, &extent);
    CHECK(low == -8 && extent == 9);
    MPI_Type_free(&type);
    /* Empty blocks are no part of it. */
    int some[3] = {0, 2, 0}, far[3] = {-50, 3, 90};
    MPI_Type_indexed(3, some, far, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &low, &extent);
    CHECK(low == 3 && extent == 2 && seen_as(type, 1, memory, (unsigned char[]){3, 4}, 2));
    MPI_Type_free(&type);
    /* From the bottom of memory. */
    MPI_Aint address;
    MPI_Get_address(memory + 40, &address);
    MPI_Type_create_hindexed_block(1, 3, &address, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    CHECK(seen_as(type, 1, MPI_BOTTOM, (unsigned char[]){40, 41, 42}, 3));
    MPI_Type_free(&type);
    MPI_Type_free(&pair);
}

/* An array of 7 by 5 dealt out cyclically over a grid of 2 by 2, in both orders: all parts together are the array, each once. */
static void distributed(int order)
{
    enum { ROWS = 7, COLUMNS = 5, PARTS = 4 };
    int sizes[2] = {ROWS, COLUMNS}, grid[2] = {2, 2};
    int ways[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    int array[ROWS * COLUMNS], again[ROWS * COLUMNS], total = 0;
    for (int at = 0; at < ROWS * COLUMNS; at++)
        array[at] = 1000 + at, again[at] = -1;
    for (int part = 0; part < PARTS; part++) {
        MPI_Datatype type;
        int bytes, flat[ROWS * COLUMNS];
        MPI_Status status;
        MPI_Type_create_darray(PARTS, part, 2, sizes, ways, arguments, grid, order, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Type_size(type, &bytes);
        int count = bytes / (int)sizeof(int);
        MPI_Sendrecv(array, 1, type, rank, 2, flat, ROWS * COLUMNS, MPI_INT, rank, 2, MPI_COMM_WORLD, &status);
        CHECK(count_of(&status, MPI_INT) == count);
        MPI_Sendrecv(flat, count, MPI_INT, rank, 3, again, 1, type, rank, 3, MPI_COMM_WORLD, &status);
        CHECK(count_of(&status, type) == 1);
        /* By hand: rows in blocks of two dealt out in turn, columns in halves. */
        int row = part / 2, column = part % 2, wanted = 0;
        for (int slow = 0; slow < (order == MPI_ORDER_C ? ROWS : COLUMNS); slow++)
            for (int fast = 0; fast < (order == MPI_ORDER_C ? COLUMNS : ROWS); fast++) {
                int i = order == MPI_ORDER_C ? slow : fast, j = order == MPI_ORDER_C ? fast : slow;
                if (i / 2 % 2 != row || j / 3 != column)
                    continue;
                int place = order == MPI_ORDER_C ? i * COLUMNS + j : j * ROWS + i;
                CHECK(wanted < count && flat[wanted++] == array[place]);
            }
        CHECK(wanted == count);
        total += count;
        MPI_Type_free(&type);
    }
    CHECK(total == ROWS * COLUMNS && memcmp(array, again, sizeof array) == 0);
    /* A part of it, and its extent is the whole's. */
    int parts[2] = {2, 3}, starts[2] = {4, 1}, got[6], bytes = 0;
    MPI_Datatype part;
    MPI_Aint low, extent;
    MPI_Type_create_subarray(2, sizes, parts, starts, order, MPI_INT, &part);
    MPI_Type_commit(&part);
    MPI_Type_get_extent(part, &low, &extent);
    CHECK(low == 0 && extent == (MPI_Aint)sizeof array);
    MPI_Pack(array, 1, part, got, sizeof got, &bytes, MPI_COMM_WORLD);
    CHECK(bytes == (int)sizeof got);
    CHECK(got[0] == 1000 + (order == MPI_ORDER_C ? 4 * COLUMNS + 1 : ROWS + 4));
    CHECK(got[1] == got[0] + 1 && got[5] == 1000 + (order == MPI_ORDER_C ? 5 * COLUMNS + 3 : 3 * ROWS + 5));
    MPI_Type_free(&part);
}

/* What a type was made with; what it was made of outlives the handle that was freed. */
static void contents(void)
{
    MPI_Datatype inner, type, types[2];
    int integers[16], numbers, addresses, datatypes, combiner, size_of;
    MPI_Aint places[4], at[2] = {0, 40};
    MPI_Type_vector(2, 3, 4, MPI_INT, &inner);
    int lengths[2] = {1, 2};
    MPI_Datatype members[2] = {inner, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, at, members, &type);
    MPI_Type_free(&inner);
    MPI_Type_get_envelope(type, &numbers, &addresses, &datatypes, &combiner);
    CHECK(numbers == 3 && addresses == 2 && datatypes == 2 && combiner == MPI_COMBINER_STRUCT);
    MPI_Type_get_contents(type, 3, 2, 2, integers, places, types);
    CHECK(integers[0] == 2 && integers[1] == 1 && integers[2] == 2 && places[1] == 40 && types[1] == MPI_DOUBLE);
    MPI_Type_free(&type);
    MPI_Type_get_envelope(types[0], &numbers, &addresses, &datatypes, &combiner);
    CHECK(combiner == MPI_COMBINER_VECTOR && numbers == 3 && addresses == 0);
    MPI_Type_size(types[0], &size_of);
    CHECK(size_of == 6 * (int)sizeof(int));
    MPI_Datatype of;
    MPI_Type_get_contents(types[0], 3, 0, 1, integers, places, &of);
    CHECK(integers[0] == 2 && integers[1] == 3 && integers[2] == 4 && of == MPI_INT);
    MPI_Type_free(&types[0]);
    MPI_Type_get_envelope(MPI_INT, &numbers, &addresses, &datatypes, &combiner);
    CHECK(combiner == MPI_COMBINER_NAMED && numbers + addresses + datatypes == 0);
    int displacements[3] = {5, 1, 9};
    MPI_Type_create_indexed_block(3, 2, displacements, MPI_CHAR, &type);
    MPI_Type_get_envelope(type, &numbers, &addresses, &datatypes, &combiner);
    MPI_Type_get_contents(type, 5, 0, 1, integers, places, types);
    CHECK(combiner == MPI_COMBINER_INDEXED_BLOCK && integers[0] == 3 && integers[1] == 2 && integers[4] == 9);
    MPI_Type_free(&type);
    MPI_Type_create_resized(MPI_INT, -4, 24, &type);
    MPI_Type_get_envelope(type, &numbers, &addresses, &datatypes, &combiner);
    MPI_Type_get_contents(type, 0, 2, 1, integers, places, types);
    CHECK(combiner == MPI_COMBINER_RESIZED && places[0] == -4 && places[1] == 24 && types[0] == MPI_INT);
    MPI_Type_free(&type);
}

/* Packed in three calls, unpacked in two; and sent on as MPI_PACKED. */
static void portions(void)
{
    char room[256], there[256];
    int position = 0, sent[7] = {1, 2, 3, 4, 5, 6, 7}, got[7] = {0};
    double half = 0.5, other = 0;
    MPI_Status status;
    MPI_Pack(sent, 2, MPI_INT, room, sizeof room, &position, MPI_COMM_WORLD);
    MPI_Pack(sent + 2, 5, MPI_INT, room, sizeof room, &position, MPI_COMM_WORLD);
    MPI_Pack(&half, 1, MPI_DOUBLE, room, sizeof room, &position, MPI_COMM_WORLD);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, length;
    MPI_Sendrecv(room, position, MPI_PACKED, next, 4, there, sizeof there, MPI_PACKED, before, 4, MPI_COMM_WORLD, &status);
    length = count_of(&status, MPI_PACKED);
    CHECK(length == position);
    position = 0;
    MPI_Unpack(there, length, &position, got, 6, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(there, length, &position, got + 6, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(there, length, &position, &other, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(memcmp(sent, got, sizeof got) == 0 && other == 0.5 && position == length);
    /* The same on every machine: the first byte is the highest, a long has four, a bool one. */
    MPI_Aint place = 0, bytes;
    unsigned char external[64];
    int number = 0x01020304;
    long lengthy = -2;
    short small = 0x0506;
    double one = 1.0;
    MPI_Pack_external_size("external32", 1, MPI_LONG, &bytes);
    CHECK(bytes == 4);
    MPI_Pack_external("external32", &number, 1, MPI_INT, external, sizeof external, &place);
    MPI_Pack_external("external32", &lengthy, 1, MPI_LONG, external, sizeof external, &place);
    MPI_Pack_external("external32", &small, 1, MPI_SHORT, external, sizeof external, &place);
    MPI_Pack_external("external32", &one, 1, MPI_DOUBLE, external, sizeof external, &place);
    const unsigned char wanted[] = {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe, 5, 6, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0};
    CHECK(place == (MPI_Aint)sizeof wanted && memcmp(external, wanted, sizeof wanted) == 0);
    place = 4;
    lengthy = 0;
    MPI_Unpack_external("external32", external, sizeof wanted, &place, &lengthy, 1, MPI_LONG);
    CHECK(lengthy == -2 && place == 8);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    maps();
    distributed(MPI_ORDER_C);
    distributed(MPI_ORDER_FORTRAN);
    contents();
    portions();
    MPI_Finalize();
    printf("rank %d: %d checks\n", rank, checks);
    return 0;
}
