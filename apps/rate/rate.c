#include "rate.h"
#include "../common/series.h"

#include <stdlib.h>

struct rate {
    const struct team *team;
    double *data;       /* a window of messages           */
    int64_t windows;    /* sent, or received, until now   */
};

/* The first element of each message is its number, so that none is lost, doubled or out of order unseen. */
static void send_window(struct rate *rate, int count)
{
    for (int i = 0; i < RATE_WINDOW; i++) rate->data[i * count] = (double)(rate->windows * RATE_WINDOW + i);
    rate->windows++;
    rate_send(1, rate->data, count, RATE_WINDOW);
    rate_await(1);
}

static void receive_window(struct rate *rate, int count)
{
    rate_recv(0, rate->data, count, RATE_WINDOW);
    for (int i = 0; i < RATE_WINDOW; i++) {
        double number = (double)(rate->windows * RATE_WINDOW + i);
        if (rate->data[i * count] != number)
            fail("verification failed: message %.0f came as number %.0f", number, rate->data[i * count]);
    }
    rate->windows++;
    rate_answer(0);
}

static void measure(void *context, struct block block, int64_t *samples)
{
    struct rate *rate = context;
    block_announce(rate->team, block);
    send_window(rate, (int)block.count);
    int64_t before = now_ns();
    for (int64_t sample = 0; sample < block.samples; sample++) {
        for (int64_t round = 0; round < block.rounds; round++) send_window(rate, (int)block.count);
        int64_t after = now_ns();
        samples[sample] = after - before;
        before = after;
    }
}

static void lead(struct rate *rate, const struct options *options)
{
    FILE *out = samples_open(options);
    for (int i = 0; i < options->size_count; i++) {
        struct block block = { .count = (int64_t)(options->sizes[i] / sizeof(double)), .rounds = 1 };
        struct heading heading = { .program = "rate", .bytes = options->sizes[i], .hops = RATE_WINDOW };
        series_run(out, rate->team, options, heading, block, measure, rate);
    }
    block_announce(rate->team, (struct block){ 0 });
    samples_close(out);
}

static void follow(struct rate *rate)
{
    for (struct block block = block_hear(); block.samples > 0; block = block_hear())
        for (int64_t window = 0; window < 1 + block.samples * block.rounds; window++)
            receive_window(rate, (int)block.count);
}

static int rate_run(const struct team *team, const struct options *options)
{
    if (team->tasks != 2) fail("needs exactly 2 tasks");
    size_t largest = sizeof(double);
    for (int i = 0; i < options->size_count; i++) {
        if (options->sizes[i] < sizeof(double) || options->sizes[i] % sizeof(double) != 0)
            fail("sizes must be multiples of %zu bytes, and not 0", sizeof(double));
        if (options->sizes[i] > largest) largest = options->sizes[i];
    }
    struct rate rate = { .team = team, .data = doubles(RATE_WINDOW * largest / sizeof(double)) };
    if (team->task == 0) lead(&rate, options);
    else follow(&rate);
    free(rate.data);
    return 0;
}

/* The same for every face. */
int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    int code = rate_run(&team, &options);
    team_close();
    return code;
}
