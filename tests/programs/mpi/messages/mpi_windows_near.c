/*
 * Windows, the short way against the long one: a call for elements without holes goes the short way where the memory is mapped, the
 * same call with a derived datatype the long one. Both on the same words at once, from processes and threads, must count right and
 * refuse the same. Any number of processes from 2 on; rank 0 says "near: good" when all was well.
 */
#include "mpi_check.h"

#include <pthread.h>
#include <stdint.h>

enum { WORDS = 64, ROUNDS = 60 };

static MPI_Datatype every_second, one_word;

/* --- Every operation on every type: both ways do the same, or refuse the same ---------------------------------------- */

static void comparing(MPI_Win win, int alone)
{
    MPI_Datatype types[] = { MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT,
                             MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_INT8_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT64_T,
                             MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_BOOL, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                             MPI_WCHAR, MPI_AINT, MPI_2INT, MPI_DOUBLE_INT, MPI_SHORT_INT };
    MPI_Op ops[] = { MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC,
                     MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP };
    /* Values that are numbers of every type: 3.0 and 1.5 as doubles and as floats, and bits. */
    static const unsigned char values[][16] = { { 0, 0, 0x40, 0x40, 0, 0, 8, 0x40, 5, 0, 0, 0, 9 }, { 0, 0, 0xc0, 0x3f, 0, 0, 0xf8, 0x3f, 3 },
                                                { 0xff, 0x7f, 1, 2, 3, 4, 5, 6 } };
    int right = (rank + 1) % size;

    if (alone)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    else
        MPI_Win_lock_all(0, win);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        MPI_Datatype derived;
        int bytes;
        MPI_Type_size(types[t], &bytes);
        /* Of what has room for two there are two. */
        int count = bytes > 8 ? 1 : 2;
        MPI_Type_contiguous(count, types[t], &derived);
        MPI_Type_commit(&derived);
        for (size_t o = 0; o < sizeof ops / sizeof ops[0]; o++)
            for (int v = 0; v < 3; v++)
                for (int off = 0; off < 2; off++) {
                    unsigned char first[64] = { 0 }, was[2][32] = { { 0 } }, is[64];
                    memcpy(first, values[v], 16);
                    memcpy(first + 32, values[v], 16);
                    MPI_Put(first, 64, MPI_BYTE, right, 0, 64, MPI_BYTE, win);
                    MPI_Win_flush(right, win);
                    int near = MPI_Get_accumulate(values[1], count, types[t], was[0], count, types[t], right, off, count, types[t], ops[o], win);
                    int far = MPI_Get_accumulate(values[1], 1, derived, was[1], 1, derived, right, 32 + off, 1, derived, ops[o], win);
                    MPI_Win_flush(right, win);
                    MPI_Get(is, 64, MPI_BYTE, right, 0, 64, MPI_BYTE, win);
                    MPI_Win_flush(right, win);
                    CHECK(class_of(near) == class_of(far));
                    CHECK(memcmp(was[0], was[1], sizeof was[0]) == 0);
                    CHECK(memcmp(is, is + 32, 32) == 0);
                    if (near == MPI_SUCCESS)
                        CHECK(memcmp(was[0], first + off, bytes > 2 ? 2 : 1) == 0);
                    /* The same when nobody wants to know what it was. */
                    MPI_Put(first, 32, MPI_BYTE, right, 0, 32, MPI_BYTE, win);
                    MPI_Win_flush(right, win);
                    near = MPI_Accumulate(values[1], count, types[t], right, off, count, types[t], ops[o], win);
                    MPI_Win_flush(right, win);
                    MPI_Get(is + 32, 32, MPI_BYTE, right, 0, 32, MPI_BYTE, win);
                    MPI_Win_flush(right, win);
                    CHECK(class_of(near) == class_of(far) && memcmp(is, is + 32, 32) == 0);
                }
        /* To compare and to replace: what is not a whole is refused. */
        unsigned char was[16], all[16];
        MPI_Put(values[0], 16, MPI_BYTE, right, 0, 16, MPI_BYTE, win);
        MPI_Win_flush(right, win);
        int code = MPI_Compare_and_swap(values[1], values[0], was, types[t], right, 0, win);
        MPI_Win_flush(right, win);
        MPI_Get(all, 16, MPI_BYTE, right, 0, 16, MPI_BYTE, win);
        MPI_Win_flush(right, win);
        if (types[t] == MPI_FLOAT || types[t] == MPI_DOUBLE || bytes > 8 || types[t] == MPI_C_FLOAT_COMPLEX || types[t] == MPI_2INT ||
            types[t] == MPI_SHORT_INT)
            CHECK(class_of(code) == MPI_ERR_TYPE && memcmp(all, values[0], 16) == 0);
        else
            CHECK(code == MPI_SUCCESS && memcmp(was, values[0], (size_t)bytes) == 0 && memcmp(all, values[1], (size_t)bytes) == 0);
        MPI_Type_free(&derived);
    }
    if (alone)
        MPI_Win_unlock(right, win);
    else
        MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- Sums on the same words, by both ways at once --------------------------------------------------------------------- */

