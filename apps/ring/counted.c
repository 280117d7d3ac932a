/* Instructions and system calls of a message, of the calls that the ring is made of:

     send       the call that sends, when its receiver does something else
     receive    the call that receives, when the message has been there for a while

   Nobody waits inside of what is counted, so the counts of two launches agree. */
#define _GNU_SOURCE
#include "ring.h"
#include "../common/counter.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGES = 8, WARM = 64, BUFFERS = 4, PATIENCE_MS = 10000 };

struct side {
    int other;                  /* the other task */
    int count;                  /* doubles in a message */
    double *buffer[BUFFERS];
    int64_t instructions[MESSAGES], calls[MESSAGES], misses[MESSAGES];
};

static double *buffer_of(struct side *side, int message) { return side->buffer[message % BUFFERS]; }

static void one(struct side *side, int message, int is_sender)
{
    double *data = buffer_of(side, message);
    if (is_sender) {
        if (side->count > 0) data[0] = message;
        ring_send(side->other, data, side->count);
        return;
    }
    ring_recv(side->other, data, side->count);
    if (side->count > 0 && data[0] != message) fail("verification failed: message %d is number %.0f", message, data[0]);
}

/* All messages of a series, counted one by one. Cache misses are counted in a series of their own: stepping causes more of them. */
static void series(struct side *side, int is_sender, int stepped)
{
    if (stepped) counter_attach();
    for (int message = 0; message < MESSAGES; message++) {
        struct counter before = counter_now();
        int64_t missed = counter_misses();
        one(side, message, is_sender);
        struct counter after = counter_now();
        if (stepped) {
            side->instructions[message] = after.instructions - before.instructions;
            side->calls[message] = after.calls - before.calls;
        } else {
            side->misses[message] = missed < 0 ? -1 : counter_misses() - missed;
        }
    }
    if (stepped) counter_detach();
}

/* The sender takes another name when all messages are on their way: a name ends with its process, and nothing is left. A receiver that
   waited in the library would count its waiting too. */
#define SENT "counted-sent"

static void raise_flag(void) { prctl(PR_SET_NAME, SENT); }
static void lower_flag(void) { prctl(PR_SET_NAME, "counted"); }

static void await_flag(int64_t sender)
{
    /* A message is stepped through in milliseconds: a look each millisecond adds little to a launch. */
    const struct timespec pause = { 0, 1000000 };
    /* The last message may still be in a daemon, which tells nobody when it has passed it on. */
    const struct timespec passage = { 0, 50000000 };
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)sender);
    for (int ms = 0; strncmp(name, SENT, strlen(SENT)) != 0; ms++) {
        if (ms > PATIENCE_MS) fail("the other task sent nothing within %d s", PATIENCE_MS / 1000);
        nanosleep(&pause, NULL);
        FILE *file = fopen(path, "r");
        if (file == NULL) fail("the other task has ended");
        if (fgets(name, sizeof name, file) == NULL) name[0] = 0;
        fclose(file);
    }
    nanosleep(&passage, NULL);
}

static void write_line(FILE *out, const struct team *team, const char *operation, size_t bytes, const struct side *side)
{
    fprintf(out, "{\"program\":\"counted\",\"operation\":\"%s\",\"face\":\"%s\",\"tasks\":2,\"size\":%zu,\"verified\":true,", operation,
            team->face, bytes);
    samples_array(out, "instructions", side->instructions, MESSAGES);
    fprintf(out, ",");
    samples_array(out, "calls", side->calls, MESSAGES);
    if (side->misses[0] >= 0) {
        fprintf(out, ",");
        samples_array(out, "misses", side->misses, MESSAGES);
    }
    fprintf(out, "}\n");
}

static void exchange_counts(const struct team *team, struct side *side)
{
    int64_t *all[] = { side->instructions, side->calls, side->misses };
    for (int i = 0; i < 3; i++) {
        if (team->task == 0) team_recv(1, TAG_RESULT, all[i], MESSAGES);
        else team_send(0, TAG_RESULT, all[i], MESSAGES);
    }
}

/* Both directions have been used before anything is counted: the first message opens connections. */
static void warm(const struct team *team, struct side *side)
{
    for (int message = 0; message < WARM; message++) {
        one(side, message, team->task == 0);
        one(side, message, team->task != 0);
    }
}

static void of_size(const struct team *team, FILE *out, size_t bytes, struct side *side)
{
    int64_t sender = getpid(), ready = 0;
    side->count = (int)(bytes / sizeof(double));
    warm(team, side);
    for (int stepped = 0; stepped <= 1; stepped++) {
        if (team->task == 0) {
            team_send(1, TAG_CONTROL, &sender, 1);
            series(side, 1, stepped);
            raise_flag();
            team_recv(1, TAG_CONTROL, &ready, 1);
            lower_flag();
        } else {
            team_recv(0, TAG_CONTROL, &sender, 1);
            await_flag(sender);
            series(side, 0, stepped);
            team_send(0, TAG_CONTROL, &ready, 1);
        }
    }
    if (team->task == 0) write_line(out, team, "send", bytes, side);
    exchange_counts(team, side);
    if (team->task == 0) write_line(out, team, "receive", bytes, side);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    counter_open();
    team_open(&team, &options, &argc, &argv);
    if (team.tasks != 2) fail("two tasks are needed");
    struct side side = { .other = 1 - team.task };
    size_t largest = sizeof(double);
    for (int i = 0; i < options.size_count; i++)
        if (options.sizes[i] > largest) largest = options.sizes[i];
    for (int i = 0; i < BUFFERS; i++) side.buffer[i] = doubles(largest / sizeof(double));
    FILE *out = team.task == 0 ? samples_open(&options) : NULL;
    for (int i = 0; i < options.size_count; i++) of_size(&team, out, options.sizes[i], &side);
    if (team.task == 0) samples_close(out);
    for (int i = 0; i < BUFFERS; i++) free(side.buffer[i]);
    team_close();
    counter_close();
    return 0;
}
