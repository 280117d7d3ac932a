/* The net by messages: in each epoch task 0 sends the weights to all, and gets the changes that their items want. */
#include "share.h"

#include <stdlib.h>
#include <string.h>

const char share_name[] = "network";
static struct net net;
static double *weights;

void share_run(const struct options *options, const struct team *team, size_t size)
{
    if (options->in_a_row < 1) fail("--in-a-row says how many epochs: at least 1");
    network_open(&net, size, options->items, options->data);
    size_t bytes = (size_t)net.weights * sizeof(double);
    double *change = malloc(bytes), *theirs = malloc(bytes);
    weights = malloc(bytes);
    if (weights == NULL || change == NULL || theirs == NULL) fail("no memory for weights");
    int first = (int)part_of((size_t)net.items, team->task, team->tasks);
    int end = (int)part_of((size_t)net.items, team->task + 1, team->tasks);
    network_start(&net, weights);
    for (int epoch = 0; epoch < options->in_a_row; epoch++) {
        for (int task = 1; task < team->tasks && team->task == 0; task++) share_send(task, TAG_CONTROL, weights, bytes);
        if (team->task != 0) share_recv(0, TAG_CONTROL, weights, bytes);
        memset(change, 0, bytes);
        network_train(&net, weights, change, first, end);
        if (team->task != 0) {
            share_send(0, TAG_DATA, change, bytes);
            continue;
        }
        for (int task = 1; task < team->tasks; task++) {
            share_recv(task, TAG_DATA, theirs, bytes);
            for (int i = 0; i < net.weights; i++) change[i] += theirs[i];
        }
        network_apply(&net, weights, change);
    }
    free(change);
    free(theirs);
}

void share_check(const struct options *options, const struct team *team, size_t size)
{
    (void)size;
    network_check(&net, weights, team->tasks, options->in_a_row);
}
