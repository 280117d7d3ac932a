/* Files: interleaved views written together are read back by one alone; the common pointer, the order of ranks, atomic access, external32,
 * large counts. The file's name is the program's argument. */
#include "mpi_check.h"

enum { BLOCKS = 6, LENGTH = 5 };
static const char *name;

static MPI_File opened(int mode)
{
    MPI_File file;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    return file;
}

/* Each rank sees every size-th block. */
static void interleaved(void)
{
    MPI_Datatype every;
    MPI_File file = opened(MPI_MODE_CREATE | MPI_MODE_RDWR);
    int data[BLOCKS * LENGTH], got[BLOCKS * LENGTH] = {0};
    MPI_Status status;
    MPI_Offset bytes, place;
    MPI_Type_vector(BLOCKS, LENGTH, LENGTH * size, MPI_INT, &every);
    MPI_Type_commit(&every);
    for (int at = 0; at < BLOCKS * LENGTH; at++)
        data[at] = 1000 * rank + at;
    MPI_Offset own = (MPI_Offset)(8 + rank * LENGTH * sizeof(int));
    CHECK(MPI_File_set_view(file, own, MPI_INT, every, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_write_all(file, data, BLOCKS * LENGTH, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(&status, MPI_INT) == BLOCKS * LENGTH);
    MPI_File_get_position(file, &place);
    CHECK(place == BLOCKS * LENGTH);
    MPI_File_get_byte_offset(file, LENGTH, &place);
    CHECK(place == own + (MPI_Offset)(LENGTH * size * sizeof(int)));
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    CHECK(MPI_File_read_all(file, got, BLOCKS * LENGTH, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(memcmp(data, got, sizeof got) == 0);
    /* Not collectively, and within the view. */
    CHECK(MPI_File_read_at(file, LENGTH + 1, got, 2, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(got[0] == data[LENGTH + 1] && got[1] == data[LENGTH + 2]);
    MPI_Request request;
    MPI_File_iread_at(file, LENGTH, got, 3, MPI_INT, &request);
    MPI_Wait(&request, &status);
    CHECK(got[0] == data[LENGTH] && count_of(&status, MPI_INT) == 3);
    /* Writing together waits for nobody. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == (MPI_Offset)(8 + BLOCKS * LENGTH * size * sizeof(int)));
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    if (rank == 0) {
        FILE *plain = fopen(name, "rb");
        int value;
        fseek(plain, 8, SEEK_SET);
        for (int block = 0; block < BLOCKS; block++)
            for (int of = 0; of < size; of++)
                for (int at = 0; at < LENGTH; at++)
                    CHECK(fread(&value, sizeof value, 1, plain) == 1 && value == 1000 * of + block * LENGTH + at);
        fclose(plain);
    }
    MPI_Type_free(&every);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Who comes takes what is next: each record once; and in the order of ranks. */
static void shared(void)
{
    MPI_File file = opened(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    enum { RECORDS = 20 };
    int record[4], own[64] = {0}, all[64];
    MPI_Status status;
    MPI_Offset place;
    CHECK(MPI_File_set_size(file, 0) == MPI_SUCCESS);
    for (int turn = 0; turn < RECORDS; turn++) {
        for (int at = 0; at < 4; at++)
            record[at] = rank * RECORDS + turn;
        CHECK(MPI_File_write_shared(file, record, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &place);
    CHECK(place == (MPI_Offset)(size * RECORDS * 4 * sizeof(int)));
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    int *seen = calloc(size * RECORDS, sizeof *seen), *together = calloc(size * RECORDS, sizeof *together);
    for (int turn = 0; turn < RECORDS; turn++) {
        CHECK(MPI_File_read_shared(file, record, 4, MPI_INT, &status) == MPI_SUCCESS && count_of(&status, MPI_INT) == 4);
        CHECK(record[0] == record[3] && record[0] >= 0 && record[0] < size * RECORDS);
        seen[record[0]]++;
    }
    MPI_Allreduce(seen, together, size * RECORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int at = 0; at < size * RECORDS; at++)
        CHECK(together[at] == 1);
    free(seen);
    free(together);
    /* The next of each behind those before it. */
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (int at = 0; at < rank + 1; at++)
        own[at] = 100 * rank + at;
    CHECK(MPI_File_write_ordered(file, own, rank + 1, MPI_INT, &status) == MPI_SUCCESS);
    MPI_File_sync(file);
    int total = size * (size + 1) / 2, at = 0;
    CHECK(MPI_File_read_at(file, 0, all, total * (int)sizeof(int), MPI_BYTE, &status) == MPI_SUCCESS);
    for (int of = 0; of < size; of++)
        for (int part = 0; part < of + 1; part++)
            CHECK(all[at++] == 100 * of + part);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    memset(all, 0, sizeof all);
    MPI_File_read_ordered_begin(file, all, rank + 1, MPI_INT);
    MPI_File_read_ordered_end(file, all, &status);
    CHECK(memcmp(all, own, (rank + 1) * sizeof *all) == 0);
    MPI_File_close(&file);
    CHECK(rank || fopen(name, "rb") == NULL);
}

/* Overlapping writes, each whole: what is read is one rank's. */
static void atomic(void)
{
    MPI_File file = opened(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    enum { MUCH = 4000 };
    static int data[MUCH], got[MUCH];
    int flag;
    MPI_Datatype apart;
    MPI_Type_vector(MUCH, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    CHECK(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS);
    MPI_File_get_atomicity(file, &flag);
    CHECK(flag);
    MPI_File_set_view(file, 0, MPI_INT, apart, "native", MPI_INFO_NULL);
    for (int turn = 0; turn < 5; turn++) {
        for (int at = 0; at < MUCH; at++)
            data[at] = rank * 10 + turn;
        CHECK(MPI_File_write_at(file, 0, data, MUCH, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_File_read_at(file, 0, got, MUCH, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        for (int at = 1; at < MUCH; at++)
            CHECK(got[at] == got[0]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&apart);
    MPI_File_close(&file);
}

/* In the file the highest byte comes first. */
static void external(void)
{
    MPI_File file = opened(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    int data[2] = {0x01020304 + rank, -1}, got[2] = {0};
    unsigned char bytes[8];
    MPI_Aint extent;
    MPI_File_set_view(file, 8 * rank, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    CHECK(extent == 4);
    CHECK(MPI_File_write_at_all(file, 0, data, 2, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at_all(file, 0, got, 2, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(got[0] == data[0] && got[1] == -1);
    MPI_File_set_view(file, 8 * rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(bytes[0] == 1 && bytes[1] == 2 && bytes[2] == 3 && bytes[3] == 4 + rank && bytes[7] == 0xff);
    /* A place and a length beyond 2^31, of a file with a hole. */
    MPI_Offset far = ((MPI_Offset)3 << 31) + 16 * rank;
    MPI_Status status;
    MPI_Count exact;
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    CHECK(MPI_File_write_at_c(file, far, data, 8, MPI_BYTE, &status) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_read_at_c(file, far, got, 8, MPI_BYTE, &status) == MPI_SUCCESS && got[0] == data[0]);
    MPI_Get_count_c(&status, MPI_BYTE, &exact);
    CHECK(exact == 8);
    MPI_File_close(&file);
}

static int times_asked;

/* As in memory; but a long is said to have half as much. */
static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    MPI_Aint low;
    MPI_Type_get_extent(type, &low, extent);
    if (type == MPI_LONG)
        *extent /= 2;
    times_asked += *(int *)extra;
    return MPI_SUCCESS;
}

static int converts(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra;
    return MPI_SUCCESS;
}

/* A representation of the program's own. */
static void own(void)
{
    static int one = 1;
    char named[MPI_MAX_DATAREP_STRING];
    int data = 7 + rank, got = 0;
    MPI_Aint extent;
    MPI_Offset place;
    MPI_Datatype etype, filetype;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Register_datarep("own", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, &one) == MPI_SUCCESS);
    CHECK(class_of(MPI_Register_datarep("own", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, &one))
          == MPI_ERR_DUP_DATAREP);
    CHECK(class_of(MPI_Register_datarep("native", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, &one))
          == MPI_ERR_DUP_DATAREP);
    CHECK(class_of(MPI_Register_datarep("other", converts, converts, extent_of, &one)) == MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_File file = opened(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    CHECK(MPI_File_set_view(file, 4 * rank, MPI_INT, MPI_INT, "own", MPI_INFO_NULL) == MPI_SUCCESS && times_asked > 0);
    MPI_File_get_view(file, &place, &etype, &filetype, named);
    CHECK(strcmp(named, "own") == 0 && place == 4 * rank);
    CHECK(MPI_File_get_type_extent(file, MPI_LONG, &extent) == MPI_SUCCESS && extent == (MPI_Aint)sizeof(long) / 2);
    CHECK(MPI_File_write_at(file, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(file, 0, &got, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS && got == data);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "own", MPI_INFO_NULL)) == MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "none", MPI_INFO_NULL)) == MPI_ERR_UNSUPPORTED_DATAREP);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc == 2 && size <= 8);
    name = argv[1];
    interleaved();
    if (rank == 0)
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    shared();
    atomic();
    external();
    own();
    MPI_Finalize();
    printf("rank %d: %d checks\n", rank, checks);
    return 0;
}
