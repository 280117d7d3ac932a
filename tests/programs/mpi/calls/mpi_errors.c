/* What makes no sense gives the class that the standard has for it, and nothing is sent or made. Each rank says how many it tried, or what
 * was wrong. With a word it does one of those that end the job, or that may be done at any time: before, after, twice, tag, abort, type, freed, exit,
 * left, left_together, or the path of another library. */
#include <mpi.h>
#include <stdio.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, tried, wrong;

static const char *name_of(int class)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    if (class == MPI_SUCCESS)
        return "MPI_SUCCESS";
    return MPI_Error_string(class, text, &length) ? "?" : text;
}

static void check(int wanted, int code, const char *call, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_SUCCESS, length = 0;
    tried++;
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
    }
    if (class != wanted) {
        wrong++;
        fprintf(stderr, "rank %d, line %d: %s gave class %d (%s)", rank, line, call, class, text);
        fprintf(stderr, ", not %d (%s)\n", wanted, name_of(wanted));
    } else if (code != MPI_SUCCESS && length < 20) {
        wrong++;
        fprintf(stderr, "rank %d, line %d: %s says only \"%s\"\n", rank, line, call, text);
    }
}

#define GIVES(class, call) check(class, call, #call, __LINE__)

static MPI_Comm world;

static void messages(void)
{
    int data[4] = {0}, flag, other = (rank + 1) % size;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    GIVES(MPI_ERR_COUNT, MPI_Send(data, -1, MPI_INT, other, 0, world));
    GIVES(MPI_ERR_COUNT, MPI_Recv(data, -1, MPI_INT, other, 0, world, &status));
    GIVES(MPI_ERR_COUNT, MPI_Isend(data, -1, MPI_INT, other, 0, world, &request));
    GIVES(MPI_ERR_COUNT, MPI_Irecv(data, -1, MPI_INT, other, 0, world, &request));
    GIVES(MPI_ERR_COUNT, MPI_Send(data, -1, MPI_INT, MPI_PROC_NULL, 0, world));
    GIVES(MPI_ERR_BUFFER, MPI_Send(NULL, 1, MPI_INT, other, 0, world));
    GIVES(MPI_ERR_BUFFER, MPI_Recv(NULL, 1, MPI_INT, other, 0, world, &status));
    GIVES(MPI_SUCCESS, MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, world));
    GIVES(MPI_ERR_TAG, MPI_Send(data, 1, MPI_INT, other, -5, world));
    GIVES(MPI_ERR_TAG, MPI_Send(data, 1, MPI_INT, other, MPI_ANY_TAG, world));
    GIVES(MPI_ERR_TAG, MPI_Recv(data, 1, MPI_INT, other, -5, world, &status));
    GIVES(MPI_ERR_TAG, MPI_Sendrecv(data, 1, MPI_INT, other, -5, data + 1, 1, MPI_INT, other, 0, world, &status));
    GIVES(MPI_ERR_TAG, MPI_Iprobe(other, -7, world, &flag, &status));
    GIVES(MPI_ERR_RANK, MPI_Send(data, 1, MPI_INT, size, 0, world));
    GIVES(MPI_ERR_RANK, MPI_Send(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, world));
    GIVES(MPI_ERR_RANK, MPI_Ssend(data, 1, MPI_INT, -9, 0, world));
    GIVES(MPI_ERR_RANK, MPI_Recv(data, 1, MPI_INT, size, 0, world, &status));
    GIVES(MPI_ERR_RANK, MPI_Probe(size + 3, 0, world, &status));
    GIVES(MPI_ERR_RANK, MPI_Improbe(-7, 0, world, &flag, &message, &status));
    GIVES(MPI_ERR_RANK, MPI_Send_init(data, 1, MPI_INT, size, 0, world, &request));
    GIVES(MPI_ERR_COMM, MPI_Send(data, 1, MPI_INT, other, 0, MPI_COMM_NULL));
    GIVES(MPI_ERR_COMM, MPI_Recv(data, 1, MPI_INT, other, 0, MPI_COMM_NULL, &status));
    GIVES(MPI_ERR_TYPE, MPI_Send(data, 1, MPI_DATATYPE_NULL, other, 0, world));
    GIVES(MPI_ERR_TYPE, MPI_Recv(data, 1, MPI_DATATYPE_NULL, other, 0, world, &status));
    message = MPI_MESSAGE_NULL;
    GIVES(MPI_ERR_REQUEST, MPI_Mrecv(data, 1, MPI_INT, &message, &status));
    /* What was refused was not sent. */
    MPI_Barrier(world);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &status);
    tried++;
    if (flag) {
        wrong++;
        fprintf(stderr, "rank %d: a message has come that was refused\n", rank);
    }
}

