#include "token.h"
#include "../common/ledger.h"
#include "../common/series.h"

#include <stdlib.h>
#include <string.h>

enum form { POSTED, UNPOSTED, COPY, FORMS };

static const char *const form_names[FORMS] = { "posted", "unposted", "copy" };

struct token {
    const struct team *team;
    double *in, *out;
    int next, previous;
    struct counted counted;    /* of the last block, all tasks */
};

/* The numbers go up by one with each round, so a message that came twice or not at all is noticed. */
static void must_be(const double *data, int count, int64_t round)
{
    if (count > 0 && data[0] != (double)round)
        fail("verification failed: message %lld came as number %.0f", (long long)round, data[0]);
    if (count > 1 && data[count - 1] != (double)round)
        fail("verification failed: message %lld ends with number %.0f", (long long)round, data[count - 1]);
}

static void stamp(double *data, int count, int64_t round)
{
    if (count > 0) data[0] = data[count - 1] = (double)round;
}

static void lead_round(struct token *token, enum form form, int64_t round, int count)
{
    stamp(token->out, count, round);
    if (form == POSTED) token_post(token->previous, token->in, count);
    token_send(token->next, token->out, count);
    if (form == POSTED) token_wait();
    else token_take(token->previous, token->in, count);
    must_be(token->in, count, round);
}

/* Whoever passes the message on posts the receive for the next one before that: the next cannot be sent earlier. */
static void follow_rounds(struct token *token, enum form form, int64_t rounds, int count)
{
    if (form == POSTED) token_post(token->previous, token->in, count);
    for (int64_t round = 0; round < rounds; round++) {
        if (form == POSTED) token_wait();
        else token_take(token->previous, token->in, count);
        must_be(token->in, count, round);
        memcpy(token->out, token->in, (size_t)count * sizeof *token->out);
        if (form == POSTED && round + 1 < rounds) token_post(token->previous, token->in, count);
        token_send(token->next, token->out, count);
    }
}

/* Task 0 sends to task 1, which answers when it has it; one of the two knows what the copy took. */
static int64_t copy_once(struct token *token, int64_t round, int count)
{
    int64_t spent = 0;
    if (token->team->task == 0) {
        stamp(token->out, count, round);
        spent = token_copy_send(1, token->out, count);
        int64_t theirs;
        team_recv(1, TAG_CONTROL, &theirs, 1);
        return spent + theirs;
    }
    spent = token_copy_take(0, token->in, count);
    must_be(token->in, count, round);
    team_send(0, TAG_CONTROL, &spent, 1);
    return spent;
}

static void measure(void *context, struct block block, int64_t *samples)
{
    struct token *token = context;
    int count = (int)block.count;
    enum form form = (enum form)block.operation;
    block_announce(token->team, block);
    int64_t round = 0;
    if (form == COPY) copy_once(token, round++, count);
    else lead_round(token, form, round++, count);
    struct counted before = counted_now();
    int64_t begun = now_ns();
    for (int64_t sample = 0; sample < block.samples; sample++) {
        if (form == COPY) {
            samples[sample] = copy_once(token, round++, count);
            continue;
        }
        for (int64_t i = 0; i < block.rounds; i++) lead_round(token, form, round++, count);
        int64_t ended = now_ns();
        samples[sample] = ended - begun;
        begun = ended;
    }
    token->counted = counted_collect(token->team, counted_since(before));
}

static void follow(struct token *token)
{
    for (;;) {
        struct block block = block_hear();
        if (block.samples == 0) return;
        int64_t rounds = 1 + block.samples * block.rounds;
        enum form form = (enum form)block.operation;
        struct counted before = counted_now();
        if (form != COPY) follow_rounds(token, form, rounds, (int)block.count);
        else if (token->team->task == 1)
            for (int64_t round = 0; round < rounds; round++) copy_once(token, round, (int)block.count);
        counted_give(counted_since(before));
    }
}

static void more(FILE *out, void *context)
{
    struct token *token = context;
    counted_write(out, token->counted);
}

static void lead(struct token *token, const struct options *options)
{
    FILE *out = samples_open(options);
    for (enum form form = POSTED; form < FORMS; form++) {
        for (int i = 0; i < options->size_count; i++) {
            size_t bytes = options->sizes[i];
            if (form == COPY && (bytes == 0 || token->team->tasks != 2)) continue;
            struct block block = { .operation = form, .count = (int64_t)(bytes / sizeof(double)),
                                   .rounds = bytes <= 1024 && form != COPY ? 4 : 1 };
            struct heading heading = { .program = "token", .form = form_names[form], .bytes = bytes, .more = more,
                                       .hops = form == COPY ? 1 : block.rounds * token->team->tasks };
            series_run(out, token->team, options, heading, block, measure, token);
        }
    }
    block_announce(token->team, (struct block){ 0 });
    samples_close(out);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks < 2) fail("a ring needs at least 2 tasks");
    size_t largest = 0;
    for (int i = 0; i < options.size_count; i++) {
        if (options.sizes[i] % sizeof(double) != 0) fail("sizes must be multiples of %zu bytes", sizeof(double));
        if (options.sizes[i] > largest) largest = options.sizes[i];
    }
    struct token token = { .team = &team, .next = (team.task + 1) % team.tasks,
                           .previous = (team.task + team.tasks - 1) % team.tasks,
                           .in = doubles(largest / sizeof(double) + 1), .out = doubles(largest / sizeof(double) + 1) };
    if (team.task == 0) lead(&token, &options);
    else follow(&token);
    free(token.in);
    free(token.out);
    team_close();
    return 0;
}
