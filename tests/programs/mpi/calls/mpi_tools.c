/* MPI_T: variables that count what the program does, options that may be set before MPI begins, and nothing that is not there. */
#include "mpi_check.h"

static MPI_T_pvar_session session;

static MPI_T_pvar_handle handle_of(const char *name, int kind)
{
    int index, count;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK(MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS && count == 1);
    return handle;
}

static unsigned long long value_of(MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

/* Before MPI_Init: an option is set and read; what is no variable is refused by its own code. */
static void options(void)
{
    int provided, number, index, count, bind, scope, verbosity, length = 64, text = 256, words, value = -1;
    char name[64], about[256];
    MPI_Datatype type;
    MPI_T_enum kinds;
    MPI_T_cvar_handle option;
    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
    CHECK(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number >= 4);
    CHECK(MPI_T_cvar_get_index("PARVUM_ROUTE", &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_index("no such option", &count) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &kinds, about, &text, &bind, &scope) == MPI_SUCCESS);
    CHECK(!strcmp(name, "PARVUM_ROUTE") && length == (int)sizeof "PARVUM_ROUTE" && text == (int)strlen(about) + 1);
    CHECK(type == MPI_INT && bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_LOCAL);
    CHECK(verbosity == MPI_T_VERBOSITY_USER_BASIC && kinds != MPI_T_ENUM_NULL);
    length = 4;
    CHECK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(!strcmp(name, "PAR") && length == 4);
    length = 0;
    CHECK(MPI_T_cvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(length == (int)sizeof "PARVUM_ROUTE");
    length = 64;
    CHECK(MPI_T_enum_get_info(kinds, &words, name, &length) == MPI_SUCCESS && words == 5 && !strcmp(name, "route"));
    length = 64;
    CHECK(MPI_T_enum_get_item(kinds, 1, &value, name, &length) == MPI_SUCCESS && value == 1 && !strcmp(name, "shm"));
    CHECK(MPI_T_enum_get_item(kinds, words, &value, name, &length) == MPI_T_ERR_INVALID_ITEM);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &option, &count) == MPI_SUCCESS && count == 1);
    CHECK(MPI_T_cvar_read(option, &value) == MPI_SUCCESS && value == 0);
    value = 5;
    CHECK(MPI_T_cvar_write(option, &value) == MPI_T_ERR_INVALID);
    value = 2;
    CHECK(MPI_T_cvar_write(option, &value) == MPI_SUCCESS && !strcmp(getenv("PARVUM_ROUTE"), "tcp"));
    CHECK(MPI_T_cvar_read(option, &value) == MPI_SUCCESS && value == 2);
    MPI_T_cvar_handle stale = option;
    CHECK(MPI_T_cvar_handle_free(&option) == MPI_SUCCESS && option == MPI_T_CVAR_HANDLE_NULL);
    CHECK(MPI_T_cvar_read(stale, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_alloc(number, NULL, &option, &count) == MPI_T_ERR_INVALID_INDEX);
}

/* Every variable and category can be asked about, and each variable is in one category. */
static void lists(void)
{
    int variables, categories, seen = 0, events = -1, sources = -1;
    CHECK(MPI_T_pvar_get_num(&variables) == MPI_SUCCESS && variables > 30);
    for (int at = 0; at < variables; at++) {
        char name[128], about[512];
        int length = 128, text = 512, verbosity, kind, bind, readonly, continuous, atomic, found;
        MPI_Datatype type;
        MPI_T_enum words;
        CHECK(MPI_T_pvar_get_info(at, name, &length, &verbosity, &kind, &type, &words, about, &text, &bind, &readonly,
                                  &continuous, &atomic) == MPI_SUCCESS);
        int is_state = kind == MPI_T_PVAR_CLASS_STATE;
        CHECK(type == (is_state ? MPI_INT : MPI_UNSIGNED_LONG_LONG) && continuous == 1);
        CHECK(readonly == (is_state || kind == MPI_T_PVAR_CLASS_LEVEL));
        CHECK(MPI_T_pvar_get_index(name, kind, &found) == MPI_SUCCESS && found == at);
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &found) == MPI_T_ERR_INVALID_NAME);
    }
    CHECK(MPI_T_category_get_num(&categories) == MPI_SUCCESS && categories > 1);
    for (int at = 0; at < categories; at++) {
        char name[64];
        int length = 64, options, inside, below, found, indices[64];
        CHECK(MPI_T_category_get_info(at, name, &length, NULL, NULL, &options, &inside, &below) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_index(name, &found) == MPI_SUCCESS && found == at);
        CHECK(MPI_T_category_get_pvars(at, 64, indices) == MPI_SUCCESS && inside <= 64);
        for (int i = 0; i < inside; i++) CHECK(indices[i] == seen++);
    }
    CHECK(seen == variables);
    CHECK(MPI_T_event_get_num(&events) == MPI_SUCCESS && events == 0);
    CHECK(MPI_T_source_get_num(&sources) == MPI_SUCCESS && sources == 0);
    CHECK(MPI_T_event_get_index("any", &events) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
}