static void types(void)
{
    int data[8] = {0}, lengths[2] = {1, -1}, number;
    MPI_Aint places[2] = {0, 4};
    MPI_Datatype type, freed, predefined = MPI_INT, parts[2] = {MPI_INT, MPI_DATATYPE_NULL};
    MPI_Status status;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    GIVES(MPI_ERR_TYPE, MPI_Send(data, 1, type, MPI_PROC_NULL, 0, world));
    GIVES(MPI_ERR_TYPE, MPI_Recv(data, 1, type, MPI_PROC_NULL, 0, world, &status));
    GIVES(MPI_ERR_TYPE, MPI_Bcast(data, 1, type, 0, world));
    freed = type;
    MPI_Type_free(&type);
    GIVES(MPI_ERR_TYPE, MPI_Type_commit(&freed));
    GIVES(MPI_ERR_TYPE, MPI_Send(data, 1, freed, MPI_PROC_NULL, 0, world));
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&freed));
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&type));
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&predefined));
    GIVES(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &type));
    GIVES(MPI_ERR_TYPE, MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type));
    GIVES(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &number));
    lengths[1] = 1;
    GIVES(MPI_ERR_TYPE, MPI_Type_create_struct(2, lengths, places, parts, &type));
    GIVES(MPI_ERR_KEYVAL, MPI_Type_free_keyval(&(int){MPI_KEYVAL_INVALID}));
}

