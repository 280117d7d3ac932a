/* The floors: what the machine itself gives, with no messaging library in the way. */
#ifndef FLOORS_H
#define FLOORS_H

#include "../common/bench.h"

struct floors {
    const struct options *options;
    FILE *out;
};

/* One line of samples; `operations` is how many hops or copies one sample holds. */
void floor_report(struct floors *floors, const char *floor, size_t bytes, int operations, const int64_t *samples, int count);

/* How many samples fit the time given to each size, from the cost of one. */
int floor_samples(const struct options *options, double one_ns);

/* Starts a second process on its own core; returns 0 in it, and its id in the first. */
int floor_fork(const struct options *options, int same_core);
void floor_join(int child);

void floor_between_cores(struct floors *floors);
void floor_unix_socket(struct floors *floors);
void floor_loopback(struct floors *floors);

#endif
