/* What the programs of shared memory and messages have in common: they run each size once in a launch, and task 0 writes how long it
   took and what all have sent. */
#define _GNU_SOURCE
#include "share.h"

#include <dlfcn.h>
#include <parvum.h>

size_t part_of(size_t count, int task, int tasks)
{
    return count * (size_t)task / (size_t)tasks;
}

/* The library is the interface's affair: a program of MPI does not know which it meets. */
struct traffic traffic_now(void)
{
    static int (*totals_of)(struct parvum_totals *);
    struct parvum_totals totals = { .size = sizeof totals };
    if (totals_of == NULL) {
        void *library = dlopen("libparvum.so.0", RTLD_NOW | RTLD_NOLOAD);
        if (library == NULL) return (struct traffic){ 0, 0, 0 };
        *(void **)&totals_of = dlsym(library, "parvum_totals");
    }
    if (totals_of == NULL || totals_of(&totals) != 0) fail("Parvum's ledger cannot be read");
    struct traffic memory = traffic_of_memory();
    return (struct traffic){ 1, (int64_t)totals.sent + memory.messages, (int64_t)totals.sent_bytes + memory.bytes };
}

void share_write(const struct options *options, const struct team *team, const char *program, size_t size, int64_t ns,
                 struct traffic traffic)
{
    static FILE *out;
    if (out == NULL) out = samples_open(options);
    fprintf(out, "{\"program\":\"%s\",\"face\":\"%s\",\"tasks\":%d,\"size\":%zu,\"verified\":true,", program, team->face,
            team->tasks, size);
    if (traffic.known)
        fprintf(out, "\"counts\":{\"sent\":%lld,\"sent_bytes\":%lld,\"copied\":0,\"fetched\":0,\"buffered_here\":0,"
                "\"buffered_at_sender\":0,\"unexpected\":0,\"discarded\":0},", (long long)traffic.messages,
                (long long)traffic.bytes);
    samples_array(out, "samples_ns", &ns, 1);
    fputs("}\n", out);
    if (fflush(out) != 0) fail("the samples could not be written");
}

int main(int argc, char **argv)
{
    struct options options;
    struct team team;
    team_open(&team, &options, &argc, &argv);
    if (options.size_count == 0) fail("--sizes is missing");
    for (int at = 0; at < options.size_count; at++) {
        size_t size = options.sizes[at];
        share_together(&team);
        struct traffic before = traffic_now();
        int64_t begun = now_ns();
        share_run(&options, &team, size);
        int64_t took = now_ns() - begun;
        struct traffic mine = traffic_now();
        mine.messages -= before.messages;
        mine.bytes -= before.bytes;
        struct traffic sum = share_sum(&team, mine);
        if (team.task == 0) {
            share_check(&options, &team, size);
            share_write(&options, &team, share_name, size, took, sum);
        }
    }
    share_together(&team);
    team_close();
    return 0;
}
