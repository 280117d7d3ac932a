/* Measuring the transform: every repetition starts on all tasks at one agreed moment of the host's clock (no barrier of
   the system under test), and its time is that of the last task to finish. */
#define _GNU_SOURCE
#include "fft.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { RESULT_VALUES = 5 };
static const int64_t FIRST_WINDOW_NS = 200000, LAST_WINDOW_NS = 50000000;
static const double TOLERANCE = 1e-5;

struct result { int64_t start, end, wait, communication, late; };

/* Waits for the agreed moment. With a core for every task that is a spin; otherwise a sleep, for a spinning task would
   keep the others from their start. */
static int64_t await(int64_t moment, int crowded)
{
    if (crowded) {
        struct timespec until = { moment / 1000000000, moment % 1000000000 };
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
    }
    int64_t now = now_ns();
    while (now < moment) now = now_ns();
    return now;
}

static int cores(const struct options *options)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (options->cpu_count > 0) {
        for (int i = 0; i < options->cpu_count; i++) CPU_SET(options->cpus[i], &set);
        return CPU_COUNT(&set);
    }
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static struct result once(const struct team *team, struct transform *transform, int64_t moment, int crowded)
{
    struct spent spent = { 0, 0 };
    struct result result = { .late = now_ns() > moment };
    result.start = await(moment, crowded);
    for (int span = team->tasks / 2; span >= 1; span /= 2) {
        fft_exchange(team->task ^ span, transform->data, transform->other, (int)transform->block, &spent);
        transform_stage(transform, team->task, span);
    }
    transform_inside(transform);
    result.end = now_ns();
    result.wait = spent.wait;
    result.communication = spent.communication;
    return result;
}

/* Collects every task's block at task 0 and judges it. */
static double judge(const struct team *team, struct transform *transform)
{
    size_t block = transform->block;
    if (team->task != 0) {
        team_send(0, TAG_RESULT, (const int64_t *)transform->data, (int)block);
        return 0;
    }
    struct point *gathered = (struct point *)doubles(transform->points);
    memcpy(gathered, transform->data, block * sizeof *gathered);
    for (int task = 1; task < team->tasks; task++)
        team_recv(task, TAG_RESULT, (int64_t *)(gathered + (size_t)task * block), (int)block);
    double error = transform_error(gathered, transform->points);
    free(gathered);
    if (!(error < TOLERANCE))
        fail("verification failed: %zu points on %d tasks are off by %g of the largest value", transform->points,
             team->tasks, error);
    return error;
}

static void follow(const struct team *team, struct transform *transform, int crowded)
{
    for (;;) {
        int64_t moment;
        transform_load(transform, team->task);
        team_recv(0, TAG_CONTROL, &moment, 1);
        if (moment == 0) break;
        struct result result = once(team, transform, moment, crowded);
        int64_t values[RESULT_VALUES] = { result.start, result.end, result.wait, result.communication, result.late };
        team_send(0, TAG_RESULT, values, RESULT_VALUES);
    }
}

static void tell(const struct team *team, int64_t moment)
{
    for (int task = 1; task < team->tasks; task++) team_send(task, TAG_CONTROL, &moment, 1);
}

/* One repetition seen by task 0; returns nonzero when a task missed the agreed moment. */
static int repeat(const struct team *team, struct transform *transform, int64_t window, int crowded, struct result *results)
{
    transform_load(transform, 0);
    int64_t moment = now_ns() + (team->tasks > 1 ? window : 0);
    tell(team, moment);
    results[0] = once(team, transform, moment, crowded && team->tasks > 1);
    if (team->tasks == 1) results[0].late = 0;
    int late = results[0].late != 0;
    for (int task = 1; task < team->tasks; task++) {
        int64_t values[RESULT_VALUES];
        team_recv(task, TAG_RESULT, values, RESULT_VALUES);
        results[task] = (struct result){ values[0], values[1], values[2], values[3], values[4] };
        late |= values[4] != 0;
    }
    return late;
}

static int64_t whole(const struct result *results, int tasks)
{
    int64_t start = results[0].start, end = results[0].end;
    for (int task = 1; task < tasks; task++) {
        if (results[task].start < start) start = results[task].start;
        if (results[task].end > end) end = results[task].end;
    }
    return end - start;
}

static void write_split(FILE *out, const char *name, const struct result *kept, int tasks, int samples, int which)
{
    fprintf(out, ",\"%s\":[", name);
    for (int task = 0; task < tasks; task++) {
        fputs(task ? ",[" : "[", out);
        for (int i = 0; i < samples; i++) {
            const struct result *result = &kept[i * tasks + task];
            int64_t value = which == 0 ? result->end - result->start : which == 1 ? result->wait : result->communication;
            fprintf(out, i ? ",%lld" : "%lld", (long long)value);
        }
        fputc(']', out);
    }
    fputc(']', out);
}

