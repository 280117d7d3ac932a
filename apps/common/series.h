/* How a number comes about, the same for every program: a first sample that is kept apart, a warm-up that is
   measured, then samples until their time is over. */
#ifndef SERIES_H
#define SERIES_H

#include "../teams/team.h"

/* One block of measurements, which task 0 announces to the others. */
struct block {
    int64_t operation;    /* which, for programs that have several       */
    int64_t count;        /* elements of a message                       */
    int64_t samples;      /* 0: that was all                             */
    int64_t rounds;       /* operations in a sample                      */
    int64_t seed;         /* of the contents                             */
};

/* Task 0 tells all others; they hear it. */
void block_announce(const struct team *team, struct block block);
struct block block_hear(void);

/* Does a block, with one operation before it that is not timed, and writes the nanoseconds of each sample. */
typedef void measure_fn(void *context, struct block block, int64_t *samples);

/* The words in a line of samples. */
struct heading {
    const char *program;
    const char *operation;    /* or NULL                                          */
    const char *form;         /* which of a program's forms, or NULL              */
    void (*more)(FILE *out, void *context);    /* writes further members, or NULL */
    size_t bytes;             /* of a message                                     */
    int64_t hops;             /* what one sample covers, in units of the result   */
};

/* Measures one series on task 0 and writes its line. `block` says operation, count, rounds and the first seed. */
void series_run(FILE *out, const struct team *team, const struct options *options, struct heading heading,
                struct block block, measure_fn *measure, void *context);

#endif