static void collectives(void)
{
    int data[16] = {0}, more[16] = {0};
    double numbers[2] = {0}, sums[2];
    MPI_Op op = MPI_SUM, null = MPI_OP_NULL;
    GIVES(MPI_ERR_ROOT, MPI_Bcast(data, 1, MPI_INT, size, world));
    GIVES(MPI_ERR_ROOT, MPI_Reduce(data, more, 1, MPI_INT, MPI_SUM, -1, world));
    GIVES(MPI_ERR_ROOT, MPI_Gather(data, 1, MPI_INT, more, 1, MPI_INT, size, world));
    GIVES(MPI_ERR_ROOT, MPI_Scatter(data, 1, MPI_INT, more, 1, MPI_INT, -4, world));
    GIVES(MPI_ERR_COUNT, MPI_Bcast(data, -1, MPI_INT, 0, world));
    GIVES(MPI_ERR_COUNT, MPI_Allreduce(data, more, -1, MPI_INT, MPI_SUM, world));
    GIVES(MPI_ERR_TYPE, MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, world));
    GIVES(MPI_ERR_OP, MPI_Allreduce(numbers, sums, 1, MPI_DOUBLE, MPI_BAND, world));
    GIVES(MPI_ERR_OP, MPI_Allreduce(numbers, sums, 1, MPI_DOUBLE, MPI_MINLOC, world));
    GIVES(MPI_ERR_OP, MPI_Allreduce(data, more, 1, MPI_INT, null, world));
    GIVES(MPI_ERR_OP, MPI_Reduce(data, more, 1, MPI_INT, MPI_REPLACE, 0, world));
    GIVES(MPI_ERR_OP, MPI_Op_free(&op));
    GIVES(MPI_ERR_OP, MPI_Op_free(&null));
    GIVES(MPI_ERR_BUFFER, MPI_Allreduce(data, data, 1, MPI_INT, MPI_SUM, world));
    GIVES(MPI_ERR_BUFFER, MPI_Allgather(data, 1, MPI_INT, data, 1, MPI_INT, world));
    GIVES(MPI_ERR_BUFFER, MPI_Alltoall(data, 1, MPI_INT, data, 1, MPI_INT, world));
    GIVES(MPI_ERR_BUFFER, MPI_Scan(data, data, 1, MPI_INT, MPI_SUM, world));
    /* Buffers that have but a part in common. */
    GIVES(MPI_ERR_BUFFER, MPI_Allreduce(data, data + 3, 4, MPI_INT, MPI_SUM, world));
    GIVES(MPI_ERR_BUFFER, MPI_Exscan(data + 1, data, 2, MPI_INT, MPI_SUM, world));
    GIVES(MPI_SUCCESS, MPI_Allreduce(data, data + 4, 4, MPI_INT, MPI_SUM, world));
    GIVES(MPI_ERR_BUFFER, MPI_Allreduce(NULL, more, 1, MPI_INT, MPI_SUM, world));
    GIVES(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, world));
    GIVES(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    GIVES(MPI_ERR_COMM, MPI_Allreduce(data, more, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    /* All refused alike, so the next one fits. */
    GIVES(MPI_SUCCESS, MPI_Barrier(world));
}

static void requests(void)
{
    int data = 0, more = 0, flag;
    MPI_Request request = MPI_REQUEST_NULL, copy, both[2];
    MPI_Status status;
    GIVES(MPI_ERR_REQUEST, MPI_Start(&request));
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&request));
    GIVES(MPI_ERR_REQUEST, MPI_Request_free(&request));
    GIVES(MPI_SUCCESS, MPI_Wait(&request, &status));
    MPI_Irecv(&more, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    copy = request;
    MPI_Send(&data, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Wait(&request, &status);
    GIVES(MPI_ERR_REQUEST, MPI_Wait(&copy, &status));
    GIVES(MPI_ERR_REQUEST, MPI_Test(&copy, &flag, &status));
    both[0] = MPI_REQUEST_NULL, both[1] = copy;
    GIVES(MPI_ERR_REQUEST, MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
    GIVES(MPI_ERR_COUNT, MPI_Waitall(-1, both, MPI_STATUSES_IGNORE));
    GIVES(MPI_ERR_REQUEST, MPI_Start(&copy));
    MPI_Recv_init(&more, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Start(&request);
    GIVES(MPI_ERR_REQUEST, MPI_Start(&request));
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    GIVES(MPI_SUCCESS, MPI_Request_free(&request));
}

static void communicators(void)
{
    int number, value[1], dims[2] = {3, 0}, periods[2] = {0}, ranks[2] = {0, 0};
    void *got;
    MPI_Comm made, predefined = MPI_COMM_WORLD, null = MPI_COMM_NULL;
    MPI_Group group, other;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    GIVES(MPI_ERR_COMM, MPI_Comm_rank(MPI_COMM_NULL, &number));
    GIVES(MPI_ERR_COMM, MPI_Comm_free(&predefined));
    GIVES(MPI_ERR_COMM, MPI_Comm_free(&null));
    GIVES(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &made));
    MPI_Comm_dup(world, &made);
    null = made;
    MPI_Comm_free(&made);
    GIVES(MPI_ERR_COMM, MPI_Comm_size(null, &number));
    GIVES(MPI_ERR_COMM, MPI_Barrier(null));
    GIVES(MPI_ERR_COMM, MPI_Comm_free(&null));
    GIVES(MPI_ERR_COMM, MPI_Comm_remote_size(world, &number));
    GIVES(MPI_ERR_ARG, MPI_Comm_rank(world, NULL));
    GIVES(MPI_ERR_DIMS, MPI_Dims_create(size, 1, (int[]){size + 1}));
    GIVES(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_SELF, 1, dims, periods, 0, &made));
    GIVES(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(world, &number));
    GIVES(MPI_ERR_TOPOLOGY, MPI_Cart_shift(world, 0, 1, &number, &number));
    GIVES(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors_count(world, 0, &number));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_set_attr(world, MPI_KEYVAL_INVALID, value));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_set_attr(world, MPI_TAG_UB, value));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(world, MPI_TAG_UB));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_get_attr(world, MPI_KEYVAL_INVALID, &got, &number));
    MPI_Comm_group(world, &group);
    GIVES(MPI_ERR_RANK, MPI_Group_incl(group, 1, &size, &other));
    GIVES(MPI_ERR_RANK, MPI_Group_incl(group, 2, ranks, &other));
    GIVES(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &number));
    other = group;
    MPI_Group_free(&group);
    GIVES(MPI_ERR_GROUP, MPI_Group_size(other, &number));
    GIVES(MPI_ERR_GROUP, MPI_Group_free(&other));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&handler));
}

