/* The floor of every message between two cores: data that one has just written is copied once by the other, straight
   to where it shall lie, and a flag says that it is there. No library, no call of the kernel, no matching. */
#define _GNU_SOURCE
#include "floors.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFERS = 4, WARM = 8 };

/* Each side's flag on a cache line of its own; its buffers lie behind. */
struct side {
    _Alignas(128) _Atomic uint64_t hops;
};

struct pair {
    struct side *sides;
    char *buffers[2];
    size_t room;          /* of one buffer */
};

static char *buffer(const struct pair *pair, int side, uint64_t hop)
{
    return pair->buffers[side] + hop / 2 % BUFFERS * pair->room;
}

/* Hop number `hop` goes from one side to the other: the one that it comes to copies, and says so. */
static void take(const struct pair *pair, int to, uint64_t hop, size_t bytes)
{
    while (atomic_load_explicit(&pair->sides[1 - to].hops, memory_order_acquire) < hop) continue;
    memcpy(buffer(pair, to, hop), buffer(pair, 1 - to, hop), bytes);
    atomic_store_explicit(&pair->sides[to].hops, hop + 1, memory_order_release);
}

static void measure(struct floors *floors, const struct pair *pair, size_t bytes)
{
    int rounds = floors->options->most < 200 ? floors->options->most : 200;
    uint64_t last = 2 * (uint64_t)(rounds + WARM);
    pair->sides[0].hops = 1;
    pair->sides[1].hops = 0;
    int child = floor_fork(floors->options, 0);
    if (child == 0) {
        for (uint64_t hop = 1; hop < last; hop += 2) take(pair, 1, hop, bytes);
        _exit(0);
    }
    int64_t *samples = calloc((size_t)rounds + WARM, sizeof *samples), before = now_ns();
    if (samples == NULL) fail("no memory for samples");
    int done = 0;
    for (uint64_t hop = 2; hop <= last; hop += 2) {
        take(pair, 0, hop, bytes);
        int64_t after = now_ns();
        samples[done++] = after - before;
        before = after;
    }
    floor_report(floors, "copy between cores", bytes, 2, samples + WARM, rounds);
    free(samples);
    floor_join(child);
}

void floor_between_cores(struct floors *floors)
{
    const struct options *options = floors->options;
    struct pair pair = { .room = 0 };
    for (int i = 0; i < options->size_count; i++) pair.room = options->sizes[i] > pair.room ? options->sizes[i] : pair.room;
    pair.room = (pair.room + 4095) / 4096 * 4096;
    size_t flags = 4096, all = flags + 2 * BUFFERS * pair.room;
    char *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("no shared memory");
    memset(memory, 1, all);
    pair.sides = (struct side *)memory;
    for (int side = 0; side < 2; side++) pair.buffers[side] = memory + flags + (size_t)side * BUFFERS * pair.room;
    for (int i = 0; i < options->size_count; i++)
        if (options->sizes[i] > 0) measure(floors, &pair, options->sizes[i]);
    munmap(memory, all);
}
