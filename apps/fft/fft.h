/* The parallel fast Fourier transform of Islam, McGrath and Campbell's study: n complex points in blocks over P tasks
   (a power of two), log2 P butterfly stages over the network, the rest inside each task. Points are pairs of floats, so
   a message of n/P points has the size their Table 3 gives. */
#ifndef FFT_H
#define FFT_H

#include "../teams/team.h"

struct point { float re, im; };

struct transform {
    size_t points;          /* of the whole transform  */
    size_t block;           /* of one task             */
    struct point *roots;    /* exp(-2 pi i k / points) */
    struct point *data;     /* this task's block       */
    struct point *other;    /* the partner's block     */
};

/* Where a task's time went; what is left of its wall time is computation. */
struct spent { int64_t wait, communication; };

/* Sends a block to the partner and receives its block: written once for each face. */
void fft_exchange(int partner, struct point *mine, struct point *theirs, int points, struct spent *spent);

/* The numerical core (fft_core.c). */
void transform_open(struct transform *transform, size_t points, int tasks);
void transform_close(struct transform *transform);
void transform_load(struct transform *transform, int task);
void transform_stage(struct transform *transform, int task, int span);
void transform_inside(struct transform *transform);

/* The largest error of a gathered result, relative to the largest value, against a serial transform in doubles. */
double transform_error(const struct point *gathered, size_t points);

int fft_run(const struct team *team, const struct options *options);

#endif
