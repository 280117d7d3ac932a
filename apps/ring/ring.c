#include "ring.h"
#include "../common/series.h"

#include <stdlib.h>

/* Messages rotate over a few buffers, and every one carries its own number: a library cannot profit from seeing the
   same unchanged buffer again. */
enum { BUFFERS = 4 };

/* Short hops are timed four round trips at a time, since reading the clock costs a noticeable part of one. */
static int rounds_per_sample(size_t bytes) { return bytes <= 1024 ? 4 : 1; }

struct ring {
    const struct team *team;
    double *buffer[BUFFERS];    /* what a message arrives in, and on other tasks leaves from */
    double *fresh[BUFFERS];     /* what task 0 sends first */
    int next, previous;
    int64_t sent;               /* messages since the ring was opened: the number each carries */
};

/* After timing: the whole contents of the last messages, except the number that each one carries in front. */
static void verify(const struct ring *ring, struct block block, int64_t messages, const char *where)
{
    if (block.count == 0) return;
    for (int i = 0; i < BUFFERS && i < messages; i++) {
        fill(ring->buffer[i], 1, (uint64_t)(block.seed + i));
        check(ring->buffer[i], (size_t)block.count, (uint64_t)(block.seed + i), where);
    }
}

static void pass_on(struct ring *ring, int64_t messages, int count)
{
    for (int64_t i = 0; i < messages; i++) {
        double *data = ring->buffer[i % BUFFERS];
        ring_recv(ring->previous, data, count);
        ring_send(ring->next, data, count);
    }
}

static void send_round(struct ring *ring, int64_t i, int count)
{
    double *in = ring->buffer[i % BUFFERS];
    /* What came is sent on, here as well: data that its sender has just written, as real data is. */
    double *out = i < BUFFERS ? ring->fresh[i % BUFFERS] : in;
    int64_t number = ring->sent++;
    if (count > 0) out[0] = (double)number;
    ring_send(ring->next, out, count);
    ring_recv(ring->previous, in, count);
    if (count > 0 && in[0] != (double)number)
        fail("verification failed: message %lld came back as number %.0f", (long long)number, in[0]);
}

/* Measures one block. The first round trip is not timed: it lets the others leave their control message behind. */
static void measure(void *context, struct block block, int64_t *samples)
{
    struct ring *ring = context;
    int count = (int)block.count;
    for (int i = 0; i < BUFFERS; i++) fill(ring->fresh[i], (size_t)count, (uint64_t)(block.seed + i));
    block_announce(ring->team, block);
    send_round(ring, 0, count);
    int64_t message = 1, before = now_ns();
    for (int64_t sample = 0; sample < block.samples; sample++) {
        for (int64_t round = 0; round < block.rounds; round++) send_round(ring, message++, count);
        int64_t after = now_ns();
        samples[sample] = after - before;
        before = after;
    }
    verify(ring, block, message, "on return to task 0");
}

static void lead(struct ring *ring, const struct options *options)
{
    FILE *out = samples_open(options);
    for (int i = 0; i < options->size_count; i++) {
        size_t bytes = options->sizes[i];
        struct block block = { .count = (int64_t)(bytes / sizeof(double)), .rounds = rounds_per_sample(bytes),
                               .seed = (int64_t)(1000 * i) };
        struct heading heading = { .program = "ring", .bytes = bytes, .hops = block.rounds * ring->team->tasks };
        series_run(out, ring->team, options, heading, block, measure, ring);
    }
    block_announce(ring->team, (struct block){ 0 });
    samples_close(out);
}

static void follow(struct ring *ring)
{
    for (;;) {
        struct block block = block_hear();
        if (block.samples == 0) return;
        int64_t messages = 1 + block.samples * block.rounds;
        pass_on(ring, messages, (int)block.count);
        verify(ring, block, messages, "on the way through");
    }
}

static int ring_run(const struct team *team, const struct options *options)
{
    struct ring ring = { .team = team, .next = (team->task + 1) % team->tasks,
                         .previous = (team->task + team->tasks - 1) % team->tasks };
    if (team->tasks < 2) fail("a ring needs at least 2 tasks");
    size_t largest = 0;
    for (int i = 0; i < options->size_count; i++) {
        if (options->sizes[i] % sizeof(double) != 0) fail("sizes must be multiples of %zu bytes", sizeof(double));
        if (options->sizes[i] > largest) largest = options->sizes[i];
    }
    for (int i = 0; i < BUFFERS; i++) {
        ring.buffer[i] = doubles(largest / sizeof(double) + 1);
        ring.fresh[i] = team->task == 0 ? doubles(largest / sizeof(double) + 1) : NULL;
    }
    if (team->task == 0) lead(&ring, options);
    else follow(&ring);
    for (int i = 0; i < BUFFERS; i++) {
        free(ring.buffer[i]);
        free(ring.fresh[i]);
    }
    return 0;
}

/* The same for every face. */
int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    int code = ring_run(&team, &options);
    team_close();
    return code;
}
