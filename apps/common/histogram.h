/* How often each duration came: 32 buckets for each doubling, so that a bucket is at most 1/32 wide of its value. Below
   64 ns each nanosecond has a bucket. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

enum { HISTOGRAM_EXACT = 64, HISTOGRAM_EACH = 32, HISTOGRAM_BUCKETS = HISTOGRAM_EXACT + 36 * HISTOGRAM_EACH };

struct histogram {
    int64_t counts[HISTOGRAM_BUCKETS];
    int64_t total;
};

/* Counts a duration. Everything beyond the last bucket (some 40 minutes) is in the last. */
void histogram_add(struct histogram *histogram, int64_t ns);

/* Writes the member "histogram": the least value of each bucket that is not empty, and its count. */
void histogram_write(FILE *out, const struct histogram *histogram);

#endif
