/* The memory of one task of many. Each task counts its memory when all have started, and again when it has exchanged a
   message with each other task. The same source serves every system. */
#include "../teams/team.h"

#include <stdio.h>

enum { OPENED, MET, MOMENTS };

/* This task's part of the memory of its host. A page that several tasks share counts for each of them in part, so the numbers
   of all tasks add up to what the job takes. */
static int64_t memory_kib(void)
{
    char line[256];
    long long kib = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL) fail("/proc/self/smaps_rollup cannot be read");
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Pss: %lld", &kib) == 1) break;
    fclose(file);
    if (kib < 0) fail("/proc/self/smaps_rollup has no line Pss");
    return kib;
}

/* Each step has one message to each task and one from each. */
static void meet(const struct team *team)
{
    for (int step = 1; step < team->tasks; step++) {
        int to = (team->task + step) % team->tasks, from = (team->task + team->tasks - step) % team->tasks;
        int64_t said = team->task, heard = -1;
        team_send(to, TAG_DATA, &said, 1);
        team_recv(from, TAG_DATA, &heard, 1);
        if (heard != from) fail("a message of task %d says that task %lld sent it", from, (long long)heard);
    }
}

static void write_array(FILE *out, const char *name, int64_t (*all)[MOMENTS], int tasks, int moment)
{
    fprintf(out, "\"%s\":[", name);
    for (int task = 0; task < tasks; task++) fprintf(out, "%s%lld", task > 0 ? "," : "", (long long)all[task][moment]);
    fprintf(out, "]");
}

static void report(const struct team *team, const struct options *options, const int64_t *own)
{
    static int64_t all[BENCH_TASKS_MAX][MOMENTS];
    all[0][OPENED] = own[OPENED], all[0][MET] = own[MET];
    for (int from = 1; from < team->tasks; from++) team_recv(from, TAG_RESULT, all[from], MOMENTS);
    FILE *out = samples_open(options);
    fprintf(out, "{\"program\":\"growth\",\"face\":\"%s\",\"encoding\":\"%s\",\"route\":\"%s\",\"tasks\":%d,\"size\":0,\"memory\":{",
            team->face, options->encoding, options->route, team->tasks);
    write_array(out, "opened_kib", all, team->tasks, OPENED);
    fputc(',', out);
    write_array(out, "met_kib", all, team->tasks, MET);
    fprintf(out, "}}\n");
    samples_close(out);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    int64_t own[MOMENTS];
    team_open(&team, &options, &argc, &argv);
    if (team.tasks < 2 || team.tasks > BENCH_TASKS_MAX) fail("needs 2 to %d tasks", BENCH_TASKS_MAX);
    /* All have started, so what tasks share is shared by all. */
    team_wait_for_all(&team);
    own[OPENED] = memory_kib();
    team_wait_for_all(&team);
    meet(&team);
    team_wait_for_all(&team);
    own[MET] = memory_kib();
    /* A task that ends would leave what it shared to the others. */
    team_wait_for_all(&team);
    if (team.task == 0) report(&team, &options, own);
    else team_send(0, TAG_RESULT, own, MOMENTS);
    team_close();
    return 0;
}
