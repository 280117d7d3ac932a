/* What the program of tests/tests/mpi/arguments.rs calls MPI's functions with: one of everything that is good, and of every handle one that
 * was freed. It includes this, and has one call for each argument that can be wrong. */
#ifndef MPI_ARGUMENTS_H
#define MPI_ARGUMENTS_H

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *calling = "nothing";
static int tried, wrong;

static int data[64], room[64], one[2] = {1, 1}, zero[2], minus[2] = {-1, -1}, ranges[1][3] = {{0, 0, 1}}, place;
static MPI_Count large_one[2] = {1, 1}, large_zero[2], large_minus[2] = {-1, -1}, large_place;
static MPI_Aint far_zero[2], far_place;
static int no_distribution[1] = {MPI_DISTRIBUTE_NONE}, default_argument[1] = {MPI_DISTRIBUTE_DFLT_DARG};
static MPI_Datatype types[2], null_types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}, freed_types[2], loose_types[2];
static MPI_Info infos[1] = {MPI_INFO_NULL};
static char text[MPI_MAX_LIBRARY_VERSION_STRING];
static char *commands[1] = {"/no/such/program"};
static MPI_Status status;

static MPI_Comm comm, cart, graph, dist, freed_comm;
static MPI_Group group, freed_group;
static MPI_Datatype type = MPI_DATATYPE_NULL, loose_type, freed_type;
static MPI_Op op, freed_op;
static MPI_Info info, freed_info;
static MPI_Errhandler errhandler = MPI_ERRORS_RETURN, freed_errhandler;
static MPI_Request parts_out, parts_in, persistent, freed_request;
static MPI_Message message = MPI_MESSAGE_NO_PROC;
static MPI_Win win, freed_win;
static MPI_Session session, freed_session;
static MPI_File file;
static int keyval[3], freed_keyval[3];

/* Where results go. None may be changed by a call that is refused. */
static MPI_Request request_out = MPI_REQUEST_NULL;

static void died(int signal)
{
    char said[600];
    int length = snprintf(said, sizeof said, "signal %d in %s\n", signal, calling);
    (void)!write(2, said, (size_t)length);
    _exit(9);
}

static void judge(int wanted, int other, int code)
{
    char said[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_SUCCESS, length = 0;
    tried++;
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &class);
        MPI_Error_string(code, said, &length);
    }
    if ((class != wanted && class != other) || (code != MPI_SUCCESS && length < 20)) {
        wrong++;
        printf("%s gave class %d (%s), not %d\n", calling, class, said, wanted);
    }
    if (request_out != MPI_REQUEST_NULL) {
        wrong++;
        printf("%s was refused, and has made a request\n", calling);
        request_out = MPI_REQUEST_NULL;
    }
}

/* One that is to be refused with one of two classes. */
#define TRY(wanted, other, said, call) (alarm(20), calling = said, judge(wanted, other, call))

static void reduce(void *in, void *inout, int *count, MPI_Datatype *of)
{
    (void)in, (void)inout, (void)count, (void)of;
}

static void comm_failed(MPI_Comm *on, int *code, ...)
{
    (void)on, (void)code;
}

static void make_everything(const char *path)
{
    int dims[1] = {1}, periods[1] = {1}, index[1] = {1}, edges[1] = {0};
    MPI_Request posted;
    types[0] = types[1] = MPI_INT;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Cart_create(comm, 1, dims, periods, 0, &cart);
    MPI_Graph_create(comm, 1, index, edges, 0, &graph);
    MPI_Dist_graph_create_adjacent(comm, 1, edges, MPI_UNWEIGHTED, 1, edges, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist);
    MPI_Comm made;
    MPI_Comm_dup(comm, &made);
    freed_comm = made;
    MPI_Comm_free(&made);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group left = group;
    MPI_Group_incl(group, 1, zero, &left);
    freed_group = left;
    MPI_Group_free(&left);
    MPI_Type_vector(2, 1, 2, MPI_INT, &loose_type);
    MPI_Datatype gone;
    MPI_Type_contiguous(2, MPI_INT, &gone);
    freed_type = gone;
    MPI_Type_free(&gone);
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_commit(&type);
    freed_types[0] = freed_types[1] = freed_type, loose_types[0] = loose_types[1] = loose_type;
    MPI_Op_create(reduce, 1, &op);
    MPI_Op gone_op;
    MPI_Op_create(reduce, 0, &gone_op);
    freed_op = gone_op;
    MPI_Op_free(&gone_op);
    MPI_Info gone_info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_create(&gone_info);
    freed_info = gone_info;
    MPI_Info_free(&gone_info);
    MPI_Errhandler gone_handler;
    MPI_Comm_create_errhandler(comm_failed, &gone_handler);
    freed_errhandler = gone_handler;
    MPI_Errhandler_free(&gone_handler);
    MPI_Psend_init(data, 1, 1, MPI_INT, 0, 3, comm, MPI_INFO_NULL, &parts_out);
    MPI_Precv_init(room, 1, 1, MPI_INT, 0, 3, comm, MPI_INFO_NULL, &parts_in);
    MPI_Start(&parts_out);
    MPI_Start(&parts_in);
    MPI_Recv_init(room, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &persistent);
    MPI_Recv_init(room, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &posted);
    freed_request = posted;
    MPI_Request_free(&posted);
    MPI_Win gone_win;
    MPI_Win_create(room, sizeof room, sizeof(int), MPI_INFO_NULL, comm, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    MPI_Win_create(room, sizeof room, sizeof(int), MPI_INFO_NULL, comm, &gone_win);
    freed_win = gone_win;
    MPI_Win_free(&gone_win);
    MPI_Session gone_session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &gone_session);
    freed_session = gone_session;
    MPI_Session_finalize(&gone_session);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval[0], NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval[1], NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval[2], NULL);
    int gone_keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &gone_keyval, NULL);
    freed_keyval[0] = gone_keyval;
    MPI_Comm_free_keyval(&gone_keyval);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &gone_keyval, NULL);
    freed_keyval[1] = gone_keyval;
    MPI_Type_free_keyval(&gone_keyval);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &gone_keyval, NULL);
    freed_keyval[2] = gone_keyval;
    MPI_Win_free_keyval(&gone_keyval);
    signal(SIGSEGV, died), signal(SIGBUS, died), signal(SIGALRM, died), signal(SIGABRT, died);
}

/* What was good is good still, and nothing has come that was refused. */
static int close_everything(void)
{
    int flag = 1, error = 0;
    alarm(0);
    calling = "the end";
    error |= MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    error |= MPI_Win_unlock_all(win) | MPI_Win_free(&win) | MPI_File_close(&file) | MPI_Session_finalize(&session);
    error |= MPI_Pready(0, parts_out) | MPI_Wait(&parts_out, &status) | MPI_Wait(&parts_in, &status);
    error |= MPI_Request_free(&parts_out) | MPI_Request_free(&parts_in) | MPI_Request_free(&persistent);
    error |= MPI_Type_free(&type) | MPI_Type_free(&loose_type) | MPI_Op_free(&op) | MPI_Info_free(&info);
    error |= MPI_Comm_free(&dist) | MPI_Comm_free(&graph) | MPI_Comm_free(&cart) | MPI_Comm_free(&comm) | MPI_Group_free(&group);
    if (flag || error)
        wrong++, printf("at the end: a message is here: %d; errors: %d\n", flag, error);
    MPI_Finalize();
    printf("%d refused, %d not as they should be\n", tried, wrong);
    return wrong != 0;
}

#endif
