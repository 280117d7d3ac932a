/* A fine-grained parallel job of two tasks: both compute for a moment, then exchange a word, again and again. They never
 * sleep.
 *
 *     parvum run -n 2 grain PARTS STEPS MICROSECONDS
 *
 * The first task prints for each part the milliseconds that its steps took.
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Work, not time: a task that is not running does not get on. */
static double work(long rounds)
{
    volatile double sum = 0;

    for (long at = 0; at < rounds; at++)
        sum += (double)at;
    return sum;
}

static long rounds_of(double seconds)
{
    double began = now(CLOCK_THREAD_CPUTIME_ID);

    work(2000000);
    return (long)(2000000 * seconds / (now(CLOCK_THREAD_CPUTIME_ID) - began));
}

int main(int argc, char **argv)
{
    int *tids, count = (pvm_mytid(), pvm_siblings(&tids)), me = pvm_mytid(), other, word = 0;
    int got, parts = argc == 4 ? atoi(argv[1]) : 0, steps = argc == 4 ? atoi(argv[2]) : 0;
    long rounds = rounds_of(argc == 4 ? atof(argv[3]) * 1e-6 : 0);

    if (parts < 1 || steps < 1 || count != 2)
        return 2;
    other = tids[0] == me ? tids[1] : tids[0];
    for (int part = 0; part < parts; part++) {
        double began = now(CLOCK_MONOTONIC);

        for (int step = 0; step < steps; step++) {
            work(rounds);
            pvm_initsend(PvmDataRaw);
            pvm_pkint(&word, 1, 1);
            if (pvm_send(other, 1) < 0)
                return 1;
            /* Looks again and again, as programs do that have something else to look at. */
            while ((got = pvm_nrecv(other, 1)) == 0)
                continue;
            if (got < 0)
                return 1;
            pvm_upkint(&word, 1, 1);
        }
        if (tids[0] == me) {
            printf("%.3f\n", (now(CLOCK_MONOTONIC) - began) * 1e3);
            fflush(stdout);
        }
    }
    pvm_exit();
    return 0;
}
