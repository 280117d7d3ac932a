/* Numbers only: decimation in frequency, results left in bit-reversed order. */
#include "fft.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

void transform_open(struct transform *transform, size_t points, int tasks)
{
    size_t block = points / (size_t)tasks;
    *transform = (struct transform){ .points = points, .block = block };
    /* doubles() and a point are both eight bytes. */
    transform->roots = (struct point *)doubles(points);
    transform->data = (struct point *)doubles(block);
    transform->other = (struct point *)doubles(block);
    for (size_t k = 0; k < points; k++) {
        double angle = -2 * PI * (double)k / (double)points;
        transform->roots[k] = (struct point){ (float)cos(angle), (float)sin(angle) };
    }
}

void transform_close(struct transform *transform)
{
    free(transform->roots);
    free(transform->data);
    free(transform->other);
}

/* The input: two tones and some grain, so that no element of the result is trivially zero. */
static struct point input(size_t i, size_t points)
{
    double t = 2 * PI * (double)i / (double)points;
    double grain = (double)((i * 2654435761u) & 0xffff) / 65536.0 - 0.5;
    return (struct point){ (float)(cos(3 * t) + 0.5 * grain), (float)(0.25 * sin(17 * t)) };
}

void transform_load(struct transform *transform, int task)
{
    size_t first = (size_t)task * transform->block;
    for (size_t k = 0; k < transform->block; k++) transform->data[k] = input(first + k, transform->points);
}

static struct point times(struct point a, struct point b)
{
    return (struct point){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* One stage over the network: partners are `span` tasks apart and have exchanged their blocks. */
void transform_stage(struct transform *transform, int task, int span)
{
    struct point *mine = transform->data, *theirs = transform->other;
    size_t half = (size_t)span * transform->block;
    size_t stride = transform->points / (2 * half);
    if ((task & span) == 0) {
        for (size_t k = 0; k < transform->block; k++)
            mine[k] = (struct point){ mine[k].re + theirs[k].re, mine[k].im + theirs[k].im };
        return;
    }
    size_t first = ((size_t)task * transform->block) % half;
    for (size_t k = 0; k < transform->block; k++) {
        struct point difference = { theirs[k].re - mine[k].re, theirs[k].im - mine[k].im };
        mine[k] = times(difference, transform->roots[(first + k) * stride]);
    }
}

/* The stages inside one task. */
void transform_inside(struct transform *transform)
{
    struct point *x = transform->data;
    for (size_t half = transform->block / 2; half >= 1; half /= 2) {
        size_t stride = transform->points / (2 * half);
        for (size_t group = 0; group < transform->block; group += 2 * half)
            for (size_t j = 0; j < half; j++) {
                struct point a = x[group + j], b = x[group + j + half];
                x[group + j] = (struct point){ a.re + b.re, a.im + b.im };
                struct point difference = { a.re - b.re, a.im - b.im };
                x[group + j + half] = times(difference, transform->roots[j * stride]);
            }
    }
}

static size_t reversed(size_t value, int bits)
{
    size_t result = 0;
    for (int i = 0; i < bits; i++) result |= ((value >> i) & 1) << (bits - 1 - i);
    return result;
}

/* The judge is another algorithm in another precision: decimation in time, in doubles. */
double transform_error(const struct point *gathered, size_t points)
{
    int bits = 0;
    while (((size_t)1 << bits) < points) bits++;
    double complex *x = malloc(points * sizeof *x), *roots = malloc(points * sizeof *roots);
    if (x == NULL || roots == NULL) fail("no memory to check %zu points", points);
    for (size_t i = 0; i < points; i++) {
        struct point in = input(reversed(i, bits), points);
        x[i] = (double)in.re + I * (double)in.im;
        roots[i] = cexp(-2 * PI * I * (double)i / (double)points);
    }
    for (size_t half = 1; half < points; half *= 2)
        for (size_t group = 0; group < points; group += 2 * half)
            for (size_t j = 0; j < half; j++) {
                double complex a = x[group + j], b = x[group + j + half] * roots[j * (points / (2 * half))];
                x[group + j] = a + b;
                x[group + j + half] = a - b;
            }
    double worst = 0, largest = 0;
    for (size_t i = 0; i < points; i++) {
        struct point got = gathered[reversed(i, bits)];
        double error = cabs((double)got.re + I * (double)got.im - x[i]), size = cabs(x[i]);
        if (!(error <= worst)) worst = error;    /* a NaN is an error too */
        if (size > largest) largest = size;
    }
    free(x);
    free(roots);
    return worst / largest;
}
