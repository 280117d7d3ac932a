#include "ledger.h"

#include <parvum.h>

struct counted counted_now(void)
{
    struct parvum_totals totals = { .size = sizeof totals };
    if (parvum_totals(&totals) != 0) fail("Parvum's ledger cannot be read");
    return (struct counted){
        .sent = (int64_t)totals.sent, .sent_bytes = (int64_t)totals.sent_bytes,
        .copied = (int64_t)(totals.copied_in + totals.copied_out), .fetched = (int64_t)totals.fetched_bytes,
        .buffered_here = (int64_t)totals.buffered_here, .buffered_at_sender = (int64_t)totals.buffered_at_sender,
        .unexpected = (int64_t)totals.unexpected, .discarded = (int64_t)totals.discarded,
    };
}

static void words_of(struct counted c, int64_t words[COUNTED_WORDS])
{
    int64_t all[COUNTED_WORDS] = { c.sent, c.sent_bytes, c.copied, c.fetched, c.buffered_here, c.buffered_at_sender,
                                   c.unexpected, c.discarded };
    for (int i = 0; i < COUNTED_WORDS; i++) words[i] = all[i];
}

static struct counted of_words(const int64_t w[COUNTED_WORDS])
{
    return (struct counted){ w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7] };
}

struct counted counted_since(struct counted before)
{
    int64_t then[COUNTED_WORDS], now[COUNTED_WORDS];
    words_of(before, then);
    words_of(counted_now(), now);
    for (int i = 0; i < COUNTED_WORDS; i++) now[i] -= then[i];
    return of_words(now);
}

struct counted counted_collect(const struct team *team, struct counted mine)
{
    int64_t sum[COUNTED_WORDS], theirs[COUNTED_WORDS];
    words_of(mine, sum);
    for (int task = 1; task < team->tasks; task++) {
        team_recv(task, TAG_RESULT, theirs, COUNTED_WORDS);
        for (int i = 0; i < COUNTED_WORDS; i++) sum[i] += theirs[i];
    }
    return of_words(sum);
}

void counted_give(struct counted mine)
{
    int64_t words[COUNTED_WORDS];
    words_of(mine, words);
    team_send(0, TAG_RESULT, words, COUNTED_WORDS);
}

void counted_write(FILE *out, struct counted c)
{
    fprintf(out, "\"counts\":{\"sent\":%lld,\"sent_bytes\":%lld,\"copied\":%lld,\"fetched\":%lld,\"buffered_here\":%lld,"
            "\"buffered_at_sender\":%lld,\"unexpected\":%lld,\"discarded\":%lld},",
            (long long)c.sent, (long long)c.sent_bytes, (long long)c.copied, (long long)c.fetched,
            (long long)c.buffered_here, (long long)c.buffered_at_sender, (long long)c.unexpected,
            (long long)c.discarded);
}