struct adding {
    MPI_Win win;
    int target;
};

/* Adds 7 to each of the first words, and 7.0 to those behind them, each number by another call. */
static void *add(void *argument)
{
    struct adding *adding = argument;
    MPI_Win win = adding->win;
    int64_t ones[WORDS], one = 1, was;
    double reals[WORDS], real = 1, real_was;
    int target = adding->target, half = WORDS / 2;

    for (int i = 0; i < WORDS; i++)
        ones[i] = 1, reals[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int word = 0; word < half; word++) {
            int64_t expected, now;
            MPI_Accumulate(&one, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, MPI_SUM, win);
            MPI_Fetch_and_op(&one, &was, MPI_INT64_T, target, word, MPI_SUM, win);
            MPI_Accumulate(&one, 1, one_word, target, word, 1, one_word, MPI_SUM, win);
            MPI_Fetch_and_op(NULL, &expected, MPI_INT64_T, target, word, MPI_NO_OP, win);
            MPI_Win_flush(target, win);
            for (;; expected = now) {
                int64_t wanted = expected + 1;
                MPI_Compare_and_swap(&wanted, &expected, &now, MPI_INT64_T, target, word, win);
                MPI_Win_flush(target, win);
                if (now == expected)
                    break;
            }
            MPI_Get_accumulate(&real, 1, MPI_DOUBLE, &real_was, 1, MPI_DOUBLE, target, half + word, 1, MPI_DOUBLE, MPI_SUM, win);
            MPI_Accumulate(&real, 1, MPI_DOUBLE, target, half + word, 1, MPI_DOUBLE, MPI_SUM, win);
        }
        MPI_Accumulate(ones, half, MPI_INT64_T, target, 0, half, MPI_INT64_T, MPI_SUM, win);
        MPI_Accumulate(ones, half / 2, MPI_INT64_T, target, 0, 1, every_second, MPI_SUM, win);
        MPI_Accumulate(ones, half / 2, MPI_INT64_T, target, 1, 1, every_second, MPI_SUM, win);
        MPI_Request request;
        MPI_Raccumulate(ones, half, MPI_INT64_T, target, 0, half, MPI_INT64_T, MPI_SUM, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int times = 0; times < 5; times++)
            MPI_Accumulate(reals, half, MPI_DOUBLE, target, half, half, MPI_DOUBLE, MPI_SUM, win);
    }
    MPI_Win_flush(target, win);
    return NULL;
}

