/* Several pairs of tasks at once: in each pair one task sends windows of messages, and the other answers each window.
   The time of a sample begins before task 0 releases the senders. It ends after the last sender has reported. So the
   sample holds all messages of all pairs, also if pairs run one after the other because cores are too few. */
#include "rate.h"
#include "../common/series.h"

#include <stdlib.h>
#include <string.h>

/* A window of long messages has fewer of them: each message needs a separate buffer. */
static const size_t WINDOW_BYTES = 4 << 20;

/* Windows of a sample: enough that the release and the reports cost little beside them. */
static int windows_per_sample(size_t bytes) { return bytes <= 1024 ? 16 : 4; }

static int window_of(size_t bytes)
{
    size_t fitting = WINDOW_BYTES / bytes;
    return fitting >= RATE_WINDOW ? RATE_WINDOW : fitting < 1 ? 1 : (int)fitting;
}

struct pairs {
    const struct team *team;
    int partner, sends;
    int far;            /* the pairs are i and i + tasks / 2, else two neighbours */
    double *data;       /* a window of messages                                   */
    int64_t messages;   /* sent, or received, until now                           */
};

static int is_sender(const struct pairs *pairs, int task)
{
    return pairs->far ? task < pairs->team->tasks / 2 : task % 2 == 0;
}

/* The first element of each message is its number, so that none is lost, doubled or out of order unseen. */
static void send_window(struct pairs *pairs, int count, int window)
{
    for (int i = 0; i < window; i++) pairs->data[i * count] = (double)pairs->messages++;
    rate_send(pairs->partner, pairs->data, count, window);
    rate_await(pairs->partner);
}

static void receive_window(struct pairs *pairs, int count, int window)
{
    rate_recv(pairs->partner, pairs->data, count, window);
    for (int i = 0; i < window; i++) {
        double number = (double)pairs->messages++;
        if (pairs->data[i * count] != number)
            fail("verification failed: message %.0f came as number %.0f", number, pairs->data[i * count]);
    }
    rate_answer(pairs->partner);
}

/* All senders send this number of windows; task 0 releases the others, and waits for their reports. */
static void send_all(struct pairs *pairs, int count, int64_t windows)
{
    int window = window_of((size_t)count * sizeof(double));
    int64_t word = 0;
    for (int task = 1; task < pairs->team->tasks; task++)
        if (is_sender(pairs, task)) team_send(task, TAG_CONTROL, &word, 1);
    for (int64_t i = 0; i < windows; i++) send_window(pairs, count, window);
    for (int task = 1; task < pairs->team->tasks; task++)
        if (is_sender(pairs, task)) team_recv(task, TAG_CONTROL, &word, 1);
}

static void measure(void *context, struct block block, int64_t *samples)
{
    struct pairs *pairs = context;
    block_announce(pairs->team, block);
    send_all(pairs, (int)block.count, 1);
    int64_t before = now_ns();
    for (int64_t sample = 0; sample < block.samples; sample++) {
        send_all(pairs, (int)block.count, block.rounds);
        int64_t after = now_ns();
        samples[sample] = after - before;
        before = after;
    }
}

static void lead(struct pairs *pairs, const struct options *options)
{
    FILE *out = samples_open(options);
    for (int i = 0; i < options->size_count; i++) {
        size_t bytes = options->sizes[i];
        struct block block = { .count = (int64_t)(bytes / sizeof(double)), .rounds = windows_per_sample(bytes) };
        struct heading heading = { .program = "pairs", .bytes = bytes,
                                   .hops = block.rounds * window_of(bytes) * (pairs->team->tasks / 2) };
        series_run(out, pairs->team, options, heading, block, measure, pairs);
    }
    block_announce(pairs->team, (struct block){ 0 });
    samples_close(out);
}

static void follow(struct pairs *pairs)
{
    for (struct block block = block_hear(); block.samples > 0; block = block_hear()) {
        int count = (int)block.count, window = window_of((size_t)block.count * sizeof(double));
        for (int64_t sample = 0; sample <= block.samples; sample++) {
            int64_t windows = sample == 0 ? 1 : block.rounds, word = 0;
            if (pairs->sends) team_recv(0, TAG_CONTROL, &word, 1);
            for (int64_t i = 0; i < windows; i++) {
                if (pairs->sends) send_window(pairs, count, window);
                else receive_window(pairs, count, window);
            }
            if (pairs->sends) team_send(0, TAG_CONTROL, &word, 1);
        }
    }
}

static void pairs_run(const struct team *team, const struct options *options)
{
    struct pairs pairs = { .team = team, .far = strcmp(options->operations, "far") == 0 };
    if (team->tasks % 2 != 0) fail("needs an even number of tasks, not %d", team->tasks);
    if (!pairs.far && strcmp(options->operations, "near") != 0)
        fail("--operations is near (task 0 with task 1) or far (task 0 with the middle task), not %s", options->operations);
    size_t largest = sizeof(double);
    for (int i = 0; i < options->size_count; i++) {
        size_t bytes = options->sizes[i];
        if (bytes < sizeof(double) || bytes % sizeof(double) != 0)
            fail("sizes must be multiples of %zu bytes, and not 0", sizeof(double));
        if (bytes * (size_t)window_of(bytes) > largest) largest = bytes * (size_t)window_of(bytes);
    }
    int half = team->tasks / 2;
    pairs.sends = is_sender(&pairs, team->task);
    pairs.partner = pairs.far ? (team->task + half) % team->tasks : team->task ^ 1;
    pairs.data = doubles(largest / sizeof(double));
    if (team->task == 0) lead(&pairs, options);
    else follow(&pairs);
    free(pairs.data);
}

/* The same for every face. */
int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    pairs_run(&team, &options);
    team_close();
    return 0;
}
