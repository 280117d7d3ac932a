#include "spawn.h"

#include <stdlib.h>

void spawn_run(const struct options *options, const char *face)
{
    int64_t *samples = malloc((size_t)options->most * sizeof *samples);
    if (samples == NULL) fail("no memory for %d samples", options->most);
    int count = 0;
    /* The end of the tasks is not part of it. */
    for (int64_t begun = now_ns(); count < options->most; count++) {
        int64_t before = now_ns();
        if (count >= options->least && (double)(before - begun) > options->time_ms * 1e6) break;
        spawn_tasks(options->tasks);
        samples[count] = now_ns() - before;
        spawn_end(options->tasks);
    }
    FILE *out = samples_open(options);
    fprintf(out, "{\"program\":\"spawn\",\"face\":\"%s\",\"encoding\":\"%s\",\"route\":\"%s\",\"tasks\":%d,\"size\":0,"
            "\"hops\":1,\"verified\":true,", face, options->encoding, options->route, options->tasks);
    samples_array(out, "samples_ns", samples, count);
    fputs("}\n", out);
    samples_close(out);
    free(samples);
}
