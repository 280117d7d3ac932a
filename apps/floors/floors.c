/* Memory's own floors: a flag two processes share, copies, the kernel's single-copy call, handing one core over. */
#define _GNU_SOURCE
#include "floors.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 4 };
static const size_t BEYOND_CACHES = (size_t)64 << 20;

void floor_report(struct floors *floors, const char *floor, size_t bytes, int operations, const int64_t *samples, int count)
{
    fprintf(floors->out, "{\"program\":\"floors\",\"floor\":\"%s\",\"tasks\":2,\"size\":%zu,\"hops\":%d,", floor, bytes, operations);
    samples_array(floors->out, "samples_ns", samples, count);
    fputs("}\n", floors->out);
}

int floor_samples(const struct options *options, double one_ns)
{
    double fitting = options->time_ms * 1e6 / (one_ns > 1 ? one_ns : 1);
    return fitting < options->least ? options->least : fitting > options->most ? options->most : (int)fitting;
}

int floor_fork(const struct options *options, int same_core)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) fail("cannot start a second process");
    pin_task(options, child == 0 && !same_core ? 1 : 0);
    if (child == 0) alarm(60);
    return child;
}

void floor_join(int child)
{
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) fail("the second process failed");
}

/* Each on its own cache line, in memory both processes see. */
struct shared {
    _Alignas(128) _Atomic uint32_t there;
    _Alignas(128) _Atomic uint32_t back;
};

