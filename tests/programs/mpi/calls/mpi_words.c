/* What a program gives and gets by MPI's names: handles that its functions are called with, words among a datatype's contents, attributes,
 * statuses, codes. Every line that it prints holds for any binary interface; what must be checked by value is. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

#define CHECK(condition)                                                                                                          \
    do {                                                                                                                          \
        if (!(condition)) {                                                                                                       \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition);                                                 \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                                         \
        }                                                                                                                         \
    } while (0)

static void say(const char *what)
{
    if (rank == 0)
        printf("%s\n", what);
}

static int class_of(int code)
{
    int found = -1;
    MPI_Error_class(code, &found);
    return found;
}

static MPI_Datatype summed;
static int sums;

static void sum(void *in, void *inout, int *length, MPI_Datatype *datatype)
{
    CHECK(*datatype == summed);
    sums++;
    for (int i = 0; i < *length; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

static void operations(void)
{
    MPI_Op op;
    double own = rank, all = 0;
    CHECK(MPI_Op_create(sum, 1, &op) == MPI_SUCCESS);
    summed = MPI_DOUBLE;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    CHECK(all == size * (size - 1) / 2.0);
    MPI_Type_contiguous(1, MPI_DOUBLE, &summed);
    MPI_Type_commit(&summed);
    all = rank;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, summed, op, MPI_COMM_WORLD);
    CHECK(all == size * (size - 1) / 2.0);
    MPI_Reduce_local(&own, &all, 1, summed, op);
    CHECK(sums > 0 && all == size * (size - 1) / 2.0 + rank);
    MPI_Type_free(&summed);
    CHECK(summed == MPI_DATATYPE_NULL);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    say("operations get the datatype of the call");
}

static MPI_Comm copied, deleted;
static int copies, deletes;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    CHECK(keyval != MPI_KEYVAL_INVALID && extra == &copies);
    copied = comm;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int erase(MPI_Comm comm, int keyval, void *value, void *extra)
{
    CHECK(keyval != MPI_KEYVAL_INVALID && extra == &copies && value == &deletes);
    deleted = comm;
    deletes++;
    return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return MPI_ERR_REQUEST;
}

static void attributes(void)
{
    int key, other, flag, *number;
    void *value;
    MPI_Comm twin;
    CHECK(MPI_Comm_create_keyval(copy, erase, &key, &copies) == MPI_SUCCESS);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &deletes);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    CHECK(copies == 1 && copied == MPI_COMM_WORLD);
    MPI_Comm_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == &deletes);
    MPI_Comm was = twin;
    MPI_Comm_free(&twin);
    CHECK(deletes == 1 && deleted == was && twin == MPI_COMM_NULL);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID && deleted == MPI_COMM_WORLD);
    /* A code of the program's comes back as it was. */
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, refuse, &other, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_set_attr(twin, other, &flag);
    CHECK(class_of(MPI_Comm_delete_attr(twin, other)) == MPI_ERR_REQUEST);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag);
    CHECK(flag && *number >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &number, &flag);
    CHECK(flag && *number == MPI_ANY_SOURCE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &number, &flag);
    CHECK(flag && *number == MPI_PROC_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &number, &flag);
    CHECK(flag && *number >= MPI_ERR_LASTCODE);
    say("attributes call the program with its communicators");
}

static MPI_Comm failed;
static int failure;

static void handler(MPI_Comm *comm, int *code, ...)
{
    failed = *comm;
    failure = *code;
}

static int asked;

static int query(void *extra, MPI_Status *status)
{
    CHECK(extra == &asked);
    asked++;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_TAG = MPI_ANY_TAG;
    return MPI_SUCCESS;
}

static int nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int too_late(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void errors(void)
{
    MPI_Errhandler own;
    MPI_Comm twin;
    int code, length, mine;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(twin, own);
    code = MPI_Send(&code, 1, MPI_INT, size, 0, twin);
    CHECK(class_of(code) == MPI_ERR_RANK && failed == twin && failure == code);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "MPI_ERR_RANK"));
    CHECK(class_of(MPI_Send(&code, -1, MPI_INT, 0, 0, twin)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(&code, 1, MPI_INT, 0, MPI_ANY_TAG, twin)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(&code, 1, MPI_INT, MPI_ANY_SOURCE, 0, twin)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&code, 1, MPI_DATATYPE_NULL, 0, 0, twin)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Bcast(&code, 1, MPI_INT, MPI_ROOT, twin)) == MPI_ERR_ROOT);
    MPI_Add_error_class(&mine);
    CHECK(mine > MPI_ERR_LASTCODE && class_of(mine) == mine);
    MPI_Comm_call_errhandler(twin, mine);
    CHECK(failure == mine);
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&twin);
    CHECK(own == MPI_ERRHANDLER_NULL);
    say("errors have the program's codes");
}

