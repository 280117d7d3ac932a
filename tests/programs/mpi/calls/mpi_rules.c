/* Rules of the standard that other people's programs rely on, one set by each word: slots, partitions, copies, halves, handlers, nulls, keys,
 * types, marks, envelopes, local, shared, places, bytes, pieces, buffers, sessions. Each rank says how much it has checked. */
#define _GNU_SOURCE
#include "mpi_check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define GUARD 77777

/* The slot of a missing neighbour is neither sent nor written, also if the slots lie in descending order. */
static void slots(void)
{
    int sizes[1] = {size}, wraps[1] = {0}, ones[2] = {1, 1}, behind[2] = {1, 0}, give[2], got[2];
    int left = rank > 0, right = rank < size - 1;
    MPI_Aint far[2] = {sizeof(int), 0};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm grid;
    MPI_Request request;
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, wraps, 0, &grid);
    for (int form = 0; form < 6; form++) {
        give[0] = give[1] = rank;
        got[0] = got[1] = GUARD;
        switch (form) {
        case 0: MPI_Neighbor_allgatherv(give, 1, MPI_INT, got, ones, behind, MPI_INT, grid); break;
        case 1: MPI_Neighbor_alltoallv(give, ones, behind, MPI_INT, got, ones, behind, MPI_INT, grid); break;
        case 2: MPI_Neighbor_alltoallw(give, ones, far, types, got, ones, far, types, grid); break;
        case 3: MPI_Ineighbor_allgatherv(give, 1, MPI_INT, got, ones, behind, MPI_INT, grid, &request); break;
        case 4: MPI_Ineighbor_alltoallw(give, ones, far, types, got, ones, far, types, grid, &request); break;
        case 5:
            MPI_Neighbor_alltoallv_init(give, ones, behind, MPI_INT, got, ones, behind, MPI_INT, grid, MPI_INFO_NULL, &request);
            MPI_Start(&request);
            break;
        }
        if (form > 2)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (form == 5)
            MPI_Request_free(&request);
        CHECK(got[1] == (left ? rank - 1 : GUARD));
        CHECK(got[0] == (right ? rank + 1 : GUARD));
    }
    MPI_Comm_free(&grid);
}

/* Partitioned requests of one peer and tag belong together as they were made, not as they are started. */
static void partitions(void)
{
    int data[3][8], flag, to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request sends[3], receives[3];
    MPI_Status status;
    int given[3][8];
    for (int at = 0; at < 3; at++) {
        MPI_Psend_init(given[at], 4, 2, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[at]);
        MPI_Precv_init(data[at], 2, 4, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[at]);
    }
    for (int round = 0; round < 3; round++) {
        for (int step = 0; step < 3; step++) {
            int at = (step + 2) % 3;
            MPI_Start(&receives[step]);
            for (int place = 0; place < 8; place++)
                given[at][place] = 100 * round + 10 * at + from;
            for (int place = 0; place < 8; place++)
                given[at][place] = 100 * round + 10 * at + rank;
            MPI_Start(&sends[at]);
            MPI_Pready_range(0, 3, sends[at]);
        }
        MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(3, receives, MPI_STATUSES_IGNORE);
        for (int at = 0; at < 3; at++)
            for (int place = 0; place < 8; place++)
                CHECK(data[at][place] == 100 * round + 10 * at + from);
    }
    for (int at = 0; at < 3; at++) {
        MPI_Request_free(&sends[at]);
        MPI_Request_free(&receives[at]);
    }
    /* Tags that differ in their highest bits only are different, and less data than there is room for says how much it is. */
    MPI_Psend_init(given[0], 1, 2, MPI_INT, to, 0x20000001, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[0]);
    MPI_Psend_init(given[1], 2, 1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[1]);
    MPI_Precv_init(data[1], 4, 2, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[1]);
    MPI_Precv_init(data[0], 1, 2, MPI_INT, from, 0x20000001, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[0]);
    given[0][0] = 7;
    given[1][0] = given[1][1] = 9;
    MPI_Startall(2, sends);
    MPI_Startall(2, receives);
    MPI_Pready(0, sends[0]);
    MPI_Pready_range(0, 1, sends[1]);
    MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
    do
        MPI_Parrived(receives[1], 3, &flag);
    while (!flag);
    MPI_Wait(&receives[1], &status);
    CHECK(data[0][0] == 7 && data[1][1] == 9 && count_of(&status, MPI_INT) == 2);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    for (int at = 0; at < 2; at++) {
        MPI_Request_free(&sends[at]);
        MPI_Request_free(&receives[at]);
    }
}

