/* The slow messages: a short message is due at fixed times, its round trip is timed from then, and all are counted in a
   histogram. Messages one after the other would hide each delay: while one message is late, no other is due, so that a
   delay of a thousand messages counts once. With -DTAIL_LOAD long messages are on their way in both directions all the
   while. */
#include "../common/histogram.h"
#include "../ring/ring.h"
#include "load.h"

#include <stdlib.h>

/* Warm-up ends after this number of round trips, or after a tenth of the time. */
enum { WARM_TRIPS = 500 };

/* A message is due each 100 us: all systems that are compared are faster if nothing is in their way. */
static const int64_t INTERVAL_NS = 100000;

/* The follower stops at the message that carries this instead of a number. */
static const double LAST = -1;

struct tail {
    double *data;
    int count;
    int64_t sent;
};

/* From the time at which it is due until it is back. */
static int64_t round_trip(struct tail *tail, int64_t due)
{
    double number = (double)tail->sent++;
    tail->data[0] = number;
    load_step(1);
    while (now_ns() < due)
        ;
    ring_send(1, tail->data, tail->count);
    ring_recv(1, tail->data, tail->count);
    int64_t taken = now_ns() - due;
    if (tail->data[0] != number)
        fail("verification failed: message %.0f came back as number %.0f", number, tail->data[0]);
    return taken;
}

static void write_line(FILE *out, const struct team *team, const struct options *options, size_t bytes,
                       const struct histogram *histogram, int64_t dropped)
{
    fprintf(out, "{\"program\":\"tail\",\"face\":\"%s\",\"encoding\":\"%s\",\"route\":\"%s\",\"tasks\":%d,\"size\":%zu,"
            "\"dropped\":%lld,\"verified\":true,", team->face, options->encoding, options->route, team->tasks,
            bytes, (long long)dropped);
    histogram_write(out, histogram);
    fputs("}\n", out);
}

static void lead(struct tail *tail, const struct team *team, const struct options *options)
{
    FILE *out = samples_open(options);
    int64_t limit = (int64_t)(options->time_ms * 1e6);
    struct histogram *histogram = malloc(sizeof *histogram);
    if (histogram == NULL) fail("no memory for a histogram");
    for (int i = 0; i < options->size_count; i++) {
        int64_t count = (int64_t)(options->sizes[i] / sizeof(double)), dropped = 0;
        team_send(1, TAG_CONTROL, &count, 1);
        tail->count = (int)count;
        *histogram = (struct histogram){ 0 };
        load_begin(1);
        int64_t begun = now_ns();
        while (dropped < WARM_TRIPS && (dropped == 0 || now_ns() - begun < limit / 10)) {
            round_trip(tail, now_ns());
            dropped++;
        }
        begun = now_ns();
        while (histogram->total < options->least || (now_ns() - begun < limit && histogram->total < options->most))
            histogram_add(histogram, round_trip(tail, begun + (histogram->total + 1) * INTERVAL_NS));
        tail->data[0] = LAST;
        load_step(1);
        ring_send(1, tail->data, tail->count);
        load_end();
        write_line(out, team, options, options->sizes[i], histogram, dropped);
    }
    int64_t over = 0;
    team_send(1, TAG_CONTROL, &over, 1);
    free(histogram);
    samples_close(out);
}

static void follow(struct tail *tail)
{
    for (;;) {
        int64_t count;
        team_recv(0, TAG_CONTROL, &count, 1);
        if (count == 0) return;
        load_begin(0);
        for (;;) {
            load_step(0);
            ring_recv(0, tail->data, (int)count);
            if (tail->data[0] == LAST) break;
            ring_send(0, tail->data, (int)count);
        }
        load_end();
    }
}

/* The same for every face. */
int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2) fail("needs exactly 2 tasks, not %d", team.tasks);
    size_t largest = sizeof(double);
    for (int i = 0; i < options.size_count; i++) {
        if (options.sizes[i] < sizeof(double) || options.sizes[i] % sizeof(double) != 0)
            fail("sizes must be multiples of %zu bytes, and not 0", sizeof(double));
        if (options.sizes[i] > largest) largest = options.sizes[i];
    }
    struct tail tail = { .data = doubles(largest / sizeof(double)) };
    if (team.task == 0) lead(&tail, &team, &options);
    else follow(&tail);
    free(tail.data);
    team_close();
    return 0;
}
