/* A thread that works beside a thread that waits: its longest pause, counted in ticks of a third thread.
 *
 * The third thread ticks about once a millisecond. If the machine has no core for the worker, the ticking thread gets none either, so
 * ticks say how long the worker stood still because of the library, and seconds would not. */
#ifndef BESIDE_H
#define BESIDE_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_long beside_ticks, beside_rounds, beside_worst;
static atomic_int beside_over;

static void *beside_tick(void *unused)
{
    struct timespec one = { 0, 1000000 };

    (void)unused;
    while (!beside_over) {
        nanosleep(&one, NULL);
        beside_ticks++;
    }
    return NULL;
}

/* What the worker does again and again: a message to itself, or to another task. */
static void beside_round(void);

static void *beside_work(void *unused)
{
    struct timespec pause = { 0, 100000 };
    long last = beside_ticks, now;

    (void)unused;
    while (!beside_over) {
        beside_round();
        now = beside_ticks;
        if (now - last > beside_worst)
            beside_worst = now - last;
        last = now;
        beside_rounds++;
        nanosleep(&pause, NULL);
    }
    now = beside_ticks;
    if (now - last > beside_worst)
        beside_worst = now - last;
    return NULL;
}

struct beside {
    pthread_t ticker, worker;
};

static void beside_begin(struct beside *threads)
{
    beside_over = 0;
    beside_worst = beside_rounds = beside_ticks = 0;
    if (pthread_create(&threads->ticker, NULL, beside_tick, NULL) ||
        pthread_create(&threads->worker, NULL, beside_work, NULL))
        abort();
}

/* Ends both threads; the worker's longest pause in ticks. */
static long beside_end(struct beside *threads, long *rounds)
{
    beside_over = 1;
    pthread_join(threads->worker, NULL);
    pthread_join(threads->ticker, NULL);
    *rounds = beside_rounds;
    return beside_worst;
}

/* The worker alone, for so many milliseconds: what its pauses are without the other thread. */
static long beside_alone(long milliseconds)
{
    struct beside threads;
    struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    long rounds;

    beside_begin(&threads);
    nanosleep(&time, NULL);
    return beside_end(&threads, &rounds);
}

/* Pauses of this many ticks are within what a busy host makes by itself. */
#define BESIDE_FLOOR 15
#define BESIDE_TRIES 5
/* During a long call a busy host has more time for a long pause, so a long call may have a longer one. A library that copies under a lock
 * makes a pause of most of the call. */
#define BESIDE_SHARE 12

/* Makes one call beside the worker: `before` tells the partner, then the worker begins, then comes the call. The worker's longest pause
 * must be at most three times as long as alone, or a twelfth of a long call. A pause that the host has made does not come five times in a
 * row: a pause that the library makes does. */
static int beside_measure(const char *what, long alone, int at, void (*before)(int at), void (*call)(int at))
{
    long most = 0, worst = 0, rounds = 0, ticks = 0;
    int good = 0, tries = 0;

    while (!good && tries++ < BESIDE_TRIES) {
        struct beside threads;

        most = 3 * (alone > BESIDE_FLOOR ? alone : BESIDE_FLOOR);
        before(at);
        beside_begin(&threads);
        call(at);
        ticks = beside_ticks;
        worst = beside_end(&threads, &rounds);
        if (most < ticks / BESIDE_SHARE)
            most = ticks / BESIDE_SHARE;
        /* A call that is over at once leaves no time for a round. */
        good = worst <= most && (rounds > 0 || ticks < BESIDE_FLOOR);
        if (!good)
            fprintf(stderr, "%s: pause of %ld ticks of %ld, alone %ld, %ld rounds\n", what, worst, ticks, alone, rounds);
    }
    printf("%s: %s: longest pause %ld ticks of %ld, alone %ld, %ld rounds, try %d\n", good ? "good" : "stood still", what, worst, ticks,
           alone, rounds, good ? tries : BESIDE_TRIES);
    fflush(stdout);
    return good;
}

static pid_t beside_stopper;

/* Stops a process twice for so many milliseconds, from a process of its own: the partner in the situation `stopped`, the daemon, whose
 * process is BESIDE_DAEMON, in the situation `daemon`. */
static inline void beside_disturb(const char *situation, int partner, long milliseconds)
{
    const char *daemon = getenv("BESIDE_DAEMON");
    int process = !strcmp(situation, "stopped") ? partner : !strcmp(situation, "daemon") && daemon ? atoi(daemon) : 0;

    if (!process)
        return;
    beside_stopper = fork();
    if (beside_stopper != 0)
        return;
    for (int i = 0; i < 2; i++) {
        usleep(30000);
        kill(process, SIGSTOP);
        usleep((unsigned)milliseconds * 1000);
        kill(process, SIGCONT);
    }
    _exit(0);
}

/* Waits until nothing is stopped any more. */
static void beside_calm(void)
{
    if (beside_stopper > 0)
        waitpid(beside_stopper, NULL, 0);
    beside_stopper = 0;
}

/* A call that waits, and what the partner does meanwhile. */
struct beside_call {
    const char *name;
    void (*mine)(void), (*its)(void);
};

static const struct beside_call *beside_calls;

static void beside_make(int at)
{
    beside_calls[at].mine();
    beside_calm();
}

/* Judges all calls of a table, one after the other; how many stood still. */
__attribute__((unused)) static int beside_judge(const struct beside_call *calls, int count, void (*before)(int at))
{
    long alone = beside_alone(500);
    int bad = 0;

    beside_calls = calls;
    for (int at = 0; at < count; at++)
        bad += !beside_measure(calls[at].name, alone, at, before, beside_make);
    return bad;
}

#endif
