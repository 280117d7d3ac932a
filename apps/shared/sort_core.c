/* Mergesort, by itself: parts are sorted from the bottom up, without recursion, and merged in pairs. */
#include "share.h"

#include <string.h>

/* The same numbers whoever fills which part. */
void sort_fill(int32_t *data, size_t count, size_t first)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t x = (first + i + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        data[i] = (int32_t)(x >> 33);
    }
}

void sort_merge(const int32_t *a, size_t as, const int32_t *b, size_t bs, int32_t *out)
{
    size_t i = 0, j = 0;
    while (i < as && j < bs) *out++ = b[j] < a[i] ? b[j++] : a[i++];
    memcpy(out, a + i, (as - i) * sizeof *out);
    memcpy(out + (as - i), b + j, (bs - j) * sizeof *out);
}

void sort_part(int32_t *data, int32_t *spare, size_t count)
{
    int32_t *from = data, *to = spare;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t middle = at + run < count ? at + run : count;
            size_t end = at + 2 * run < count ? at + 2 * run : count;
            sort_merge(from + at, middle - at, from + middle, end - middle, to + at);
        }
        int32_t *other = from;
        from = to;
        to = other;
    }
    if (from != data) memcpy(data, from, count * sizeof *data);
}

/* In order, and the same numbers as at first: their sum and the sum of their squares are. */
void sort_check(const int32_t *data, size_t count)
{
    uint64_t sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t first;
        sort_fill(&first, 1, i);
        sum += (uint64_t)data[i] - (uint64_t)first;
        squares += (uint64_t)data[i] * (uint64_t)data[i] - (uint64_t)first * (uint64_t)first;
        if (i > 0 && data[i - 1] > data[i]) fail("verification failed: number %zu of %zu is out of order", i, count);
    }
    if (sum != 0 || squares != 0) fail("verification failed: other numbers than at first");
}