static void infos(void)
{
    char key[MPI_MAX_INFO_KEY + 8], value[MPI_MAX_INFO_VAL + 8];
    int flag;
    MPI_Info info, freed;
    memset(key, 'k', sizeof key), key[sizeof key - 1] = 0;
    memset(value, 'v', sizeof value), value[sizeof value - 1] = 0;
    MPI_Info_create(&info);
    GIVES(MPI_ERR_INFO_KEY, MPI_Info_set(info, key, "v"));
    GIVES(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "v"));
    GIVES(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "k", value));
    GIVES(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "none"));
    freed = info;
    MPI_Info_free(&info);
    GIVES(MPI_ERR_INFO, MPI_Info_set(freed, "k", "v"));
    GIVES(MPI_ERR_INFO, MPI_Info_get(MPI_INFO_NULL, "k", 8, value, &flag));
    GIVES(MPI_ERR_INFO, MPI_Info_free(&freed));
}

static void buffers(void)
{
    static char room[4096], more[4096];
    void *was;
    int data[2000] = {0}, length;
    GIVES(MPI_ERR_BUFFER, MPI_Bsend(data, 1, MPI_INT, rank, 0, world));
    MPI_Buffer_attach(room, sizeof room);
    GIVES(MPI_ERR_BUFFER, MPI_Buffer_attach(more, sizeof more));
    GIVES(MPI_ERR_BUFFER, MPI_Bsend(data, 2000, MPI_INT, rank, 0, world));
    MPI_Buffer_detach(&was, &length);
}