static void requests(void)
{
    MPI_Request own[2];
    MPI_Status states[2], none;
    int flag, count, where;
    states[0].MPI_ERROR = 12345;
    MPI_Grequest_start(query, nothing, too_late, &asked, &own[0]);
    MPI_Grequest_complete(own[0]);
    MPI_Wait(&own[0], &states[0]);
    MPI_Get_count(&states[0], MPI_INT, &count);
    CHECK(asked == 1 && own[0] == MPI_REQUEST_NULL && count == 3 && states[0].MPI_ERROR == 12345);
    CHECK(states[0].MPI_SOURCE == MPI_PROC_NULL && states[0].MPI_TAG == MPI_ANY_TAG);
    MPI_Recv(&count, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &none);
    CHECK(none.MPI_SOURCE == MPI_PROC_NULL && none.MPI_TAG == MPI_ANY_TAG);
    MPI_Wait(&own[0], &none);
    CHECK(none.MPI_SOURCE == MPI_ANY_SOURCE && none.MPI_TAG == MPI_ANY_TAG);
    /* More than fit in a small array. */
    enum { MANY = 100 };
    MPI_Request many[MANY];
    MPI_Status all[MANY];
    int in[MANY], out[MANY];
    for (int i = 0; i < MANY / 2; i++) {
        out[i] = i;
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_SELF, &many[2 * i]);
        MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &many[2 * i + 1]);
    }
    MPI_Waitall(MANY, many, all);
    for (int i = 0; i < MANY / 2; i++)
        CHECK(in[i] == i && all[2 * i].MPI_TAG == i && all[2 * i].MPI_SOURCE == 0 && many[2 * i] == MPI_REQUEST_NULL);
    MPI_Testall(MANY, many, &flag, MPI_STATUSES_IGNORE);
    MPI_Waitany(MANY, many, &where, &none);
    CHECK(flag && where == MPI_UNDEFINED && none.MPI_SOURCE == MPI_ANY_SOURCE);
    /* The communicator stands there when the request is over. */
    MPI_Comm twin = MPI_COMM_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, &twin, &own[0]);
    MPI_Wait(&own[0], MPI_STATUS_IGNORE);
    MPI_Comm_compare(MPI_COMM_WORLD, twin, &where);
    CHECK(where == MPI_CONGRUENT);
    MPI_Comm_free(&twin);
    /* Messages have nulls of their own. */
    MPI_Message message;
    MPI_Mprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &none);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&count, 1, MPI_INT, &message, &none);
    CHECK(message == MPI_MESSAGE_NULL && none.MPI_SOURCE == MPI_PROC_NULL);
    say("requests have the program's statuses");
}

