/* An MPI program that uses PVM too, in one process: two ranks of a run.
 *
 * Rank 0 begins a short receive of MPI's and waits in pvm_recv for what rank 1 sends by PVM only after its MPI_Ssend to that receive: so the
 * receive must be there. Then each rank spawns a task of PVM's, which knows no MPI, and exchanges messages with it. */
#include <mpi.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                              \
    do {                                                                          \
        if (!(holds)) {                                                           \
            fprintf(stderr, "mixed_mpi, line %d: %s\n", __LINE__, #holds);        \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

enum { WORD = 5, QUESTION = 6, ANSWER = 7, TURNS = 100 };

/* Knows PVM alone: it adds one to each number. */
static int spawned(void)
{
    int number, parent = pvm_parent();
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(pvm_recv(parent, QUESTION) > 0 && pvm_upkint(&number, 1, 1) == PvmOk);
        number++;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&number, 1, 1);
        CHECK(pvm_send(parent, ANSWER) == PvmOk);
    }
    pvm_exit();
    return 0;
}

static void waits_in_pvm(int rank, const int *tids)
{
    for (int turn = 0; turn < TURNS; turn++) {
        int number = -1, word = -1;
        if (rank == 0) {
            MPI_Request request;
            MPI_Irecv(&number, 1, MPI_INT, 1, turn, MPI_COMM_WORLD, &request);
            CHECK(pvm_recv(tids[1], WORD) > 0 && pvm_upkint(&word, 1, 1) == PvmOk && word == turn);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(number == 1000 + turn);
        } else {
            number = 1000 + turn;
            MPI_Ssend(&number, 1, MPI_INT, 0, turn, MPI_COMM_WORLD);
            pvm_initsend(PvmDataRaw);
            pvm_pkint(&turn, 1, 1);
            CHECK(pvm_send(tids[0], WORD) == PvmOk);
        }
    }
}

static void speaks_to_its_own(int rank, char *program)
{
    int child, sum = 0, all = 0;
    char *words[] = {"spawned", NULL};
    CHECK(pvm_spawn(program, words, PvmTaskDefault, "", 1, &child) == 1);
    for (int turn = 0; turn < TURNS; turn++) {
        int number = rank * 1000 + turn, answer = 0;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&number, 1, 1);
        CHECK(pvm_send(child, QUESTION) == PvmOk);
        CHECK(pvm_recv(child, ANSWER) > 0 && pvm_upkint(&answer, 1, 1) == PvmOk && answer == number + 1);
        sum += answer;
        /* In between, the ranks speak to each other by MPI. */
        MPI_Allreduce(&answer, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all == 1000 + 2 * (turn + 1));
    }
    CHECK(sum == rank * 1000 * TURNS + TURNS * (TURNS + 1) / 2);
}

int main(int argc, char **argv)
{
    int rank, size, *tids;
    if (argc > 1 && !strcmp(argv[1], "spawned")) return spawned();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 2 && pvm_mytid() > 0 && pvm_siblings(&tids) == 2);
    waits_in_pvm(rank, tids);
    speaks_to_its_own(rank, argv[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    pvm_exit();
    return 0;
}