static void windows(void)
{
    int data = 0, mine[4] = {0};
    MPI_Win win, null = MPI_WIN_NULL;
    MPI_Win_create(mine, sizeof mine, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    GIVES(MPI_ERR_RMA_SYNC, MPI_Put(&data, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    MPI_Win_fence(0, win);
    GIVES(MPI_ERR_RANK, MPI_Put(&data, 1, MPI_INT, size, 0, 1, MPI_INT, win));
    GIVES(MPI_ERR_COUNT, MPI_Get(&data, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
    GIVES(MPI_ERR_TYPE, MPI_Get(&data, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    GIVES(MPI_ERR_WIN, MPI_Win_fence(0, null));
    GIVES(MPI_ERR_WIN, MPI_Win_free(&null));
    GIVES(MPI_ERR_SIZE, MPI_Win_create(mine, -1, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    GIVES(MPI_ERR_DISP, MPI_Win_create(mine, 4, 0, MPI_INFO_NULL, MPI_COMM_SELF, &win));
}

static void files(void)
{
    char name[256];
    MPI_File file;
    snprintf(name, sizeof name, "%s/parvum-errors-%d-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid(), rank);
    GIVES(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    GIVES(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(name, MPI_INFO_NULL));
    GIVES(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    GIVES(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    GIVES(MPI_SUCCESS, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    GIVES(MPI_SUCCESS, MPI_File_close(&file));
    GIVES(MPI_ERR_FILE_EXISTS,
          MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file));
    GIVES(MPI_SUCCESS, MPI_File_delete(name, MPI_INFO_NULL));
    file = MPI_FILE_NULL;
    GIVES(MPI_ERR_FILE, MPI_File_close(&file));
}

static void names(void)
{
    char port[MPI_MAX_PORT_NAME];
    int codes[2] = {0, 0};
    MPI_Comm child;
    GIVES(MPI_ERR_NAME, MPI_Lookup_name("no such service", MPI_INFO_NULL, port));
    GIVES(MPI_ERR_SERVICE, MPI_Unpublish_name("no such service", MPI_INFO_NULL, "parvum:t40001:1"));
    GIVES(MPI_ERR_PORT, MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &child));
    if (rank == 0) {
        GIVES(MPI_ERR_SPAWN, MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, codes));
        for (int at = 0; at < 2; at++)
            GIVES(MPI_ERR_SPAWN, codes[at]);
    }
}

#define HOLDS(condition)                                                                                                          \
    do {                                                                                                                          \
        tried++;                                                                                                                  \
        if (!(condition)) {                                                                                                       \
            wrong++;                                                                                                              \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition);                                                \
        }                                                                                                                         \
    } while (0)

/* What an error handler was last called with. */
static MPI_Comm comm_heard;
static MPI_Win win_heard;
static MPI_File file_heard;
static MPI_Session session_heard;
static int code_heard;

static void of_comm(MPI_Comm *on, int *code, ...)
{
    comm_heard = *on, code_heard = *code;
}

static void of_win(MPI_Win *on, int *code, ...)
{
    win_heard = *on, code_heard = *code;
}

static void of_file(MPI_File *on, int *code, ...)
{
    file_heard = *on, code_heard = *code;
}

static void of_session(MPI_Session *on, int *code, ...)
{
    session_heard = *on, code_heard = *code;
}

/* An error is its object's, and of no object MPI_COMM_SELF's; its handler gets the code that the call gives. */
static void handlers(void)
{
    int data = 0, mine[4], length = 0, code;
    char name[256];
    MPI_Errhandler handler;
    MPI_Comm own;
    MPI_Win win;
    MPI_File file;
    MPI_Session session;
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Comm_create_errhandler(of_comm, &handler);
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, handler);
    code = MPI_Send(&data, -1, MPI_INT, 0, 0, own);
    HOLDS(code != MPI_SUCCESS && code == code_heard && comm_heard == own);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    code = MPI_Type_commit(&none);
    HOLDS(code != MPI_SUCCESS && code == code_heard && comm_heard == MPI_COMM_SELF);
    /* One that is freed stays as long as an object has it. */
    MPI_Errhandler_free(&handler);
    code = MPI_Barrier(MPI_COMM_NULL);
    HOLDS(code != MPI_SUCCESS && code == code_heard);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_free(&own);
    MPI_Win_create_errhandler(of_win, &handler);
    MPI_Win_create(mine, sizeof mine, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    code = MPI_Win_unlock(0, win);
    HOLDS(code != MPI_SUCCESS && code == code_heard && win_heard == win);
    MPI_Win_free(&win);
    MPI_File_create_errhandler(of_file, &handler);
    snprintf(name, sizeof name, "%s/parvum-handlers-%d-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid(), rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, handler);
    MPI_Errhandler_free(&handler);
    code = MPI_File_seek(file, -1, MPI_SEEK_SET);
    HOLDS(code != MPI_SUCCESS && code == code_heard && file_heard == file);
    MPI_File_close(&file);
    MPI_Session_create_errhandler(of_session, &handler);
    MPI_Session_init(MPI_INFO_NULL, handler, &session);
    MPI_Errhandler_free(&handler);
    code = MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &length, NULL);
    HOLDS(code != MPI_SUCCESS && code == code_heard && session_heard == session);
    MPI_Session_finalize(&session);
}

/* A new class and a new code have no text until they are given one. */
static void codes(void)
{
    char text[MPI_MAX_ERROR_STRING] = "?";
    int class, code, found, length = 7;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    GIVES(MPI_SUCCESS, MPI_Error_string(code, text, &length));
    HOLDS(length == 0 && text[0] == 0);
    MPI_Add_error_string(code, "a text");
    MPI_Error_string(code, text, &length);
    MPI_Error_class(code, &found);
    HOLDS(found == class && length == 6 && strcmp(text, "a text") == 0);
    GIVES(MPI_ERR_ARG, MPI_Error_class(-3, &found));
    GIVES(MPI_ERR_ARG, MPI_Add_error_string(MPI_ERR_COMM, "another"));
}

/* Some requests are over, one has failed, one is under way: the statuses say which. */
static void statuses(void)
{
    int one = 1, two[2] = {1, 2}, room[3] = {0}, done, places[3];
    MPI_Request requests[3];
    MPI_Status said[3];
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Irecv(&room[0], 1, MPI_INT, 0, 1, own, &requests[0]);
    MPI_Irecv(&room[1], 1, MPI_INT, 0, 2, own, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Send(&one, 1, MPI_INT, 0, 1, own);
    MPI_Send(two, 2, MPI_INT, 0, 2, own);
    GIVES(MPI_ERR_IN_STATUS, MPI_Waitall(3, requests, said));
    check(MPI_SUCCESS, said[0].MPI_ERROR, "the first status", __LINE__);
    check(MPI_ERR_TRUNCATE, said[1].MPI_ERROR, "the second status", __LINE__);
    check(MPI_SUCCESS, said[2].MPI_ERROR, "the third status", __LINE__);
    HOLDS(room[0] == 1 && room[1] == 1 && room[2] == 0 && requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    MPI_Irecv(&room[0], 1, MPI_INT, 0, 1, own, &requests[0]);
    MPI_Irecv(&room[1], 1, MPI_INT, 0, 2, own, &requests[1]);
    MPI_Send(two, 2, MPI_INT, 0, 2, own);
    GIVES(MPI_ERR_IN_STATUS, MPI_Waitsome(2, requests, &done, places, said));
    HOLDS(done == 1 && places[0] == 1 && requests[1] == MPI_REQUEST_NULL && requests[0] != MPI_REQUEST_NULL);
    check(MPI_ERR_TRUNCATE, said[0].MPI_ERROR, "the status of some", __LINE__);
    MPI_Send(&one, 1, MPI_INT, 0, 1, own);
    GIVES(MPI_SUCCESS, MPI_Wait(&requests[0], &said[0]));
    MPI_Comm_free(&own);
}

/* What may be called when MPI has ended. */
static void afterwards(void)
{
    int number, flag;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Info info;
    MPI_Errhandler handler;
    HOLDS(MPI_Initialized(&flag) == MPI_SUCCESS && flag && MPI_Finalized(&flag) == MPI_SUCCESS && flag);
    HOLDS(MPI_Get_version(&number, &flag) == MPI_SUCCESS && number >= 4);
    HOLDS(MPI_Get_library_version(text, &number) == MPI_SUCCESS && number > 0);
    HOLDS(MPI_Error_string(MPI_ERR_TAG, text, &number) == MPI_SUCCESS && number > 0);
    HOLDS(MPI_Info_create(&info) == MPI_SUCCESS && MPI_Info_set(info, "key", "value") == MPI_SUCCESS);
    HOLDS(MPI_Info_get_nkeys(info, &number) == MPI_SUCCESS && number == 1 && MPI_Info_free(&info) == MPI_SUCCESS);
    HOLDS(MPI_Comm_create_errhandler(of_comm, &handler) == MPI_SUCCESS && MPI_Errhandler_free(&handler) == MPI_SUCCESS);
}

/* Those that end the job. */
static int fatal(const char *what)
{
    int data = 0;
    MPI_Datatype type;
    MPI_Comm made;
    if (strcmp(what, "before") == 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return 0;
    }
    /* Another library of MPI, which somebody has loaded for this process too. */
    if (strncmp(what, "/", 1) == 0 && !dlopen(what, RTLD_NOW | RTLD_GLOBAL)) {
        fprintf(stderr, "%s\n", dlerror());
        return 9;
    }
    MPI_Init(NULL, NULL);
    if (strcmp(what, "after") == 0) {
        MPI_Finalize();
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "tag") == 0) {
        MPI_Send(&data, 1, MPI_INT, 0, -7, MPI_COMM_WORLD);
    } else if (strcmp(what, "abort") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "type") == 0) {
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Send(&data, 1, type, 0, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "freed") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        MPI_Comm copy = made;
        MPI_Comm_free(&made);
        MPI_Barrier(copy);
    } else if (strcmp(what, "twice") == 0) {
        MPI_Init(NULL, NULL);
    } else if (strcmp(what, "_exit") == 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 1)
            _exit(0);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "finalize_exit") == 0) {
        MPI_Finalize();
        _exit(0);
    } else if (strcmp(what, "left") == 0 || strcmp(what, "left_together") == 0) {
        /* Rank 0 has ended in peace, and rank 1 still wants something of it. */
        MPI_Request request;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 1 && what[4] == 0)
            MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1 && what[4] != 0) {
            MPI_Ibcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Finalize();
    } else if (strcmp(what, "exit") == 0) {
        /* Rank 0 leaves without a word, and the others wait for it. */
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        printf("rank %d was here\n", rank);
        if (rank > 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return fatal(argv[1]);
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    messages();
    types();
    collectives();
    requests();
    communicators();
    infos();
    buffers();
    windows();
    files();
    names();
    handlers();
    codes();
    statuses();
    MPI_Barrier(world);
    MPI_Finalize();
    afterwards();
    if (wrong)
        return 1;
    printf("rank %d: %d errors as they should be\n", rank, tried);
    return 0;
}
