/* How much of the communication passes while the program computes. Two kinds of turns alternate: the communication is
   begun and ended at once, or the program computes in between for as long as the communication alone takes. */
#include "overlap.h"

#include <stdlib.h>

/* A turn repeats short operations until it takes about so long: the clock and the start cost little then. */
static const double TURN_NS = 200e3;
enum { MOST_REPEATED = 256, TRIAL = 200000, WARM = 5 };

/* The same value on all tasks; nobody reads it, but the compiler cannot know. */
static double worked = 1;

static void compute(int64_t rounds)
{
    double value = worked;
    for (int64_t i = 0; i < rounds; i++) value = value * 0.999999 + 1e-6;
    worked = value;
}

/* All tasks start a turn together: task 0 hears of each, and releases all. */
static void meet(const struct team *team)
{
    int64_t word = 0;
    if (team->task > 0) {
        team_send(0, TAG_RESULT, &word, 1);
        team_recv(0, TAG_CONTROL, &word, 1);
        return;
    }
    for (int task = 1; task < team->tasks; task++) team_recv(task, TAG_RESULT, &word, 1);
    for (int task = 1; task < team->tasks; task++) team_send(task, TAG_CONTROL, &word, 1);
}

static int64_t turn(struct overlap *overlap, int what, int64_t rounds, int64_t repeated)
{
    meet(overlap->team);
    int64_t before = now_ns();
    for (int64_t i = 0; i < repeated; i++) {
        overlap_begin(overlap, what);
        if (rounds > 0) compute(rounds);
        overlap_end(overlap, what);
    }
    return now_ns() - before;
}

/* Task 0 decides for all. */
struct plan {
    int64_t what, count, rounds, repeated, pairs;
};
enum { PLAN_WORDS = 5 };

static void tell(const struct team *team, struct plan plan)
{
    int64_t words[PLAN_WORDS] = { plan.what, plan.count, plan.rounds, plan.repeated, plan.pairs };
    for (int task = 1; task < team->tasks; task++) team_send(task, TAG_CONTROL, words, PLAN_WORDS);
}

static struct plan hear(void)
{
    int64_t words[PLAN_WORDS];
    team_recv(0, TAG_CONTROL, words, PLAN_WORDS);
    return (struct plan){ words[0], words[1], words[2], words[3], words[4] };
}

/* Fills the messages, does the plan, and checks the last exchange. */
static void follow(struct overlap *overlap, struct plan plan, int64_t *both, int64_t *alone)
{
    int exchange = plan.what == 0;
    overlap->count = (int)plan.count;
    fill(overlap->out, (size_t)plan.count, (uint64_t)overlap->team->task);
    for (int64_t pair = 0; pair < plan.pairs; pair++) {
        int64_t one = turn(overlap, (int)plan.what, 0, plan.repeated);
        int64_t other = turn(overlap, (int)plan.what, plan.rounds, plan.repeated);
        if (both != NULL) {
            alone[pair] = one;
            both[pair] = other;
        }
    }
    if (exchange) check(overlap->in, (size_t)plan.count, (uint64_t)overlap->partner, "exchange");
}

static double ns_of_a_round(void)
{
    int64_t times[9];
    compute(TRIAL);
    for (int i = 0; i < 9; i++) {
        int64_t before = now_ns();
        compute(TRIAL);
        times[i] = now_ns() - before;
    }
    return median_of(times, 9) / TRIAL;
}

static int64_t within(double value, int64_t least, int64_t most)
{
    return value < (double)least ? least : value > (double)most ? most : (int64_t)value;
}

static void lead(FILE *out, struct overlap *overlap, int what, size_t bytes, const struct options *options, double round_ns)
{
    const struct team *team = overlap->team;
    int64_t both[WARM], alone[WARM];
    struct plan plan = { what, (int64_t)(bytes / sizeof(double)), 0, 1, WARM };
    for (int warm = 0; warm < 2; warm++) {
        tell(team, plan);
        follow(overlap, plan, both, alone);
        double each = median_of(alone, WARM) / (double)plan.repeated;
        plan.repeated = within(TURN_NS / (each + 1), 1, MOST_REPEATED);
        plan.rounds = (int64_t)(each / round_ns) + 1;
    }
    double pair_ns = 3 * median_of(alone, WARM) + 1;
    plan.pairs = within(options->time_ms * 1e6 / pair_ns, options->least, options->most);
    int64_t *samples = malloc(2 * (size_t)plan.pairs * sizeof *samples);
    if (samples == NULL) fail("no memory for the samples");
    tell(team, plan);
    follow(overlap, plan, samples, samples + plan.pairs);
    fprintf(out, "{\"program\":\"overlap\",\"begun\":\"%s\",\"face\":\"%s\",\"encoding\":\"%s\",\"route\":\"%s\",\"tasks\":%d,\"size\":%zu,"
            "\"hops\":%lld,\"verified\":true,\"work_ns\":%.0f,", overlap_names[what], team->face, options->encoding,
            options->route, team->tasks, bytes, (long long)plan.repeated, (double)plan.rounds * round_ns);
    samples_array(out, "samples_ns", samples, (int)plan.pairs);
    fputc(',', out);
    samples_array(out, "alone_ns", samples + plan.pairs, (int)plan.pairs);
    fputs("}\n", out);
    free(samples);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2) fail("needs exactly 2 tasks, not %d", team.tasks);
    size_t count = largest_of_doubles(&options) / sizeof(double);
    struct overlap overlap = { .team = &team, .partner = 1 - team.task,
                               .out = doubles(2 * count), .in = doubles(2 * count) };
    if (team.task == 0) {
        FILE *out = samples_open(&options);
        double round_ns = ns_of_a_round();
        for (int what = 0; overlap_names[what] != NULL; what++)
            for (int i = 0; i < options.size_count; i++) lead(out, &overlap, what, options.sizes[i], &options, round_ns);
        tell(&team, (struct plan){ 0 });
        samples_close(out);
    } else {
        for (struct plan plan = hear(); plan.pairs > 0; plan = hear()) follow(&overlap, plan, NULL, NULL);
    }
    free(overlap.out);
    free(overlap.in);
    team_close();
    return 0;
}
