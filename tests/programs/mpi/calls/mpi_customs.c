/* What programs rely on because MPICH does it, one set by each word: hints, empty, none, limits, namespaces, views, unlike, fallbacks,
 * keys. Each rank says how much it has checked. */
#define _GNU_SOURCE
#include "mpi_check.h"
#include <sys/mman.h>
#include <unistd.h>

/* Whether an object has this value under this key; NULL: no value at all. Frees the info. */
static int has(MPI_Info info, const char *key, const char *wanted)
{
    char value[64] = "";
    int length = sizeof value, flag;
    MPI_Info_get_string(info, key, &length, value, &flag);
    MPI_Info_free(&info);
    return wanted ? flag && !strcmp(value, wanted) : !flag;
}

static MPI_Info of_comm(MPI_Comm comm)
{
    MPI_Info info;
    MPI_Comm_get_info(comm, &info);
    return info;
}

static MPI_Info of_window(MPI_Win window)
{
    MPI_Info info;
    MPI_Win_get_info(window, &info);
    return info;
}

static MPI_Info of_file(MPI_File file)
{
    MPI_Info info;
    MPI_File_get_info(file, &info);
    return info;
}

/* Hints that an object does not know are not given back; others keep their values until they are set. */
static void hints(void)
{
    char path[128];
    int memory;
    MPI_Info given, more;
    MPI_Comm copy, again;
    MPI_Win window;
    MPI_File file;
    MPI_Info_create(&given);
    MPI_Info_set(given, "nonsense", "1");
    MPI_Info_set(given, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(given, "no_locks", "true");
    MPI_Info_set(given, "accumulate_ops", "none of them");
    MPI_Info_set(given, "cb_nodes", "2");
    MPI_Info_create(&more);
    MPI_Info_set(more, "mpi_assert_exact_length", "true");
    CHECK(has(of_comm(MPI_COMM_WORLD), "mpi_assert_no_any_tag", "false"));
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, given, &copy);
    CHECK(has(of_comm(copy), "mpi_assert_no_any_tag", "true"));
    CHECK(has(of_comm(copy), "nonsense", NULL));
    CHECK(has(of_comm(copy), "no_locks", NULL));
    MPI_Comm_set_info(copy, more);
    CHECK(has(of_comm(copy), "mpi_assert_no_any_tag", "true"));
    CHECK(has(of_comm(copy), "mpi_assert_exact_length", "true"));
    MPI_Comm_dup(copy, &again);
    CHECK(has(of_comm(again), "mpi_assert_no_any_tag", "false"));
    MPI_Comm_free(&again);
    MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, given, &again);
    CHECK(has(of_comm(again), "mpi_assert_no_any_tag", "true"));
    MPI_Comm_free(&again);
    MPI_Win_create(&memory, sizeof memory, 1, given, copy, &window);
    CHECK(has(of_window(window), "no_locks", "true"));
    CHECK(has(of_window(window), "accumulate_ops", "same_op_no_op"));
    CHECK(has(of_window(window), "accumulate_ordering", "rar,raw,war,waw"));
    CHECK(has(of_window(window), "nonsense", NULL));
    MPI_Win_free(&window);
    MPI_Comm_free(&copy);
    snprintf(path, sizeof path, "/tmp/parvum-hints-%d", (int)getpid());
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, given, &file);
    CHECK(has(of_file(file), "cb_nodes", "2"));
    CHECK(has(of_file(file), "nonsense", NULL));
    MPI_File_close(&file);
    MPI_Info_free(&more);
    MPI_Info_free(&given);
}

/* Memory of no bytes in a shared window has no address. */
static void empty(void)
{
    int *mine = &rank, *theirs = &rank, unit;
    MPI_Aint bytes;
    MPI_Win window;
    MPI_Win_allocate_shared(rank % 2 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    CHECK((mine == NULL) == (rank % 2 == 0));
    for (int of = 0; of < size; of++) {
        MPI_Win_shared_query(window, of, &bytes, &unit, &theirs);
        CHECK(unit == sizeof(int) && bytes == (of % 2 ? (MPI_Aint)sizeof(int) : 0));
        CHECK((theirs == NULL) == (of % 2 == 0));
    }
    MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, &theirs);
    CHECK((theirs == NULL) == (size < 2));
    MPI_Win_free(&window);
}

/* A datatype without elements may stand in every one-sided operation, and changes nothing. */
static void none(void)
{
    int memory = 7, source = 1, result = 9, to = (rank + 1) % size;
    MPI_Datatype empty, types[2];
    MPI_Win window;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    types[0] = empty;
    types[1] = MPI_INT;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, window);
    for (int of = 0; of < 2; of++) {
        int some = of == 0;
        CHECK(MPI_Put(&source, some, types[of], to, 0, some, types[of], window) == MPI_SUCCESS);
        CHECK(MPI_Get(&result, some, types[of], to, 0, some, types[of], window) == MPI_SUCCESS);
        CHECK(MPI_Accumulate(&source, some, types[of], to, 0, 3, empty, MPI_SUM, window) == MPI_SUCCESS);
        CHECK(MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, &result, some, types[of], to, 0, 2, empty, MPI_SUM, window) == MPI_SUCCESS);
    }
    CHECK(MPI_Accumulate(&source, 1, MPI_INT, to, 0, 1, empty, MPI_SUM, window) != MPI_SUCCESS);
    MPI_Win_fence(0, window);
    CHECK(memory == 7 && result == 9);
    MPI_Win_free(&window);
    MPI_Type_free(&empty);
}