static void counting(MPI_Win win, int64_t *mine, int threads)
{
    pthread_t second;
    struct adding adding = { win, 0 };
    double reals[WORDS / 2];

    memset(mine, 0, WORDS * sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (threads == 2)
        CHECK(pthread_create(&second, NULL, add, &adding) == 0);
    add(&adding);
    if (threads == 2)
        CHECK(pthread_join(second, NULL) == 0);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    memcpy(reals, mine + WORDS / 2, sizeof reals);
    for (int word = 0; rank == 0 && word < WORDS / 2; word++) {
        CHECK(mine[word] == (int64_t)7 * ROUNDS * size * threads);
        CHECK(reals[word] == 7.0 * ROUNDS * size * threads);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- Locks, some shared and some not: who shares one sees both words the same, who has it changes both ---------------- */

static void locking(MPI_Win win, int64_t *mine)
{
    enum { TURNS = 120 };
    int64_t words[2], total = 0;
    int last = size - 1;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(mine, 0, WORDS * sizeof *mine);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < TURNS; turn++) {
        int changes = (turn + rank) % 3 == 0;
        MPI_Win_lock(changes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, last, 0, win);
        MPI_Get(&words[0], 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, win);
        MPI_Get(&words[1], 1, MPI_INT64_T, last, 1, 1, MPI_INT64_T, win);
        MPI_Win_flush(last, win);
        CHECK(words[0] == words[1]);
        for (int i = 0; changes && i < 2; i++) {
            words[i]++;
            MPI_Put(&words[i], 1, MPI_INT64_T, last, i, 1, MPI_INT64_T, win);
            MPI_Win_flush(last, win);
        }
        MPI_Win_unlock(last, win);
        total += changes;
        if (turn % 10 == 0) {
            MPI_Win_lock_all(0, win);
            MPI_Get(words, 2, MPI_INT64_T, last, 0, 2, MPI_INT64_T, win);
            MPI_Win_unlock_all(win);
            CHECK(words[0] == words[1]);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
    MPI_Get(words, 2, MPI_INT64_T, last, 0, 2, MPI_INT64_T, win);
    MPI_Win_unlock(last, win);
    CHECK(words[0] == total && words[1] == total);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- What is refused, also once the short way was taken --------------------------------------------------------------- */

#define REFUSES(class, call) CHECK(class_of(call) == (class))

static void refusing(MPI_Win win)
{
    int64_t word = 0, other = 0;
    int right = (rank + 1) % size;
    MPI_Win stale = win;

#define PUT_AT(target, displacement) MPI_Put(&word, 1, MPI_INT64_T, target, displacement, 1, MPI_INT64_T, win)
#define FETCH_AT(target, displacement) MPI_Fetch_and_op(&word, &other, MPI_INT64_T, target, displacement, MPI_SUM, win)
    for (int round = 0; round < 2; round++) {
        REFUSES(MPI_ERR_RMA_SYNC, PUT_AT(right, 0));
        REFUSES(MPI_ERR_RMA_SYNC, MPI_Get(&word, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win));
        REFUSES(MPI_ERR_RMA_SYNC, FETCH_AT(right, 0));
        REFUSES(MPI_ERR_RMA_SYNC, MPI_Compare_and_swap(&word, &word, &other, MPI_INT64_T, right, 0, win));
        REFUSES(MPI_ERR_RMA_SYNC, MPI_Win_flush(right, win));
        /* A lock of one is none of another. */
        CHECK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win) == MPI_SUCCESS);
        CHECK(PUT_AT(right, 0) == MPI_SUCCESS && FETCH_AT(right, 0) == MPI_SUCCESS);
        CHECK(MPI_Win_flush(right, win) == MPI_SUCCESS && MPI_Win_flush_all(win) == MPI_SUCCESS);
        CHECK(MPI_Win_flush(MPI_PROC_NULL, win) == MPI_SUCCESS);
        REFUSES(MPI_ERR_RMA_SYNC, PUT_AT(rank, 0));
        REFUSES(MPI_ERR_RMA_SYNC, MPI_Win_flush(rank, win));
        REFUSES(MPI_ERR_RANK, MPI_Win_flush(size, win));
        REFUSES(MPI_ERR_COUNT, MPI_Put(&word, -1, MPI_INT64_T, right, 0, -1, MPI_INT64_T, win));
        REFUSES(MPI_ERR_COUNT, MPI_Put(&word, -1, MPI_BYTE, right, 0, -1, MPI_BYTE, win));
        REFUSES(MPI_ERR_COUNT, MPI_Accumulate(&word, -1, MPI_INT64_T, right, 0, -1, MPI_INT64_T, MPI_SUM, win));
        REFUSES(MPI_ERR_RANK, PUT_AT(size, 0));
        REFUSES(MPI_ERR_RANK, FETCH_AT(-7, 0));
        REFUSES(MPI_ERR_DISP, PUT_AT(right, -1));
        REFUSES(MPI_ERR_RMA_RANGE, PUT_AT(right, WORDS));
        REFUSES(MPI_ERR_RMA_RANGE, FETCH_AT(right, WORDS));
        REFUSES(MPI_ERR_RMA_RANGE, MPI_Put(&word, 1, MPI_INT64_T, right, INT64_MAX / 8, 1, MPI_INT64_T, win));
        REFUSES(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win));
        REFUSES(MPI_ERR_BUFFER, MPI_Fetch_and_op(&word, NULL, MPI_INT64_T, right, 0, MPI_SUM, win));
        REFUSES(MPI_ERR_TYPE, MPI_Put(&word, 1, MPI_DATATYPE_NULL, right, 0, 1, MPI_DATATYPE_NULL, win));
        REFUSES(MPI_ERR_TYPE, MPI_Fetch_and_op(&word, &other, one_word, right, 0, MPI_SUM, win));
        REFUSES(MPI_ERR_OP, MPI_Fetch_and_op(&word, &other, MPI_DOUBLE, right, 0, MPI_BOR, win));
        REFUSES(MPI_ERR_OP, MPI_Fetch_and_op(&word, &other, MPI_INT64_T, right, 0, MPI_OP_NULL, win));
        REFUSES(MPI_ERR_TRUNCATE, MPI_Put(&word, 1, MPI_INT64_T, right, 0, 1, MPI_INT32_T, win));
        CHECK(PUT_AT(MPI_PROC_NULL, 0) == MPI_SUCCESS && FETCH_AT(MPI_PROC_NULL, 0) == MPI_SUCCESS);
        CHECK(MPI_Win_unlock(right, win) == MPI_SUCCESS);
        REFUSES(MPI_ERR_RMA_SYNC, PUT_AT(right, 0));
        /* A fence opens an epoch that cannot be flushed; a lock ends it. */
        CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS);
        CHECK(PUT_AT(right, 0) == MPI_SUCCESS && PUT_AT(rank, 0) == MPI_SUCCESS);
        REFUSES(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win) == MPI_SUCCESS && MPI_Win_unlock(right, win) == MPI_SUCCESS);
        REFUSES(MPI_ERR_RMA_SYNC, PUT_AT(right, 0));
        REFUSES(MPI_ERR_RMA_SYNC, PUT_AT(rank, 0));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    /* The errors of no window are those of MPI_COMM_SELF. */
    REFUSES(MPI_ERR_WIN, MPI_Put(&word, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, stale));
    REFUSES(MPI_ERR_WIN, MPI_Win_flush(right, stale));
    REFUSES(MPI_ERR_WIN, MPI_Put(&word, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, MPI_WIN_NULL));
}

/* --- Windows and threads that come and go ----------------------------------------------------------------------------- */

static volatile int over;

static void *tick(void *argument)
{
    MPI_Win win = *(MPI_Win *)argument;
    int64_t one = 1, was, ticks = 0;

    while (!over || ticks < 100) {
        MPI_Fetch_and_op(&one, &was, MPI_INT64_T, rank, 0, MPI_SUM, win);
        MPI_Put(&one, 1, MPI_INT64_T, rank, 1, 1, MPI_INT64_T, win);
        MPI_Win_flush(rank, win);
        CHECK(was == ticks++);
    }
    return NULL;
}

/* Others are made and freed, more than have the short way, while a thread works on one. */
static void freeing(void)
{
    enum { MANY = 80 };
    static MPI_Win many[MANY];
    MPI_Win first;
    int64_t *memory, *mine, word;
    int right = (rank + 1) % size;
    pthread_t ticking;

    MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &first);
    memset(memory, 0, 16);
    MPI_Win_lock_all(0, first);
    CHECK(pthread_create(&ticking, NULL, tick, &first) == 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &many[i]);
            MPI_Win_fence(0, many[i]);
            word = 1000 * round + 10 * i + rank;
            MPI_Put(&word, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, many[i]);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, many[i]);
            CHECK(*mine == 1000 * round + 10 * i + (rank + size - 1) % size);
            if (round == 0)
                MPI_Win_free(&many[i]);
        }
        for (int i = MANY - 1; round > 0 && i >= 0; i--)
            MPI_Win_free(&many[i]);
    }
    over = 1;
    CHECK(pthread_join(ticking, NULL) == 0);
    MPI_Win_unlock_all(first);
    MPI_Win_free(&first);
}

