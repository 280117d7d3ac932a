/* Threads that send at once: each of one or four has a partner thread in the other task, and a tag of its own. Windows
   of messages go one way, with a reply to each; what is counted is the messages of all threads together. */
#define _POSIX_C_SOURCE 200809L
#include "../rate/rate.h"
#include "../common/series.h"
#include "../teams/team_mpi.h"

#include <mpi.h>
#include <pthread.h>

enum { THREADS_MAX = 4, CASES = 2, WINDOWS = 16, TAG_THREAD = 100 };

static const int threads_of[CASES] = { 1, THREADS_MAX };
static const char *const forms[CASES] = { "one", "four" };

/* What the threads of a task share. */
struct crew {
    const struct team *team;
    const struct block *block;
    pthread_barrier_t *together;
    int64_t *samples;
};

struct thread {
    const struct crew *crew;
    int number;
    int64_t windows;
    double data[RATE_WINDOW];
};

static void send_window(struct thread *thread)
{
    MPI_Request requests[RATE_WINDOW];
    MPI_Status statuses[RATE_WINDOW];
    int tag = TAG_THREAD + thread->number;
    for (int i = 0; i < RATE_WINDOW; i++) {
        thread->data[i] = (double)(thread->windows * RATE_WINDOW + i);
        MPI_Isend(&thread->data[i], 1, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(RATE_WINDOW, requests, statuses);
    MPI_Recv(NULL, 0, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_window(struct thread *thread)
{
    MPI_Request requests[RATE_WINDOW];
    MPI_Status statuses[RATE_WINDOW];
    int tag = TAG_THREAD + thread->number;
    for (int i = 0; i < RATE_WINDOW; i++)
        MPI_Irecv(&thread->data[i], 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(RATE_WINDOW, requests, statuses);
    for (int i = 0; i < RATE_WINDOW; i++)
        if (thread->data[i] != (double)(thread->windows * RATE_WINDOW + i))
            fail("verification failed: thread %d missed a message", thread->number);
    MPI_Send(NULL, 0, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
}

static void do_windows(struct thread *thread, int64_t windows)
{
    for (int64_t i = 0; i < windows; i++, thread->windows++) {
        if (thread->crew->team->task == 0) send_window(thread);
        else receive_window(thread);
    }
}

/* A sample ends when the last thread is done with it; its time is kept by the first. */
static void *work(void *context)
{
    struct thread *thread = context;
    const struct crew *crew = thread->crew;
    do_windows(thread, 1);
    pthread_barrier_wait(crew->together);
    int64_t before = now_ns();
    for (int64_t sample = 0; sample < crew->block->samples; sample++) {
        do_windows(thread, crew->block->rounds);
        pthread_barrier_wait(crew->together);
        int64_t after = now_ns();
        if (thread->number == 0 && crew->samples != NULL) crew->samples[sample] = after - before;
        before = after;
    }
    return NULL;
}

static void run(const struct team *team, const struct block *block, int64_t *samples)
{
    static struct thread threads[THREADS_MAX];
    int count = (int)block->count;
    pthread_barrier_t together;
    pthread_t handles[THREADS_MAX];
    struct crew crew = { team, block, &together, samples };
    pthread_barrier_init(&together, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) threads[i] = (struct thread){ .crew = &crew, .number = i };
    for (int i = 1; i < count; i++)
        if (pthread_create(&handles[i], NULL, work, &threads[i]) != 0) fail("cannot start thread %d", i);
    work(&threads[0]);
    for (int i = 1; i < count; i++) pthread_join(handles[i], NULL);
    pthread_barrier_destroy(&together);
}

static void measure(void *context, struct block block, int64_t *samples)
{
    const struct team *team = context;
    block_announce(team, block);
    run(team, &block, samples);
}

static void lead(struct team *team, const struct options *options)
{
    FILE *out = samples_open(options);
    for (int which = 0; which < CASES; which++) {
        struct block block = { .count = threads_of[which], .rounds = WINDOWS };
        struct heading heading = { .program = "threads", .form = forms[which], .bytes = sizeof(double),
                                   .hops = (int64_t)threads_of[which] * WINDOWS * RATE_WINDOW };
        series_run(out, team, options, heading, block, measure, team);
    }
    block_announce(team, (struct block){ 0 });
    samples_close(out);
}

int main(int argc, char **argv)
{
    int provided;
    struct team team;
    struct options options;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    team_join(&team, &options, argc, argv);
    if (provided != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
    if (team.tasks != 2) fail("needs exactly 2 tasks");
    if (team.task == 0) lead(&team, &options);
    else
        for (struct block block = block_hear(); block.samples > 0; block = block_hear()) run(&team, &block, NULL);
    team_close();
    return 0;
}
