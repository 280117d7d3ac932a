/* Spawns copies of a program, prints what they print, and ends when all of them have.
 *
 *     starter COUNT PROGRAM [ARGUMENT ...]
 *
 * It stands for the console of a PVM user, for programs that must be spawned to do anything. */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64
#define ENDED 999

int pvm_catchout(FILE *); /* Declared by pvm3.h only to those who ask for prototypes. */

int main(int argc, char **argv)
{
    int tids[MOST], started, i;
    int count = argc > 2 ? atoi(argv[1]) : 0;

    if (count < 1 || count > MOST) {
        fprintf(stderr, "usage: starter COUNT PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    if (pvm_mytid() < 0) return 3;
    pvm_catchout(stdout);
    started = pvm_spawn(argv[2], argc > 3 ? argv + 3 : 0, PvmTaskDefault, "", count, tids);
    if (started < count) {
        printf("starter: %d of %d: %d\n", started, count, tids[started > 0 ? started : 0]);
        pvm_exit();
        return 4;
    }
    pvm_notify(PvmTaskExit, ENDED, started, tids);
    for (i = 0; i < started; i++) pvm_recv(-1, ENDED);
    /* Waits for the rest of their output. */
    pvm_exit();
    printf("starter: all have ended\n");
    return 0;
}
