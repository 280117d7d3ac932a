/* Integer sort as in the NAS benchmarks: each process counts its own keys and adds the counts to a shared array under locks.
 * Then each process ranks its keys. The shared counts migrate from process to process, and each rewrites them. With the protocol
 * of 1994 (TMK_PROTOCOL=classic) all diffs accumulate: n(n-1)b bytes for b bytes of counts.
 *
 *     cc -O2 examples/integer_sort.c -o integer_sort -lTmk
 *     parvum run -n 4 ./integer_sort [KEYS ROUNDS]
 */
#include <Tmk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 12 }; /* keys are below: 16 KiB of counts */

static int *counts, *own, *before;
static int keys = 100000, rounds = 5;

/* The keys of one process in one round. Every process computes the same keys. */
static int key(unsigned long *state)
{
    *state = *state * 6364136223846793005UL + 1442695040888963407UL;
    return (int)(*state >> 40) % LARGEST;
}

static void make(unsigned process, int round, int *of)
{
    unsigned long state = process * 1000003UL + round * 7919UL + 1;
    for (int i = 0; i < keys; i++) of[i] = key(&state);
}

int main(int argc, char **argv)
{
    if (argc > 2) keys = atoi(argv[1]), rounds = atoi(argv[2]);
    Tmk_startup(argc, argv);
    if (Tmk_proc_id == 0) {
        counts = (int *)Tmk_malloc(LARGEST * sizeof *counts);
        if (counts == NULL) Tmk_errexit("no room");
        Tmk_distribute((char *)&counts, sizeof counts);
    }
    own = malloc(keys * sizeof *own);
    before = malloc(LARGEST * sizeof *before);
    int *mine = calloc(LARGEST, sizeof *mine), *check = calloc(LARGEST, sizeof *check);
    Tmk_barrier(0);

    for (int round = 0; round < rounds; round++) {
        make(Tmk_proc_id, round, own);
        memset(mine, 0, LARGEST * sizeof *mine);
        for (int i = 0; i < keys; i++) mine[own[i]]++;
        if (Tmk_proc_id == 0) memset(counts, 0, LARGEST * sizeof *counts);
        Tmk_barrier(1);
        /* The start of this process's keys of each size, after the keys of all earlier holders of the lock. */
        Tmk_lock_acquire(0);
        for (int k = 0; k < LARGEST; k++) {
            before[k] = counts[k];
            counts[k] += mine[k];
        }
        Tmk_lock_release(0);
        Tmk_barrier(2);
        /* The rank of each key follows from this; this checks the counts of all processes. */
        long sum = 0;
        for (int k = 0; k < LARGEST; k++) {
            if (before[k] + mine[k] > counts[k]) Tmk_errexit("more keys before than there are");
            sum += counts[k];
        }
        if (sum != (long)keys * Tmk_nprocs) Tmk_errexit("%ld keys of %ld", sum, (long)keys * Tmk_nprocs);
        if (Tmk_proc_id == 0) {
            memset(check, 0, LARGEST * sizeof *check);
            for (unsigned p = 0; p < Tmk_nprocs; p++) {
                make(p, round, own);
                for (int i = 0; i < keys; i++) check[own[i]]++;
            }
            if (memcmp(check, counts, LARGEST * sizeof *check) != 0) Tmk_errexit("wrong counts");
        }
        Tmk_barrier(3);
    }
    if (Tmk_proc_id == 0) printf("%u processes: %d rounds of %d keys each, all well\n", Tmk_nprocs, rounds, keys);
    Tmk_exit(0);
}