/* The algorithm of the last collective call has a name, and changes with the call. This program's messages go over TCP, so ranks have no
 * segment; `mpi_segments.c` has the other case. */
static void algorithms(void)
{
    MPI_T_pvar_handle last = handle_of("parvum_collective_algorithm", MPI_T_PVAR_CLASS_STATE);
    static char data[64 << 10];
    int index, items, state = -1, value, length = 64, names = 0;
    char name[64] = "";
    MPI_T_enum words;
    CHECK(MPI_T_pvar_get_index("parvum_collective_algorithm", MPI_T_PVAR_CLASS_STATE, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_T_enum_get_info(words, &items, name, &length) == MPI_SUCCESS && items == 17 && !strcmp(name, "algorithm"));
    struct {
        int bytes;
        const char *two, *more;
    } expected[] = {
        {8, "straight messages", "straight messages"},
        {64 << 10, "straight messages", "binomial tree"},
    };
    for (int i = 0; i < 12; i++) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_Bcast(data, expected[i].bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        CHECK(MPI_T_pvar_read(session, last, &state) == MPI_SUCCESS);
        length = 64;
        CHECK(MPI_T_enum_get_item(words, state, &value, name, &length) == MPI_SUCCESS && value == state);
        CHECK(!strcmp(name, size <= 2 ? expected[i].two : expected[i].more));
        names++;
    }
    CHECK(names == 2);
    CHECK(MPI_T_pvar_reset(session, last) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_handle_free(session, &last) == MPI_SUCCESS);
}

/* Ten messages to the next, of 1,000 bytes: in all, by route, and of those that came unexpected. */
static void counts(void)
{
    MPI_T_pvar_handle sent = handle_of("parvum_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle bytes = handle_of("parvum_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle over_tcp = handle_of("parvum_messages_sent_tcp", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle by_memory = handle_of("parvum_messages_sent_shm", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle unexpected = handle_of("parvum_messages_unexpected", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle waiting = handle_of("parvum_waiting_messages", MPI_T_PVAR_CLASS_LEVEL);
    unsigned long long value = 0;
    char data[1000] = "";
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    /* Nobody sends before all count. */
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_T_pvar_reset(session, sent) == MPI_SUCCESS && MPI_T_pvar_reset(session, over_tcp) == MPI_SUCCESS);
    CHECK(value_of(sent) == 0);
    for (int i = 0; i < 10; i++) CHECK(MPI_Send(data, 1000, MPI_BYTE, next, 5, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(value_of(sent) == 10 && value_of(bytes) >= 10000);
    CHECK(size == 1 || (value_of(over_tcp) == 10 && value_of(by_memory) == 0));
    /* All ten are here when the eleventh is, and nobody waits for them; others may be in the barrier at the end by then. */
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 6, &value, 1, MPI_INT, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value_of(unexpected) >= 10 && value_of(waiting) >= 10);
    for (int i = 0; i < 10; i++) MPI_Recv(data, 1000, MPI_BYTE, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value_of(waiting) < 10);
    CHECK(MPI_T_pvar_readreset(session, sent, &value) == MPI_SUCCESS && value == 11 && value_of(sent) == 0);
    value = 7;
    CHECK(MPI_T_pvar_write(session, sent, &value) == MPI_SUCCESS && value_of(sent) == 7);
    CHECK(MPI_T_pvar_reset(session, waiting) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_start(session, sent) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS && value_of(sent) == 0);
    MPI_T_pvar_handle stale = sent;
    CHECK(MPI_T_pvar_handle_free(session, &sent) == MPI_SUCCESS && sent == MPI_T_PVAR_HANDLE_NULL);
    CHECK(MPI_T_pvar_read(session, stale, &value) == MPI_T_ERR_INVALID_HANDLE);
}

int main(void)
{
    int index, count, value = 1;
    MPI_T_cvar_handle option;
    options();
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_cvar_get_index("PARVUM_ROUTE", &index);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &option, &count) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_write(option, &value) == MPI_T_ERR_CVAR_SET_NOT_NOW);
    lists();
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    counts();
    algorithms();
    MPI_T_pvar_session stale = session;
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_reset(stale, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    CHECK(MPI_T_pvar_get_num(&count) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS && MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    printf("rank %d: %d checks\n", rank, checks);
    return 0;
}