/* A copy of an inter-communicator that is begun waits for nobody. */
static void copies(void)
{
    int here, others, word = 0, sum = 0;
    MPI_Comm half, between, copy = MPI_COMM_NULL;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &between);
    MPI_Comm_rank(between, &here);
    MPI_Comm_remote_size(between, &others);
    /* The first of each side calls only when all others are back from their calls. */
    if (here == 0)
        for (int from = 1; from < others; from++)
            MPI_Recv(&word, 1, MPI_INT, from, 0, between, MPI_STATUS_IGNORE);
    CHECK(MPI_Comm_idup(between, &copy, &request) == MPI_SUCCESS);
    if (here != 0)
        MPI_Ssend(&word, 1, MPI_INT, 0, 0, between);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && copy != MPI_COMM_NULL);
    word = rank;
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, copy);
    for (int other = 1 - rank % 2; other < size; other += 2)
        sum -= other;
    CHECK(sum == 0);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* A send that fails leaves no receive of its exchange behind; the last rank dies for that. */
static void halves(void)
{
    int out = 1, in = -1, got = 0, dead = size - 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == dead)
        kill(getpid(), SIGKILL);
    if (rank == 0) {
        int code;
        /* The death is known when a message to the dead rank fails. */
        while (MPI_Ssend(&out, 1, MPI_INT, dead, 3, MPI_COMM_WORLD) == MPI_SUCCESS)
            continue;
        code = MPI_Isendrecv(&out, 1, MPI_INT, dead, 7, &in, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(code != MPI_SUCCESS && request == MPI_REQUEST_NULL);
        code = MPI_Sendrecv(&out, 1, MPI_INT, dead, 7, &in, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(code != MPI_SUCCESS);
        out = 2;
        code = MPI_Isendrecv_replace(&out, 1, MPI_INT, dead, 7, 1, 7, MPI_COMM_WORLD, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(code != MPI_SUCCESS && out == 2);
        MPI_Send(&out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&got, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == 4711 && in == -1 && out == 2);
    } else if (rank == 1) {
        MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        got = 4711;
        MPI_Send(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        CHECK(1);
    }
}

static int told;

static void count_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    told++;
    *code = MPI_SUCCESS;
}

static void count_win(MPI_Win *win, int *code, ...)
{
    (void)win;
    told++;
    *code = MPI_SUCCESS;
}

static void handlers(void)
{
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Errhandler handler, again, kept;
    MPI_Comm copy;
    MPI_Win window;
    MPI_Session session;
    MPI_Group group;
    int word = 0;
    /* Errors of no object: MPI_COMM_WORLD's handler while the program has set no other, then MPI_COMM_SELF's. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Type_free(&none) != MPI_SUCCESS);
    MPI_Comm_create_errhandler(count_comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    CHECK(MPI_Type_free(&none) == MPI_SUCCESS && told == 1);
    /* Whoever asks for a handler gets the same handle, also after the program has freed its own. */
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &again);
    CHECK(again == handler);
    kept = handler;
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&again);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &again);
    CHECK(again == kept);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_set_errhandler(copy, again);
    MPI_Errhandler_free(&again);
    /* What the handler leaves in its code is what the call gives. */
    CHECK(MPI_Send(&word, 1, MPI_INT, 99, 0, copy) == MPI_SUCCESS && told == 2);
    MPI_Comm_free(&copy);
    /* The error of a call that frees goes to the object's own handler, and the object stays. */
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK(MPI_Win_free(&window) != MPI_SUCCESS && window != MPI_WIN_NULL);
    MPI_Win_unlock(0, window);
    MPI_Win_create_errhandler(count_win, &handler);
    MPI_Win_set_errhandler(window, handler);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Put(&word, 1, MPI_INT, 55, 0, 1, MPI_INT, window) == MPI_SUCCESS && told == 3);
    CHECK(MPI_Win_free(&window) == MPI_SUCCESS && window == MPI_WIN_NULL);
    /* The handler that a call is given for what it makes has the call's own errors. */
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    CHECK(MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &copy) != MPI_SUCCESS);
    CHECK(MPI_Intercomm_create_from_groups(group, 5, group, 0, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &copy) != MPI_SUCCESS);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

