/* The net in shared memory: all add the changes that their items want to one shared matrix, under a lock, and task 0 applies it. That
   gather is what made it slow in 2004. With HYBRID the changes go to task 0 by PVM; the weights stay shared. */
#include "share_tmk.h"

#include <stdlib.h>
#include <string.h>

const char share_name[] = "network";
enum { CHANGES = 2 };
static struct net net;
static double *weights, *changes;

#ifdef HYBRID
static void gather(const struct team *team, double *change, double *theirs, size_t bytes)
{
    if (team->task != 0) share_send(0, TAG_DATA, change, bytes);
    for (int task = 1; task < team->tasks && team->task == 0; task++) {
        share_recv(task, TAG_DATA, theirs, bytes);
        for (int i = 0; i < net.weights; i++) change[i] += theirs[i];
    }
}
#else
static void gather(const struct team *team, double *change, double *theirs, size_t bytes)
{
    (void)theirs;
    Tmk_lock_acquire(CHANGES);
    for (int i = 0; i < net.weights; i++) changes[i] += change[i];
    Tmk_lock_release(CHANGES);
    Tmk_barrier(1);
    if (team->task == 0) {
        memcpy(change, changes, bytes);
        memset(changes, 0, bytes);
    }
}
#endif

void share_run(const struct options *options, const struct team *team, size_t size)
{
    if (options->in_a_row < 1) fail("--in-a-row says how many epochs: at least 1");
    network_open(&net, size, options->items, options->data);
    size_t bytes = (size_t)net.weights * sizeof(double);
    double *change = malloc(bytes), *theirs = malloc(bytes), *mine = malloc(bytes);
    if (change == NULL || theirs == NULL || mine == NULL) fail("no memory for weights");
    weights = share_make(bytes);
    changes = share_make(bytes);
    int first = (int)part_of((size_t)net.items, team->task, team->tasks);
    int end = (int)part_of((size_t)net.items, team->task + 1, team->tasks);
    if (team->task == 0) {
        network_start(&net, weights);
        /* A block that was given back before is not zeros any more. */
        memset(changes, 0, bytes);
    }
    Tmk_barrier(1);
    for (int epoch = 0; epoch < options->in_a_row; epoch++) {
        memcpy(mine, weights, bytes);
        memset(change, 0, bytes);
        network_train(&net, mine, change, first, end);
        gather(team, change, theirs, bytes);
        if (team->task == 0) network_apply(&net, weights, change);
        Tmk_barrier(1);
    }
    free(change);
    free(theirs);
    free(mine);
}

void share_check(const struct options *options, const struct team *team, size_t size)
{
    (void)size;
    network_check(&net, weights, team->tasks, options->in_a_row);
    Tmk_free((char *)weights);
    Tmk_free((char *)changes);
}