static void lead(const struct team *team, const struct options *options, struct transform *transform, int crowded, FILE *out)
{
    int tasks = team->tasks, late = 0, kept_count = 0, attempts = 0;
    struct result *kept = calloc((size_t)(options->most * tasks), sizeof *kept);
    int64_t *samples = calloc((size_t)options->most, sizeof *samples);
    struct result results[64];
    if (kept == NULL || samples == NULL) fail("no memory for %d samples", options->most);

    /* The first two are dropped: connections, page faults, caches. */
    int64_t window = FIRST_WINDOW_NS;
    for (int i = 0; i < 2; i++)
        if (repeat(team, transform, window, crowded, results) && window < LAST_WINDOW_NS) window *= 4;

    int64_t begun = now_ns();
    while (kept_count < options->most && attempts++ < 4 * options->most + 40) {
        int enough = kept_count >= options->least || attempts > 4 * options->least + 40;
        if (enough && (double)(now_ns() - begun) > options->time_ms * 1e6) break;
        if (repeat(team, transform, window, crowded, results)) {
            late++;
            if (window < LAST_WINDOW_NS) window *= 2;
            continue;
        }
        memcpy(kept + kept_count * tasks, results, (size_t)tasks * sizeof *results);
        samples[kept_count++] = whole(results, tasks);
    }
    if (kept_count == 0) fail("no repetition of %zu points started together on all %d tasks", transform->points, tasks);
    tell(team, 0);
    fprintf(out, "{\"program\":\"fft\",\"face\":\"%s\",\"encoding\":\"%s\",\"route\":\"%s\",\"tasks\":%d,\"size\":%zu,"
            "\"late\":%d,\"verified\":true,", team->face, options->encoding, options->route, tasks, transform->points, late);
    samples_array(out, "samples_ns", samples, kept_count);
    write_split(out, "wall_ns", kept, tasks, kept_count, 0);
    write_split(out, "wait_ns", kept, tasks, kept_count, 1);
    write_split(out, "communication_ns", kept, tasks, kept_count, 2);
    free(kept);
    free(samples);
}

/* So many transforms as one job: nobody waits for agreed moments, and all that lies between them is timed too. */
static void in_a_row(const struct team *team, struct transform *transform, int count)
{
    for (int i = 0; i < count; i++) {
        transform_load(transform, team->task);
        once(team, transform, 0, 0);
    }
}

static void lead_job(const struct team *team, const struct options *options, struct transform *transform, FILE *out)
{
    int64_t begun = now_ns();
    tell(team, begun);
    in_a_row(team, transform, options->in_a_row);
    int64_t took = now_ns() - begun, ended;
    for (int task = 1; task < team->tasks; task++) {
        team_recv(task, TAG_RESULT, &ended, 1);
        if (ended - begun > took) took = ended - begun;
    }
    fprintf(out, "{\"program\":\"fft\",\"face\":\"%s\",\"encoding\":\"%s\",\"route\":\"%s\",\"tasks\":%d,\"size\":%zu,"
            "\"verified\":true,", team->face, options->encoding, options->route, team->tasks, transform->points);
    samples_array(out, "samples_ns", &took, 1);
}

static void follow_job(const struct team *team, const struct options *options, struct transform *transform)
{
    int64_t moment;
    team_recv(0, TAG_CONTROL, &moment, 1);
    in_a_row(team, transform, options->in_a_row);
    moment = now_ns();
    team_send(0, TAG_RESULT, &moment, 1);
}

int fft_run(const struct team *team, const struct options *options)
{
    if ((team->tasks & (team->tasks - 1)) != 0) fail("the number of tasks must be a power of two, not %d", team->tasks);
    prctl(PR_SET_TIMERSLACK, 1);
    int crowded = team->tasks > cores(options);
    FILE *out = team->task == 0 ? samples_open(options) : NULL;
    for (int i = 0; i < options->size_count; i++) {
        size_t points = options->sizes[i];
        if ((points & (points - 1)) != 0 || points < 2 * (size_t)team->tasks)
            fail("points must be a power of two and at least two a task, not %zu", points);
        struct transform transform;
        transform_open(&transform, points, team->tasks);
        if (options->in_a_row > 0 && team->task == 0) lead_job(team, options, &transform, out);
        else if (options->in_a_row > 0) follow_job(team, options, &transform);
        else if (team->task == 0) lead(team, options, &transform, crowded, out);
        else follow(team, &transform, crowded);

        /* After timing, one run more, whose result is judged. */
        transform_load(&transform, team->task);
        once(team, &transform, 0, 0);
        double error = judge(team, &transform);
        if (team->task == 0) fprintf(out, ",\"error\":%.3g}\n", error);
        transform_close(&transform);
    }
    if (team->task == 0) samples_close(out);
    return 0;
}

/* The same for every face. */
int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    int code = fft_run(&team, &options);
    team_close();
    return code;
}
