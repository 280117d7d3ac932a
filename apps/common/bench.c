#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Longer than any launch may take; the laboratory's own deadline is shorter. */
enum { WATCHDOG_SECONDS = 600 };

static const char *program = "bench";
static void (*last_deed)(void);

void program_is(const char *path)
{
    const char *slash = strrchr(path, '/');
    program = slash ? slash + 1 : path;
}

void when_it_fails(void (*deed)(void))
{
    last_deed = deed;
}

void fail(const char *format, ...)
{
    /* In one piece: whoever collects what tasks say may mix it with others' words. */
    char words[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", program, words);
    void (*deed)(void) = last_deed;
    last_deed = NULL; /* should it fail too */
    if (deed != NULL) deed();
    exit(1);
}

static _Noreturn void usage(const char *complaint, const char *what)
{
    fprintf(stderr, "%s: %s %s\n", program, complaint, what);
    exit(2);
}

static long long number(const char *text, char **end)
{
    long long value = strtoll(text, end, 10);
    if (*end == text || value < 0) usage("not a number:", text);
    return value;
}

static void read_sizes(struct options *options, const char *list)
{
    char *end;
    options->size_count = 0;
    for (const char *at = list;; at = end + 1) {
        if (options->size_count == BENCH_SIZES_MAX) usage("too many sizes:", list);
        options->sizes[options->size_count++] = (size_t)number(at, &end);
        if (*end == '\0') return;
        if (*end != ',') usage("sizes are separated by commas:", list);
    }
}

static void read_cpus(struct options *options, const char *list)
{
    char *end;
    options->cpu_count = 0;
    for (const char *at = list;; at = end + 1) {
        if (options->cpu_count == BENCH_CPUS_MAX) usage("too many cores:", list);
        options->cpus[options->cpu_count++] = (int)number(at, &end);
        if (*end == '\0') return;
        if (*end != ',') usage("cores are separated by commas:", list);
    }
}

void options_read(struct options *options, int argc, char **argv)
{
    program_is(argv[0]);
    *options = (struct options){ .tasks = 2, .time_ms = 20, .least = 5, .most = 2000, .encoding = "default",
                                 .route = "default", .operations = "barrier,broadcast,reduce,gather,alltoall",
                                 .items = 2000, .seconds = 3, .clock = "shared" };
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--child") == 0) {
            options->child = 1;
            continue;
        }
        if (i + 1 == argc) usage("unknown argument, or its value is missing:", name);
        char *value = argv[++i], *end;
        if (strcmp(name, "--tasks") == 0) options->tasks = (int)number(value, &end);
        else if (strcmp(name, "--out") == 0) options->out = value;
        else if (strcmp(name, "--cpus") == 0) read_cpus(options, value);
        else if (strcmp(name, "--sizes") == 0) read_sizes(options, value);
        else if (strcmp(name, "--time-ms") == 0) options->time_ms = (double)number(value, &end);
        else if (strcmp(name, "--least") == 0) options->least = (int)number(value, &end);
        else if (strcmp(name, "--most") == 0) options->most = (int)number(value, &end);
        else if (strcmp(name, "--in-a-row") == 0) options->in_a_row = (int)number(value, &end);
        else if (strcmp(name, "--rounds") == 0) options->rounds = (int)number(value, &end);
        else if (strcmp(name, "--data") == 0) options->data = value, end = value + strlen(value);
        else if (strcmp(name, "--items") == 0) options->items = (int)number(value, &end);
        else if (strcmp(name, "--encoding") == 0) options->encoding = value;
        else if (strcmp(name, "--route") == 0) options->route = value;
        else if (strcmp(name, "--operations") == 0) options->operations = value;
        else if (strcmp(name, "--clock") == 0) options->clock = value, end = value + strlen(value);
        else if (strcmp(name, "--seconds") == 0) options->seconds = strtod(value, &end);
        else usage("unknown argument:", name);
    }
    if (options->tasks < 1 || options->tasks > BENCH_TASKS_MAX) usage("--tasks must be 1 to 64, not", "the number given");
    if (options->least < 1 || options->most < options->least) usage("--least and --most must be", "1 <= least <= most");
    alarm(WATCHDOG_SECONDS);
}

void pin_task(const struct options *options, int task)
{
    if (options->cpu_count == 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(options->cpus[task % options->cpu_count], &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot pin task %d to its core", task);
}

void pin_to_all(const struct options *options)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < options->cpu_count; i++) CPU_SET(options->cpus[i], &set);
    if (options->cpu_count > 0 && sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot pin to the cores of --cpus");
}

int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* A cheap mixing step; the low 20 bits of it make the message. */
double content(uint64_t seed, size_t place)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + place * 0xbf58476d1ce4e5b9u;
    return (double)((x ^ (x >> 29)) & 0xfffff);
}

void fill(double *data, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) data[i] = content(seed, i);
}

void check(const double *data, size_t count, uint64_t seed, const char *where)
{
    for (size_t i = 0; i < count; i++)
        if (data[i] != content(seed, i))
            fail("verification failed %s: element %zu of %zu is %g, sent %g", where, i, count, data[i],
                 content(seed, i));
}

size_t largest_of_doubles(const struct options *options)
{
    size_t largest = 0;
    for (int i = 0; i < options->size_count; i++) {
        if (options->sizes[i] < sizeof(double) || options->sizes[i] % sizeof(double) != 0)
            fail("sizes must be multiples of %zu bytes, and not 0", sizeof(double));
        if (options->sizes[i] > largest) largest = options->sizes[i];
    }
    if (largest == 0) fail("needs --sizes");
    return largest;
}

double *doubles(size_t count)
{
    size_t bytes = (count * sizeof(double) + 4095) / 4096 * 4096 + 4096;
    double *memory = aligned_alloc(4096, bytes);
    if (memory == NULL) fail("no memory for a buffer of %zu bytes", bytes);
    memset(memory, 0, bytes);
    return memory;
}

FILE *samples_open(const struct options *options)
{
    if (options->out == NULL) return stdout;
    FILE *out = fopen(options->out, "w");
    if (out == NULL) fail("cannot write samples to %s", options->out);
    return out;
}

void samples_array(FILE *out, const char *name, const int64_t *values, int count)
{
    fprintf(out, "\"%s\":[", name);
    for (int i = 0; i < count; i++) fprintf(out, i ? ",%lld" : "%lld", (long long)values[i]);
    fputc(']', out);
}

void samples_close(FILE *out)
{
    if (fflush(out) != 0 || ferror(out)) fail("the samples could not be written completely");
    if (out != stdout) fclose(out);
}

static int ascending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

double median_of(const int64_t *values, int count)
{
    int64_t *sorted = malloc((size_t)count * sizeof *sorted);
    if (sorted == NULL) fail("no memory for %d samples", count);
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    double middle = count % 2 ? (double)sorted[count / 2] : 0.5 * (double)(sorted[count / 2 - 1] + sorted[count / 2]);
    free(sorted);
    return middle;
}