static void datatypes(void)
{
    MPI_Datatype made, inner[1], found;
    int integers[32], counts[3], combiner;
    MPI_Aint addresses[1];
    const int sizes[2] = {8, 8}, parts[2] = {4, 4}, starts[2] = {1, 1};
    const int distributions[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    const int lengths[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    const int grid[2] = {1, 1};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &made);
    MPI_Type_get_envelope(made, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK(combiner == MPI_COMBINER_SUBARRAY && counts[0] == 8 && counts[2] == 1);
    MPI_Type_get_contents(made, 32, 1, 1, integers, addresses, inner);
    CHECK(integers[7] == MPI_ORDER_FORTRAN && inner[0] == MPI_INT);
    MPI_Type_free(&made);
    MPI_Type_create_darray(1, 0, 2, sizes, distributions, lengths, grid, MPI_ORDER_C, MPI_DOUBLE, &made);
    MPI_Type_get_envelope(made, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK(combiner == MPI_COMBINER_DARRAY);
    MPI_Type_get_contents(made, 32, 1, 1, integers, addresses, inner);
    CHECK(integers[5] == MPI_DISTRIBUTE_CYCLIC && integers[6] == MPI_DISTRIBUTE_BLOCK && integers[7] == 2);
    CHECK(integers[8] == MPI_DISTRIBUTE_DFLT_DARG && integers[counts[0] - 1] == MPI_ORDER_C && inner[0] == MPI_DOUBLE);
    MPI_Type_free(&made);
    MPI_Type_get_envelope(MPI_INT, &counts[0], &counts[1], &counts[2], &combiner);
    CHECK(combiner == MPI_COMBINER_NAMED);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &found);
    CHECK(found == MPI_DOUBLE_PRECISION || found == MPI_REAL8 || found == MPI_DOUBLE);
    say("datatypes are made of the program's words");
}

static void others(void)
{
    int number, source, dest, period = 0, dims = size, flag, *shown;
    MPI_Comm line;
    MPI_Group world, one;
    MPI_Win win;
    void *base, *buffer;
    MPI_Query_thread(&number);
    CHECK(number == MPI_THREAD_MULTIPLE);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &period, 0, &line);
    MPI_Cart_shift(line, 0, 1, &source, &dest);
    CHECK((source == MPI_PROC_NULL) == (rank == 0) && (dest == MPI_PROC_NULL) == (rank == size - 1));
    MPI_Topo_test(line, &number);
    CHECK(number == MPI_CART);
    MPI_Topo_test(MPI_COMM_WORLD, &number);
    CHECK(number == MPI_UNDEFINED);
    MPI_Comm_free(&line);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int first = 0, ranks[2] = {0, MPI_PROC_NULL};
    int told[2];
    MPI_Group_incl(world, 1, &first, &one);
    MPI_Group_translate_ranks(world, 2, ranks, one, told);
    CHECK(told[0] == 0 && told[1] == MPI_PROC_NULL);
    MPI_Group_compare(world, one, &number);
    CHECK(number == (size == 1 ? MPI_IDENT : MPI_UNEQUAL));
    MPI_Group_free(&one);
    MPI_Group_free(&world);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &line);
    CHECK(line != MPI_COMM_NULL);
    MPI_Comm_free(&line);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &shown, &flag);
    CHECK(flag && *shown == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &shown, &flag);
    CHECK(flag && *shown == MPI_WIN_UNIFIED);
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Buffer_detach(&buffer, &number);
    CHECK(buffer == MPI_BUFFER_AUTOMATIC);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &line);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(line)) == line);
    MPI_Comm_free(&line);
    say("numbers are the program's");
}

/* Each rank gives and gets by types of its own. */
static void alltoallw(void)
{
    int *counts = malloc(size * sizeof *counts), *places = malloc(size * sizeof *places);
    int *out = malloc(size * sizeof *out), *in = malloc(size * sizeof *in);
    MPI_Datatype *types = malloc(size * sizeof *types);
    MPI_Request request;
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i * (int)sizeof(int);
        out[i] = 10 * rank + i;
        types[i] = i % 2 ? MPI_INT : MPI_INT32_T;
    }
    MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, &request);
    memset(types, 0, size * sizeof *types);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == 10 * i + rank);
    free(counts), free(places), free(out), free(in), free(types);
    say("arrays of types are converted");
}

static void files(void)
{
    MPI_File file;
    MPI_Status status;
    char name[64];
    int number = 7, amode, length;
    snprintf(name, sizeof name, "/tmp/parvum-words-%ld", (long)(MPI_Wtime() * 1e9));
    CHECK(class_of(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
    CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file) ==
          MPI_SUCCESS);
    MPI_File_get_amode(file, &amode);
    CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    MPI_File_write(file, &number, 1, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &length);
    CHECK(length == 1);
    MPI_File_seek(file, -4, MPI_SEEK_END);
    number = 0;
    MPI_File_read(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(number == 7);
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    say("files are opened by the program's modes");
}

int main(int argc, char **argv)
{
    int provided, major, minor;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Abi_get_version(&major, &minor);
#ifdef MPI_ABI
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION && sizeof(MPI_Status) == 32);
#else
    CHECK(major == -1 && minor == -1 && sizeof(MPI_Status) == 20);
#endif
    operations();
    attributes();
    errors();
    requests();
    datatypes();
    others();
    alltoallw();
    files();
    MPI_Finalize();
    return 0;
}
