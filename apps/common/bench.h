/* Parts that every program of the comparison shares: arguments, clock, pinning, sample files, message contents. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { BENCH_SIZES_MAX = 64, BENCH_CPUS_MAX = 64, BENCH_TASKS_MAX = 64 };

struct options {
    int tasks;                    /* --tasks N                                                  */
    int child;                    /* --child: started by the first task, not by the user        */
    const char *out;              /* --out FILE: where the first task writes its samples        */
    int cpus[BENCH_CPUS_MAX];     /* --cpus 0,1: the core of each task, in task order           */
    int cpu_count;
    size_t sizes[BENCH_SIZES_MAX]; /* --sizes 0,8,...: bytes for ring, points for fft           */
    int size_count;
    double time_ms;               /* --time-ms T: how long to measure each size                 */
    int least, most;              /* --least N, --most N: bounds on the samples of each size    */
    int in_a_row;                 /* --in-a-row N: so many runs, timed as one job      (fft)    */
    const char *encoding;         /* --encoding default|raw|inplace   (PVM)                     */
    const char *route;            /* --route default|direct|dont      (PVM)                     */
    const char *operations;       /* --operations barrier,reduce,...  (group)                   */
    int rounds;                   /* --rounds N: operations of a sample, else one for each task as root (group) */
    int items;                    /* --items N: of a net's training set (network)               */
    const char *data;             /* --data FILE: has that set (network of 400 weights)         */
    double seconds;               /* --seconds S: how long `blocked` stays blocked              */
    const char *clock;            /* --clock shared|estimated: of several hosts (arrival)       */
};

/* Names this program, after what it was started by, in all that it says. */
void program_is(const char *path);

/* Reads the arguments, or says what is wrong and exits with code 2. Also starts a watchdog, so that no task outlives
   a comparison that went wrong. */
void options_read(struct options *options, int argc, char **argv);

/* Pins this task to the core that --cpus names for it; without --cpus the system decides. */
void pin_task(const struct options *options, int task);

/* Lets this task run on any core of --cpus. */
void pin_to_all(const struct options *options);

/* Nanoseconds on a clock that all tasks of one host share. */
int64_t now_ns(void);

/* Ends this program with a message that names it; every broken promise ends here. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is done before that end, after the words: of use to those who wait for this program. */
void when_it_fails(void (*deed)(void));

/* Message contents: doubles that depend on a seed and on their place, so a shifted, stale or partly delivered
   message is noticed. Values are small integers, which every encoding carries exactly. */
double content(uint64_t seed, size_t place);
void fill(double *data, size_t count, uint64_t seed);
void check(const double *data, size_t count, uint64_t seed, const char *where);

/* Memory on page boundaries, touched once so that no page fault falls into a measurement. */
double *doubles(size_t count);

/* The largest size in bytes. Sizes must be multiples of a double; other sizes end the program. */
size_t largest_of_doubles(const struct options *options);

/* One JSON object per line. */
FILE *samples_open(const struct options *options);
void samples_array(FILE *out, const char *name, const int64_t *values, int count);
void samples_close(FILE *out);

double median_of(const int64_t *values, int count);

#endif
