/* The costs of LogGP (Alexandrov, Ionescu, Schauser and Scheiman 1995), by the calls that the ring is made of, so for each
   interface that has a ring:

     half       half a round trip:  o + L + G k + o
     send       the call that sends, when nothing else is under way:  the sender's o
     receive    the call that receives, when the message has been there for a while:  the receiver's o
     gap        of many in a row that nobody answers, each:  g, and G k when that is more                              */
#include "ring.h"
#include "../common/series.h"

#include <stdlib.h>

enum operation { HALF, SEND, RECEIVE, GAP, OPERATIONS };

static const char *const names[OPERATIONS] = { "half", "send", "receive", "gap" };

enum { IN_A_ROW = 16, BUFFERS = 4 };

struct pair {
    const struct team *team;
    double *buffer[BUFFERS];
    double *word;           /* what answers carry */
    int64_t sent;           /* messages until now: the number that each carries */
};

static double *next(struct pair *pair) { return pair->buffer[pair->sent % BUFFERS]; }

static void give(struct pair *pair, int to, int count)
{
    double *data = next(pair);
    data[0] = (double)pair->sent;
    ring_send(to, data, count);
    pair->sent++;
}

static void take(struct pair *pair, int from, int count)
{
    double *data = next(pair);
    ring_recv(from, data, count);
    if (data[0] != (double)pair->sent) fail("verification failed: message %lld is number %.0f", (long long)pair->sent, data[0]);
    pair->sent++;
}

static void ask(struct pair *pair, int to) { ring_send(to, pair->word, 1); }
static void hear(struct pair *pair, int from) { ring_recv(from, pair->word, 1); }

static void pause_for(int64_t ns)
{
    int64_t until = now_ns() + ns;
    while (now_ns() < until) continue;
}

static int64_t one_half(struct pair *pair, int count, int64_t rounds)
{
    int64_t before = now_ns();
    for (int64_t round = 0; round < rounds; round++) {
        give(pair, 1, count);
        take(pair, 1, count);
    }
    return now_ns() - before;
}

static int64_t one_send(struct pair *pair, int count)
{
    int64_t before = now_ns();
    give(pair, 1, count);
    int64_t spent = now_ns() - before;
    hear(pair, 1);
    return spent;
}

/* Asks for a message, lets it come, and times the call that takes it. */
static int64_t one_receive(struct pair *pair, int count, int64_t wait)
{
    ask(pair, 1);
    pause_for(wait);
    int64_t before = now_ns();
    take(pair, 1, count);
    return now_ns() - before;
}

static int64_t one_gap(struct pair *pair, int count)
{
    int64_t before = now_ns();
    for (int i = 0; i < IN_A_ROW; i++) give(pair, 1, count);
    hear(pair, 1);
    return now_ns() - before;
}

static void measure(void *context, struct block block, int64_t *samples)
{
    struct pair *pair = context;
    int count = (int)block.count;
    block_announce(pair->team, block);
    /* The first is not timed; of a receive it tells how long a message takes to come. */
    int64_t comes = now_ns();
    switch ((enum operation)block.operation) {
    case HALF: one_half(pair, count, 1); break;
    case SEND: one_send(pair, count); break;
    case RECEIVE: one_receive(pair, count, 0); break;
    default: one_gap(pair, count); break;
    }
    comes = now_ns() - comes;
    for (int64_t sample = 0; sample < block.samples; sample++) {
        switch ((enum operation)block.operation) {
        case HALF: samples[sample] = one_half(pair, count, block.rounds); break;
        case SEND: samples[sample] = one_send(pair, count); break;
        case RECEIVE: samples[sample] = one_receive(pair, count, 2 * comes + 20000); break;
        default: samples[sample] = one_gap(pair, count); break;
        }
    }
}

static void answer(struct pair *pair, struct block block)
{
    int count = (int)block.count;
    int64_t times = 1 + block.samples * (block.operation == HALF ? block.rounds : 1);
    for (int64_t i = 0; i < times; i++) {
        switch ((enum operation)block.operation) {
        case HALF:
            take(pair, 0, count);
            give(pair, 0, count);
            break;
        case SEND:
            take(pair, 0, count);
            ask(pair, 0);
            break;
        case RECEIVE:
            hear(pair, 0);
            give(pair, 0, count);
            break;
        default:
            for (int j = 0; j < IN_A_ROW; j++) take(pair, 0, count);
            ask(pair, 0);
            break;
        }
    }
}

static void lead(struct pair *pair, const struct options *options)
{
    FILE *out = samples_open(options);
    for (int i = 0; i < options->size_count; i++) {
        size_t bytes = options->sizes[i];
        for (int operation = 0; operation < OPERATIONS; operation++) {
            int64_t rounds = operation == HALF && bytes <= 1024 ? 4 : 1;
            int64_t hops = operation == HALF ? 2 * rounds : operation == GAP ? IN_A_ROW : 1;
            struct block block = { .operation = operation, .count = (int64_t)(bytes / sizeof(double)), .rounds = rounds };
            struct heading heading = { .program = "loggp", .operation = names[operation], .bytes = bytes, .hops = hops };
            series_run(out, pair->team, options, heading, block, measure, pair);
        }
    }
    block_announce(pair->team, (struct block){ 0 });
    samples_close(out);
}

/* series_run writes hops for blocks of `rounds`, and times its first one with a single round: only `half` has more than one. */
int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2) fail("LogGP's costs are those of two tasks");
    struct pair pair = { .team = &team };
    size_t largest = sizeof(double);
    for (int i = 0; i < options.size_count; i++) {
        if (options.sizes[i] < sizeof(double) || options.sizes[i] % sizeof(double) != 0)
            fail("sizes must be multiples of %zu bytes, and more than 0", sizeof(double));
        if (options.sizes[i] > largest) largest = options.sizes[i];
    }
    for (int i = 0; i < BUFFERS; i++) pair.buffer[i] = doubles(largest / sizeof(double));
    pair.word = doubles(1);
    if (team.task == 0) lead(&pair, &options);
    else
        for (struct block block = block_hear(); block.samples > 0; block = block_hear()) answer(&pair, block);
    for (int i = 0; i < BUFFERS; i++) free(pair.buffer[i]);
    free(pair.word);
    team_close();
    return 0;
}