/* A call that fails leaves the null handle where it should have put a handle. */
static void nulls(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Group group = MPI_GROUP_EMPTY;
    MPI_Request request = (MPI_Request)0x1234;
    MPI_Datatype type = MPI_INT;
    MPI_Info info = MPI_INFO_ENV;
    MPI_Win window = (MPI_Win)0x1234;
    MPI_File file = (MPI_File)0x1234;
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    int word = 0, flag;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm) != MPI_SUCCESS && comm == MPI_COMM_NULL);
    comm = MPI_COMM_WORLD;
    CHECK(MPI_Comm_dup(MPI_COMM_NULL, &comm) != MPI_SUCCESS && comm == MPI_COMM_NULL);
    comm = MPI_COMM_WORLD;
    CHECK(MPI_Comm_idup(MPI_COMM_NULL, &comm, &request) != MPI_SUCCESS && comm == MPI_COMM_NULL);
    CHECK(request == MPI_REQUEST_NULL);
    request = (MPI_Request)0x1234;
    CHECK(MPI_Isend(&word, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request) != MPI_SUCCESS && request == MPI_REQUEST_NULL);
    CHECK(MPI_Comm_group(MPI_COMM_NULL, &group) != MPI_SUCCESS && group == MPI_GROUP_NULL);
    CHECK(MPI_Type_vector(-1, 1, 1, MPI_INT, &type) != MPI_SUCCESS && type == MPI_DATATYPE_NULL);
    CHECK(MPI_Comm_get_info(MPI_COMM_NULL, &info) != MPI_SUCCESS && info == MPI_INFO_NULL);
    CHECK(MPI_Win_create(&word, -4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window) != MPI_SUCCESS && window == MPI_WIN_NULL);
    CHECK(MPI_File_open(MPI_COMM_SELF, "/nowhere/at all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    CHECK(file == MPI_FILE_NULL);
    CHECK(MPI_Improbe(size, 0, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(message == MPI_MESSAGE_NULL);
}

static int deleted;

static int delete_of_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* A key that was freed is known to the attributes that carry it, and to nobody else. */
static void keys(void)
{
    int key, freed, flag = 0, other;
    void *value;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_of_comm, &key, NULL);
    freed = key;
    MPI_Comm_set_attr(copy, key, &key);
    MPI_Comm_free_keyval(&key);
    /* Keys that come and go do not become the freed one. */
    for (int times = 0; times < 1000; times++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL);
        CHECK(other != freed);
        MPI_Comm_free_keyval(&other);
    }
    CHECK(MPI_Comm_get_attr(copy, freed, &value, &flag) == MPI_SUCCESS && flag && value == &key);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, freed, &value, &flag) != MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(copy, freed) == MPI_SUCCESS && deleted == 1);
    CHECK(MPI_Comm_delete_attr(copy, freed) != MPI_SUCCESS);
    MPI_Comm_free(&copy);
}

