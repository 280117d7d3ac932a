/* A net with one hidden layer, trained by back propagation in batches: an epoch shows it all items, and the changes that each of them
   wants are added up and applied together. So the items can be dealt out to tasks, and only changes and weights travel. */
#include "share.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double RATE = 0.5, TOLERANCE = 1e-9;

/* Between -1 and 1, the same everywhere. */
static double made(uint64_t seed, uint64_t place)
{
    return content(seed, place) / 524288.0 - 1.0;
}

static void network_room(struct net *net, int items)
{
    net->items = items;
    net->inputs_of = malloc((size_t)items * (size_t)net->inputs * sizeof(double));
    net->wanted = malloc((size_t)items * sizeof(double));
    if (net->inputs_of == NULL || net->wanted == NULL) fail("no memory for %d items", items);
}

/* A number of a file, which says what is wrong otherwise. */
static double read_number(FILE *in, const char *file)
{
    double number;
    if (fscanf(in, "%lf", &number) != 1) fail("%s has no number where one belongs; tools/shuttle.py writes such files", file);
    return number;
}

/* As many items of the file as are wanted, or all; inputs are brought between -1 and 1. */
static void network_read(struct net *net, int items, const char *file)
{
    FILE *in = fopen(file, "r");
    if (in == NULL) fail("%s can't be read: %s", file, strerror(errno));
    int there = (int)read_number(in, file), inputs = (int)read_number(in, file);
    if (inputs != net->inputs) fail("%s has %d inputs an item, not %d", file, inputs, net->inputs);
    if (items == 0) items = there;
    if (items > there) fail("%s has %d items, not %d", file, there, items);
    network_room(net, items);
    for (int item = 0; item < items; item++) {
        for (int i = 0; i < inputs; i++) net->inputs_of[item * inputs + i] = read_number(in, file);
        net->wanted[item] = read_number(in, file) != 0 ? 0.9 : 0.1;
    }
    fclose(in);
    for (int i = 0; i < inputs; i++) {
        double least = net->inputs_of[i], most = least;
        for (int item = 0; item < items; item++) {
            double x = net->inputs_of[item * inputs + i];
            if (x < least) least = x;
            if (x > most) most = x;
        }
        for (int item = 0; item < items; item++) {
            double *x = &net->inputs_of[item * inputs + i];
            *x = most > least ? 2 * (*x - least) / (most - least) - 1 : 0;
        }
    }
}

/* Without a file the set is made: of classes that a few of the inputs decide, as shuttle's and forest cover's are. */
void network_open(struct net *net, size_t weights, int items, const char *file)
{
    int small = weights == 400;
    if (!small && weights != 8800) fail("nets have 400 weights (9 x 40 x 1) or 8800 (54 x 160 x 1), not %zu", weights);
    net->inputs = small ? 9 : 54;
    net->hidden = small ? 40 : 160;
    net->weights = net->inputs * net->hidden + net->hidden;
    if (file != NULL && small) {
        network_read(net, items, file);
        return;
    }
    if (items < 1) fail("--items must be at least 1");
    network_room(net, items);
    for (int item = 0; item < items; item++) {
        double *in = net->inputs_of + (size_t)item * (size_t)net->inputs;
        for (int i = 0; i < net->inputs; i++) in[i] = made((uint64_t)item, (uint64_t)i);
        net->wanted[item] = in[0] + 0.5 * in[1] * in[2] > 0 ? 0.9 : 0.1;
    }
}

void network_start(const struct net *net, double *weights)
{
    for (int i = 0; i < net->weights; i++) weights[i] = 0.3 * made(77, (uint64_t)i);
}

static double steep(double x)
{
    return 1 / (1 + exp(-x));
}

double network_train(const struct net *net, const double *weights, double *change, int first, int end)
{
    int inputs = net->inputs, hidden = net->hidden;
    const double *last = weights + inputs * hidden;
    double cells[160], error = 0;
    for (int item = first; item < end; item++) {
        const double *in = net->inputs_of + (size_t)item * (size_t)inputs;
        double sum = 0;
        for (int h = 0; h < hidden; h++) {
            double x = 0;
            for (int i = 0; i < inputs; i++) x += weights[h * inputs + i] * in[i];
            cells[h] = steep(x);
            sum += cells[h] * last[h];
        }
        double out = steep(sum), off = net->wanted[item] - out;
        error += off * off;
        double delta = off * out * (1 - out);
        for (int h = 0; h < hidden; h++) {
            double inner = delta * last[h] * cells[h] * (1 - cells[h]);
            change[inputs * hidden + h] += delta * cells[h];
            for (int i = 0; i < inputs; i++) change[h * inputs + i] += inner * in[i];
        }
    }
    return error;
}

void network_apply(const struct net *net, double *weights, const double *change)
{
    for (int i = 0; i < net->weights; i++) weights[i] += RATE * change[i] / net->items;
}

/* The order in which parts are added is chance, so the last bits may differ. */
void network_check(const struct net *net, const double *weights, int parts, int epochs)
{
    size_t bytes = (size_t)net->weights * sizeof(double);
    double *alone = malloc(bytes), *change = malloc(bytes), *part = malloc(bytes);
    if (alone == NULL || change == NULL || part == NULL) fail("no memory to train alone");
    network_start(net, alone);
    double before = 0, after = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
        memset(change, 0, bytes);
        after = 0;
        for (int p = 0; p < parts; p++) {
            memset(part, 0, bytes);
            after += network_train(net, alone, part, (int)part_of((size_t)net->items, p, parts),
                                   (int)part_of((size_t)net->items, p + 1, parts));
            for (int i = 0; i < net->weights; i++) change[i] += part[i];
        }
        if (epoch == 0) before = after;
        network_apply(net, alone, change);
    }
    for (int i = 0; i < net->weights; i++)
        if (!(fabs(weights[i] - alone[i]) <= TOLERANCE))
            fail("verification failed: weight %d of %d is %g, alone %g", i, net->weights, weights[i], alone[i]);
    if (epochs > 1 && !(after < before)) fail("verification failed: the net has learnt nothing (%g, then %g)", before, after);
    free(alone);
    free(change);
    free(part);
}
