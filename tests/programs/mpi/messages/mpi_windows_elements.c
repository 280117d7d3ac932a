/*
 * Elements of windows that the processor cannot change in one piece: pairs, complex and long numbers, bytes that are one value, and
 * numbers that are not aligned. Any number of processes from 3 on. With the word "stopped" rank 1 stops the process of rank 0, changes such
 * elements of its memory, and has it go on afterwards: no operation may need the target. The last line is "elements: good".
 */
#define _GNU_SOURCE
#include "mpi_check.h"
#include <complex.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { TIMES = 20 };

struct pair {
    long value;
    int place;
};

/* All processes change these elements in the window of rank 0 at the same time. */
struct shared {
    struct pair most, same;
    _Complex double sum;
    long double long_sum;
    unsigned char bytes[16];
    char before;
    /* Not aligned. */
    char odd[8];
    _Alignas(16) char room[128];
};

#define AT(field) ((MPI_Aint)offsetof(struct shared, field))

/* One writes values of two equal parts, the others read them: the parts stay equal. */
static void look(MPI_Win win)
{
    struct pair seen = { 0, 0 };
    unsigned char bytes[16];

    MPI_Fetch_and_op(NULL, &seen, MPI_LONG_INT, 0, AT(same), MPI_NO_OP, win);
    MPI_Get_accumulate(NULL, 0, MPI_BYTE, bytes, 16, MPI_BYTE, 0, AT(bytes), 16, MPI_BYTE, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    CHECK(seen.value == seen.place);
    for (int i = 1; i < 16; i++)
        CHECK(bytes[i] == bytes[0]);
}

static void all_at_once(MPI_Win win, struct shared *mine, int rounds)
{
    memset(mine, 0, sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int round = 1; round <= rounds; round++) {
        _Complex double step = 1 + 2 * I;
        long double long_step = 0.5L;
        int64_t one = 1;
        struct pair mine_now = { (long)round * size + rank, rank }, same = { round, round };
        unsigned char bytes[16];

        MPI_Accumulate(&step, 1, MPI_C_DOUBLE_COMPLEX, 0, AT(sum), 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win);
        MPI_Accumulate(&long_step, 1, MPI_LONG_DOUBLE, 0, AT(long_sum), 1, MPI_LONG_DOUBLE, MPI_SUM, win);
        MPI_Accumulate(&mine_now, 1, MPI_LONG_INT, 0, AT(most), 1, MPI_LONG_INT, MPI_MAXLOC, win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, AT(odd), 1, MPI_INT64_T, MPI_SUM, win);
        if (rank == 1) {
            memset(bytes, round, sizeof bytes);
            MPI_Accumulate(&same, 1, MPI_LONG_INT, 0, AT(same), 1, MPI_LONG_INT, MPI_REPLACE, win);
            MPI_Accumulate(bytes, 16, MPI_BYTE, 0, AT(bytes), 16, MPI_BYTE, MPI_REPLACE, win);
        } else {
            look(win);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        double all = (double)rounds * size;
        int64_t odd;
        memcpy(&odd, mine->odd, sizeof odd);
        CHECK(creal(mine->sum) == all && cimag(mine->sum) == 2 * all && mine->long_sum == all / 2);
        CHECK(mine->most.value == (long)rounds * size + size - 1 && mine->most.place == size - 1);
        CHECK(odd == (int64_t)rounds * size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static pid_t target;

/* A question to the stopped process would have no answer. */
static void give_up(int signal)
{
    static const char text[] = "an operation waits for the stopped target\n";
    (void)signal;
    if (write(2, text, sizeof text - 1) < 0)
        _exit(3);
    kill(target, SIGCONT);
    _exit(2);
}

/* Whether the system says that the process stands. */
static int stands(void)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)target);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        fclose(file);
    }
    return state == 'T';
}

static void change_all(MPI_Win win)
{
    static const MPI_Datatype types[] = {
        MPI_2INT, MPI_SHORT_INT, MPI_LONG_INT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT,
    };
    char data[4 * 32] = { 0 }, was[4 * 32];
    int64_t one = 1;
    long double half = 0.5L, before;
    MPI_Datatype every_second;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        MPI_Accumulate(data, 1, types[i], 0, AT(room), 1, types[i], MPI_MAXLOC, win);
        MPI_Accumulate(data, 3, types[i], 0, AT(room), 3, types[i], MPI_REPLACE, win);
        MPI_Get_accumulate(data, 3, types[i], was, 3, types[i], 0, AT(room), 3, types[i], MPI_MINLOC, win);
        MPI_Fetch_and_op(data, was, types[i], 0, AT(room), MPI_REPLACE, win);
    }
    MPI_Type_vector(2, 1, 2, MPI_2INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Accumulate(data, 1, every_second, 0, AT(room), 1, every_second, MPI_MAXLOC, win);
    MPI_Type_free(&every_second);
    MPI_Accumulate(data, 16, MPI_BYTE, 0, AT(room), 16, MPI_BYTE, MPI_REPLACE, win);
    MPI_Accumulate(data, 1, MPI_C_DOUBLE_COMPLEX, 0, AT(sum), 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, AT(odd), 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Fetch_and_op(&half, &before, MPI_LONG_DOUBLE, 0, AT(long_sum), MPI_SUM, win);
    MPI_Win_flush(0, win);
}

static void while_the_target_stands(MPI_Win win, struct shared *mine)
{
    pid_t me = getpid();

    memset(mine, 0, sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Send(&me, sizeof me, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&target, sizeof target, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        signal(SIGALRM, give_up);
        alarm(30);
        kill(target, SIGSTOP);
        while (!stands())
            usleep(1000);
        for (int i = 0; i < TIMES; i++)
            change_all(win);
        kill(target, SIGCONT);
        alarm(0);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int64_t odd;
        memcpy(&odd, mine->odd, sizeof odd);
        CHECK(odd == TIMES && mine->long_sum == TIMES * 0.5L);
    }
}

int main(int argc, char **argv)
{
    static struct shared memory;
    struct shared *mine;
    MPI_Win made, created;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &made);
    if (argc > 1 && strcmp(argv[1], "stopped") == 0) {
        while_the_target_stands(made, mine);
    } else {
        all_at_once(made, mine, 1000);
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
        all_at_once(created, &memory, 100);
        MPI_Win_free(&created);
    }
    MPI_Win_free(&made);
    if (rank == 0)
        printf("elements: good\n");
    MPI_Finalize();
    return 0;
}
