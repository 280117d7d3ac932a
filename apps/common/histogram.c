#include "histogram.h"

static int bucket_of(int64_t ns)
{
    if (ns < 0) ns = 0;
    if (ns < HISTOGRAM_EXACT) return (int)ns;
    int exponent = 63 - __builtin_clzll((unsigned long long)ns);
    int64_t place = (ns >> (exponent - 5)) - HISTOGRAM_EACH;
    int64_t bucket = HISTOGRAM_EXACT + (int64_t)(exponent - 6) * HISTOGRAM_EACH + place;
    return bucket < HISTOGRAM_BUCKETS ? (int)bucket : HISTOGRAM_BUCKETS - 1;
}

static int64_t least_of(int bucket)
{
    if (bucket < HISTOGRAM_EXACT) return bucket;
    int above = bucket - HISTOGRAM_EXACT, exponent = 6 + above / HISTOGRAM_EACH;
    return (int64_t)(HISTOGRAM_EACH + above % HISTOGRAM_EACH) << (exponent - 5);
}

void histogram_add(struct histogram *histogram, int64_t ns)
{
    histogram->counts[bucket_of(ns)]++;
    histogram->total++;
}

void histogram_write(FILE *out, const struct histogram *histogram)
{
    const char *comma = "";
    fputs("\"histogram\":[", out);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (histogram->counts[i] == 0) continue;
        fprintf(out, "%s[%lld,%lld]", comma, (long long)least_of(i), (long long)histogram->counts[i]);
        comma = ",";
    }
    fputc(']', out);
}
