/* What waiting costs: the last task sits in a receive for some seconds and reports the processor time it used
   meanwhile, and its memory. The same source for every system. */
#define _POSIX_C_SOURCE 200809L
#include "../teams/team.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static int64_t cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           ((int64_t)usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* The most memory this program has had. What getrusage says counts whoever started it as well. */
static int64_t resident_kib(void)
{
    char line[256];
    long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (status == NULL) fail("/proc/self/status cannot be read");
    while (fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %lld", &kib) == 1) break;
    fclose(status);
    return kib;
}

static void wait_for_message(void)
{
    int64_t token;
    for (int i = 0; i < 3; i++) {
        team_recv(0, TAG_DATA, &token, 1);
        team_send(0, TAG_DATA, &token, 1);
    }
    int64_t cpu = cpu_ns(), begun = now_ns();
    team_recv(0, TAG_DATA, &token, 1);
    int64_t values[3] = { cpu_ns() - cpu, now_ns() - begun, resident_kib() };
    team_send(0, TAG_RESULT, values, 3);
}

static void keep_waiting(const struct team *team, const struct options *options)
{
    int64_t token = 1, values[3];
    /* A few messages first: connections are made, and nothing is left to be done but wait. */
    for (int i = 0; i < 3; i++) {
        team_send(1, TAG_DATA, &token, 1);
        team_recv(1, TAG_DATA, &token, 1);
    }
    struct timespec pause = { (time_t)options->seconds, (long)((options->seconds - (double)(time_t)options->seconds) * 1e9) };
    nanosleep(&pause, NULL);
    team_send(1, TAG_DATA, &token, 1);
    team_recv(1, TAG_RESULT, values, 3);

    FILE *out = samples_open(options);
    fprintf(out, "{\"program\":\"blocked\",\"face\":\"%s\",\"encoding\":\"%s\",\"route\":\"%s\",\"tasks\":2,\"size\":0,"
            "\"blocked\":{\"cpu_ns\":%lld,\"wall_ns\":%lld,\"resident_kib\":%lld}}\n", team->face, options->encoding, options->route,
            (long long)values[0], (long long)values[1], (long long)values[2]);
    samples_close(out);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2) fail("needs exactly 2 tasks");
    if (team.task == 0) keep_waiting(&team, &options);
    else wait_for_message();
    team_close();
    return 0;
}
