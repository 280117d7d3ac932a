/* The program's arguments. */
#define _GNU_SOURCE
#include "layer.h"
#include "npb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No task outlives a comparison that went wrong; class B takes minutes. */
enum { WATCHDOG_SECONDS = 3600, TASKS_MOST = 64, GROUPS = 4 };

static _Noreturn void refuse(const char *what, const char *value)
{
    fail("%s, not \"%s\"", what, value);
}

static long number(const char *what, const char *text, long least, long most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < least || value > most)
        fail("%s is a number from %ld to %ld, not \"%s\"", what, least, most, text);
    return value;
}

/* The arguments stay as they are: tasks that are spawned get them too. */
static void read_cpus(struct options *options, const char *list)
{
    for (const char *at = list;; at++) {
        char *end;
        long core = strtol(at, &end, 10);
        if (end == at || core < 0 || core > 4095 || (*end != ',' && *end != '\0')) refuse("--cpus is a list of cores, such as 0,1", list);
        if (options->cpu_count == BENCH_CPUS_MAX) refuse("--cpus takes at most 64 cores", list);
        options->cpus[options->cpu_count++] = (int)core;
        at = end;
        if (*end == '\0') return;
    }
}

static int benchmark_of(const char *word)
{
    for (int at = LU; at <= BT; at++)
        if (strcmp(word, benchmark_names[at]) == 0) return at;
    refuse("--benchmark is lu, sp or bt", word);
}

void run_read(struct run *run, int argc, char **argv)
{
    program_is(argv[0]);
    *run = (struct run){ .options = { .tasks = 1, .encoding = "raw", .route = "default" }, .benchmark = -1, .groups = GROUPS };
    struct options *options = &run->options;
    for (int at = 1; at < argc; at++) {
        const char *name = argv[at];
        if (strcmp(name, "--child") == 0) {
            options->child = 1;
            continue;
        }
        if (at + 1 == argc) fail("unknown argument, or its value is missing: %s", name);
        char *value = argv[++at], *end;
        if (strcmp(name, "--benchmark") == 0) run->benchmark = benchmark_of(value);
        else if (strcmp(name, "--class") == 0) {
            run->class = value[0];
            if (value[0] == '\0' || value[1] != '\0' || strchr("SWAB", value[0]) == NULL) refuse("--class is S, W, A or B", value);
        } else if (strcmp(name, "--sizes") == 0) {
            options->sizes[0] = (size_t)number("--sizes, the points each way of a class,", value, 1, 1000000);
            options->size_count = 1;
        } else if (strcmp(name, "--tasks") == 0) options->tasks = (int)number("--tasks", value, 1, TASKS_MOST);
        else if (strcmp(name, "--groups") == 0) run->groups = (int)number("--groups", value, 1, 1000);
        else if (strcmp(name, "--cpus") == 0) read_cpus(options, value);
        else if (strcmp(name, "--out") == 0) options->out = value;
        else if (strcmp(name, "--encoding") == 0) options->encoding = value;
        else if (strcmp(name, "--route") == 0) options->route = value;
        else if (strcmp(name, "--perturb") == 0) {
            run->perturb = strtod(value, &end);
            if (end == value || *end != '\0' || !isfinite(run->perturb)) refuse("--perturb is a number", value);
        } else fail("unknown argument: %s", name);
    }
    if (run->benchmark < 0) fail("--benchmark is missing: lu, sp or bt");
    if (!run->class && options->size_count == 0) fail("--class is missing: S, W, A or B");
    alarm(WATCHDOG_SECONDS);
}