/* A window larger than the control group's memory is refused, and a small one is made. */
static void limits(void)
{
    char *memory;
    MPI_Win window;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Win_allocate(1 << 30, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window)) == MPI_ERR_NO_MEM);
    CHECK(window == MPI_WIN_NULL);
    CHECK(class_of(MPI_Win_allocate_shared(1 << 30, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window)) == MPI_ERR_NO_MEM);
    CHECK(MPI_Win_allocate(1 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window) == MPI_SUCCESS);
    memset(memory, 1, 1 << 20);
    MPI_Win_free(&window);
}

enum { LONG = 4 << 20 };

static unsigned char *at(size_t place)
{
    void *memory = mmap((void *)place, LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static int all(const unsigned char *memory, int value)
{
    for (int place = 0; place < LONG; place++)
        if (memory[place] != value)
            return 0;
    return 1;
}

/* Ranks that have the same process number and the same addresses read each other's memory, not their own. */
static void namespaces(void)
{
    unsigned char *out = at(0x600000000000), *in = at(0x610000000000), *own;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Win window;
    CHECK(out && in && getpid() < 10);
    for (int round = 0; round < 5; round++) {
        memset(out, 16 * round + rank, LONG);
        MPI_Sendrecv(out, LONG, MPI_BYTE, to, 1, in, LONG, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(all(in, 16 * round + from));
    }
    for (int kind = 0; kind < 2; kind++) {
        own = out;
        if (kind == 0)
            MPI_Win_create(out, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        else
            MPI_Win_allocate(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
        memset(own, 100 + rank, LONG);
        memset(in, 0, LONG);
        MPI_Win_fence(0, window);
        MPI_Get(in, LONG, MPI_BYTE, to, 0, LONG, MPI_BYTE, window);
        MPI_Win_fence(0, window);
        CHECK(all(in, 100 + to));
        memset(in, 200 + rank, LONG);
        MPI_Put(in, LONG, MPI_BYTE, to, 0, LONG, MPI_BYTE, window);
        MPI_Win_fence(0, window);
        CHECK(all(own, 200 + from));
        MPI_Win_free(&window);
    }
}

static int refused(MPI_File file, int first, int length, int second)
{
    int lengths[2] = {length, 1}, places[2] = {first, second}, code;
    MPI_Datatype type;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    code = MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
    return class_of(code) == MPI_ERR_IO;
}

/* A sequential file goes on where the pointer of all ranks is, and data of a view rises; what is written has no overlaps. */
static void views(void)
{
    int value = size, got = -1;
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "views", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CHECK(refused(file, -2, 1, 2) && refused(file, 3, 1, 0) && refused(file, 0, 3, 1));
    CHECK(!refused(file, 0, 1, 3));
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    if (rank == 0)
        MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 1 + rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_WORLD, "views", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    CHECK(refused(file, 3, 1, 0) && !refused(file, 0, 3, 1));
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    if (rank == 0)
        CHECK(MPI_File_read_shared(file, &got, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS && got == size);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_File_read_ordered(file, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(got == rank);
    MPI_File_close(&file);
}

/* A root that gives itself less than it takes: all ranks but perhaps the root hear of it, nobody waits for ever. */
static void unlike(void)
{
    int *many = calloc(10 * size, sizeof *many), ten[10] = {0}, code = MPI_SUCCESS;
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int way = 0; way < 4; way++) {
        int some = rank ? 10 : 1;
        switch (way) {
        case 0: code = MPI_Scatter(many, some, MPI_INT, ten, 10, MPI_INT, 0, MPI_COMM_WORLD); break;
        case 1: code = MPI_Gather(ten, 10, MPI_INT, many, some, MPI_INT, 0, MPI_COMM_WORLD); break;
        case 2: code = MPI_Iscatter(many, some, MPI_INT, ten, 10, MPI_INT, 0, MPI_COMM_WORLD, &request); break;
        case 3: code = MPI_Igather(ten, 10, MPI_INT, many, some, MPI_INT, 0, MPI_COMM_WORLD, &request); break;
        }
        if (way > 1 && code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(class_of(code) == MPI_ERR_TRUNCATE || (way % 2 && rank));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(many);
}

/* Errors of a communicator or window that was given no handler go to that of MPI_COMM_WORLD, whenever it was set. */
static void fallbacks(void)
{
    int memory, key, value;
    void *found;
    MPI_Win window;
    MPI_Comm copy;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Comm_split(copy, 0, 0, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, size, 0, copy)) == MPI_ERR_RANK);
    MPI_Comm_free(&copy);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_errhandler(window, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    CHECK(class_of(MPI_Win_set_attr(window, key, &memory)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Win_get_attr(window, key, &found, &value)) == MPI_ERR_KEYVAL);
    MPI_Comm_free_keyval(&key);
    MPI_Win_free(&window);
}

/* A freed key may be freed again while an attribute has it, and not after that. */
static void keys(void)
{
    MPI_Comm copy;
    int key, freed;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(copy, key, NULL);
    freed = key;
    CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
    key = freed;
    CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS);
    MPI_Comm_free(&copy);
    key = freed;
    CHECK(MPI_Comm_free_keyval(&key) != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *word;
        void (*check)(void);
    } sets[] = {{"hints", hints}, {"empty", empty}, {"none", none}, {"limits", limits}, {"namespaces", namespaces}, {"views", views},
              {"unlike", unlike}, {"fallbacks", fallbacks}, {"keys", keys}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t at = 0; at < sizeof sets / sizeof *sets; at++)
        if (argc > 1 && !strcmp(argv[1], sets[at].word))
            sets[at].check();
    printf("rank %d: %d checks\n", rank, checks);
    MPI_Finalize();
    return checks == 0;
}