/* Types that Fortran asks for by precision are predefined; and operations take what other libraries' take. */
static void types(void)
{
    MPI_Datatype real, same;
    double first = rank + 0.5, sum = 0;
    float truths[4] = {0, 1, 0, 2}, others[4] = {0, 0, 3, 4};
    int none[1] = {0}, zero[1] = {0};
    MPI_Type_create_f90_real(15, 307, &real);
    MPI_Type_create_f90_real(15, 307, &same);
    CHECK(real == same);
    CHECK(MPI_Allreduce(&first, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(sum == size * (size - 1) / 2 + 0.5 * size);
    CHECK(MPI_Reduce_local(others, truths, 4, MPI_FLOAT, MPI_LXOR) == MPI_SUCCESS);
    CHECK(truths[0] == 0 && truths[1] == 1 && truths[2] == 1 && truths[3] == 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Type_free(&same) != MPI_SUCCESS);
    /* Of nothing the type may be none. */
    CHECK(MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Gatherv(none, 0, MPI_DATATYPE_NULL, none, zero, zero, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF) == MPI_SUCCESS);
}

/* MPI-1's marks are in MPICH's header, and so in ours. */
static void marks(void)
{
#ifdef MPI_UB
    int ones[3] = {1, 1, 1}, numbers[4], integers, addresses, kinds, combiner;
    MPI_Aint places[3] = {-4, 0, 8}, lower, extent, found[3];
    MPI_Datatype parts[3] = {MPI_LB, MPI_INT, MPI_UB}, type, outer, inner[3];
    MPI_Type_create_struct(3, ones, places, parts, &type);
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == -4 && extent == 12);
    MPI_Type_get_envelope(type, &integers, &addresses, &kinds, &combiner);
    CHECK(integers == 4 && addresses == 3 && kinds == 3 && combiner == MPI_COMBINER_STRUCT);
    MPI_Type_get_contents(type, 4, 3, 3, numbers, found, inner);
    CHECK(inner[0] == MPI_LB && inner[1] == MPI_INT && inner[2] == MPI_UB && found[2] == 8);
    /* A mark holds in what is made of its type. */
    MPI_Type_contiguous(2, type, &outer);
    MPI_Type_get_extent(outer, &lower, &extent);
    CHECK(lower == -4 && extent == 24);
    MPI_Type_free(&outer);
    MPI_Type_free(&type);
    /* One mark alone leaves the other bound to the data. */
    MPI_Type_create_struct(2, ones, places + 1, parts + 1, &type);
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == 0 && extent == 8);
    MPI_Type_free(&type);
#endif
    CHECK(1);
}

/* What was made with large counts says so, however small the counts are. */
static void envelopes(void)
{
    MPI_Datatype type;
    MPI_Count integers, addresses, large, kinds, places[3] = {0, 6000, -7000};
    int combiner, some;
#define LARGE(many, ...)                                                                                                          \
    do {                                                                                                                          \
        __VA_ARGS__;                                                                                                              \
        MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &kinds, &combiner);                                           \
        CHECK(integers == 0 && addresses == 0 && large == many && kinds == 1);                                                     \
        CHECK(MPI_Type_get_envelope(type, &some, &some, &some, &combiner) != MPI_SUCCESS);                                         \
        MPI_Type_free(&type);                                                                                                     \
    } while (0)
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    LARGE(2, MPI_Type_create_resized_c(MPI_INT, -5, 90, &type));
    LARGE(5, MPI_Type_create_hindexed_block_c(3, 20, places, MPI_CHAR, &type));
    LARGE(3, MPI_Type_vector_c(5, 1, 2, MPI_CHAR, &type));
    LARGE(3, MPI_Type_create_hvector_c(5, 1, 200, MPI_CHAR, &type));
    MPI_Type_vector(5, 1, 2, MPI_CHAR, &type);
    MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &kinds, &combiner);
    CHECK(integers == 3 && addresses == 0 && large == 0 && kinds == 1);
    MPI_Type_free(&type);
}

/* Arguments that make no sense alone. */
static void local(void)
{
    int one = 1, sizes[12] = {0};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Reduce_local(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Reduce_local(&one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Reduce_local(&one, &one, 1, MPI_INT, MPI_SUM)) == MPI_ERR_BUFFER && one == 1);
    CHECK(MPI_Dims_create(735134400, 12, sizes) == MPI_SUCCESS && sizes[0] == 17 && sizes[11] == 3);
}