static struct shared *shared_flags(void)
{
    struct shared *flags = mmap(NULL, sizeof *flags, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (flags == MAP_FAILED) fail("no shared memory");
    return flags;
}

/* A pause is kind to a core's other thread, and costs up to 140 cycles after the flag has come: the floor is without where that is quicker. */
static void until(_Atomic uint32_t *flag, uint32_t value, int pauses)
{
    if (pauses)
        while (atomic_load_explicit(flag, memory_order_acquire) != value) __builtin_ia32_pause();
    else
        while (atomic_load_explicit(flag, memory_order_acquire) != value) continue;
}

/* Samples of hops from flag to flag, `warm` of them warm-up. */
static int64_t *flag_samples(struct floors *floors, int count, int warm, int pauses)
{
    struct shared *flags = shared_flags();
    uint32_t rounds = (uint32_t)(ROUNDS * (count + warm));
    int child = floor_fork(floors->options, 0);
    if (child == 0) {
        for (uint32_t i = 1; i <= rounds; i++) {
            until(&flags->there, i, pauses);
            atomic_store_explicit(&flags->back, i, memory_order_release);
        }
        _exit(0);
    }
    int64_t *samples = calloc((size_t)(count + warm), sizeof *samples), before = now_ns();
    if (samples == NULL) fail("no memory for samples");
    uint32_t i = 0;
    for (int sample = 0; sample < count + warm; sample++) {
        for (int round = 0; round < ROUNDS; round++) {
            atomic_store_explicit(&flags->there, ++i, memory_order_release);
            until(&flags->back, i, pauses);
        }
        int64_t after = now_ns();
        samples[sample] = after - before;
        before = after;
    }
    floor_join(child);
    munmap(flags, sizeof *flags);
    return samples;
}

static void shared_flag(struct floors *floors)
{
    enum { WARM = 1000 };
    int count = floors->options->most;
    int64_t *samples[2];
    double median[2];
    for (int pauses = 0; pauses < 2; pauses++) {
        samples[pauses] = flag_samples(floors, count, WARM, pauses);
        median[pauses] = median_of(samples[pauses] + WARM, count);
    }
    floor_report(floors, "shared flag", 8, 2 * ROUNDS, samples[median[1] < median[0]] + WARM, count);
    for (int pauses = 0; pauses < 2; pauses++) free(samples[pauses]);
}

static void futex_until(_Atomic uint32_t *flag, uint32_t value)
{
    uint32_t seen;
    while ((seen = atomic_load_explicit(flag, memory_order_acquire)) != value)
        syscall(SYS_futex, flag, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void futex_set(_Atomic uint32_t *flag, uint32_t value)
{
    atomic_store_explicit(flag, value, memory_order_release);
    syscall(SYS_futex, flag, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Two processes on one core, each sleeping while the other runs. */
static void hand_over(struct floors *floors)
{
    struct shared *flags = shared_flags();
    uint32_t count = (uint32_t)(floors->options->most < 1000 ? floors->options->most : 1000), warm = 50;
    int child = floor_fork(floors->options, 1);
    if (child == 0) {
        for (uint32_t i = 1; i <= count + warm; i++) {
            futex_until(&flags->there, i);
            futex_set(&flags->back, i);
        }
        _exit(0);
    }
    int64_t *samples = calloc(count + warm, sizeof *samples), before = now_ns();
    if (samples == NULL) fail("no memory for samples");
    for (uint32_t i = 1; i <= count + warm; i++) {
        futex_set(&flags->there, i);
        futex_until(&flags->back, i);
        int64_t after = now_ns();
        samples[i - 1] = after - before;
        before = after;
    }
    floor_report(floors, "one-core hand-over", 8, 2, samples + warm, (int)count);
    free(samples);
    floor_join(child);
    munmap(flags, sizeof *flags);
}

/* Copies between two pairs of buffers in turn; short ones many to a sample. */
static void copies(struct floors *floors, const char *floor, size_t bytes)
{
    double *from[2], *to[2];
    for (int i = 0; i < 2; i++) {
        from[i] = doubles(bytes / sizeof(double));
        to[i] = doubles(bytes / sizeof(double));
    }
    int per_sample = bytes < 65536 ? (int)(65536 / bytes) : 1;
    int64_t *samples = calloc((size_t)floors->options->most, sizeof *samples);
    if (samples == NULL) fail("no memory for samples");
    int count = 5;
    for (int pass = 0; pass < 2; pass++) {
        for (int sample = 0; sample < count; sample++) {
            int64_t begun = now_ns();
            for (int k = 0; k < per_sample; k++) {
                from[k & 1][0] += 1;
                memcpy(to[k & 1], from[k & 1], bytes);
                __asm__ volatile("" ::: "memory");
            }
            samples[sample] = now_ns() - begun;
        }
        if (pass == 0) count = floor_samples(floors->options, (double)samples[4]);
    }
    floor_report(floors, floor, bytes, per_sample, samples, count);
    free(samples);
    for (int i = 0; i < 2; i++) {
        free(from[i]);
        free(to[i]);
    }
}

/* The call that copies straight out of another process's memory, where the kernel permits it. */
static void copy_call(struct floors *floors)
{
    const struct options *options = floors->options;
    size_t largest = 8;
    for (int i = 0; i < options->size_count; i++) largest = options->sizes[i] > largest ? options->sizes[i] : largest;
    double *theirs = doubles(largest / sizeof(double)), *mine = doubles(largest / sizeof(double));
    int child = floor_fork(options, 0);
    if (child == 0) {
        for (;;) pause();
    }
    int64_t *samples = calloc((size_t)options->most, sizeof *samples);
    if (samples == NULL) fail("no memory for samples");
    for (int i = 0; i < options->size_count; i++) {
        size_t bytes = options->sizes[i];
        if (bytes == 0) continue;
        struct iovec local = { mine, bytes }, remote = { theirs, bytes };
        int count = 5;
        for (int pass = 0; pass < 2; pass++) {
            for (int sample = 0; sample < count; sample++) {
                int64_t begun = now_ns();
                if (process_vm_readv(child, &local, 1, &remote, 1, 0) != (ssize_t)bytes) {
                    fprintf(floors->out, "{\"program\":\"floors\",\"floor\":\"single-copy call\",\"tasks\":2,\"size\":%zu,"
                            "\"refused\":\"%s\"}\n", bytes, strerror(errno));
                    goto done;
                }
                samples[sample] = now_ns() - begun;
            }
            if (pass == 0) count = floor_samples(options, (double)samples[4]);
        }
        floor_report(floors, "single-copy call", bytes, 1, samples, count);
    }
done:
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    free(samples);
    free(theirs);
    free(mine);
}

int main(int argc, char **argv)
{
    struct options options;
    options_read(&options, argc, argv);
    struct floors floors = { &options, samples_open(&options) };
    pin_task(&options, 0);
    shared_flag(&floors);
    hand_over(&floors);
    pin_task(&options, 0);
    for (int i = 0; i < options.size_count; i++)
        if (options.sizes[i] > 0) copies(&floors, "memory copy", options.sizes[i]);
    copies(&floors, "memory copy beyond caches", BEYOND_CACHES);
    copy_call(&floors);
    floor_between_cores(&floors);
    floor_unix_socket(&floors);
    floor_loopback(&floors);
    samples_close(floors.out);
    return 0;
}
