#include "series.h"

#include <stdlib.h>

enum { WARM_ROUNDS = 12, WARM_SAMPLES = 16, BLOCK_WORDS = 5 };

/* What takes so long is a slow network's doing, and no warmth makes it quicker. */
static const double SLOW_NS = 1e9;

void block_announce(const struct team *team, struct block block)
{
    int64_t values[BLOCK_WORDS] = { block.operation, block.count, block.samples, block.rounds, block.seed };
    for (int task = 1; task < team->tasks; task++) team_send(task, TAG_CONTROL, values, BLOCK_WORDS);
}

struct block block_hear(void)
{
    int64_t values[BLOCK_WORDS];
    team_recv(0, TAG_CONTROL, values, BLOCK_WORDS);
    return (struct block){ values[0], values[1], values[2], values[3], values[4] };
}

/* Warm-up ends when two blocks in a row agree within 3 %, or after WARM_ROUNDS; returns samples dropped. */
static int warm_up(struct block block, measure_fn *measure, void *context, double limit_ns, int64_t *scratch,
                   double *estimate)
{
    double previous = 0, spent = 0;
    int dropped = 0, quiet = 0;
    for (int round = 0; round < WARM_ROUNDS && spent < limit_ns; round++) {
        block.seed++;
        /* The first block is a single sample: on a slow path one message may take milliseconds. */
        block.samples = round == 0 ? 1 : WARM_SAMPLES;
        if (round > 0 && *estimate * WARM_SAMPLES > limit_ns) block.samples = 1;
        measure(context, block, scratch);
        *estimate = median_of(scratch, (int)block.samples);
        spent += *estimate * (double)block.samples;
        dropped += (int)block.samples;
        double change = *estimate > previous ? *estimate - previous : previous - *estimate;
        quiet = change < 0.03 * *estimate ? quiet + 1 : 0;
        previous = *estimate;
        if (quiet == 2) break;
    }
    return dropped;
}

void series_run(FILE *out, const struct team *team, const struct options *options, struct heading heading,
                struct block block, measure_fn *measure, void *context)
{
    int room = options->most > WARM_SAMPLES ? options->most : WARM_SAMPLES;
    int64_t *samples = malloc((size_t)room * sizeof *samples);
    if (samples == NULL) fail("no memory for %d samples", room);

    /* The first of its kind, alone: connections and page faults are in it. */
    int64_t cold, rounds = block.rounds;
    block.samples = 1;
    block.rounds = 1;
    measure(context, block, &cold);

    block.rounds = rounds;
    double limit = options->time_ms * 1e6, estimate = 0;
    int dropped = 0;
    if ((double)cold > SLOW_NS) estimate = (double)(cold * rounds);
    else dropped = warm_up(block, measure, context, limit, samples, &estimate);
    double fitting = limit / (estimate > 1 ? estimate : 1);
    block.samples = fitting < options->least ? options->least : fitting > options->most ? options->most : (int64_t)fitting;
    block.seed += 500;
    measure(context, block, samples);

    fprintf(out, "{\"program\":\"%s\",", heading.program);
    if (heading.operation != NULL) fprintf(out, "\"operation\":\"%s\",", heading.operation);
    if (heading.form != NULL) fprintf(out, "\"form\":\"%s\",", heading.form);
    fprintf(out, "\"face\":\"%s\",\"encoding\":\"%s\",\"route\":\"%s\",\"tasks\":%d,\"size\":%zu,\"hops\":%lld,"
            "\"cold_ns\":%lld,\"dropped\":%d,\"verified\":true,",
            team->face, options->encoding, options->route, team->tasks, heading.bytes, (long long)heading.hops,
            (long long)cold, dropped);
    if (heading.more != NULL) heading.more(out, context);
    samples_array(out, "samples_ns", samples, (int)block.samples);
    fputs("}\n", out);
    free(samples);
}