static void *put_once(void *argument)
{
    MPI_Win win = *(MPI_Win *)argument;
    int64_t word = 5, got = 0;
    MPI_Request request;

    for (int i = 0; i < 3; i++) {
        MPI_Rput(&word, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Rget(&got, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return (void *)(intptr_t)got;
}

/* More threads than may read windows at a time, one after the other and then all at once. */
static void threading(void)
{
    enum { THREADS = 100 };
    pthread_t threads[THREADS];
    void *got;
    int64_t *memory;
    MPI_Win win;

    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, put_once, &win) == 0 && pthread_join(threads[i], &got) == 0);
        CHECK(got == (void *)5);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, put_once, &win) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], &got) == 0 && got == (void *)5);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static int64_t memory[WORDS];
    int64_t *allocated;
    MPI_Win created, made, bytes;
    unsigned char *octets;
    int level;

    /* With the word `alone` there is one thread, and much of what is done behind an exclusive lock is done at once. */
    int one_thread = argc > 1 && strcmp(argv[1], "alone") == 0;
    MPI_Init_thread(&argc, &argv, one_thread ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_vector(WORDS / 4, 1, 2, MPI_INT64_T, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Type_contiguous(1, MPI_INT64_T, &one_word);
    MPI_Type_commit(&one_word);
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_allocate(sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &made);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &octets, &bytes);
    MPI_Win_set_errhandler(created, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(bytes, MPI_ERRORS_RETURN);
    comparing(bytes, 0);
    comparing(bytes, 1);
    for (int threads = 1; !one_thread && threads <= 2; threads++) {
        counting(made, allocated, threads);
        counting(created, memory, threads);
    }
    locking(made, allocated);
    locking(created, memory);
    if (!one_thread) {
        freeing();
        threading();
    }
    refusing(made);
    refusing(created);
    MPI_Win_free(&bytes);
    MPI_Type_free(&every_second);
    MPI_Type_free(&one_word);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("near: good\n");
    MPI_Finalize();
    return 0;
}