/* All pointers of a file that is appended to begin at its end, and a shared pointer leaves nothing beside the file. */
static void shared(void)
{
    char mine[16], all[16 * 64];
    MPI_File file;
    MPI_Offset place;
    memset(mine, 'a' + rank, sizeof mine);
    for (int round = 0; round < 50; round++) {
        int counts[64] = {0};
        if (rank == 0)
            unlink("appended");
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_open(MPI_COMM_WORLD, "appended", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file);
        MPI_File_write_shared(file, mine, 8, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_write_shared(file, mine, 8, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        MPI_File_open(MPI_COMM_WORLD, "appended", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_File_get_position_shared(file, &place);
        CHECK(place == 0);
        MPI_File_read_at_all(file, 0, all, 16 * size, MPI_CHAR, MPI_STATUS_IGNORE);
        for (int at = 0; at < 16 * size; at++)
            counts[(all[at] - 'a') & 63]++;
        for (int other = 0; other < size; other++)
            CHECK(counts[other] == 16);
        MPI_File_close(&file);
    }
    if (rank == 0)
        CHECK(system("ls -A | grep -q parvum-shared") != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink("appended");
}

/* Places of a view: where the own pointer is now, and none beyond what 64 bits say. Names of files are bytes. */
static void places(void)
{
    char data[16] = "0123456789abcde", name[64], got[16] = "";
    MPI_File file;
    MPI_Offset end, far[3] = {1LL << 60, (1LL << 59), 0x7fffffffffffffffLL};
    MPI_Datatype line;
    sprintf(name, "place\xff\xfe%d", rank);
    MPI_Type_contiguous(16, MPI_CHAR, &line);
    MPI_Type_commit(&line);
    CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(access(name, F_OK) == 0);
    MPI_File_write(file, data, 16, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, line, line, "native", MPI_INFO_NULL);
    for (int at = 0; at < 3; at++) {
        CHECK(class_of(MPI_File_write_at(file, far[at], data, 1, line, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
        MPI_File_get_size(file, &end);
        CHECK(end == 16);
    }
    CHECK(MPI_File_set_size(file, -1) != MPI_SUCCESS && MPI_File_preallocate(file, -5) != MPI_SUCCESS);
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    CHECK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_File_read_shared(file, got, 16, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK(!memcmp(got, data, 16));
    MPI_File_close(&file);
    CHECK(access(name, F_OK) != 0);
    MPI_Type_free(&line);
}

/* Names and hints come back as they were given. */
static void bytes(void)
{
    char text[MPI_MAX_OBJECT_NAME];
    int length, flag, code, class;
    MPI_Info info;
    MPI_Comm_set_name(MPI_COMM_WORLD, "n\xff");
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
    CHECK(length == 2 && !strcmp(text, "n\xff"));
    MPI_Info_create(&info);
    MPI_Info_set(info, "k\xfe", "v\xff");
    length = sizeof text;
    MPI_Info_get_string(info, "k\xfe", &length, text, &flag);
    CHECK(flag && !strcmp(text, "v\xff"));
    MPI_Info_free(&info);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "e\xff");
    MPI_Error_string(code, text, &length);
    CHECK(!strcmp(text, "e\xff"));
}

/* Memory that was attached in adjoining pieces is one at the target, and bytes that are one value are never torn. */
static void pieces(void)
{
    static int memory[64];
    int source[64], torn = 0;
    unsigned char *value, mine[16], seen[16];
    MPI_Aint here, there;
    MPI_Win window;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory, 32 * sizeof(int));
    MPI_Win_attach(window, memory + 32, 32 * sizeof(int));
    MPI_Get_address(memory, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, from, 0, &there, 1, MPI_AINT, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int at = 0; at < 64; at++)
        source[at] = at + 1;
    MPI_Win_fence(0, window);
    CHECK(MPI_Put(source, 64, MPI_INT, to, there, 64, MPI_INT, window) == MPI_SUCCESS);
    MPI_Win_fence(0, window);
    CHECK(memory[0] == 1 && memory[31] == 32 && memory[32] == 33 && memory[63] == 64);
    MPI_Win_detach(window, memory);
    MPI_Win_detach(window, memory + 32);
    MPI_Win_free(&window);
    MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &value, &window);
    memset(value, 0, 16);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int round = 0; round < 20000; round++) {
        memset(mine, 17 * rank, 16);
        if (rank)
            MPI_Accumulate(mine, 16, MPI_BYTE, 0, 0, 16, MPI_BYTE, MPI_REPLACE, window);
        else
            MPI_Get_accumulate(NULL, 0, MPI_BYTE, seen, 16, MPI_BYTE, 0, 0, 16, MPI_BYTE, MPI_NO_OP, window);
        MPI_Win_flush(0, window);
        for (int at = 1; rank == 0 && at < 16; at++)
            torn += seen[at] != seen[0];
    }
    MPI_Win_unlock_all(window);
    CHECK(torn == 0);
    MPI_Win_free(&window);
}

/* A buffered send takes the buffer of its communicator's session, which needs no other. */
static void buffers(void)
{
    static char memory[4096];
    int word = rank, got = -1, length, to = (rank + 1) % size, from = (rank + size - 1) % size;
    void *back;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, copy;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_dup(comm, &copy);
    CHECK(MPI_Bsend(&word, 1, MPI_INT, to, 0, comm) != MPI_SUCCESS);
    MPI_Session_attach_buffer(session, memory, sizeof memory);
    CHECK(MPI_Bsend(&word, 1, MPI_INT, to, 0, comm) == MPI_SUCCESS);
    CHECK(MPI_Bsend(&word, 1, MPI_INT, to, 0, copy) == MPI_SUCCESS);
    MPI_Recv(&got, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
    CHECK(got == from);
    MPI_Recv(&got, 1, MPI_INT, from, 0, copy, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer(session, &back, &length);
    CHECK(back == memory && length == sizeof memory);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

/* What is spawned has the umask and the limits of who spawns it, and goes on when that has ended. */
static void spawns(void)
{
    char path[4096] = "", *words[] = {"outlives", NULL};
    struct rlimit files;
    MPI_Comm children;
    int code;
    umask(027);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 200;
    setrlimit(RLIMIT_NOFILE, &files);
    CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    CHECK(MPI_Comm_spawn(path, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, &code) == MPI_SUCCESS);
    MPI_Comm_disconnect(&children);
}

static void outlives(void)
{
    struct rlimit files;
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent != MPI_COMM_NULL);
    CHECK(umask(0) == 027);
    getrlimit(RLIMIT_NOFILE, &files);
    CHECK(files.rlim_cur == 200);
    MPI_Comm_disconnect(&parent);
    /* Longer than a launcher would wait that does not count what was spawned. */
    sleep(6);
}

/* When no context is left, a copy that is begun reports that at its end, leaves the null handle, and harms no other communicator. */
static void exhausted(void)
{
    MPI_Comm copy;
    MPI_Request request;
    int one = 1, sum = 0, made = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (MPI_Comm_dup(MPI_COMM_WORLD, &copy) == MPI_SUCCESS)
        made++;
    CHECK(made > 1000 && copy == MPI_COMM_NULL);
    for (int with_info = 0; with_info < 2; with_info++) {
        int code;
        copy = MPI_COMM_WORLD;
        code = with_info ? MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copy, &request)
                         : MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(code != MPI_SUCCESS && copy == MPI_COMM_NULL);
    }
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == size);
}

/* The sum of all ranks over a communicator of a session. */
static int sum_over(MPI_Session session, const char *set)
{
    MPI_Group group;
    MPI_Comm comm;
    int sum = -1, one = 1;
    CHECK(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "rules", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    return sum;
}

/* A session lives on when the world ends, and another may begin afterwards. */
static void sessions(void)
{
    MPI_Session across, after;
    int is_over;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &across) == MPI_SUCCESS);
    MPI_Finalize();
    CHECK(sum_over(across, "mpi://WORLD") == size);
    CHECK(MPI_Session_finalize(&across) == MPI_SUCCESS);
    for (int round = 0; round < 2; round++) {
        CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &after) == MPI_SUCCESS);
        CHECK(sum_over(after, "mpi://WORLD") == size && sum_over(after, "mpi://SELF") == 1);
        CHECK(MPI_Session_finalize(&after) == MPI_SUCCESS);
    }
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL) != MPI_SUCCESS);
    CHECK(MPI_Finalized(&is_over) == MPI_SUCCESS && is_over);
}

int main(int argc, char **argv)
{
    int is_over;
    static const struct {
        const char *word;
        void (*check)(void);
    } sets[] = {
        {"slots", slots},       {"partitions", partitions}, {"copies", copies}, {"halves", halves}, {"handlers", handlers},
        {"nulls", nulls},       {"keys", keys},             {"types", types},   {"marks", marks},   {"envelopes", envelopes},
        {"local", local},       {"shared", shared},         {"places", places}, {"bytes", bytes},   {"pieces", pieces},
        {"buffers", buffers},   {"spawns", spawns},         {"outlives", outlives}, {"exhausted", exhausted},
        {"sessions", sessions},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t at = 0; at < sizeof sets / sizeof *sets; at++)
        if (argc > 1 && !strcmp(argv[1], sets[at].word))
            sets[at].check();
    printf("rank %d: %d checks\n", rank, checks);
    MPI_Finalized(&is_over);
    if (!is_over)
        MPI_Finalize();
    return checks == 0;
}
