/*
 * MPI's windows: what one process does to another's memory. Any number of processes from 2 on; each part checks itself, and rank 0
 * says "windows: good" when all were.
 */
#include <mpi.h>
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                                             \
    do {                                                                                         \
        if (!(holds)) {                                                                          \
            fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__, #holds);           \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
        }                                                                                        \
    } while (0)

static int rank, size;

/* Rank 0 calls nothing of MPI's before it sees what the last of the others has put: their operations need not its help. */
static void computing(MPI_Win win, volatile int64_t *mine)
{
    enum { FLAG, SUM, TICKET, WORDS };
    int64_t one = 1, before;
    _Complex double step = 1 + 2 * I;

    memset((void *)mine, 0, 64 * sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        while (mine[FLAG] != size - 1)
            ;
        CHECK(mine[SUM] == 100 * (size - 1) && mine[TICKET] == size - 1);
        CHECK(*(volatile double *)&mine[WORDS] == size - 1);
        for (int other = 1; other < size; other++)
            CHECK(mine[WORDS + 2 + other] == 10 + other);
    } else {
        MPI_Win_lock_all(0, win);
        int64_t number = 10 + rank;
        MPI_Put(&number, 1, MPI_INT64_T, 0, WORDS + 2 + rank, 1, MPI_INT64_T, win);
        for (int i = 0; i < 100; i++)
            MPI_Accumulate(&one, 1, MPI_INT64_T, 0, SUM, 1, MPI_INT64_T, MPI_SUM, win);
        /* Elements of no length that a processor adds in one piece. */
        MPI_Accumulate(&step, 1, MPI_C_DOUBLE_COMPLEX, 0, WORDS, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win);
        MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, TICKET, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(before >= 0 && before < size - 1);
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, FLAG, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A sum that nobody protects but the exclusive lock, and one that a word protects which they compare and swap. */
static void excluding(MPI_Win win, int64_t *mine)
{
    enum { EACH = 50 };
    int64_t number, none = 0, self = rank + 1, was;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(mine, 0, 64 * sizeof *mine);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < EACH; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win);
        MPI_Get(&number, 1, MPI_INT64_T, size - 1, 0, 1, MPI_INT64_T, win);
        MPI_Win_flush(size - 1, win);
        number++;
        MPI_Put(&number, 1, MPI_INT64_T, size - 1, 0, 1, MPI_INT64_T, win);
        MPI_Win_unlock(size - 1, win);
    }
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < EACH; i++) {
        do {
            MPI_Compare_and_swap(&self, &none, &was, MPI_INT64_T, 0, 1, win);
            MPI_Win_flush(0, win);
        } while (was != 0);
        MPI_Get(&number, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        number++;
        MPI_Put(&number, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        MPI_Fetch_and_op(&none, &was, MPI_INT64_T, 0, 1, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        CHECK(was == self);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    if (rank == size - 1)
        CHECK(mine[0] == (int64_t)EACH * size);
    if (rank == 0)
        CHECK(mine[2] == (int64_t)EACH * size);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every second word of the right neighbour, by a fence and by post, start, complete and wait. */
static void scattering(MPI_Win win, int64_t *mine)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int64_t give[20], got[20];
    MPI_Datatype every_second;
    MPI_Group all, one, other;

    MPI_Type_vector(20, 1, 2, MPI_INT64_T, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &right, &one);
    MPI_Group_incl(all, 1, &left, &other);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 20; i++)
            give[i] = 1000 * (rank + 1) + i;
        memset(mine, 0, 64 * sizeof *mine);
        if (round == 0) {
            MPI_Win_fence(0, win);
        } else {
            MPI_Win_post(other, 0, win);
            MPI_Win_start(one, 0, win);
        }
        MPI_Put(give, 20, MPI_INT64_T, right, 1, 1, every_second, win);
        MPI_Get(got, 20, MPI_INT64_T, right, 1, 1, every_second, win);
        if (round == 0) {
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        } else {
            MPI_Win_complete(win);
            MPI_Win_wait(win);
        }
        CHECK(memcmp(give, got, sizeof got) == 0);
        for (int i = 0; i < 40; i++)
            CHECK(mine[i] == (i % 2 == 0 ? 0 : 1000 * (left + 1) + i / 2));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&one);
    MPI_Group_free(&other);
    MPI_Type_free(&every_second);
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void refusing(MPI_Win win)
{
    int64_t word = 0;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Put(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_unlock(0, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_flush_all(win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_lock(7, 0, 0, win)) == MPI_ERR_LOCKTYPE);
    MPI_Win_lock_all(0, win);
    CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_fence(0, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Put(&word, 1, MPI_INT64_T, size, 0, 1, MPI_INT64_T, win)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Put(&word, 1, MPI_INT64_T, 0, -1, 1, MPI_INT64_T, win)) == MPI_ERR_DISP);
    CHECK(class_of(MPI_Put(&word, 1, MPI_INT64_T, 0, 64, 1, MPI_INT64_T, win)) == MPI_ERR_RMA_RANGE);
    CHECK(class_of(MPI_Accumulate(&word, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win)) == MPI_ERR_OP);
    CHECK(MPI_Put(&word, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, win) == MPI_SUCCESS);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void of_dynamic(void)
{
    MPI_Win win;
    int64_t memory[4] = { 0 }, word = rank + 1;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Aint here, there;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_attach(win, memory, sizeof memory) == MPI_SUCCESS);
    CHECK(class_of(MPI_Win_attach(win, memory + 1, 8)) == MPI_ERR_RMA_ATTACH);
    MPI_Get_address(memory, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    CHECK(MPI_Put(&word, 1, MPI_INT64_T, right, there + 8, 1, MPI_INT64_T, win) == MPI_SUCCESS);
    CHECK(class_of(MPI_Put(&word, 1, MPI_INT64_T, right, there + 32, 1, MPI_INT64_T, win)) == MPI_ERR_RMA_RANGE);
    MPI_Win_fence(0, win);
    CHECK(memory[0] == 0 && memory[1] == left + 1 && memory[2] == 0);
    CHECK(MPI_Win_detach(win, memory) == MPI_SUCCESS);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
}

static void of_shared(void)
{
    MPI_Win win;
    int64_t *mine, *first, *next;
    MPI_Aint length;
    int unit, bytes = 8 * (rank + 1);

    MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i <= rank; i++)
        mine[i] = 100 * rank + i;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &length, &unit, &first);
    CHECK(length == 8 && unit == 8);
    next = first;
    for (int other = 0; other < size; other++) {
        int64_t *there;
        MPI_Win_shared_query(win, other, &length, &unit, &there);
        CHECK(there == next && length == 8 * (other + 1));
        for (int i = 0; i <= other; i++)
            CHECK(there[i] == 100 * other + i);
        next += other + 1;
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static int64_t memory[64];
    int64_t *allocated;
    MPI_Win created, made;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2 || size > 60)
        return 2;
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_allocate(sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &made);
    computing(created, memory);
    computing(made, allocated);
    excluding(created, memory);
    excluding(made, allocated);
    scattering(created, memory);
    scattering(made, allocated);
    refusing(created);
    refusing(made);
    MPI_Win_free(&created);
    MPI_Win_free(&made);
    of_dynamic();
    of_shared();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("windows: good\n");
    MPI_Finalize();
    return 0;
}
