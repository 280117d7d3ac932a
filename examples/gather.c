/* The gather of a neural network's weight changes, which made shared memory slow in 2004: all processes add to one matrix of 72 KiB.
 *
 *     cc -O2 examples/gather.c -o gather -lTmk -lpvm3
 *     TMK_STATISTICS=yes parvum run -n 8 ./gather WAY [ROUNDS]
 *
 * WAY is `shared`: each process adds its part to the shared matrix under a lock, and process 0 reads the matrix. `pvm`: each sends its
 * part to process 0 with PVM, the hybrid program. `reduce`: Tmk_reduce. The bytes grow with the number of processes; with
 * TMK_PROTOCOL=classic the bytes of `shared` grow with its square.
 */
#include <Tmk.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHTS = 54 * 160 + 160, CHANGE = 7 }; /* a net of 54 x 160 x 1 */

static double *weights, *sums; /* shared */
static double part[WEIGHTS], other[WEIGHTS];
static int tasks[TMK_NPROCS];

/* The change of process p in a round: whole numbers, so that the order of the sum does not matter. */
static double change(unsigned p, int round, int i)
{
    return (double)((p + 1) * (round + 2) % 13 + i % 5);
}

/* The PVM ids of all processes, through shared memory. */
static void meet(void)
{
    static int *ids;

    if (Tmk_proc_id == 0) {
        ids = (int *)Tmk_malloc(sizeof tasks);
        Tmk_distribute((char *)&ids, sizeof ids);
    }
    Tmk_barrier(1);
    ids[Tmk_proc_id] = pvm_mytid();
    Tmk_barrier(1);
    memcpy(tasks, ids, Tmk_nprocs * sizeof *tasks);
    Tmk_barrier(1);
}

static void by_pvm(void)
{
    if (Tmk_proc_id != 0) {
        pvm_initsend(PvmDataRaw);
        if (pvm_pkdouble(part, WEIGHTS, 1) < 0 || pvm_send(tasks[0], CHANGE) < 0) Tmk_errexit("PVM cannot send");
        return;
    }
    for (unsigned p = 1; p < Tmk_nprocs; p++) {
        if (pvm_recv(tasks[p], CHANGE) < 0 || pvm_upkdouble(other, WEIGHTS, 1) < 0) Tmk_errexit("PVM cannot receive");
        for (int i = 0; i < WEIGHTS; i++) part[i] += other[i];
    }
}

static void by_sharing(void)
{
    Tmk_lock_acquire(0);
    for (int i = 0; i < WEIGHTS; i++) sums[i] += part[i];
    Tmk_lock_release(0);
    Tmk_barrier(2);
    if (Tmk_proc_id == 0) {
        memcpy(part, sums, sizeof part);
        memset(sums, 0, sizeof part);
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "shared";
    int rounds = argc > 2 ? atoi(argv[2]) : 10;

    Tmk_startup(argc, argv);
    if (Tmk_proc_id == 0) {
        weights = (double *)Tmk_malloc(sizeof part);
        sums = (double *)Tmk_malloc(sizeof part);
        if (weights == NULL || sums == NULL) Tmk_errexit("no room");
        Tmk_distribute((char *)&weights, sizeof weights);
        Tmk_distribute((char *)&sums, sizeof sums);
    }
    Tmk_barrier(0);
    int with_pvm = strcmp(way, "pvm") == 0, reduces = strcmp(way, "reduce") == 0;
    if (with_pvm) meet();
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < WEIGHTS; i++) part[i] = change(Tmk_proc_id, round, i);
        if (with_pvm)
            by_pvm();
        else if (reduces)
            Tmk_reduce(part, WEIGHTS, TMK_DOUBLE, TMK_SUM);
        else
            by_sharing();
        if (Tmk_proc_id == 0)
            for (int i = 0; i < WEIGHTS; i++) weights[i] += part[i];
        Tmk_barrier(3);
    }
    /* All processes read the weights, as in every epoch. */
    for (int i = 0; i < WEIGHTS; i++) {
        double wanted = 0;
        for (int round = 0; round < rounds; round++)
            for (unsigned p = 0; p < Tmk_nprocs; p++) wanted += change(p, round, i);
        if (weights[i] != wanted) Tmk_errexit("weight %d is %g, not %g", i, weights[i], wanted);
    }
    Tmk_barrier(0);
    if (Tmk_proc_id == 0) printf("%u processes, %s: %d rounds, all well\n", Tmk_nprocs, way, rounds);
    if (with_pvm) pvm_exit();
    Tmk_exit(0);
}
