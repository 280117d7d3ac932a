#include "exchange.h"
#include "../common/ledger.h"
#include "../common/series.h"

#include <stdlib.h>

enum form { BLOCKING, OVERLAPPED, SYNCHRONISED, FORCED, FORMS };

static const char *const form_names[FORMS] = { "blocking", "overlapped", "synchronised", "forced" };

struct exchange {
    const struct team *team;
    double *in, *out;
    int64_t work;              /* rounds of computation in each exchange               */
    double work_ns;            /* what they take alone                                 */
    struct counted counted;
};

/* Computation that no compiler removes, and that touches no memory. */
static double worked;

static void work(int64_t rounds)
{
    double value = worked;
    for (int64_t i = 0; i < rounds; i++) value = value * 0.999999 + 1e-6;
    worked = value;
}

static void exchange_once(struct exchange *x, enum form form, int count, int64_t number)
{
    int partner = 1 - x->team->task, forced = form == FORCED;
    if (count > 0) x->out[0] = x->out[count - 1] = (double)number;
    if (form == BLOCKING) {
        work(x->work);
        exchange_send(partner, x->out, count);
        exchange_receive(partner, x->in, count);
    } else {
        exchange_post(partner, x->in, count, forced);
        if (form != OVERLAPPED) exchange_meet(partner);
        exchange_begin(partner, x->out, count, forced);
        work(x->work);
        exchange_finish();
    }
    if (count > 0 && (x->in[0] != (double)number || x->in[count - 1] != (double)number))
        fail("verification failed: exchange %lld brought number %.0f", (long long)number, x->in[0]);
}

/* `operation` is the form; rounds of work are in the seed, which nobody else needs here. */
static void exchanges(struct exchange *x, struct block block, int64_t *samples)
{
    enum form form = (enum form)block.operation;
    exchange_once(x, form, (int)block.count, 0);
    exchange_meet(1 - x->team->task);
    struct counted before = counted_now();
    int64_t begun = now_ns();
    for (int64_t sample = 0; sample < block.samples; sample++) {
        exchange_once(x, form, (int)block.count, sample + 1);
        int64_t ended = now_ns();
        if (samples != NULL) samples[sample] = ended - begun;
        begun = ended;
    }
    x->counted = counted_since(before);
}

static void measure(void *context, struct block block, int64_t *samples)
{
    struct exchange *x = context;
    block_announce(x->team, block);
    int64_t work[1] = { x->work };
    team_send(1, TAG_CONTROL, work, 1);
    exchanges(x, block, samples);
    x->counted = counted_collect(x->team, x->counted);
}

static void follow(struct exchange *x)
{
    for (;;) {
        struct block block = block_hear();
        if (block.samples == 0) return;
        team_recv(0, TAG_CONTROL, &x->work, 1);
        exchanges(x, block, NULL);
        counted_give(x->counted);
    }
}

static void more(FILE *out, void *context)
{
    struct exchange *x = context;
    fprintf(out, "\"work_ns\":%.0f,", x->work_ns);
    counted_write(out, x->counted);
}

/* How many rounds of work take so long, and what they then really take. */
static void choose_work(struct exchange *x, double wanted_ns)
{
    enum { TRIAL = 200000 };
    work(TRIAL);
    int64_t begun = now_ns();
    work(TRIAL);
    double each = (double)(now_ns() - begun) / TRIAL;
    x->work = (int64_t)(wanted_ns / each) + 1;
    int64_t times[9];
    for (int i = 0; i < 9; i++) {
        begun = now_ns();
        work(x->work);
        times[i] = now_ns() - begun;
    }
    x->work_ns = median_of(times, 9);
}

/* The median of a few exchanges without computation: the work that goes with them is twice as long. */
static double alone(struct exchange *x, struct block block)
{
    enum { TRIALS = 15 };
    int64_t samples[TRIALS];
    x->work = 0;
    x->work_ns = 0;
    block.samples = TRIALS;
    measure(x, block, samples);
    return median_of(samples, TRIALS);
}

static void lead(struct exchange *x, const struct options *options)
{
    FILE *out = samples_open(options);
    for (enum form form = BLOCKING; form < FORMS; form++) {
        if ((form != BLOCKING && !exchange_can_post()) || (form == FORCED && !exchange_can_force())) continue;
        for (int i = 0; i < options->size_count; i++) {
            size_t bytes = options->sizes[i];
            struct block block = { .operation = form, .count = (int64_t)(bytes / sizeof(double)), .rounds = 1 };
            struct heading heading = { .program = "exchange", .form = form_names[form], .bytes = bytes, .more = more,
                                       .hops = 1 };
            double quiet = alone(x, block);
            series_run(out, x->team, options, heading, block, measure, x);
            choose_work(x, 2 * quiet);
            series_run(out, x->team, options, heading, block, measure, x);
        }
    }
    block_announce(x->team, (struct block){ 0 });
    samples_close(out);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2) fail("an exchange is between 2 tasks, not %d", team.tasks);
    size_t largest = 0;
    for (int i = 0; i < options.size_count; i++)
        if (options.sizes[i] > largest) largest = options.sizes[i];
    struct exchange x = { .team = &team, .in = doubles(largest / sizeof(double) + 1),
                          .out = doubles(largest / sizeof(double) + 1) };
    if (team.task == 0) lead(&x, &options);
    else follow(&x);
    free(x.in);
    free(x.out);
    team_close();
    return 0;
}
